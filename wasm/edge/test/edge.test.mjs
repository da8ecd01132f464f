// The edge worker on the real workerd, over a real origin: what it answers is compared
// with Apache Hudi's own answers, and what it must refuse is tried.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import workerd from "workerd";
import { serve, unzip } from "./origin.mjs";
import { counts, root, same, test } from "./harness.mjs";

const name = "mor_trips_h120";
const gold = (file) => readFileSync(path.join(root, "testdata/gold", name, file), "utf8");

const ok = (cond, what) => {
  if (!cond) throw new Error(what);
};

const freePort = () =>
  new Promise((resolve) => {
    const s = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });

// The table's files, without the folder they lie in.
const files = new Map();
for (const [p, data] of unzip(readFileSync(path.join(root, "testdata/tables", name + ".zip")))) {
  files.set(p.startsWith(name + "/") ? p.slice(name.length + 1) : p, data);
}
ok(files.has(".hoodie/hoodie.properties"), "the table is not in the archive");

const foreign = await serve({ "/": { files, json: true } });
const origin = await serve({
  "/tables/json/": { files, json: true },
  "/tables/html/": { files, json: false },
  "/tables/moved/": { redirect: foreign.url + "/" },
  "/private/": { files, json: true },
});

// workerd's configuration; its embed paths are relative to the file.
const work = path.join(root, ".cache/edge-test");
mkdirSync(work, { recursive: true });
const built = path.relative(work, path.join(root, "bin/edge"));
async function start(allowed, more = {}) {
  const bindings = Object.entries({ ...(allowed === undefined ? {} : { ALLOWED_ORIGINS: allowed }), ...more });
  const port = await freePort();
  const config = path.join(work, `config-${port}.capnp`);
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .hudiscope),
    (name = "net", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const hudiscope :Workerd.Worker = (
  modules = [
    (name = "worker.mjs", esModule = embed "${built}/worker.mjs"),
    (name = "runtime.mjs", esModule = embed "${built}/runtime.mjs"),
    (name = "wasm_exec.js", esModule = embed "${built}/wasm_exec.js"),
    (name = "app.wasm", wasm = embed "${built}/app.wasm"),
  ],
  compatibilityDate = "2026-01-01",
  globalOutbound = "net",
  bindings = [${bindings.map(([k, v]) => `(name = ${JSON.stringify(k)}, text = ${JSON.stringify(v)})`).join(", ")}],
);
`
  );
  const child = spawn(workerd.default ?? workerd, ["serve", config], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (d) => (output += d));
  child.stderr.on("data", (d) => (output += d));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const url = `http://127.0.0.1:${port}`;
  for (const began = Date.now(); ; ) {
    if (child.exitCode !== null) throw new Error("workerd ended: " + output);
    const up = await new Promise((resolve) => {
      const s = net.connect(port, "127.0.0.1", () => resolve(true) || s.destroy()).on("error", () => resolve(false));
    });
    if (up) break;
    if (Date.now() - began > 30000) throw new Error("workerd does not listen: " + output);
    await new Promise((r) => setTimeout(r, 50));
  }
  return { url, output: () => output, stop: () => (child.kill("SIGKILL"), ended) };
}

const edge = await start(`${origin.url}/tables/`);
const ask = async (op, params, init) => {
  const res = await fetch(`${edge.url}/api/${op}?${new URLSearchParams(params)}`, { signal: AbortSignal.timeout(60000), ...init });
  const text = await res.text();
  try {
    return { status: res.status, type: res.headers.get("content-type"), body: JSON.parse(text) };
  } catch {
    throw new Error(`${op}: HTTP ${res.status}, not JSON: ${text.slice(0, 500)}\n${edge.output()}`);
  }
};
const table = `${origin.url}/tables/json/`;
const instants = (t) => (t.active ?? []).map((i) => ({ timestamp: i.requested, action: i.action, state: i.state, completion_time: i.completed, file: i.file }));
const wantInstants = JSON.parse(gold("timeline.json")).active;

await test("timeline equals Hudi's", async () => {
  origin.log.length = 0;
  const { status, type, body } = await ask("timeline", { table });
  same(status, 200, JSON.stringify(body));
  ok(/^application\/json/.test(type), `content type ${type}`);
  same(instants(body), wantInstants, "instants");
});
const asked = origin.log.length;
await test("timeline takes few subrequests", async () => {
  // A worker's plan may allow as few as 50; each is also a round trip.
  console.log(`  ${asked} subrequests: ${origin.log.map((r) => `${r.method} ${r.path.replace("/tables/json/", "")} ${r.range}`.trim()).join(", ")}`);
  ok(asked >= 2 && asked <= 8, `${asked} requests`);
});
await test("timeline over HTML listings equals Hudi's", async () => {
  const { status, body } = await ask("timeline", { table: `${origin.url}/tables/html` });
  same(status, 200, JSON.stringify(body));
  same(instants(body), wantInstants, "instants");
});
await test("overview", async () => {
  const { status, body } = await ask("overview", { table });
  same(status, 200, JSON.stringify(body));
  same([body.kind, body.type, body.base_format, body.timeline_layout], ["table", "MERGE_ON_READ", "PARQUET", 2], "overview");
});
await test("config equals Hudi's", async () => {
  const { status, body } = await ask("config", { table });
  same(status, 200, JSON.stringify(body));
  const want = JSON.parse(gold("config.json"));
  for (const [k, v] of Object.entries(want.properties ?? want)) if (typeof v === "string") same(body.properties[k], v, k);
});
const wantRows = gold("snapshot.jsonl").trim().split("\n").map((l) => JSON.parse(l));
await test("partitions and files", async () => {
  const p = await ask("partitions", { table });
  same(p.status, 200, JSON.stringify(p.body));
  same([...new Set(wantRows.map((r) => r._hoodie_partition_path))].every((x) => p.body.paths.includes(x)), true, `paths ${p.body.paths}`);
  const f = await ask("files", { table, partitions: p.body.paths[0] });
  same(f.status, 200, JSON.stringify(f.body));
  ok(f.body.partitions.length === 1 && f.body.partitions[0].groups.length > 0, JSON.stringify(f.body));
  const log = f.body.partitions[0].groups.flatMap((g) => g.slices).flatMap((s) => s.logs)[0];
  ok(log, "no log file");
  const b = await ask("blocks", { table, file: log.path });
  same(b.status, 200, JSON.stringify(b.body));
  ok(b.body.files[0].blocks.length > 0, JSON.stringify(b.body));
});
await test("rows equal Hudi's", async () => {
  origin.log.length = 0;
  const { status, body } = await ask("rows", { table, limit: "1000" });
  same(status, 200, JSON.stringify(body));
  const sorted = (rows) => rows.map((r) => JSON.stringify(Object.entries(r).sort(([x], [y]) => (x < y ? -1 : 1)))).sort();
  same(sorted(body.rows.map((r) => Object.fromEntries(r.map((v, i) => [body.columns[i].name, v])))), sorted(wantRows), "rows");
  console.log(`  ${body.rows.length} rows, ${origin.log.length} subrequests`);
});
await test("requests at the same time", async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => ask("timeline", { table })));
  for (const a of all) same(instants(a.body), wantInstants, "instants");
});
await test("POST with JSON", async () => {
  const { status, body } = await ask("timeline", {}, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ table }) });
  same(status, 200, JSON.stringify(body));
  same(instants(body), wantInstants, "instants");
});
await test("a missing table is a fault", async () => {
  const { status, body } = await ask("overview", { table: `${origin.url}/tables/json/city=sf/` });
  ok(status >= 400 && status < 500 && body.fault?.message, `${status} ${JSON.stringify(body)}`);
});
await test("an unknown request is a fault", async () => {
  const { status, body } = await ask("nosuch", { table });
  ok(status === 404 && body.fault, `${status} ${JSON.stringify(body)}`);
});

const port = new URL(origin.url).port;
for (const [what, location] of [
  ["another origin", `${foreign.url}/`],
  ["another path", `${origin.url}/private/`],
  ["a path that only begins alike", `${origin.url}/tablesandmore/`],
  ["a path out of the folder", `${origin.url}/tables/../private/`],
  ["an encoded path out of the folder", `${origin.url}/tables/%2e%2e/private/`],
  ["an encoded slash", `${origin.url}/tables/..%2fprivate/`],
  ["a backslash", `${origin.url}/tables/..\\private/`],
  ["credentials", `http://user:secret@127.0.0.1:${port}/tables/json/`],
  ["the origin as user name", `http://127.0.0.1:${port}@localhost:${new URL(foreign.url).port}/tables/`],
  ["another scheme", `https://127.0.0.1:${port}/tables/json/`],
  ["another spelling of the host", `http://localhost:${port}/tables/json/`],
  ["a file URL", "file:///tables/json/"],
  ["a path", "/tables/json/"],
  ["a link-local address", "http://169.254.169.254/latest/meta-data/"],
]) {
  await test(`refuses ${what}`, async () => {
    origin.log.length = foreign.log.length = 0;
    const { status, body } = await ask("timeline", { table: location });
    same(status, 403, JSON.stringify(body));
    ok(body.fault?.kind === "forbidden", JSON.stringify(body));
    same([origin.log.length, foreign.log.length], [0, 0], "requests made");
    ok(!JSON.stringify(body).includes("secret"), "the fault tells the password");
  });
}
await test("does not follow a redirect to another origin", async () => {
  foreign.log.length = 0;
  const { status, body } = await ask("timeline", { table: `${origin.url}/tables/moved/` });
  ok(status >= 400 && body.fault, `${status} ${JSON.stringify(body)}`);
  same(foreign.log.length, 0, "requests to the other origin");
});

for (const file of ["../../private/.hoodie/hoodie.properties", "/etc/passwd", "..%2f..%2fprivate/.hoodie/hoodie.properties", "x/../../../private/y"]) {
  await test(`does not leave the table for the file ${file}`, async () => {
    origin.log.length = 0;
    const { status, body } = await ask("bytes", { table, file, offset: "0", length: "10" });
    ok(status >= 400 && status < 500 && body.fault, `${status} ${JSON.stringify(body)}`);
    ok(!origin.log.some((r) => !r.path.startsWith("/tables/json/")), JSON.stringify(origin.log));
  });
}

const few = await start(`${origin.url}/tables/`, { SUBREQUESTS: "5" });
await test("stops at the limit of subrequests", async () => {
  origin.log.length = 0;
  const res = await fetch(`${few.url}/api/rows?${new URLSearchParams({ table })}`);
  const { fault } = await res.json();
  same([res.status, fault?.kind], [413, "limit"], "answer");
  same(origin.log.length, 5, "requests made");
});
await few.stop();
const wrong = await start("no URL");
await test("says that a setting is wrong", async () => {
  const res = await fetch(`${wrong.url}/api/timeline?${new URLSearchParams({ table })}`);
  const { fault } = await res.json();
  ok(res.status === 500 && /ALLOWED_ORIGINS/.test(fault.message), JSON.stringify(fault));
});
await wrong.stop();

const closed = await start(undefined);
await test("opens nothing without ALLOWED_ORIGINS", async () => {
  const res = await fetch(`${closed.url}/api/timeline?${new URLSearchParams({ table })}`);
  same([res.status, (await res.json()).fault.kind], [403, "forbidden"], "answer");
});

await Promise.all([edge.stop(), closed.stop()]);
origin.close();
foreign.close();
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
