// What the tests share: a browser with a fresh profile, the built page on a server of its
// own, and helpers to open tables and read the grid.
import { chromium } from "playwright-core";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
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

// start opens the browser and serves the page; stop ends both.
export async function start() {
  for (const f of ["index.html", "app.wasm", "engine.wasm", "wasm_exec.js", "boot.js", "hudiscope.css"]) {
    if (!fs.existsSync(path.join(dist, f))) throw new Error(`${path.join(dist, f)} is missing: run "make dist" first`);
  }
  const site = await serve(dist);
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), "hudiscope-e2e-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    headless: true,
    args: flags,
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

// page opens a page and collects everything that goes wrong on its console.
export async function page(env, hash = "", options = {}) {
  const context = await env.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const p = await context.newPage();
  p.errors = [];
  p.on("console", (m) => {
    if (m.type() === "error" || m.type() === "warning") p.errors.push(m.text());
  });
  p.on("pageerror", (e) => p.errors.push(String(e)));
  await p.goto(`${env.site.url}/${hash}`);
  return p;
}

// unzip unpacks a table of the test data and returns its folder.
export function unzip(env, name) {
  const to = path.join(env.temp, "unzipped", name);
  if (!fs.existsSync(to)) {
    fs.mkdirSync(path.dirname(to), { recursive: true });
    execFileSync("unzip", ["-q", "-o", path.join(tables, name + ".zip"), "-d", path.dirname(to)]);
  }
  return to;
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

// tab opens a view by its name.
export const tab = (p, name) => p.click(`.tab:has-text("${name}")`);

// readGrid scrolls through the grid and returns every row as {column: text}, nulls as null.
export async function readGrid(p) {
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]", { timeout: 60000 });
  return p.evaluate(async () => {
    const grid = document.getElementById("grid");
    const rest = () => new Promise((done) => setTimeout(done, 250));
    const names = {};
    const rows = new Map();
    const width = grid.scrollWidth;
    const height = grid.scrollHeight;
    for (let y = 0; ; y += grid.clientHeight - 80) {
      grid.scrollTop = y;
      for (let x = 0; ; x += grid.clientWidth - 80) {
        grid.scrollLeft = x;
        await rest();
        for (const h of grid.querySelectorAll("[role=columnheader][aria-colindex]")) {
          names[h.getAttribute("aria-colindex")] = h.querySelector(".hname").textContent;
        }
        for (const c of grid.querySelectorAll("[role=gridcell][aria-colindex]")) {
          const r = Number(c.closest("[data-r]").dataset.r);
          if (!rows.has(r)) rows.set(r, {});
          rows.get(r)[c.getAttribute("aria-colindex")] = c.classList.contains("j-null") ? null : c.textContent;
        }
        if (x + grid.clientWidth >= width) break;
      }
      if (y + grid.clientHeight >= height) break;
    }
    return [...rows.entries()]
      .sort((a, b) => a[0] - b[0])
      .map(([, cells]) => Object.fromEntries(Object.entries(cells).map(([i, v]) => [names[i], v])));
  });
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
