// Times what a visitor waits for: from navigation to the first rows of a sample and of tables on a server, near by
// and 50 ms away, on the first visit of a fresh browser and on the next. Prints JSON with a table of medians.
//
//   node visit.mjs FOLDER PROGRAM TIMES      FOLDER/perf_cow is a table, PROGRAM the built command with the page
import { spawn } from "node:child_process";
import path from "node:path";
import { cpu } from "../../../web/e2e/processes.mjs";
import { serve } from "../../../web/e2e/server.mjs";
import { away, launch, machine, median } from "./chrome.mjs";

const [work, program, times] = [process.argv[2], process.argv[3], Number(process.argv[4] || 5)];

// The page comes from the product's own server, which compresses it.
const own = spawn(program, ["serve", "--addr", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "pipe"] });
const page = await new Promise((done, fail) => {
  let text = "";
  const said = (b) => {
    text += b;
    const m = /http:\/\/[\w.:]+/.exec(text);
    if (m) done(m[0]);
  };
  own.stdout.on("data", said);
  own.stderr.on("data", said);
  own.on("exit", () => fail(new Error(`${program} serve: ${text}`)));
});
const files = await serve(work, { cors: true });
const lines = [];
try {
  const measure = async (name, roundTrip, location) => {
    const first = { ms: [], cpu: [], paint: [] };
    const next = { ms: [], cpu: [], paint: [] };
    let bytes, tableBytes;
    for (let i = 0; i < times; i++) {
      const site = await away(page, roundTrip);
      const tables = await away(files.url, roundTrip);
      const browser = await launch();
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US" });
      await context.addInitScript(() => {
        new MutationObserver((_, o) => {
          if (!document.querySelector("#grid [role=gridcell][aria-colindex]")) return;
          window.firstRows = performance.now();
          o.disconnect();
        }).observe(document, { subtree: true, childList: true });
      });
      for (const v of [first, next]) {
        const p = await context.newPage();
        const before = cpu();
        await p.goto(`${site.url}/#/t=${location(tables.url)}&v=rows`);
        await p.waitForFunction(() => window.firstRows, null, { timeout: 120000 });
        v.cpu.push(cpu() - before);
        const at = await p.evaluate(() => ({ ms: window.firstRows, paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime }));
        v.ms.push(at.ms);
        v.paint.push(at.paint);
        if (v === first) {
          [bytes, tableBytes] = [site.bytes, tables.bytes];
          // The next visit finds what the service worker keeps, and programs that the browser has compiled.
          await p.evaluate(() => navigator.serviceWorker.ready.then(() => new Promise((done) => setTimeout(done, 3000))));
        }
        await p.close();
      }
      await browser.close();
      site.close();
      tables.close();
    }
    const s = (v) => (median(v) / 1000).toFixed(2);
    lines.push(`| ${name} | ${roundTrip} ms | ${s(first.paint)} | ${s(first.ms)} | ${median(first.cpu).toFixed(2)} | ${s(next.ms)} | ${median(next.cpu).toFixed(2)} | ${bytes.toLocaleString("en-US")} | ${tableBytes.toLocaleString("en-US")} |`);
    process.stderr.write(lines.at(-1) + "\n");
  };
  const sample = () => "sample:mor_trips_h120";
  const cow = (url) => encodeURIComponent(`${url}/perf_cow/`);
  await measure("a sample, 24 rows merged from 3 slices", 0, sample);
  await measure("the same", 50, sample);
  await measure("perf_cow in a folder of a server", 0, cow);
  await measure("the same", 50, cow);
  const text = [
    `${machine()}, Chromium; medians of ${times} fresh browsers. Seconds from navigation; processor time of all processes of the browser until the first rows. Page and table come over connections with the round trip given to each answer; bytes are those of the first visit until the rows, with heads of answers, the page as \`hudiscope serve\` sends it (brotli, quality 9). The next visit is in the same browser, 3 s after the first.`,
    "",
    "| what is opened | round trip | first paint | first rows | CPU s | next visit, first rows | CPU s | bytes of the page | bytes of the table |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
  ];
  console.log(JSON.stringify({ markdown: text.join("\n") }));
} finally {
  own.removeAllListeners("exit");
  own.kill();
  await files.close();
}
