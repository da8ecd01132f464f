// Logs of growing size in the browser's engine, over HTTP: what an engine takes from the browser to list
// the blocks, to show records of three of them, and to merge the slice for the first page of rows.
// Prints a line of JSON for each measurement.
//
//   node browser.mjs FOLDER MEMORY SIZE...      FOLDER/logs-SIZE are the tables, MEMORY bytes are for merging
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "../../web/e2e/node_modules/playwright-core/index.mjs";
import { dist } from "../../web/e2e/harness.mjs";
import { cpu } from "../../web/e2e/processes.mjs";
import { serve } from "../../web/e2e/server.mjs";

const [work, budget, ...sizes] = process.argv.slice(2);
const site = await serve(dist);
const files = await serve(path.resolve(work), { cors: true });
try {
  for (const size of sizes) {
    // A profile on disk: what a private window keeps in IndexedDB takes memory, and it gets less room.
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), "hudiscope-growth-"));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(0);
    await page.goto(site.url + "/hudiscope.css");
    await page.evaluate(async (memory) => {
      const worker = new Worker(`/engine.js?memory=${memory}`);
      const waiting = new Map();
      let id = 0;
      await new Promise((good, bad) => {
        worker.onmessage = ({ data }) => {
          if (data.ready) good();
          if (data.dead) {
            bad(new Error(data.dead));
            for (const w of waiting.values()) w.bad(new Error(data.dead));
          }
          const w = waiting.get(data.id);
          if (data.answer) w?.good(JSON.parse(data.answer));
          if (data.fault) w?.bad(new Error(data.fault));
        };
      });
      window.ask = (op, args) =>
        new Promise((good, bad) => {
          waiting.set(++id, { good, bad });
          worker.postMessage({ id, op, args: JSON.stringify(args ?? {}) });
        });
    }, budget);
    const table = `${files.url}/logs-${size}/`;
    const step = async (name, work) => {
      const asked = files.requests.length;
      const before = cpu();
      const begun = performance.now();
      const out = await page.evaluate(work, table);
      const wall = (performance.now() - begun) / 1000;
      const took = cpu() - before;
      const { System, Live } = await page.evaluate(() => ask("engine.memory"));
      console.log(JSON.stringify({ name, n: Number(size), cpu_s: took, wall_s: wall, peak_mib: System / 2 ** 20, live_mib: Live / 2 ** 20, requests: files.requests.length - asked, out }));
    };
    await step("list of blocks", async (table) => {
      const a = await ask("blocks", { table, all: true });
      window.file = a.files[0].file.path;
      window.count = a.files[0].blocks.length;
      return count;
    });
    await step("100 records of each of three blocks", async (table) => {
      let records = 0;
      const data = async (index) => {
        for (; ; index--) {
          const d = await ask("block", { table, file, index, limit: 100 });
          if (d.records) return d.records.length;
        }
      };
      for (const index of [0, count >> 1, count - 1]) records += await data(index);
      return records;
    });
    await step("first 100 merged rows", async (table) => (await ask("rows", { table, limit: 100 })).rows.length);
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true });
  }
} finally {
  await files.close();
  await site.close();
}
