// Times readers in workers of Chromium, in turn, on the tables in the folder given. Prints JSON with a
// table of medians.
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "../../../web/e2e/server.mjs";

const [work, times] = [process.argv[2], Number(process.argv[3] || 5)];
const here = path.dirname(fileURLToPath(import.meta.url));
const median = (v) => v.sort((a, b) => a - b)[v.length >> 1];

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
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
  const page = await browser.newPage();
  await page.goto(site.url + "/");
  const files = (table) =>
    fs
      .readdirSync(path.join(work, table), { recursive: true })
      .filter((f) => f.endsWith(".parquet"))
      .map((f) => `${site.url}/${table}/${f.split(path.sep).map(encodeURIComponent).join("/")}`);
  // once reads in a new worker, twice; the second time counts: programs are compiled, files are in the cache.
  const once = (script, module, job) =>
    page.evaluate(
      ([script, module, job]) =>
        new Promise((done, fail) => {
          const w = new Worker(script, module ? { type: "module" } : {});
          let runs = 0;
          w.onerror = (e) => fail(new Error(script + ": " + e.message));
          w.onmessage = ({ data }) => {
            if (data.ready) return w.postMessage(job);
            if (data.error) return fail(new Error(script + ": " + data.error));
            if (++runs < 2) return w.postMessage(job);
            w.terminate();
            done(data);
          };
        }),
      [script, module, job]
    );
  const readers = { ours: ["ours.worker.js", false], hyparquet: ["hyparquet.worker.js", true], "parquet-wasm": ["parquetwasm.worker.js", true] };
  const lines = [
    `${new Date().toISOString().slice(0, 10)}, Chromium ${browser.version()}, ${os.cpus().length} cores; hyparquet 1.33.0 with hyparquet-compressors 1.1.2, parquet-wasm 0.8.0; ${times} runs in turn, each the second reading of a new worker, over HTTP from the same machine.`,
    "",
    "| work | ours, ms | against | its ms | ratio | to reach |",
    "| --- | --- | --- | --- | --- | --- |",
  ];
  const compare = async (name, table, columns, goals) => {
    const ms = {};
    let want;
    for (let i = 0; i < times; i++) {
      for (const [reader, [script, module]] of Object.entries(readers)) {
        if (reader !== "ours" && !(reader in goals)) continue;
        const r = await once(script, module, { url: `${site.url}/${table}/`, files: files(table), columns });
        want ??= r.rows;
        if (r.rows !== want) throw new Error(`${name}: ${reader} gives ${r.rows} rows, not ${want}`);
        (ms[reader] ??= []).push(r.ms);
      }
    }
    for (const [reader, goal] of Object.entries(goals)) {
      const ratio = median([...ms.ours]) / median([...ms[reader]]);
      lines.push(`| ${name} | ${median([...ms.ours]).toFixed(0)} | ${reader} | ${median([...ms[reader]]).toFixed(0)} | **${ratio.toFixed(2)}** | ${goal} |`);
    }
    return median([...ms.ours]);
  };
  await compare("COW scan, all columns", "perf_cow", [], { hyparquet: "≤ 0.25", "parquet-wasm": "≤ 1.5" });
  await compare("COW scan, 2 columns", "perf_cow", ["id", "amount"], { hyparquet: "–", "parquet-wasm": "–" });
  // The merging read has no peer in a browser: it is held against the same core natively.
  const mor = await compare("", "perf_mor", [], {});
  const native = [];
  for (let i = 0; i < times; i++) {
    // Processor time, as the shell tells it of what it has run.
    const r = spawnSync("bash", ["-c", 'TIMEFORMAT="%U %S"; time "$1" "$2" >/dev/null', "bash", path.join(work, "scan"), path.join(work, "perf_mor")], { encoding: "utf8" });
    const cpu = r.stderr.trim().split("\n").at(-1).split(" ").map(Number);
    if (r.status !== 0 || cpu.length !== 2 || !cpu.every(Number.isFinite)) throw new Error(`the core natively: ${r.stderr}`);
    native.push((cpu[0] + cpu[1]) * 1000);
  }
  lines.push(`| MOR snapshot, all columns | ${mor.toFixed(0)} | the core natively, processor time | ${median(native).toFixed(0)} | **${(mor / median(native)).toFixed(2)}** | ≤ 4 |`);
  console.log(JSON.stringify({ markdown: lines.join("\n") }));
} finally {
  await browser.close();
  await site.close();
  fs.rmSync(root, { recursive: true, force: true });
}
