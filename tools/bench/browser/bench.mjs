// Times readers in workers of Chromium, in turn, on the tables in the folder given. Prints JSON with a
// table of medians.
import { build } from "esbuild";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cpu } from "../../../web/e2e/processes.mjs";
import { serve } from "../../../web/e2e/server.mjs";
import { launch, machine, median } from "./chrome.mjs";

const [work, times] = [process.argv[2], Number(process.argv[3] || 5)];
const here = path.dirname(fileURLToPath(import.meta.url));

// One folder with everything: links to the tables, the workers and their modules.
const root = fs.mkdtempSync(path.join(os.tmpdir(), "hudiscope-bench-"));
const goroot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
// A worker knows no names of modules: what hyparquet imports by name is put into one file.
await build({ entryPoints: [path.join(here, "hyparquet.worker.js")], bundle: true, format: "esm", outfile: path.join(root, "hyparquet.worker.js"), logLevel: "error" });
for (const f of ["ours.worker.js", "parquetwasm.worker.js", "node_modules"]) fs.symlinkSync(path.join(here, f), path.join(root, f));
for (const f of ["perf_cow", "perf_mor", "scan.wasm"]) fs.symlinkSync(path.join(work, f), path.join(root, f));
fs.symlinkSync(path.join(goroot, "lib/wasm/wasm_exec.js"), path.join(root, "wasm_exec.js"));
fs.writeFileSync(path.join(root, "index.html"), "<!doctype html><title>bench</title>");

const site = await serve(root);
const browser = await launch();
try {
  const page = await browser.newPage();
  await page.goto(site.url + "/");
  const files = (table) =>
    fs
      .readdirSync(path.join(work, table), { recursive: true })
      .filter((f) => f.endsWith(".parquet"))
      .map((f) => `${site.url}/${table}/${f.split(path.sep).map(encodeURIComponent).join("/")}`);
  // once reads in a new worker, twice; the second time counts: programs are compiled, files are in the cache.
  const once = async (script, module, job) => {
    await page.evaluate(
      ([script, module]) =>
        new Promise((done, fail) => {
          window.reader = new Worker(script, module ? { type: "module" } : {});
          window.reader.onerror = (e) => fail(new Error(script + ": " + e.message));
          window.reader.onmessage = ({ data }) => data.ready && done();
        }),
      [script, module]
    );
    const read = () =>
      page.evaluate(
        (job) =>
          new Promise((done, fail) => {
            window.reader.onerror = (e) => fail(new Error(e.message));
            window.reader.onmessage = ({ data }) => (data.error ? fail(new Error(data.error)) : done(data));
            window.reader.postMessage(job);
          }),
        job
      );
    await read();
    const before = cpu();
    const r = await read();
    r.cpu = cpu() - before;
    await page.evaluate(() => window.reader.terminate());
    return r;
  };
  const readers = { ours: ["ours.worker.js", false], hyparquet: ["hyparquet.worker.js", true], "parquet-wasm": ["parquetwasm.worker.js", true] };
  const lines = [
    `${machine()}, Chromium ${browser.version()}; hyparquet 1.33.0 with hyparquet-compressors 1.1.2, parquet-wasm 0.8.0; medians of ${times} runs in turn, each the second reading of a new worker, over HTTP from the same machine. By the clock, and processor time of all processes of the browser.`,
    "",
    "| work | ours: ms, CPU ms | against | its ms, CPU ms | ratio | CPU ratio | to reach |",
    "| --- | --- | --- | --- | --- | --- | --- |",
  ];
  const compare = async (name, table, columns, goals) => {
    const runs = {};
    let want;
    for (let i = 0; i < times; i++) {
      for (const [reader, [script, module]] of Object.entries(readers)) {
        if (reader !== "ours" && !(reader in goals)) continue;
        const r = await once(script, module, { url: `${site.url}/${table}/`, files: files(table), columns });
        want ??= r.rows;
        if (r.rows !== want) throw new Error(`${name}: ${reader} gives ${r.rows} rows, not ${want}`);
        (runs[reader] ??= []).push({ ms: r.ms, cpu: r.cpu * 1000 });
      }
    }
    const m = (reader, k) => median(runs[reader].map((r) => r[k]));
    for (const [reader, goal] of Object.entries(goals)) {
      const ratio = (k) => (m("ours", k) / m(reader, k)).toFixed(2);
      lines.push(`| ${name} | ${m("ours", "ms").toFixed(0)}, ${m("ours", "cpu").toFixed(0)} | ${reader} | ${m(reader, "ms").toFixed(0)}, ${m(reader, "cpu").toFixed(0)} | **${ratio("ms")}** | ${ratio("cpu")} | ${goal} |`);
    }
    return { ms: m("ours", "ms"), cpu: m("ours", "cpu") };
  };
  await compare("COW scan, all columns", "perf_cow", [], { hyparquet: "≤ 0.25", "parquet-wasm": "≤ 1.5" });
  await compare("COW scan, 2 columns", "perf_cow", ["id", "amount"], { hyparquet: "–", "parquet-wasm": "–" });
  // The merging read has no peer in a browser: it is held against the same core natively.
  const mor = await compare("", "perf_mor", [], {});
  const native = [];
  for (let i = 0; i < times; i++) {
    // As the shell tells it of what it has run.
    const r = spawnSync("bash", ["-c", 'TIMEFORMAT="%R %U %S"; time "$1" "$2" >/dev/null', "bash", path.join(work, "scan"), path.join(work, "perf_mor")], { encoding: "utf8" });
    const [ms, user, system] = r.stderr.trim().split("\n").at(-1).split(" ").map((s) => Number(s) * 1000);
    if (r.status !== 0 || !Number.isFinite(ms + user + system)) throw new Error(`the core natively: ${r.stderr}`);
    native.push({ ms, cpu: user + system });
  }
  const n = { ms: median(native.map((r) => r.ms)), cpu: median(native.map((r) => r.cpu)) };
  lines.push(`| MOR snapshot, all columns | ${mor.ms.toFixed(0)}, ${mor.cpu.toFixed(0)} | the core natively | ${n.ms.toFixed(0)}, ${n.cpu.toFixed(0)} | **${(mor.ms / n.cpu).toFixed(2)}** (of its CPU) | ${(mor.cpu / n.cpu).toFixed(2)} | ≤ 4 |`);
  console.log(JSON.stringify({ markdown: lines.join("\n") }));
} finally {
  await browser.close();
  await site.close();
  fs.rmSync(root, { recursive: true, force: true });
}
