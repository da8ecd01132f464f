// Slices read side by side by Workers of the engine: the answers of one that reads slice by slice, whatever is
// asked for and wherever the table lies; cancelling reaches all; a Worker that dies is a fault that is told.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { entries, start, tables } from "./harness.mjs";
import { serve } from "./server.mjs";

let env, files;
before(async () => {
  env = await start();
  files = await serve(tables, { cors: true });
});
after(async () => {
  await files?.close();
  await env?.stop();
});

// bare opens a page of the same origin that runs no engine of its own.
async function bare() {
  const p = await (await env.browser.newContext()).newPage();
  await p.goto(env.site.url + "/hudiscope.css");
  return p;
}

// engine starts an engine in the page, as window[name]: ask(op, args) gives its answer or throws its fault. How many
// Workers it has started is in started().
const engine = (p, name, query) =>
  p.evaluate(async ({ name, query }) => {
    const worker = new Worker("/engine.js?" + query);
    const waiting = new Map();
    const all = { progress: 0 };
    let ready;
    const started = new Promise((done) => (ready = done));
    worker.onmessage = ({ data }) => {
      if (data.ready) ready();
      const w = waiting.get(data.id);
      if (data.dead) for (const x of waiting.values()) x.bad(new Error("dead: " + data.dead));
      if (data.progress) w?.progress?.(JSON.parse(data.progress));
      if (!w || data.progress) return;
      waiting.delete(data.id);
      if (data.answer) w.good(JSON.parse(data.answer));
      if (data.fault) w.bad(Object.assign(new Error(data.fault), { fault: JSON.parse(data.fault) }));
    };
    let id = 0;
    await started;
    window[name] = {
      worker,
      all,
      cancel: () => worker.postMessage({ cancel: id }),
      ask: (op, args, progress) =>
        new Promise((good, bad) => {
          waiting.set(++id, { good, bad, progress });
          worker.postMessage({ id, op, args: JSON.stringify(args ?? {}) });
        }),
    };
  }, { name, query });

// lanes are the Workers of engines that read slices.
const lanes = (p) => p.workers().filter((w) => /[?&]lane=/.test(w.url()));

// asked asks an engine everything about a table that reads whole tables, and returns the answers by what was asked.
const asked = (p, name, location, columns) =>
  p.evaluate(
    async ({ name, location, columns }) => {
      const e = window[name];
      const out = {};
      const note = async (what, op, args) => {
        try {
          out[what] = JSON.stringify(await e.ask(op, { table: location, ...args }));
        } catch (err) {
          out[what] = err.fault ? JSON.stringify(err.fault) : String(err);
        }
      };
      await note("statistics", "columnstats", {});
      for (const [i, c] of columns.entries()) {
        if (i % 3 && i < columns.length - 1) continue;
        await note("order by " + c, "rows", { order: [{ column: c, desc: i % 2 === 0 }], limit: 1000 });
        await note("order and limits by " + c, "rows", { order: [{ column: c }], offset: 3, limit: 5, columns: [columns[0], c] });
        await note("statistics where " + c, "columnstats", { where: "`" + c + "` is not null", columns: [c] });
      }
      for (const type of ["snapshot", "read_optimized"]) await note(type, "rows", { options: { "hoodie.datasource.query.type": type }, limit: 1000 });
      for (const format of ["jsonl", "csv", "parquet"]) {
        for (const limits of [{}, { offset: 2, limit: 7 }]) {
          const parts = [];
          for (let part = 0; ; part++) {
            let a;
            try {
              a = await e.ask("export", { table: location, format, id: format, part, ...limits });
            } catch (err) {
              parts.push(err.fault ?? String(err));
              break;
            }
            parts.push(a);
            if (a.done) break;
          }
          out[format + JSON.stringify(limits)] = JSON.stringify(parts);
        }
      }
      await note("count", "rows", { offset: 1e9, limit: 1 });
      await note("close", "close", {});
      return out;
    },
    { name, location, columns }
  );

test("with a pool of Workers and without: the same answers", { timeout: 900_000 }, async (t) => {
  const p = await bare();
  await engine(p, "one", "lanes=1");
  await engine(p, "pool", "lanes=2&divided=1");
  let answers = 0;
  const names = ["mor_trips_h120", "mor_rollback_h0150", "cow_trips_h102", "all_types_mor_h120", "mor_corrupt_middle_h0150", "log_block_hfile_h0150", "part_hive_two_level_h120",
    "schema_on_read_mor_h120", "bootstrap_metadata_only_mor_h120", "orc_base_mor_h120", "partial_update_h120", "cdc_data_before_cow_h0150"];
  for (const n of names) {
    const location = `${files.url}/${n}.zip`;
    const columns = await p.evaluate((location) => one.ask("rows", { table: location, limit: 1 }).then((r) => r.columns.map((c) => c.name), () => []), location);
    const want = await asked(p, "one", location, columns);
    const got = await asked(p, "pool", location, columns);
    for (const what of Object.keys(want)) {
      answers++;
      assert.equal(got[what].slice(0, 3000), want[what].slice(0, 3000), `${n}: ${what}`);
      assert.ok(got[what] === want[what], `${n}: ${what}`);
    }
  }
  assert.equal(lanes(p).length, 2, "two Workers were started, once");
  t.diagnostic(`${answers} answers about ${names.length} tables`);
  await p.context().close();
});

// A table that is too large for the repository; it is in the collection that HUDISCOPE_TESTDATA names.
const large = "perf_cow";
const shared = process.env.HUDISCOPE_TESTDATA && path.join(process.env.HUDISCOPE_TESTDATA, "tables");
const needsLarge = { skip: shared && fs.existsSync(path.join(shared, large + ".zip")) ? false : `${large} is not among the test tables`, timeout: 600_000 };

test("cancelling reaches all Workers, and a table that is read next has them free", { timeout: 300_000 }, async () => {
  const p = await bare();
  await engine(p, "pool", "lanes=2&divided=1");
  const location = `${files.url}/mor_trips_h120.zip`;
  const r = await p.evaluate(async (location) => {
    const first = pool.ask("columnstats", { table: location });
    const ended = first.then(() => "answered", (e) => e.fault?.kind ?? String(e));
    pool.cancel();
    const how = await ended;
    const again = await pool.ask("columnstats", { table: location });
    return { how, rows: again.rows };
  }, location);
  assert.equal(r.how, "cancelled");
  assert.equal(r.rows, 24);
  await p.context().close();
});

test("a Worker that dies is a fault that is told, and the next request has another", { timeout: 300_000 }, async () => {
  const p = await bare();
  await engine(p, "pool", "lanes=2&divided=1");
  const location = `${files.url}/mor_trips_h120.zip`;
  const ask = (op, args) => p.evaluate(({ op, args }) => pool.ask(op, args).then((a) => ({ a }), (e) => ({ fault: e.fault ?? String(e) })), { op, args });
  const before = await ask("columnstats", { table: location });
  // Their program ends with the next thing that they are asked for.
  for (const w of lanes(p)) {
    await w.evaluate(() => {
      const receive = self.engineReceive;
      self.engineReceive = (m) => (m.part || m.facts ? self.postMessage({ dead: "panic: it was told to" }) : receive(m));
    });
  }
  // One that dies before the other was asked for anything leaves that one to the next request.
  let got = await ask("columnstats", { table: location });
  assert.ok(got.fault, "a Worker has died");
  for (let died = 0; got.fault; died++) {
    assert.match(got.fault.message ?? "", /A Worker that read file slices .* stopped unexpectedly: panic: it was told to/);
    assert.ok(got.fault.try, "it says what to do");
    assert.ok(died < 2, "each of the two has died once");
    got = await ask("columnstats", { table: location });
  }
  assert.deepEqual(got, before);
  await p.context().close();
});

test("dropped files are read by the Workers, too", { timeout: 300_000 }, async () => {
  const p = await bare();
  const list = [...entries(path.join(tables, "mor_trips_h120.zip"))].filter((e) => !e.name.endsWith("/")).map((e) => ({ path: e.name, data: e.data.toString("base64") }));
  await engine(p, "one", "lanes=1");
  await engine(p, "pool", "lanes=2&divided=1");
  const got = await p.evaluate(async (list) => {
    const files = list.map((f) => ({ path: f.path, file: new File([Uint8Array.from(atob(f.data), (c) => c.charCodeAt(0))], f.path.split("/").pop()) }));
    const out = [];
    for (const e of [one, pool]) {
      e.worker.postMessage({ drop: "drop:1", label: "a table", files });
      out.push(await e.ask("columnstats", { table: "drop:1" }), await e.ask("export", { table: "drop:1", format: "csv", id: "x", part: 0 }));
    }
    return out.map((x) => JSON.stringify(x));
  }, list);
  assert.equal(got[2], got[0]);
  assert.equal(got[3], got[1]);
  assert.equal(lanes(p).length, 2);
  await p.context().close();
});

test("a large table: rows, a condition and an export, with a pool and without", needsLarge, async (t) => {
  const big = await serve(shared, { cors: true });
  const p = await bare();
  try {
    await engine(p, "one", "lanes=1");
    await engine(p, "pool", "lanes=2");
    const location = `${big.url}/${large}.zip`;
    const took = { one: [], pool: [] };
    const answers = { one: [], pool: [] };
    for (let run = 0; run < 3; run++) {
      for (const name of ["one", "pool"]) {
        const r = await p.evaluate(
          async ({ name, location }) => {
            const e = window[name];
            const at = performance.now();
            const a = [await e.ask("columnstats", { table: location, where: "_hoodie_record_key like '%777%'", columns: ["_hoodie_record_key"] }), await e.ask("rows", { table: location, offset: 1e9, limit: 1 })];
            const ms = performance.now() - at;
            await e.ask("close", { table: location });
            return { ms, answer: JSON.stringify(a) };
          },
          { name, location }
        );
        took[name].push(r.ms);
        answers[name].push(r.answer);
      }
    }
    for (const a of [...answers.one, ...answers.pool]) assert.equal(a, answers.one[0]);
    const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
    t.diagnostic(`one Worker ${Math.round(median(took.one))} ms, two ${Math.round(median(took.pool))} ms: ${(median(took.one) / median(took.pool)).toFixed(2)} times as fast`);
  } finally {
    await p.context().close();
    await big.close();
  }
});
