// Merging within a memory budget in a real browser: a log whose merged map is more than 20
// times the budget goes to IndexedDB, gives the same rows, and leaves nothing behind; neither
// when the quota is refused nor when the tab crashes.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { start } from "./harness.mjs";
import { serve } from "./server.mjs";

const MiB = 1 << 20;
const budget = 5 * MiB;
// What the engine takes beside the budget for merging: bytes of files (64 MiB and requests in
// flight), rendered rows for scrolling back (16 MiB), a part of a block, the program itself.
const besides = 112 * MiB;
// And the garbage that may lie about between two collections.
const garbage = 128 * MiB;

const keys = 110_000;
const textBytes = 1000;

const schema = JSON.stringify({
  type: "record",
  name: "r",
  fields: [
    ...["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"].map((name) => ({ name, type: ["null", "string"], default: null })),
    { name: "k", type: ["null", "string"], default: null },
    { name: "ts", type: ["null", "long"], default: null },
    { name: "text", type: ["null", "string"], default: null },
  ],
});

// Random numbers that are the same in every run.
let state = 1;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state;
};

// A part of random text, so that nothing compresses well.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const noise = Buffer.alloc(1 * MiB);
for (let i = 0; i < noise.length; i++) noise[i] = alphabet.charCodeAt(random() >>> 26);
const text = () => {
  const a = random() % (noise.length - textBytes);
  const b = random() % (noise.length - textBytes);
  return noise.toString("latin1", a, a + textBytes / 2) + noise.toString("latin1", b, b + textBytes / 2);
};

const u32 = (n) => {
  const b = Buffer.alloc(4);
  b.writeUInt32BE(n);
  return b;
};
const u64 = (n) => {
  const b = Buffer.alloc(8);
  b.writeBigUInt64BE(BigInt(n));
  return b;
};
const long = (n) => {
  let x = n * 2;
  const out = [];
  for (; x > 127; x = Math.floor(x / 128)) out.push((x % 128) | 128);
  out.push(x);
  return Buffer.from(out);
};
const optional = (b) => Buffer.concat([Buffer.from([2]), b]);
const string = (s) => Buffer.concat([long(Buffer.byteLength(s)), Buffer.from(s)]);

// block is an Avro data block, as Hudi writes them.
function block(instant, records) {
  const header = [u32(2)];
  for (const [key, value] of [[0, instant], [2, schema]]) header.push(u32(key), u32(Buffer.byteLength(value)), Buffer.from(value));
  const content = [u32(3), u32(records.length)];
  for (const r of records) content.push(u32(r.length), r);
  const data = Buffer.concat(content);
  const body = Buffer.concat([u32(1), u32(3), ...header, u64(data.length), data, u32(0)]);
  return Buffer.concat([Buffer.from("#HUDI#"), u64(body.length + 8), body, u64(body.length + 14)]);
}

// fnv is what the page computes, too: rows are compared by count and by the sum of their hashes.
const fnv = `(s) => {
  let a = 0x811c9dc5;
  for (let i = 0; i < s.length; i++) a = Math.imul(a ^ s.charCodeAt(i), 0x01000193);
  return a >>> 0;
}`;
const hash = eval(fnv);

// generate writes the table and returns how many rows it has and their sum: a third of the keys
// are there twice, the second version winning for one half of them; some of them are deleted.
function generate(dir) {
  fs.mkdirSync(path.join(dir, ".hoodie"), { recursive: true });
  fs.writeFileSync(
    path.join(dir, ".hoodie/hoodie.properties"),
    ["hoodie.table.name=spill", "hoodie.table.type=MERGE_ON_READ", "hoodie.table.version=6", "hoodie.timeline.layout.version=1", "hoodie.table.precombine.field=ts",
      "hoodie.table.recordkey.fields=k", "hoodie.populate.meta.fields=true", "hoodie.table.base.file.format=PARQUET",
      "hoodie.compaction.payload.class=org.apache.hudi.common.model.DefaultHoodieRecordPayload", ""].join("\n")
  );
  fs.writeFileSync(path.join(dir, ".hoodie_partition_metadata"), "commitTime=20260101000000001\npartitionDepth=0\n");
  const rows = new Map();
  const instants = ["20260101000000001", "20260101000000002"];
  for (const [n, instant] of instants.entries()) {
    const name = `.f1-0_${instants[0]}.log.${n + 1}_0-1-1`;
    const out = fs.openSync(path.join(dir, name), "w");
    const step = n === 0 ? 1 : 3;
    let list = [];
    const flush = () => {
      fs.writeSync(out, block(instant, list));
      list = [];
    };
    for (let i = 0; i < keys; i += step) {
      const k = `key-${String(i).padStart(8, "0")}`;
      const ts = n === 0 ? 100 : i % 2 === 0 ? 101 : 99;
      const t = text();
      list.push(Buffer.concat([instant, `${instant}_${i}`, k, "", "f1-0"].map((s) => optional(string(s))).concat(optional(string(k)), optional(long(ts)), optional(string(t)))));
      if (n === 0 || ts > 100) rows.set(k, hash(`${instant}|${k}|${ts}|${t}`));
      if (list.length === 2000) flush();
    }
    if (list.length) flush();
    fs.closeSync(out);
    const stat = { fileId: "f1-0", path: name, prevCommit: "null", partitionPath: "", numWrites: keys, totalLogBlocks: 1, baseFile: "", logFiles: [name] };
    const meta = JSON.stringify({ partitionToWriteStats: { "": [stat] }, compacted: false, extraMetadata: { schema }, operationType: "UPSERT" });
    fs.writeFileSync(path.join(dir, ".hoodie", instant + ".deltacommit"), meta);
    fs.writeFileSync(path.join(dir, ".hoodie", instant + ".deltacommit.inflight"), "");
    fs.writeFileSync(path.join(dir, ".hoodie", instant + ".deltacommit.requested"), "");
  }
  let sum = 0;
  for (const h of rows.values()) sum = (sum + h) % 2 ** 48;
  return { rows: rows.size, sum };
}

let env, files, want, table;
before(async () => {
  env = await start();
  const dir = path.join(env.temp, "spill", "table");
  want = generate(dir);
  files = await serve(path.dirname(dir), { cors: true });
  table = `${files.url}/table/`;
});
after(async () => {
  await files?.close();
  await env?.stop();
});

// bare opens a page of the same origin that runs no engine of its own, in a context of its own
// if none is given.
async function bare(context) {
  context ??= await env.browser.newContext();
  const p = await context.newPage();
  await p.goto(env.site.url + "/hudiscope.css");
  return p;
}

// engine starts an engine in the page, as window.engine: ask(op, args) gives its answer or throws its fault.
const engine = (p, memory) =>
  p.evaluate(async (memory) => {
    const worker = new Worker(`/engine.js?memory=${memory}`);
    const waiting = new Map();
    let ready;
    const started = new Promise((done) => (ready = done));
    worker.onmessage = ({ data }) => {
      if (data.ready) ready();
      const w = waiting.get(data.id);
      if (data.dead) for (const x of waiting.values()) x.bad(new Error("dead: " + data.dead));
      if (!w) return;
      if (data.answer) w.good(JSON.parse(data.answer));
      if (data.fault) w.bad(Object.assign(new Error(data.fault), { fault: JSON.parse(data.fault) }));
    };
    let id = 0;
    await started;
    window.engine = {
      worker,
      ask: (op, args) =>
        new Promise((good, bad) => {
          waiting.set(++id, { good, bad });
          worker.postMessage({ id, op, args: JSON.stringify(args ?? {}) });
        }),
    };
  }, memory);

// read reads rows by pages, all of them or up to a number, and sums them up.
const read = (p, location, upTo = Infinity) =>
  p.evaluate(
    async ({ location, upTo, fnv }) => {
      const hash = eval(fnv);
      const out = { rows: 0, sum: 0, live: 0 };
      for (let page = 0; ; page++) {
        let r;
        try {
          r = await engine.ask("rows", { table: location, offset: out.rows, limit: 1000 });
        } catch (e) {
          return { ...out, fault: e.fault ?? { message: String(e) } };
        }
        const at = Object.fromEntries(r.columns.map((c, i) => [c.name, i]));
        for (const row of r.rows) {
          out.sum = (out.sum + hash([row[at._hoodie_commit_time], row[at.k], row[at.ts], row[at.text]].join("|"))) % 2 ** 48;
        }
        out.rows += r.rows.length;
        if (page % 10 === 0) out.live = Math.max(out.live, (await engine.ask("engine.memory")).Live);
        if (r.rows.length === 0 || (r.totalKnown && out.rows >= r.total) || out.rows >= upTo) break;
      }
      return { ...out, ...(await engine.ask("engine.memory")) };
    },
    { location, upTo: upTo === Infinity ? 1e9 : upTo, fnv }
  );

const stores = (p) => p.evaluate(async () => (await indexedDB.databases()).map((d) => d.name).filter((n) => n.startsWith("hudiscope-merge-")));

test("a merged map of more than 20 times the budget: the same rows, memory within bounds, nothing left", { timeout: 900_000 }, async (t) => {
  const p = await bare();
  await engine(p, 2 ** 30);
  const all = await read(p, table);
  assert.ok(!all.fault, JSON.stringify(all.fault));
  assert.deepEqual({ rows: all.rows, sum: all.sum }, want, "rows merged in memory");
  assert.deepEqual(await stores(p), []);
  await p.context().close();

  const q = await bare();
  await engine(q, budget);
  const part = read(q, table, 1);
  const first = await part;
  assert.ok(first.rows > 0 && !first.fault, JSON.stringify(first.fault));
  assert.equal((await stores(q)).length, 1, "the store is there while rows are read");
  const got = await read(q, table);
  assert.ok(!got.fault, JSON.stringify(got.fault));
  assert.deepEqual({ rows: got.rows, sum: got.sum }, want, "rows merged by way of IndexedDB");
  assert.deepEqual(await stores(q), [], "the store is removed at the end");
  const mb = (n) => (n / MiB).toFixed(1);
  t.diagnostic(`${got.rows} rows; in memory: live ${mb(all.live)} MiB, taken ${mb(all.System)}; budget ${mb(budget)} MiB: live ${mb(got.live)}, taken ${mb(got.System)}`);
  assert.equal(got.Merge, budget);
  assert.ok(all.live - got.live > 18 * budget, `the map is not 20 times the budget: ${mb(all.live)} against ${mb(got.live)} MiB`);
  assert.ok(keys * textBytes > 20 * budget);
  assert.ok(got.live <= budget + besides, `${mb(got.live)} MiB in use`);
  assert.ok(got.System <= budget + besides + garbage, `${mb(got.System)} MiB taken from the browser`);
  await q.context().close();
});

test("a quota that is refused ends the rows with a fault, and rows come when there is room", { timeout: 600_000 }, async () => {
  const p = await bare();
  const cdp = await p.context().newCDPSession(p);
  await cdp.send("Storage.overrideQuotaForOrigin", { origin: env.site.url, quotaSize: 12 * MiB });
  await engine(p, budget);
  const got = await read(p, table);
  assert.ok(got.fault, `${got.rows} rows came`);
  assert.equal(got.fault.kind, "limit", JSON.stringify(got.fault));
  assert.match(got.fault.message, /do not fit into memory.*IndexedDB.*no room.*Quota/is);
  assert.match(got.fault.try, /Make room.*one partition or file group/s);
  assert.ok(got.rows < want.rows);
  assert.deepEqual(await stores(p), [], "a store that was refused is removed");
  await cdp.send("Storage.overrideQuotaForOrigin", { origin: env.site.url });
  const again = await read(p, table, 3000);
  assert.ok(!again.fault && again.rows >= 3000, JSON.stringify(again.fault));
  await p.context().close();
});

test("what a crashed tab left is removed by the next engine, and what another tab uses is not", { timeout: 600_000 }, async () => {
  const p = await bare();
  const context = p.context();
  const other = await bare(context);
  await engine(other, budget);
  assert.ok((await read(other, table, 1)).rows > 0);
  const [used] = await stores(other);
  await engine(p, budget);
  assert.ok((await read(p, table, 1)).rows > 0);
  assert.equal((await stores(other)).length, 2);
  const crashed = new Promise((done) => p.on("crash", done));
  const cdp = await context.newCDPSession(p);
  cdp.send("Page.crash").catch(() => {});
  await crashed;
  await new Promise((done) => setTimeout(done, 500));
  const left = await stores(other);
  assert.equal(left.length, 2, "a browser removes nothing by itself");
  const next = await bare(context);
  await engine(next, budget);
  for (let i = 0; i < 100 && (await stores(next)).length > 1; i++) await new Promise((done) => setTimeout(done, 100));
  assert.deepEqual(await stores(next), [used]);
  // The other tab goes on where it was.
  const rest = await read(other, table, 20_000);
  assert.ok(!rest.fault && rest.rows >= 20_000, JSON.stringify(rest.fault));
  await other.close();
  const last = await bare(context);
  await engine(last, budget);
  for (let i = 0; i < 100 && (await stores(last)).length > 0; i++) await new Promise((done) => setTimeout(done, 100));
  assert.deepEqual(await stores(last), [], "what a closed tab left is removed, too");
  await context.close();
});
