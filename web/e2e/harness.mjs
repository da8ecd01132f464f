// What the tests share: a browser with a fresh profile, the built page on a server of its
// own, and helpers to open tables and read the grid.
import { chromium } from "playwright-core";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";
import { serve } from "./server.mjs";

export const repo = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const dist = process.env.HUDISCOPE_DIST || path.join(repo, "dist");
export const tables = path.join(repo, "testdata/tables");
export const gold = path.join(repo, "testdata/gold");

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

// start opens the browser, with more arguments and another environment where they are given, and serves the page, or
// the folder root in its stead; stop ends both.
export async function start({ root = dist, args = [], vars = {} } = {}) {
  for (const f of ["index.html", "app.wasm", "engine.wasm", "wasm_exec.js", "boot.js", "hudiscope.css"]) {
    if (!fs.existsSync(path.join(dist, f))) throw new Error(`${path.join(dist, f)} is missing: run "make dist" first`);
  }
  const site = await serve(root);
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), "hudiscope-e2e-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    headless: true,
    args: [...flags, ...args],
    env: { ...process.env, ...vars },
  });
  return {
    site,
    browser,
    temp,
    async stop() {
      await browser.close();
      await site.close();
      fs.rmSync(temp, { recursive: true, force: true });
    },
  };
}

// page opens a page and collects everything that goes wrong on its console. The service worker is left
// out unless a test asks for it, so that requests are the page's own.
export async function page(env, hash = "", options = {}) {
  const context = await env.browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US", serviceWorkers: "block", ...options });
  const p = await context.newPage();
  p.errors = [];
  p.on("console", (m) => {
    if (m.text().includes("Service Worker registration blocked")) return;
    if (m.type() === "error" || m.type() === "warning") p.errors.push(m.text());
  });
  p.on("pageerror", (e) => p.errors.push(String(e)));
  await p.goto(`${env.site.url}/${hash}`);
  return p;
}

// entries reads the files of a zip: {name, data}. The test data needs no more of the format
// than stored and deflated files below 4 GB.
export function* entries(file) {
  const b = fs.readFileSync(file);
  let end = b.length - 22;
  while (end >= 0 && b.readUInt32LE(end) !== 0x06054b50) end--;
  if (end < 0) throw new Error(`${file} is no zip`);
  let at = b.readUInt32LE(end + 16);
  for (let n = b.readUInt16LE(end + 10); n > 0; n--) {
    if (b.readUInt32LE(at) !== 0x02014b50) throw new Error(`${file}: no entry at ${at}`);
    const [method, size, full] = [b.readUInt16LE(at + 10), b.readUInt32LE(at + 20), b.readUInt32LE(at + 24)];
    const [names, extra, comment] = [b.readUInt16LE(at + 28), b.readUInt16LE(at + 30), b.readUInt16LE(at + 32)];
    const local = b.readUInt32LE(at + 42);
    const name = b.toString("utf8", at + 46, at + 46 + names);
    at += 46 + names + extra + comment;
    const from = local + 30 + b.readUInt16LE(local + 26) + b.readUInt16LE(local + 28);
    const stored = b.subarray(from, from + size);
    const data = method === 0 ? stored : zlib.inflateRawSync(stored);
    if (data.length !== full) throw new Error(`${file}: ${name} has ${data.length} bytes, not ${full}`);
    yield { name, data };
  }
}

// unzip unpacks a table of the test data and returns its folder.
export function unzip(env, name) {
  const to = path.join(env.temp, "unzipped", name);
  if (!fs.existsSync(to)) {
    const root = path.dirname(to);
    for (const e of entries(path.join(tables, name + ".zip"))) {
      const p = path.join(root, path.normalize(e.name));
      if (!p.startsWith(root + path.sep)) throw new Error(`${e.name} leads out of the folder`);
      if (e.name.endsWith("/")) {
        fs.mkdirSync(p, { recursive: true });
        continue;
      }
      fs.mkdirSync(path.dirname(p), { recursive: true });
      fs.writeFileSync(p, e.data);
    }
  }
  return to;
}

// axe checks a page for accessibility and fails with all but what is minor.
const axeSource = fs.readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), "node_modules/axe-core/axe.min.js"), "utf8");
export async function axe(p, name) {
  // Colours are judged as they are at rest.
  await p.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished.catch(() => {}))));
  // The page's policy allows no script but its own: this one comes by the debugger.
  await p.evaluate(axeSource);
  const found = await p.evaluate(async () => {
    const r = await axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
      // Experimental to axe; who speaks to the page says what is written on a control.
      rules: { "label-content-name-mismatch": { enabled: true } },
    });
    return r.violations
      .filter((v) => v.impact !== "minor")
      .map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 4).map((n) => `${n.target.join(" ")} — ${n.failureSummary.split("\n").slice(1, 2).join(" ").trim()}`).join("; ")}`);
  });
  if (found.length) throw new Error(`${name}: ${found.join("\n")}`);
}

// drop drags real files or folders of this machine onto the page, as a file manager would.
export async function drop(p, files) {
  const cdp = await p.context().newCDPSession(p);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await cdp.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
  }
  await cdp.detach();
}

// ready waits until the header of an open table is there.
export const ready = (p) => p.waitForSelector(".headline", { timeout: 60000 });

// drawn waits until no part of the page waits to be drawn in a task of its own.
export const drawn = (p) => p.waitForFunction(() => !document.querySelector('.portion[aria-busy="true"], tbody[aria-busy="true"]'), null, { timeout: 60000 });

// tab opens a view by its name.
export const tab = (p, name) => p.click(`.tab:has-text("${name}")`);

// settled waits until the grid has drawn what is in view: headers and rows reach from edge to edge (columns that are pinned
// stand still), and nothing has changed for 200 ms. A grid that is not filled to its edges is taken as drawn when nothing
// changes for half a second.
export async function settled(p) {
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]", { timeout: 60000 });
  await p.evaluate(async () => {
    const drawn = (grid) => {
      const g = grid.getBoundingClientRect();
      const right = Math.min(g.left + grid.clientWidth, g.left - grid.scrollLeft + grid.scrollWidth) - 2;
      const bottom = Math.min(g.top + grid.clientHeight, g.top - grid.scrollTop + grid.scrollHeight) - 2;
      const across = [...grid.querySelectorAll("[role=columnheader][aria-colindex]")].map((e) => e.getBoundingClientRect());
      const down = [...grid.querySelectorAll("[data-r]")].map((e) => e.getBoundingClientRect());
      const over = (boxes, from, to, at) => boxes.some((b) => b[from] <= at && b[to] >= at);
      const mid = (g.left + right) / 2;
      return over(across, "left", "right", right) && over(across, "left", "right", mid) && over(down, "top", "bottom", bottom) && over(down, "top", "bottom", (g.top + bottom) / 2);
    };
    const seen = (grid) => [...grid.querySelectorAll("[data-r], [role=columnheader][aria-colindex]")].map((e) => e.dataset.r || e.getAttribute("aria-colindex")).join();
    let last = "";
    for (let waited = 0, still = 0; waited < 10000; waited += 50) {
      await new Promise((done) => setTimeout(done, 50));
      const grid = document.getElementById("grid");
      const now = grid ? seen(grid) : "";
      still = now !== "" && now === last ? still + 1 : 0;
      last = now;
      if (still >= 10 || (still >= 4 && drawn(grid))) return;
    }
  });
}

// readGrid scrolls through the grid and returns every row as {column: text}, nulls as null.
export async function readGrid(p) {
  await settled(p);
  const names = {};
  const rows = new Map();
  const size = await p.$eval("#grid", (g) => ({ width: g.scrollWidth, height: g.scrollHeight, across: g.clientWidth, down: g.clientHeight }));
  for (let y = 0; ; y += size.down - 80) {
    for (let x = 0; ; x += size.across - 80) {
      await p.$eval("#grid", (g, { x, y }) => ((g.scrollTop = y), (g.scrollLeft = x)), { x, y });
      await settled(p);
      const part = await p.$eval("#grid", (grid) => ({
        names: [...grid.querySelectorAll("[role=columnheader][aria-colindex]")].map((h) => [h.getAttribute("aria-colindex"), h.querySelector(".hname").textContent]),
        cells: [...grid.querySelectorAll("[role=gridcell][aria-colindex]")].map((c) => [Number(c.closest("[data-r]").dataset.r), c.getAttribute("aria-colindex"), c.classList.contains("j-null") ? null : c.textContent]),
      }));
      for (const [at, name] of part.names) names[at] = name;
      for (const [r, at, text] of part.cells) {
        if (!rows.has(r)) rows.set(r, {});
        rows.get(r)[at] = text;
      }
      if (x + size.across >= size.width) break;
    }
    if (y + size.down >= size.height) break;
  }
  return [...rows.entries()]
    .sort((a, b) => a[0] - b[0])
    .map(([, cells]) => Object.fromEntries(Object.entries(cells).map(([i, v]) => [names[i], v])));
}

// goldRows reads the rows that Hudi itself gave for a table.
export function goldRows(name) {
  const text = fs.readFileSync(path.join(gold, name, "snapshot.jsonl"), "utf8");
  // Numbers are compared as they are written: JSON.parse would round long ones.
  return text.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line.replace(/([:[,]\s*)(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=\s*[,}\]])/g, '$1"\\u0001$2"')));
}

// cell is the text that the grid must show for a value of the gold.
export function cell(v) {
  if (v === null || v === undefined) return null;
  if (typeof v === "string") return v.startsWith("\u0001") ? v.slice(1) : v;
  if (typeof v === "object") return JSON.stringify(v).replace(/"\\u0001([^"]*)"/g, "$1");
  return String(v);
}
