// The grid of rows: order, statistics of columns, pinning and hiding, copying, the way from opening a table to
// "why has this row its value", and a table of a million rows that is scrolled without long tasks.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { axe, drawn, page, ready, repo, settled, start, tab } from "./harness.mjs";
import { serve } from "./server.mjs";

const million = 1_000_000;
// The aim for the longest task of the page, in ms of processor time. Other work on the machine lengthens it:
// asserted is the aim times slack.
const aim = 50;
const slack = Number(process.env.HUDISCOPE_SLACK || 1.5);

let env, zips;
before(async () => {
  env = await start();
  const dir = path.join(env.temp, "big");
  fs.mkdirSync(dir);
  execFileSync(process.env.GO || "go", ["run", "./tools/bigtable", path.join(dir, "big.zip"), String(million)], { cwd: repo, stdio: "inherit" });
  zips = await serve(dir, { cors: true });
});
after(async () => {
  await zips?.close();
  await env?.stop();
});

const cells = "#grid [role=gridcell][aria-colindex]";
const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");

async function rows(hash, options) {
  const p = await page(env, hash, options);
  await ready(p);
  await p.waitForSelector(cells, { timeout: 60000 });
  return p;
}

// names and column read the names in the head and the texts of a column that are in view.
const names = (p) => p.$$eval("#grid .hname", (list) => list.map((x) => x.textContent));
const column = async (p, name) => {
  await settled(p);
  return p.evaluate((name) => {
    const head = [...document.querySelectorAll("#grid [role=columnheader][aria-colindex]")].find((h) => h.querySelector(".hname").textContent === name);
    return [...document.querySelectorAll(`#grid [role=gridcell][aria-colindex="${head.getAttribute("aria-colindex")}"]`)]
      .sort((a, b) => a.closest("[data-r]").dataset.r - b.closest("[data-r]").dataset.r)
      .map((c) => c.textContent);
  }, name);
};

const trips = "#/t=sample:mor_trips_h120&v=rows&m=0";

test("from opening the page to why a row has its value: four clicks", async () => {
  const p = await page(env, "");
  let clicks = 0;
  const click = async (selector) => {
    clicks++;
    await p.locator(selector).first().click();
  };
  await p.waitForSelector("a.card");
  await click('a.card[href*="merge_event_time_mor_h120"]');
  await ready(p);
  await click('.tab:has-text("Rows")');
  await p.waitForSelector(cells);
  await click('#grid [data-r="1"] [aria-colindex="7"]');
  const value = await p.textContent(".inspector h2");
  await click('.inspector a:has-text("Why this value?")');
  await p.waitForSelector(".rung.result");
  assert.ok(clicks <= 4, `${clicks} clicks`);
  assert.ok(value.length > 0);
  // The rule in words, every version with its reason, and the winner marked.
  assert.match(await p.textContent(".history .rule"), /ordering|event time|later|higher/i);
  const rungs = await p.$$eval(".rung:not(.result)", (l) => l.map((r) => ({ outcome: r.dataset.outcome, why: r.querySelector(".why").textContent })));
  assert.ok(rungs.length > 0 && rungs.every((r) => r.why.length > 10));
  assert.ok(rungs.some((r) => r.outcome === "won" || r.outcome === "merged"));
  await axe(p, "a merge ladder");
  clean(p);
  await p.context().close();
});

test("rows are ordered by the head, by keyboard and by the address", async () => {
  const p = await rows(trips);
  const plain = (await column(p, "fare")).map(Number);
  await p.hover('.hcell:has(.hname:text-is("fare"))');
  await p.click('.hcell:has(.hname:text-is("fare")) .hsort');
  await p.waitForSelector('.hcell[aria-sort="ascending"]');
  const up = [...plain].sort((a, b) => a - b);
  await p.waitForFunction((least) => document.querySelector('#grid [data-r="0"]')?.textContent.includes(least), String(up[0]));
  assert.deepEqual((await column(p, "fare")).map(Number), up);
  await p.focus("#grid");
  await p.keyboard.press("Home");
  const at = (await names(p)).indexOf("fare");
  for (let i = 0; i < at; i++) await p.keyboard.press("ArrowRight");
  await p.waitForFunction((least) => document.getElementById("cell-current").textContent === least, String(up[0]));
  await p.keyboard.press("s");
  await p.waitForSelector('.hcell[aria-sort="descending"]');
  await p.waitForFunction((most) => document.querySelector('#grid [data-r="0"]')?.textContent.includes(most), String(up.at(-1)));
  assert.deepEqual((await column(p, "fare")).map(Number), [...up].reverse());
  assert.match(p.url(), /ob=d:fare/);
  assert.equal(await p.textContent("#order-chip .mono"), "fare ↓");
  await axe(p, "ordered rows");
  await p.goto(p.url().replace("ob=d:fare", "ob=a:rider"));
  await p.reload();
  await p.waitForSelector('.hcell[aria-sort="ascending"]');
  await p.waitForSelector(cells);
  const riders = await column(p, "rider");
  assert.deepEqual(riders, [...riders].sort());
  await p.click("#order-chip");
  await p.waitForFunction(() => !location.hash.includes("ob="));
  clean(p);
  await p.context().close();
});

test("statistics of a column; a value becomes a condition", async () => {
  const p = await rows(trips);
  const fares = (await column(p, "fare")).map(Number);
  await p.click('.hcell .hname:text-is("fare")');
  await p.waitForSelector("#column-stats #stat-distinct");
  const facts = await p.$$eval("#column-stats .fact", (l) => Object.fromEntries(l.map((f) => [f.querySelector("dt").textContent, f.querySelector("dd").textContent])));
  assert.equal(Number(facts.Rows), fares.length);
  assert.equal(Number(facts.Different), new Set(fares).size);
  assert.equal(Number(facts.Least), Math.min(...fares));
  assert.equal(Number(facts.Greatest), Math.max(...fares));
  assert.ok(Math.abs(Number(facts.Mean) - fares.reduce((a, b) => a + b) / fares.length) < 1e-9);
  const counts = await p.$$eval(".bar-hit", (l) => l.map((b) => Number(b.title.split(" ")[0])));
  assert.equal(counts.reduce((a, b) => a + b), fares.length);
  await axe(p, "statistics of a column");
  // Another column, by its own link; its first value restricts the rows.
  await p.evaluate(() => (location.hash = location.hash.replace("cs=fare", "cs=city")));
  await p.waitForFunction(() => document.querySelector("#column-stats h2").textContent === "city" && document.querySelector(".top-line"));
  const value = await p.textContent(".top-line .top-value");
  const times = Number(await p.textContent(".top-line .num"));
  await p.click(".top-line");
  await p.waitForFunction(() => location.hash.includes("w=city"));
  await p.waitForFunction((n) => document.querySelector("#row-count")?.textContent.startsWith(`${n} row`), times);
  assert.deepEqual([...new Set(await column(p, "city"))], [value]);
  assert.equal(await p.inputValue("#where"), `city = '${value}'`);
  // All columns at once.
  await p.click("#grid-stats");
  await p.waitForSelector(".all-stats tbody tr");
  assert.ok((await p.locator(".all-stats tbody tr").count()) > 8);
  await axe(p, "statistics of all columns");
  clean(p);
  await p.context().close();
});

test("columns are pinned, hidden, moved and resized, and the address keeps it", async () => {
  const p = await rows("#/t=sample:all_types_mor_h120&v=rows");
  const before = await names(p);
  await p.click("#grid-columns");
  await p.fill("#find-column", "c_str");
  await p.waitForFunction(() => document.querySelectorAll(".column-line").length < 4);
  await p.click('.column-tools [aria-label="Pin c_str at the left"]');
  await p.waitForFunction(() => document.querySelector("#grid .hname").textContent === "c_str");
  await p.fill("#find-column", "_hoodie");
  await p.click('button:has-text("Hide those listed")');
  await p.waitForFunction(() => ![...document.querySelectorAll("#grid .hname")].some((x) => x.textContent.startsWith("_hoodie")));
  await axe(p, "the chooser of columns");
  await p.click('#column-chooser [aria-label="Close"]');
  // What is pinned stays where it is when the others are scrolled.
  const left = async () => (await p.locator('.hcell:has(.hname:text-is("c_str"))').boundingBox()).x;
  const at = await left();
  await p.evaluate(() => (document.getElementById("grid").scrollLeft = 900));
  await p.waitForFunction(() => document.getElementById("grid").scrollLeft > 500);
  await p.waitForTimeout(200);
  assert.ok(Math.abs((await left()) - at) < 2);
  await p.evaluate(() => (document.getElementById("grid").scrollLeft = 0));
  await p.waitForTimeout(200);
  const [first, second] = (await names(p)).slice(1);
  await p.focus("#grid");
  await p.keyboard.press("Home");
  await p.keyboard.press("ArrowRight");
  await p.keyboard.press(">");
  await p.waitForFunction((n) => document.querySelectorAll("#grid .hname")[1].textContent === n, second);
  assert.equal((await names(p))[2], first);
  const width = async (n) => (await p.locator(`.hcell:has(.hname:text-is("${n}"))`).boundingBox()).width;
  const was = await width(first);
  await p.keyboard.press("Shift+ArrowRight");
  await p.waitForFunction(() => /gc=[^&]*w\d+/.test(location.hash));
  assert.ok((await width(first)) > was + 8);
  const box = await p.locator(`.hcell:has(.hname:text-is("${second}"))`).boundingBox();
  await p.mouse.move(box.x + box.width - 3, box.y + 20);
  await p.mouse.down();
  await p.mouse.move(box.x + box.width + 57, box.y + 20, { steps: 4 });
  await p.mouse.up();
  await p.waitForFunction((n) => new RegExp(`w\\d+:${n}`).test(decodeURIComponent(location.hash)), second);
  assert.ok(Math.abs((await width(second)) - box.width - 60) < 5);
  await p.focus("#grid");
  const current = await p.evaluate(() => {
    const at = document.querySelector("#cell-current, #head-current").getAttribute("aria-colindex");
    return document.querySelector(`#grid [role=columnheader][aria-colindex="${at}"] .hname`).textContent;
  });
  await p.keyboard.press("x");
  await p.waitForFunction((n) => ![...document.querySelectorAll("#grid .hname")].some((x) => x.textContent === n), current, { timeout: 8000 }).catch((e) => {
    throw new Error(`${current} is not hidden: ${p.url()}`, { cause: e });
  });
  const now = await names(p);
  await p.reload();
  await p.waitForSelector(cells);
  assert.deepEqual(await names(p), now);
  assert.match(await p.textContent("#grid-columns"), /hidden/);
  await p.click("#grid-columns");
  await p.click('a:has-text("As the table has them")');
  await p.waitForFunction(() => !location.hash.includes("gc="));
  assert.deepEqual((await names(p)).slice(0, 5), before.slice(0, 5));
  clean(p);
  await p.context().close();
});

test("cells, rows and columns are copied; a row has a link", async () => {
  const p = await rows(trips, { permissions: ["clipboard-read", "clipboard-write"] });
  const clip = () => p.evaluate(() => navigator.clipboard.readText());
  const fares = await column(p, "fare");
  const at = (await names(p)).indexOf("fare") + 2;
  const cell = `#grid [data-r="2"] [aria-colindex="${await p.$eval('.hcell:has(.hname:text-is("fare"))', (h) => h.getAttribute("aria-colindex"))}"]`;
  assert.ok(at > 1);
  await p.click(cell, { button: "right" });
  await p.waitForSelector("#grid-menu");
  await axe(p, "the menu of a cell");
  await p.click('.menu-item:has-text("Copy the value")');
  await p.waitForSelector('.said:has-text("Copied")');
  assert.equal(await clip(), fares[2]);
  await p.click(cell, { button: "right" });
  await p.click('.menu-item:has-text("Copy the row as JSON")');
  await p.waitForFunction(() => navigator.clipboard.readText().then((t) => t.startsWith("{")));
  const row = JSON.parse(await clip());
  assert.equal(String(row.fare), fares[2]);
  await p.click(cell, { button: "right" });
  await p.click('.menu-item:has-text("Copy a link to the row")');
  await p.waitForFunction(() => navigator.clipboard.readText().then((t) => t.startsWith("http")));
  const link = await clip();
  // By keyboard: the menu opens at the current cell, and leads to the history.
  await p.click(cell);
  await p.focus("#grid");
  await p.keyboard.press("Control+c");
  await p.waitForFunction((v) => navigator.clipboard.readText().then((t) => t === v), fares[2]);
  await p.keyboard.press("i");
  await p.waitForSelector("#column-stats .actions");
  await p.click(`#column-stats button:has-text("that are loaded")`);
  await p.waitForFunction((v) => navigator.clipboard.readText().then((t) => t === v), fares.join("\n") + "\n");
  await p.goto(link);
  await p.reload();
  await p.waitForSelector(cells);
  assert.equal((await p.textContent("#row-count")).trim(), "1 row");
  assert.deepEqual(await column(p, "fare"), [fares[2]]);
  clean(p);
  await p.context().close();
});

test("a phone shows the grid and the statistics below it", async () => {
  const p = await rows(trips + "&cs=fare", { viewport: { width: 390, height: 844 } });
  await p.waitForSelector("#column-stats .bars-box");
  assert.ok(await p.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth + 1), "the page is not wider than the phone");
  await axe(p, "statistics on a phone");
  clean(p);
  await p.context().close();
});

const categories = ["disabled-by-default-devtools.timeline"];

// longest stops the trace and gives the processor time of the page's longest task, in ms.
async function longest(what) {
  const trace = JSON.parse((await env.browser.stopTracing()).toString());
  const threads = new Set(trace.traceEvents.filter((e) => e.name === "thread_name" && e.args?.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`));
  const tasks = trace.traceEvents.filter((e) => e.ph === "X" && e.name === "RunTask" && e.tdur !== undefined && threads.has(`${e.pid} ${e.tid}`));
  assert.ok(tasks.length > 5, "the browser tells the processor time of tasks");
  const times = tasks.map((e) => e.tdur / 1000).sort((a, b) => b - a);
  console.log(`# ${what}: the longest tasks took ${times.slice(0, 5).map((t) => t.toFixed(0)).join(", ")} ms of processor time, of ${tasks.length}`);
  return times[0];
}

// Views whose answers are large, of the samples: where they are, and what tells that they are there.
const slice = "p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776";
const large = {
  metadata: ["#/t=sample:mdt_full_h120&v=metadata&mp=column_stats", "#meta-records tbody tr"],
  history: ["#/t=sample:merge_event_time_mor_h120&v=history&k=trip-00&kp=1", ".rung.result"],
  block: [`#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}`, "g[data-b]", 'g[data-c~="blk-data"]', ".hex-row"],
  merge: [`#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&r=merge&n=39`, "#replay-queue"],
  health: ["#/t=sample:mor_rollback_multi_h0150&v=health", ".health-foot tbody tr"],
  compare: ["#/t=sample:cow_trips_h102&v=compare&c1=20261129230906701", "#changed-rows tbody tr"],
  plan: ["#/t=sample:mdt_full_h120&v=plan&w=rider%20%3D%20'rider-BFC'", "#plan-files"],
  files: ["#/t=sample:mor_trips_h120&v=files", ".slice"],
  table: ["#/t=sample:mor_trips_h120&v=table", "#housekeeping"],
};

test("large answers are drawn without a long task when their views are opened first", async () => {
  for (const [name, [hash, there, click, then]] of Object.entries(large)) {
    // Every time in a page of its own, as a program's functions are compiled once. A task that is long is so each time;
    // what other work on the machine adds is not.
    let least = Infinity;
    for (let tries = 0; tries < 3 && least > aim * slack; tries++) {
      const p = await page(env, "");
      await p.waitForSelector("a.card");
      const other = hash.replace(/&v=.*/, "&v=timeline");
      await p.evaluate((h) => (location.hash = h), other);
      await ready(p);
      await p.waitForTimeout(800);
      await env.browser.startTracing(p, { categories });
      await p.evaluate((h) => (location.hash = h), hash);
      await p.waitForSelector(there, { timeout: 60000 });
      if (click) {
        await p.locator(click).first().click();
        await p.waitForSelector(then);
      }
      await drawn(p);
      await p.waitForTimeout(300);
      least = Math.min(least, await longest(`opening ${name}`));
      clean(p);
      await p.context().close();
    }
    assert.ok(least <= aim * slack, `${name}: a task of ${Math.round(least)} ms`);
  }
});

test("a million rows are scrolled without a long task", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.evaluate((u) => (location.hash = `#/t=${u}/big.zip&v=timeline`), zips.url);
  await ready(p);
  await p.waitForTimeout(1000);
  const trace = () => env.browser.startTracing(p, { categories });
  const check = async (what) => {
    const t = await longest(what);
    assert.ok(t <= aim * slack, `${what}: a task of ${Math.round(t)} ms`);
  };
  await trace();
  await tab(p, "Rows");
  await p.waitForSelector(cells, { timeout: 60000 });
  await p.waitForTimeout(500);
  await check("opening the rows");
  // What takes longer than a moment says how far it is, and can be stopped.
  await p.click('button:has-text("Count all")');
  await p.waitForFunction(() => /\d/.test(document.querySelector("#row-counting")?.textContent ?? ""), null, { timeout: 60000 });
  await p.click('.toolbar button:has-text("Cancel")');
  await p.waitForSelector("#row-counting", { state: "detached" });
  assert.doesNotMatch(await p.textContent("#row-count"), /^1,000,000/);
  await p.click('button:has-text("Count all")');
  await p.waitForFunction(() => document.querySelector("#row-count").textContent.trim() === "1,000,000 rows", null, { timeout: 240000 });
  await trace();
  await p.evaluate(async () => {
    const g = document.getElementById("grid");
    for (let i = 0; i < 120; i++) {
      g.scrollTop += i < 60 ? 27 : i < 90 ? 500 : 60_000;
      await new Promise((done) => requestAnimationFrame(done));
    }
  });
  await p.waitForTimeout(500);
  await check("scrolling through the rows");
  // Here and there, to the end: the rows are those that belong there.
  await trace();
  for (const share of [0.25, 1]) {
    await p.evaluate((share) => {
      const g = document.getElementById("grid");
      g.scrollTop = g.scrollHeight * share;
    }, share);
    const seen = await p.waitForFunction(
      (from) => {
        const box = document.getElementById("grid").getBoundingClientRect();
        const rows = [...document.querySelectorAll("#grid .grow")].filter((r) => r.getBoundingClientRect().bottom > box.top + 44 && r.getBoundingClientRect().top < box.bottom);
        const all = rows.map((r) => [Number(r.dataset.r), r.querySelector("[aria-colindex='4']")?.textContent]).sort((a, b) => a[0] - b[0]);
        return all.length > 10 && all.every(([n, key]) => n >= from && key) && all;
      },
      million * share * 0.98,
      { timeout: 240000 },
    );
    const drawn = await seen.jsonValue();
    assert.ok((await p.locator("#grid .grow").count()) < 120);
    for (const [n, key] of drawn) assert.equal(key, `key-${String(n).padStart(8, "0")}`);
    if (share === 1) assert.equal(drawn.at(-1)[0], million - 1);
  }
  await check("leaping to the end");
  // Ordered by a column: the least comes first, and the whole is known.
  await trace();
  await p.evaluate(() => (location.hash += "&ob=a:mix&m=0&cols=id,mix"));
  await p.waitForFunction(() => document.querySelector("#row-count")?.textContent.trim() === "1,000,000 rows" && document.querySelector('#grid [data-r="0"] [aria-colindex="3"]')?.textContent === "0", null, { timeout: 240000 });
  await p.evaluate(() => {
    const g = document.getElementById("grid");
    g.scrollTop = g.scrollHeight;
  });
  await p.waitForFunction(() => document.querySelector('#grid [data-r="999999"] [aria-colindex="3"]')?.textContent === "999999", null, { timeout: 240000 });
  await check("ordering the rows");
  clean(p);
  await p.context().close();
});
