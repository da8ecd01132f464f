// The edge worker on the real workerd with a bucket bound to it: the local R2 of Miniflare, which
// keeps objects in files. MINIFLARE is the folder that Miniflare is installed in.
import { readFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { unzip } from "./origin.mjs";
import { counts, root, same, test } from "./harness.mjs";

const installed = process.env.MINIFLARE || path.join(root, ".cache/servers");
const { Miniflare } = createRequire(path.join(installed, "package.json"))("miniflare");
const gold = (name, file) => readFileSync(path.join(root, "testdata/gold", name, file), "utf8");
const tables = ["cow_trips_h102", "mor_trips_h120", "mor_compacted_h0150", "part_url_encoded_h120"];

const built = path.join(root, "bin/edge");
const start = (bindings) =>
  new Miniflare({
    host: "127.0.0.1",
    port: 0,
    modulesRoot: built,
    modules: [
      { type: "ESModule", path: path.join(built, "worker.mjs") },
      { type: "ESModule", path: path.join(built, "runtime.mjs") },
      { type: "ESModule", path: path.join(built, "wasm_exec.js") },
      { type: "CompiledWasm", path: path.join(built, "app.wasm") },
    ],
    compatibilityDate: "2026-01-01",
    r2Buckets: ["LAKE", "OTHER"],
    bindings: { SUBREQUESTS: "200", ...bindings },
  });
const mf = start({ R2_BUCKETS: "LAKE OTHER/open" });
const url = await mf.ready;
const ask = async (op, params, at = url) => {
  // A connection for each request: the server closes idle ones whenever it likes.
  const [status, text] = await new Promise((done, fail) => {
    http
      .get(new URL(`/api/${op}?${new URLSearchParams(params)}`, at), { agent: false, timeout: 60000 }, (res) => {
        let text = "";
        res.setEncoding("utf8");
        res.on("data", (d) => (text += d)).on("end", () => done([res.statusCode, text])).on("error", fail);
      })
      .on("timeout", () => fail(new Error("no answer within a minute")))
      .on("error", fail);
  });
  try {
    return { status, body: JSON.parse(text) };
  } catch {
    throw new Error(`${op}: HTTP ${status}, not JSON: ${text.slice(0, 500)}`);
  }
};

const lake = await mf.getR2Bucket("LAKE");
const other = await mf.getR2Bucket("OTHER");
const odd = ["a b", "a+b", "50%", "%2F", "ü日本語", "a=b,c", "q?x", "#1", "a&b", "it's", '"q"'];
for (const name of tables) {
  for (const [p, data] of unzip(readFileSync(path.join(root, "testdata/tables", name + ".zip")))) {
    const bytes = new Uint8Array(data); // no Buffer
    await lake.put(`tables/${p}`, bytes);
    if (name === "mor_trips_h120") {
      await other.put(`open/${p}`, bytes);
      await other.put(`closed/${p}`, bytes);
    }
  }
}

const sorted = (rows) => rows.map((r) => JSON.stringify(Object.entries(r).sort(([x], [y]) => (x < y ? -1 : 1)))).sort();
const rowsOf = (body) => body.rows.map((r) => Object.fromEntries(r.map((v, i) => [body.columns[i].name, v])));
const goldRows = (name) => gold(name, "snapshot.jsonl").trim().split("\n").map((l) => JSON.parse(l));
for (const name of tables) {
  const table = `r2://LAKE/tables/${name}`;
  await test(`timeline of ${name} equals Hudi's`, async () => {
    const { status, body } = await ask("timeline", { table });
    same(status, 200, JSON.stringify(body));
    const want = JSON.parse(gold(name, "timeline.json")).active;
    same(body.active.map((i) => [i.requested, i.action, i.state, i.file]), want.map((i) => [i.timestamp, i.action, i.state, i.file]), "instants");
  });
  await test(`slices of ${name} equal Hudi's`, async () => {
    const { status, body } = await ask("slices", { table });
    same(status, 200, JSON.stringify(body));
    const want = JSON.parse(gold(name, "slices.json"));
    same(Object.keys(body.partitions).sort(), Object.keys(want.partitions).sort(), "partitions");
    for (const p of Object.keys(want.partitions)) same(body.partitions[p].latest_merged_file_slices_before_or_on?.length, want.partitions[p].latest_merged_file_slices_before_or_on?.length, p);
  });
  await test(`rows of ${name} equal Hudi's`, async () => {
    const { status, body } = await ask("rows", { table, limit: "1000" });
    same(status, 200, JSON.stringify(body));
    same(sorted(rowsOf(body)), sorted(goldRows(name)), "rows");
  });
}

await test("more than one page of keys", async () => {
  for (let i = 0; i < 2100; i += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, k) => lake.put(`tables/mor_trips_h120/.hoodie/.temp/${odd[k % odd.length]}/${String(i + k).padStart(5, "0")}`, "x")));
  }
  const { status, body } = await ask("rows", { table: "r2://LAKE/tables/mor_trips_h120", limit: "1000" });
  same(status, 200, JSON.stringify(body));
  same(sorted(rowsOf(body)), sorted(goldRows("mor_trips_h120")), "rows");
});
await test("a prefix that may be read", async () => {
  const { status, body } = await ask("rows", { table: "r2://OTHER/open/mor_trips_h120", limit: "1000" });
  same(status, 200, JSON.stringify(body));
  same(sorted(rowsOf(body)), sorted(goldRows("mor_trips_h120")), "rows");
});
for (const table of ["r2://OTHER/closed/mor_trips_h120", "r2://OTHER", "r2://OTHER/openmore", "r2://R2_BUCKETS/x", "r2://NONE/x", "r2:///x"]) {
  await test(`refuses ${table}`, async () => {
    const { status, body } = await ask("timeline", { table });
    same([status, body.fault?.kind], [403, "forbidden"], JSON.stringify(body));
  });
}
await test("does not leave the prefix", async () => {
  const { status, body } = await ask("timeline", { table: "r2://OTHER/open/../closed/mor_trips_h120" });
  if (status < 400 || !body.fault) throw new Error(JSON.stringify(body));
});
await test("a prefix without keys is no table", async () => {
  const { status, body } = await ask("timeline", { table: "r2://LAKE/tables/absent" });
  if (status < 400 || status >= 500 || !body.fault) throw new Error(`${status} ${JSON.stringify(body)}`);
});
await test("a file that is gone is named", async () => {
  const file = JSON.stringify((await ask("files", { table: "r2://OTHER/open/mor_trips_h120" })).body).match(/"path":"([^"]+\.parquet)"/)[1];
  await other.delete(`open/mor_trips_h120/${file}`);
  const { body } = await ask("bytes", { table: "r2://OTHER/open/mor_trips_h120", file, offset: "0", length: "10" });
  if (!body.fault?.message.includes(file) && body.fault?.file !== file) throw new Error(JSON.stringify(body));
});
await mf.dispose();

const closed = start({});
const at = await closed.ready;
await test("reads no bucket without R2_BUCKETS", async () => {
  const { status, body } = await ask("timeline", { table: "r2://LAKE/tables/mor_trips_h120" }, at);
  same([status, body.fault?.kind], [403, "forbidden"], JSON.stringify(body));
});
await closed.dispose();
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);
