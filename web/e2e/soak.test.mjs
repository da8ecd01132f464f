// A long visit in a real browser: one tab opens and leaves many tables, then goes wherever a seeded generator of
// clicks, keys and addresses leads. Afterwards the memory of page and engine, what the page holds of the document, the
// workers and the stores for merging are as they were at the start; nothing went wrong on the console, and no table
// that is whole was refused. "make soak" takes 200 tables and ten minutes, "make test" a part of it.
//
//	SOAK_TABLES=N SOAK_SECONDS=N SOAK_SEED=N node --test soak.test.mjs
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { page, start, tables as ownTables } from "./harness.mjs";
import { serve } from "./server.mjs";

const MiB = 1 << 20;
const opened = Number(process.env.SOAK_TABLES || 25);
const seconds = Number(process.env.SOAK_SECONDS || 20);
const seed = Number(process.env.SOAK_SEED || 20260101);
// So little memory for merging that the logs of most tables go to IndexedDB.
const mergeBytes = 1 << 10;

// What may be more at the end than at the start. Memory is compared after collecting garbage, on the home page, when
// the same four tables (as many as the engine keeps) were looked at last.
const tolerance = {
  engineLive: 4 * MiB, // the engine's heap in use
  pageHeap: 2 * MiB, // the page's JavaScript heap in use
  nodes: 1500, // elements and texts, attached or not
  listeners: 40,
  values: 5000, // objects of the page that its program holds, until its own collection
  // What the page's program took from the browser is never given back. It is compared with its half time, when it has
  // seen all there is.
  pageTaken: 32 * MiB,
};

// The engine's memory never shrinks either: how much the largest table needed says little, but there is a bound that
// the engine keeps to beside its memory for merging (engineBytes in wasm/worker/memory.go).
const engineMost = mergeBytes + 176 * MiB;

const folder = process.env.HUDISCOPE_TESTDATA ? path.join(process.env.HUDISCOPE_TESTDATA, "tables") : ownTables;
// Tables of hundreds of thousands of rows would take minutes with so little memory; spill.test.mjs has one of those.
const names = fs.readdirSync(folder).filter((n) => n.endsWith(".zip") && !n.startsWith("perf_")).sort();
// An ORC table first: the engine with that part replaces the usual one, once.
const reference = ["orc_base_mor_h120", "mor_trips_h120", "mdt_full_h120", "cow_trips_h102"].map((n) => n + ".zip");
const views = ["timeline", "files", "blocks", "rows", "plan", "stream", "history", "compare", "health", "metadata", "table"];

// mulberry32: random numbers below 1 that are the same for a seed.
let state = seed >>> 0;
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
const pick = (list) => list[Math.floor(random() * list.length)];

let env, files;
before(async () => {
  env = await start();
  files = await serve(folder, { cors: true });
});
after(async () => {
  await files?.close();
  await env?.stop();
});

const location = (name) => `${files.url}/${encodeURIComponent(name)}`;

// visit is a page whose program, engine and stores can be looked into.
async function visit() {
  const p = await page(env, "");
  await p.addInitScript((memory) => {
    const Usual = window.Worker;
    window.Worker = class extends Usual {
      constructor(url) {
        super(url + (url.includes("?") ? "&" : "?") + "memory=" + memory);
      }
    };
    let made;
    Object.defineProperty(window, "Go", {
      configurable: true,
      get: () => made,
      set: (C) => {
        made = class extends C {
          constructor() {
            super();
            window.soakGo = this;
          }
        };
      },
    });
    // Nothing is written to a disk and no dialog of the system opens.
    delete window.showSaveFilePicker;
    delete window.showDirectoryPicker;
    window.engineAsk = (op) =>
      new Promise((good) => {
        const id = 2 ** 30 + Math.floor(Math.random() * 2 ** 20);
        const worker = window.hudiscope.engine;
        const heard = ({ data }) => {
          if (data.id !== id || !data.answer) return;
          worker.removeEventListener("message", heard);
          good(JSON.parse(data.answer));
        };
        worker.addEventListener("message", heard);
        worker.postMessage({ id, op, args: "{}" });
      });
  }, mergeBytes);
  await p.reload();
  await p.waitForSelector("a.card");
  p.cdp = await p.context().newCDPSession(p);
  await p.cdp.send("Performance.enable");
  await p.cdp.send("HeapProfiler.enable");
  p.stored = 0;
  p.cdp.on("Storage.indexedDBListUpdated", () => p.stored++);
  await p.cdp.send("Storage.trackIndexedDBForOrigin", { origin: env.site.url });
  p.log = [];
  p.faults = [];
  return p;
}

// settle waits until nothing is loading, for a while; what takes longer is left to be cancelled by what comes next.
const settle = (p, timeout = 15000) =>
  p.waitForFunction(() => document.querySelector("#main > *") && !document.querySelector("#main .loading, #main .skeleton"), null, { timeout, polling: 50 }).then(() => true, () => false);

const go = (p, hash) => p.evaluate((h) => void (window.location.hash = h), hash);

// waits says what the page waits for, and whether the engine still answers.
const waits = (p) =>
  p.evaluate(async () => {
    const what = [...document.querySelectorAll("#main .loading, #main .skeleton")].map((e) => `${e.className}: ${e.textContent.slice(0, 200)}`);
    const engine = await Promise.race([window.engineAsk("engine.memory").then((m) => JSON.stringify(m)), new Promise((done) => setTimeout(done, 10000, "no answer"))]);
    return `${decodeURIComponent(window.location.hash)} waits for ${JSON.stringify(what)}; engine: ${engine}`;
  });
// rests is that the page comes to rest.
async function rests(p, name) {
  if (!(await settle(p, 60000))) assert.fail(`${name} does not come to rest: ${await waits(p)}; the last steps:\n${p.log.slice(-40).join("\n")}`);
}

// look notes the faults that the page shows.
async function look(p, where) {
  const got = await p.evaluate(() => ({
    faults: [...document.querySelectorAll(".fault")].map((f) => ({ kind: f.dataset.kind || f.closest("[data-kind]")?.dataset.kind || "", text: f.textContent.slice(0, 300) })),
    crashed: document.querySelector(".crashed")?.textContent ?? "",
    notices: [...document.querySelectorAll(".notice.bad")].map((n) => n.textContent),
    hash: decodeURIComponent(window.location.hash),
  }));
  assert.equal(got.crashed, "", `${where}: ${p.log.slice(-15).join("\n")}`);
  for (const f of got.faults) p.faults.push({ ...f, where, hash: got.hash });
  for (const n of got.notices) p.faults.push({ kind: "notice", text: n, where, hash: got.hash });
}

// measure is what the visit holds now, after garbage was collected.
async function measure(p) {
  await go(p, "/");
  await p.waitForSelector("a.card");
  await p.waitForTimeout(4500); // the page's own collection comes after a long rest (web/app/tidy.go)
  for (let i = 0; i < 3; i++) await p.cdp.send("HeapProfiler.collectGarbage");
  const heap = await p.cdp.send("Runtime.getHeapUsage");
  const dom = Object.fromEntries((await p.cdp.send("Performance.getMetrics")).metrics.map((m) => [m.name, m.value]));
  await p.evaluate(() => window.engineAsk("engine.memory"));
  const engine = await p.evaluate(() => window.engineAsk("engine.memory"));
  const go1 = await p.evaluate(() => ({ taken: window.soakGo._inst.exports.mem.buffer.byteLength, values: window.soakGo._values.length - window.soakGo._idPool.length }));
  return {
    pageHeap: heap.usedSize, pageTaken: go1.taken, values: go1.values, nodes: dom.Nodes, listeners: dom.JSEventListeners, documents: dom.Documents,
    engineLive: engine.Live, engineTaken: engine.System, workers: p.workers().length,
  };
}

// same looks at the reference tables in turn, so that the engine keeps those and nothing else.
async function same(p) {
  for (const name of reference) {
    for (const view of ["timeline", "files", "rows"]) {
      await go(p, `/t=${location(name)}&v=${view}`);
      await rests(p, `${name}: ${view}`);
      await look(p, name);
    }
  }
}

const stores = (p) => p.evaluate(async () => (await indexedDB.databases()).map((d) => d.name).filter((n) => n.startsWith("hudiscope-merge-")));

const mb = (n) => (n / MiB).toFixed(1);
const say = (m) => `page heap ${mb(m.pageHeap)} MiB, taken ${mb(m.pageTaken)}, ${m.nodes} nodes, ${m.listeners} listeners, ${m.values} values; engine live ${mb(m.engineLive)} MiB, taken ${mb(m.engineTaken)}; ${m.workers} workers`;

// click chooses something on the page that can be clicked and clicks it, as the page sees it. It leaves out what would
// leave the tab, write a file, or begin the page anew.
const click = (p, r, within) =>
  p.evaluate(
    ({ r, within }) => {
      const skip = /copy|download|lang/i;
      const list = [...document.querySelectorAll(`${within} :is(a[href^="#"], button, [role=button], [role=tab], [role=treeitem], [role=gridcell], [role=columnheader], [role=option], [role=menuitem], summary, label, option, .tree-row)`)].filter((e) => {
        if (e.disabled || e.closest("[disabled]") || skip.test(e.getAttribute("class") || "") || skip.test(e.id)) return false;
        if (e.id === "start-export" || e.querySelector("input[type=file]") || e.matches("[for^=choose]")) return false;
        if (/reload|choose a|folder…|file…|sign|connect/i.test(e.textContent.slice(0, 60)) && e.matches("button, label")) return false;
        const b = e.getBoundingClientRect();
        return e.localName === "option" || (b.width > 0 && b.height > 0);
      });
      if (!list.length) return "";
      const e = list[Math.floor(r * list.length)];
      const said = `${e.localName}${e.id ? "#" + e.id : ""}.${(e.getAttribute("class") || "").split(" ")[0]} ${(e.getAttribute("aria-label") || e.textContent || "").trim().slice(0, 50)}`;
      if (e.localName === "option") {
        const select = e.closest("select");
        if (!select) return "";
        select.value = e.value;
        select.dispatchEvent(new Event("change", { bubbles: true }));
        return said;
      }
      for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) e.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, view: window }));
      return said;
    },
    { r, within }
  );

// step does one thing at random.
async function step(p) {
  const x = random();
  const r = random();
  const r2 = random();
  const table = location(names[Math.floor(r * names.length)]);
  if (x < 0.08) {
    const view = views[Math.floor(r2 * views.length)];
    await go(p, `/t=${table}&v=${view}`);
    return `open ${table} ${view}`;
  }
  if (x < 0.1) {
    await go(p, "/");
    return "home";
  }
  if (x < 0.3) return `tab ${await click(p, r, ".tab-row")}`;
  if (x < 0.78) return `click ${await click(p, r, "#main")}`;
  if (x < 0.82) return `bar ${await click(p, r, ".topbar-end, .crumb")}`;
  if (x < 0.84) {
    await p.evaluate(() => history.back());
    return "back";
  }
  if (x < 0.94) {
    const key = ["j", "k", "[", "]", "Enter", "ArrowDown", "ArrowRight", "End", "Home", "Escape", "PageDown", "Control+k", "?", "/", "Space", "+", "-", "w", "d"][Math.floor(r * 19)];
    await p.keyboard.press(key);
    return `key ${key}`;
  }
  if (x < 0.97) {
    const text = ["trip-001", "rider-A", "fare > 20", "city = 'sao_paulo' AND fare < 50", "2026", "_hoodie_commit_time is not null", "a"][Math.floor(r * 7)];
    const got = await p.evaluate(
      ({ text, r2 }) => {
        const list = [...document.querySelectorAll("#main input:not([type=file]):not([type=radio]):not([type=checkbox]):not(#url), #main textarea, dialog input[type=text]")].filter((e) => e.getBoundingClientRect().width > 0);
        if (!list.length) return "";
        const e = list[Math.floor(r2 * list.length)];
        e.focus();
        e.value = text;
        e.dispatchEvent(new Event("input", { bubbles: true }));
        e.dispatchEvent(new Event("change", { bubbles: true }));
        return e.id || e.className;
      },
      { text, r2 }
    );
    return `type ${text} into ${got}`;
  }
  const [w, h] = [[390, 800], [1024, 768], [1280, 900], [1600, 1000]][Math.floor(r * 4)];
  await p.setViewportSize({ width: w, height: h });
  return `size ${w}`;
}

// expected are faults that are the right answer: to what was asked at random and makes no sense, and of tables that were
// damaged on purpose. Where whole tables are opened one after the other none is.
const expected = (f) =>
  (f.where === "random" && ["invalid request", "unsupported", "cancelled", "not found"].includes(f.kind)) || (f.kind === "corrupt" && /\/[^/&]*corrupt[^/&]*\.zip/.test(f.hash));

test(`${opened} tables are opened and left, then ${seconds} seconds of anything: all is as it was`, { timeout: (opened * 20 + seconds * 3 + 300) * 1000 }, async (t) => {
  const p = await visit();
  // All views once, so that what is made when it is first needed is there.
  for (const view of views) {
    await go(p, `/t=${location(reference[1])}&v=${view}`);
    await settle(p, 60000);
  }
  await same(p);
  const first = await measure(p);
  t.diagnostic(`start: ${say(first)}`);
  assert.equal(first.workers, 1, "the engine is the only worker");

  for (let i = 0; i < opened; i++) {
    const name = names[i % names.length];
    await go(p, `/t=${location(name)}&v=${i % 2 ? "files" : "timeline"}`);
    await rests(p, name);
    await look(p, name);
    await go(p, `/t=${location(name)}&v=${i % 3 ? "rows" : pick(views)}`);
    if (i % 5) await rests(p, name);
    await look(p, name);
    if (p.workers().length !== 1) assert.fail(`${name}: ${p.workers().length} workers`);
    await go(p, "/");
  }
  await same(p);
  const middle = await measure(p);
  t.diagnostic(`after ${opened} tables: ${say(middle)}`);

  state = seed >>> 0; // the steps do not depend on how many tables there were
  const end = Date.now() + seconds * 1000;
  let steps = 0;
  while (Date.now() < end) {
    p.log.push(await step(p).catch((e) => `failed: ${e.message.split("\n")[0]}`));
    steps++;
    if (p.log.length > 200) p.log.shift();
    // Most steps wait until all is there; others go on at once.
    if (random() < 0.7) {
      // What takes longer than this is left by the next step, which ends it; the engine must be free then.
      if (!(await settle(p, 8000))) p.slow = (p.slow || 0) + 1;
      else p.slow = 0;
      if (p.slow > 12) assert.fail(`nothing comes to rest any more: ${await waits(p)}; the last steps:\n${p.log.slice(-60).join("\n")}`);
      await look(p, "random");
    }
    if (await p.evaluate(() => Boolean(document.querySelector("dialog[open]")))) {
      if (random() < 0.4) await click(p, random(), "dialog[open]");
      if (random() < 0.6) await p.keyboard.press("Escape");
    }
    if (p.errors.length) break;
    assert.ok(p.workers().length <= 1, `${p.workers().length} workers`);
  }
  assert.deepEqual(p.errors, [], `the console; the last steps:\n${p.log.slice(-20).join("\n")}`);
  for (let i = 0; i < 3; i++) await p.keyboard.press("Escape");
  await p.setViewportSize({ width: 1280, height: 900 });
  await same(p);
  const last = await measure(p);
  t.diagnostic(`after ${steps} steps (seed ${seed}): ${say(last)}; stores were made or removed ${p.stored} times`);

  const kinds = {};
  for (const f of p.faults) kinds[`${f.where === "random" ? "random" : "tables"}: ${f.kind}`] = (kinds[`${f.where === "random" ? "random" : "tables"}: ${f.kind}`] || 0) + 1;
  t.diagnostic(`faults shown: ${JSON.stringify(kinds)}`);
  const failed = p.faults.filter((f) => !expected(f));
  assert.deepEqual(failed.slice(0, 10), [], `${failed.length} faults of whole tables`);
  for (let i = 0; i < 50 && (await stores(p)).length > 0; i++) await p.waitForTimeout(100);
  assert.deepEqual(await stores(p), [], "stores for merging are left");
  assert.ok(p.stored > 0, "nothing was merged by way of IndexedDB");
  assert.equal(last.workers, 1);
  assert.equal(last.documents, first.documents);
  for (const k of ["pageHeap", "nodes", "listeners", "values", "engineLive"]) {
    assert.ok(last[k] - first[k] <= tolerance[k], `${k} was ${first[k]} at the start, ${middle[k]} after the tables and is ${last[k]} at the end`);
  }
  assert.ok(last.engineTaken <= engineMost, `the engine took ${mb(last.engineTaken)} MiB`);
  assert.ok(last.pageTaken - middle.pageTaken <= tolerance.pageTaken, `the page's program took ${mb(last.pageTaken)} MiB, ${mb(middle.pageTaken)} at half time`);
  await p.context().close();
});
