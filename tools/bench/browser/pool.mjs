// Times whole answers of the engine with two Workers that read file slices, against one engine alone, in turn in one page
// of Chromium. Prints JSON with a table of medians.
//
//   node pool.mjs FOLDER TIMES      FOLDER has perf_cow.zip and perf_mor.zip
import path from "node:path";
import { fileURLToPath } from "node:url";
import { threads } from "../../../web/e2e/processes.mjs";
import { serve } from "../../../web/e2e/server.mjs";
import { launch, machine, median } from "./chrome.mjs";

const [folder, times] = [process.argv[2], Number(process.argv[3] || 5)];
const dist = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../dist");
const site = await serve(dist);
const files = await serve(folder, { cors: true });
const browser = await launch();
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  await page.goto(site.url + "/hudiscope.css");
  for (const lanes of [1, 2]) {
    await page.evaluate(async (lanes) => {
      const worker = new Worker("/engine.js?lanes=" + lanes);
      const waiting = new Map();
      let id = 0;
      await new Promise((started) => {
        worker.onmessage = ({ data }) => {
          if (data.ready) started();
          const w = waiting.get(data.id);
          if (data.dead) for (const x of waiting.values()) x.bad(new Error(data.dead));
          if (!w || data.progress) return;
          waiting.delete(data.id);
          if (data.answer) w.good(JSON.parse(data.answer));
          if (data.fault) w.bad(new Error(data.fault));
        };
      });
      window["ask" + lanes] = (op, args) =>
        new Promise((good, bad) => {
          waiting.set(++id, { good, bad });
          worker.postMessage({ id, op, args: JSON.stringify(args) });
        });
    }, lanes);
  }
  const once = async (lanes, op, args) => {
    const before = threads();
    const begun = performance.now();
    const rows = await page.evaluate(
      async ({ lanes, op, args }) => {
        const ask = window["ask" + lanes];
        let rows;
        if (op === "export") {
          for (let part = 0; ; part++) {
            const a = await ask(op, { ...args, part });
            if (a.done) {
              rows = a.rows;
              break;
            }
          }
        } else {
          const a = await ask(op, args);
          rows = a.total ?? a.rows;
        }
        return rows;
      },
      { lanes, op, args }
    );
    const wall = (performance.now() - begun) / 1000;
    await page.evaluate(({ lanes, table }) => window["ask" + lanes]("close", { table }), { lanes, table: args.table });
    const took = [...threads()].map(([t, v]) => ({ name: v.name, cpu: v.cpu - (before.get(t)?.cpu ?? 0) }));
    const workers = took.filter((t) => /^Dedicated/.test(t.name)).map((t) => t.cpu);
    const all = took.reduce((s, t) => s + t.cpu, 0);
    return { rows, wall, all, busiest: Math.max(...workers) };
  };
  const lines = [];
  const compare = async (name, table, op, args) => {
    const a = [], b = [];
    args = { ...args, table: `${files.url}/${table}.zip` };
    for (let i = 0; i <= times; i++) {
      const [x, y] = [await once(1, op, args), await once(2, op, args)];
      if (x.rows !== y.rows) throw new Error(`${name} of ${table}: ${x.rows} rows alone, ${y.rows} with Workers`);
      // The first time compiles.
      if (i) a.push(x), b.push(y);
    }
    const m = (v, k) => median(v.map((x) => x[k]));
    const col = (k) => `${m(a, k).toFixed(2)} | ${m(b, k).toFixed(2)} | **${(m(a, k) / m(b, k)).toFixed(2)}**`;
    lines.push(`| ${name}, ${table} | ${col("wall")} | ${col("busiest")} | ${col("all")} |`);
    process.stderr.write(lines.at(-1) + "\n");
  };
  for (const table of ["perf_cow", "perf_mor"]) {
    await compare("number of rows", table, "rows", { offset: 1e9, limit: 1 });
    await compare("ordered by the key, first page", table, "rows", { order: [{ column: "_hoodie_record_key", desc: true }], limit: 5 });
    await compare("statistics of all columns", table, "columnstats", {});
    await compare("export as JSON lines", table, "export", { format: "jsonl", id: "x" });
  }
  const text = [
    `${machine()}, Chromium ${browser.version()}; medians of ${times} runs in turn after one that is not counted, seconds. "Busiest" is the processor time of the Worker's thread that took most, which is what the clock would show with a processor for each.`,
    "",
    "| request | clock, alone | with two | times as fast | busiest, alone | with two | times as fast | all threads, alone | with two | ratio |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
  ];
  console.log(JSON.stringify({ markdown: text.join("\n") }));
} finally {
  await browser.close();
  await files.close();
  await site.close();
}
