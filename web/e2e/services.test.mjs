// Timeline relations and details, archived instants, health, compare, the metadata table, query
// options, parts of the engine, and what every view is for people who can't see or point.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, drawn, dist, drop, gold, goldRows, page, ready, start, tab, tables, unzip } from "./harness.mjs";

let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");

async function open(name, hash) {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [path.join(tables, name + ".zip")]);
  await ready(p);
  const table = /t=([^&]*)/.exec(p.url())[1];
  await p.evaluate((h) => (location.hash = h), `#/t=${table}&${hash}`);
  return p;
}

test("a restore shows what it undid, with links and arcs", async () => {
  const p = await page(env, "#/t=sample:savepoint_restore_h120&v=timeline&i=20261129233753056&act=restore");
  await ready(p);
  await p.waitForSelector(".detail .relations");
  const said = await p.textContent(".detail");
  assert.match(said, /Restores past/);
  await p.waitForSelector('[data-c~="rel"]', { state: "attached" });
  assert.ok((await p.locator('[data-c~="rel"][data-c~="end"]').count()) > 0, "arcs lead to what it undid");
  await axe(p, "timeline with an instant");
  // A link among them leads to that instant.
  await p.locator(".detail .relations a").first().click();
  await p.waitForFunction(() => !location.hash.includes("i=20261129233753056"));
  clean(p);
  await p.context().close();
});

test("a failed write's inflight file tells its workload, and the pending ones what they wait for", async () => {
  const p = await open("inflight_leftover_mor_h0150", "v=timeline");
  await p.waitForSelector("a.instant");
  const open_ = p.locator('a.instant:has(.badge.warn)').first();
  await open_.click();
  await p.waitForSelector(".pending-box");
  assert.match(await p.textContent(".detail"), /Since.*\d{14}/s);
  // Its log files are told from those that count, though their names do not tell who wrote them.
  await p.click('a:has-text("Files")');
  await p.waitForSelector('.slice .box.log.uncommitted');
  const logs = await p.$$eval(".slice .box.log", (list) => list.map((b) => `${b.textContent}${b.classList.contains("uncommitted") ? " not" : ""}`));
  assert.deepEqual(logs, ["1", "2 not", "1 not", "1"]);
  assert.match(await p.textContent(".legend"), /not committed/);
  clean(p);
  await p.context().close();
});

test("what a rollback undid is drawn where it was, and no link leads to nothing", async () => {
  const p = await page(env, "#/t=sample:mor_rollback_multi_h0150&v=timeline&i=20261129232717337&act=rollback");
  await ready(p);
  await p.waitForSelector(".undone");
  assert.match(await p.textContent(".undone"), /20261129232638088 undone by this, gone from the timeline/);
  assert.equal(await p.locator(".undone a").count(), 0);
  assert.doesNotMatch(await p.textContent(".sub"), /mor_rollback_multi_h0150/);
  await p.waitForSelector('[data-c~="ghost"]');
  assert.equal(await p.locator('path[data-c~="rel-rolls-back"]').count(), 1);
  await p.goto(p.url().replace(/i=\d+&act=rollback/, "i=20261129232638088"));
  await p.waitForSelector('.detail:has-text("the rollback 20261129232717337 undid it")');
  clean(p);
  await p.context().close();
});

test("write amplification and log growth stand beside rows and bytes; an empty part says so", async () => {
  const p = await open("mor_compacted_h0150", "v=timeline&ac=1");
  await p.waitForSelector('[data-c~="act-line"]');
  assert.equal(await p.locator('[data-c~="act-rewrite"]').count(), 2); // the compactions
  const notes = await p.$$eval('[data-c~="act-note"]', (list) => list.map((x) => x.textContent));
  assert.ok(notes.includes("2.44× in all, at most 2.73×") && notes.includes("now 1.11 KB, at most 5.83 KB"), notes.join("; "));
  clean(p);
  await p.context().close();
});

test("archived instants come on demand, page by page, and are told apart", async () => {
  const p = await page(env, "#/t=sample:archived_mor_h120&v=timeline");
  await ready(p);
  await p.waitForSelector("a.instant");
  const before = await p.locator("a.instant").count();
  assert.equal(await p.locator('[data-c~="archived"]').count(), 0);
  await p.click('button:has-text("Archived instants")');
  await p.waitForSelector("a.instant.archived", { state: "attached" });
  const want = JSON.parse(fs.readFileSync(path.join(gold, "archived_mor_h120/timeline.json"), "utf8"));
  const archived = want.archived.length;
  assert.equal(await p.locator('g[data-c~="archived"]').count(), archived);
  assert.match(await p.textContent(".toolbar"), new RegExp(`and ${archived} archived`));
  assert.ok(before > 0);
  await p.locator('g[data-c~="archived"]').first().click();
  await p.waitForSelector('.detail:has-text("archived")');
  clean(p);
  await p.context().close();
});

test("zoom and pan by keys and wheel; the overview shows where one is", async () => {
  const p = await page(env, "#/t=sample:archived_mor_h120&v=timeline");
  await ready(p);
  await p.waitForSelector("g[data-i]");
  const all = await p.locator("g[data-i]").count();
  for (let i = 0; i < 7; i++) await p.keyboard.press("w");
  await p.waitForSelector("#timeline-overview");
  await p.waitForFunction((n) => document.querySelectorAll("g[data-i]").length < n, all);
  const ticks = () => p.locator('[data-c="tick-label"]').allTextContents();
  const here = await ticks();
  await p.keyboard.press("d");
  await p.waitForFunction((was) => [...document.querySelectorAll('[data-c="tick-label"]')].map((t) => t.textContent).join() !== was, here.join());
  const box = await p.locator("#timeline-plot").boundingBox();
  await p.mouse.move(box.x + 100, box.y + 40);
  await p.keyboard.down("Control");
  await p.mouse.wheel(0, 400);
  await p.mouse.wheel(0, 400);
  await p.keyboard.up("Control");
  await p.click('button:has-text("Whole timeline")').catch(() => {});
  await p.waitForFunction((n) => document.querySelectorAll("g[data-i]").length === n, all);
  clean(p);
  await p.context().close();
});

// A table whose timeline is long: the properties of a real one, and instant files by name. What
// is in them is not read to draw them.
test("a timeline of 10,000 instants opens, is counted in columns, zooms and scrolls", async () => {
  const dir = path.join(env.temp, "long_timeline");
  fs.cpSync(unzip(env, "cow_trips_h102"), dir, { recursive: true });
  const tl = path.join(dir, ".hoodie/timeline");
  const names = fs.readdirSync(tl).filter((f) => /^\d+_\d+\.commit$/.test(f));
  const body = fs.readFileSync(path.join(tl, names[0]));
  const stamp = (ms) => new Date(ms).toISOString().replace(/\D/g, "");
  const n = 10000;
  const from = Date.UTC(2026, 10, 29) - n * 60_000;
  for (let i = 0; i < n; i++) {
    const at = from + i * 60_000;
    fs.writeFileSync(path.join(tl, `${stamp(at)}.commit.requested`), "");
    fs.writeFileSync(path.join(tl, `${stamp(at)}.inflight`), "");
    fs.writeFileSync(path.join(tl, `${stamp(at)}_${stamp(at + 20_000)}.commit`), body);
  }
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.setInputFiles("#choose-folder", dir);
  await ready(p);
  await p.waitForFunction((n) => document.querySelector(".toolbar")?.textContent.includes("10,0"), n, { timeout: 60000 });
  await p.waitForSelector('g[data-c~="bin"]', { timeout: 60000 });
  await p.waitForSelector(".gantt .loading", { state: "detached", timeout: 60000 });
  assert.ok((await p.locator("#timeline-plot *").count()) < 3000, "the drawing stays small");
  await p.evaluate(async () => {
    const l = document.querySelector(".instant-rows");
    for (let i = 0; i < 40; i++) {
      l.scrollTop += 3000;
      await new Promise((done) => requestAnimationFrame(done));
    }
  });
  // A column is found by where it is, too.
  const lane = await p.evaluate(() => {
    const r = document.querySelector('g[data-c~="bin"] path').getBoundingClientRect();
    return { x: r.left + r.width * 0.4, y: r.bottom - 3 };
  });
  await p.mouse.move(lane.x, lane.y);
  await p.waitForFunction(() => /^\d+ commits\. Click to zoom in\.$/.test(document.querySelector('g[data-c~="bin"] title').textContent));
  await p.mouse.click(lane.x, lane.y);
  for (let i = 0; i < 6; i++) await p.keyboard.press("w");
  await p.waitForSelector('g[data-i], g[data-c~="many"]');
  // Bars that are drawn together are found by where they are.
  const bar = await p.evaluate(() => {
    const r = document.querySelector("#timeline-plot").getBoundingClientRect();
    for (let y = r.top; y < r.bottom; y += 4) {
      for (let x = r.left + 200; x < r.right; x += 3) {
        const el = document.elementFromPoint(x, y);
        if (el?.matches('g[data-c~="bar"] *')) return { x, y };
      }
    }
  });
  await p.mouse.click(bar.x, bar.y);
  await p.waitForFunction(() => /&i=\d{17}/.test(location.hash));
  clean(p);
  await p.context().close();
});

test("compare: from two marks on the timeline to the cells that changed", async () => {
  const p = await page(env, "#/t=sample:cow_trips_h102&v=timeline");
  await ready(p);
  await p.waitForSelector("a.instant");
  const commits = p.locator('a.instant:has-text("commit")');
  const n = await commits.count();
  await commits.nth(n - 2).click();
  await p.click('.detail a:has-text("Compare from here")');
  await commits.nth(n - 1).click();
  await p.click('.detail a:has-text("Compare with")');
  await p.waitForSelector(".compare .tiles");
  assert.match(p.url(), /v=compare/);
  assert.match(await p.textContent(".between"), /^1 write between/);
  const tiles = await p.evaluate(() => Object.fromEntries([...document.querySelectorAll(".compare-head .tile")].map((t) => [t.querySelector(".tile-name").textContent, Number(t.querySelector(".tile-value").textContent)])));
  // What the page shows is what the commit itself says it did.
  const commitsGold = JSON.parse(fs.readFileSync(path.join(gold, "cow_trips_h102/commits.json"), "utf8"));
  const last = Object.entries(commitsGold).sort().at(-1)[1];
  let [inserts, updates, deletes] = [0, 0, 0];
  for (const stats of Object.values(last.partitionToWriteStats)) {
    for (const s of stats) {
      inserts += s.numInserts;
      updates += s.numUpdateWrites;
      deletes += s.numDeletes;
    }
  }
  assert.equal(tiles["rows inserted"], inserts);
  assert.equal(tiles["rows deleted"], deletes);
  assert.ok(tiles["rows updated"] <= updates, "an update may write what was there before");
  await drawn(p);
  assert.equal(await p.locator("#changed-rows tbody tr").count(), inserts + deletes + tiles["rows updated"]);
  if (tiles["rows updated"]) assert.ok((await p.locator("#changed-rows td.changed ins").count()) > 0);
  await axe(p, "compare");
  await p.locator("#changed-rows a.diff-mark").first().click();
  await p.waitForSelector(".rung.result");
  clean(p);
  await p.context().close();
});

test("compare: schema, and the keyboard chooses instants", async () => {
  const p = await page(env, "#/t=sample:cow_trips_h102&v=compare");
  await ready(p);
  await p.waitForSelector('.empty a:has-text("What the last write changed")');
  await axe(p, "compare, nothing chosen");
  await p.click('.empty a:has-text("What the last write changed")');
  await p.waitForSelector("#changed-rows, .compare .tiles");
  await p.focus("#compare-a");
  const was = p.url();
  await p.selectOption("#compare-a", { index: 3 });
  await p.waitForFunction((u) => location.href !== u, was);
  await p.waitForSelector(".compare .tiles");
  clean(p);
  await p.context().close();
});

test("health: findings with evidence that leads to the view", async () => {
  const p = await page(env, "#/t=sample:mor_rollback_multi_h0150&v=health");
  await ready(p);
  await p.waitForSelector(".health-finding");
  const said = await p.textContent('[data-check]:has-text("rollbacks")');
  assert.match(said, /20261129232717337.*20261129232816922.*20261129232927774/s);
  assert.match(await p.textContent(".health-foot"), /Thresholds/);
  await axe(p, "health");
  await p.click("#deep-check");
  await p.waitForSelector('.badge:has-text("with the deep checks")');
  assert.match(await p.textContent(".health-summary"), /\d+ keys/);
  await p.click('[data-check]:has-text("rollbacks") a:has-text("20261129232717337")');
  await p.waitForSelector(".detail .part");
  assert.match(p.url(), /v=timeline.*i=20261129232717337/);
  clean(p);
  await p.context().close();
});

test("health: thresholds are changed in the page and stand in the address", async () => {
  const p = await page(env, "#/t=sample:mor_rollback_multi_h0150&v=health");
  await ready(p);
  await p.waitForSelector('[data-check="repeated-rollbacks"]');
  assert.equal(await p.inputValue("#limit-small-bytes"), "100 MB");
  // What is no number is said, and nothing is asked.
  await p.fill("#limit-rollback-count", "some");
  await p.keyboard.press("Tab");
  await p.waitForSelector('#limit-rollback-count[aria-invalid="true"]');
  await axe(p, "health, a threshold that is no number");
  await p.fill("#limit-rollback-count", "100");
  await p.keyboard.press("Tab");
  await p.waitForFunction(() => /ht=rollback\.count%3D100|ht=rollback\.count=100/.test(location.hash));
  await p.waitForSelector('[data-check="repeated-rollbacks"]', { state: "detached" });
  await p.waitForSelector('.limits .badge:has-text("changed")');
  await p.fill("#limit-small-bytes", "1 kB");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => /small\.bytes(=|%3D)1024/.test(location.hash));
  await p.waitForSelector("#limit-small-bytes");
  assert.equal(await p.inputValue("#limit-small-bytes"), "1.00 KB");
  // The link opens the same.
  await p.reload();
  await p.waitForSelector('.limits .badge:has-text("changed")');
  assert.equal(await p.locator('.limits .badge:has-text("changed")').count(), 2);
  assert.equal(await p.locator('[data-check="repeated-rollbacks"]').count(), 0);
  await p.click('a:has-text("Back to the defaults")');
  await p.waitForSelector('[data-check="repeated-rollbacks"]');
  assert.ok(!p.url().includes("ht="));
  clean(p);
  await p.context().close();
});

test("health: what the metadata table and the storage disagree about is a finding", async () => {
  const dir = path.join(env.temp, "out_of_step");
  fs.cpSync(unzip(env, "mdt_full_h120"), dir, { recursive: true });
  const parquet = fs.readdirSync(dir, { recursive: true }).find((f) => f.endsWith(".parquet") && !f.startsWith(".hoodie"));
  const gone = path.basename(parquet);
  fs.rmSync(path.join(dir, parquet));
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.setInputFiles("#choose-folder", dir);
  await ready(p);
  await p.evaluate(() => (location.hash = location.hash.replace(/&v=.*/, "&v=health")));
  await p.waitForSelector('[data-check="metadata-table"]');
  assert.match(await p.textContent('[data-check="metadata-table"]'), new RegExp(gone.replaceAll(".", "\\.")));
  await p.click('[data-check="metadata-table"] a:has-text("Show the metadata table")');
  await p.waitForFunction(() => location.hash.includes("v=metadata"));
  clean(p);
  await p.context().close();
});

test("the metadata table: partitions, records, a key looked up", async () => {
  const p = await open("mdt_full_h120", "v=metadata");
  await p.waitForSelector("#meta-records");
  const parts = await p.locator(".mpart strong").allTextContents();
  for (const want of ["files", "column_stats", "record_index"]) assert.ok(parts.includes(want), want);
  await axe(p, "metadata");
  await p.setViewportSize({ width: 390, height: 844 });
  await p.click('.mpart:has-text("column_stats")');
  await p.waitForFunction(() => document.querySelector("#meta-records td")?.textContent === "column_stats");
  const over = await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `it is ${over} px wider than a phone`);
  await p.click('.mpart:has-text("record_index")');
  await p.waitForSelector("#search");
  await drawn(p);
  const keys = await p.locator("#meta-records tbody th").allTextContents();
  assert.ok(keys.length > 1);
  const key = keys[1];
  await p.fill("#search", key);
  await p.keyboard.press("Enter");
  await p.waitForFunction((k) => document.querySelectorAll("#meta-records tbody tr").length === 1 && document.querySelector("#meta-records tbody th").textContent === k, key);
  await p.click('#meta-records a:has-text("History")');
  await p.waitForSelector(".rung.result");
  clean(p);
  await p.context().close();
});

test("a table without a metadata table says so", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=metadata");
  await ready(p);
  await p.waitForSelector('.empty:has-text("No metadata table")');
  clean(p);
  await p.context().close();
});

test("query options: read-optimized rows are Hudi's, a range is incremental, the state is in the address", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=rows");
  await ready(p);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.click("#query-options");
  await p.waitForSelector(".query-form");
  const ro = fs.readFileSync(path.join(gold, "mor_trips_h120/read_optimized.jsonl"), "utf8").trim().split("\n").filter(Boolean).length;
  await p.click('.query-form a:has-text("Read-optimized")');
  await p.waitForFunction((n) => document.querySelector("#row-count")?.textContent === n + " rows" && location.hash.includes("q=ro"), ro);
  await axe(p, "rows with query options");
  await p.click('.query-form a:has-text("Incremental")');
  await p.waitForFunction(() => location.hash.includes("q=inc") && (document.querySelector("#row-count") || document.querySelector(".fault")));
  await p.selectOption("#query-begin", { index: 2 });
  await p.waitForFunction(() => /qb=\d{17}/.test(location.hash));
  await p.waitForSelector("#grid [role=gridcell][aria-colindex], .empty");
  await p.selectOption("#query-rules", "0.15.0");
  await p.waitForFunction(() => location.hash.includes("h=0.15.0"));
  await p.waitForSelector("#row-count, .fault, .empty");
  clean(p);
  await p.context().close();
});

test("a table of ORC files starts the engine that reads them", { skip: !fs.existsSync(path.join(dist, "engine-orc.wasm")) }, async () => {
  const p = await page(env, "#/t=sample:orc_base_h120&v=rows");
  await ready(p);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]", { timeout: 120000 });
  assert.equal(await p.textContent("#row-count"), `${goldRows("orc_base_h120").length} rows`);
  assert.match(await p.textContent(".notice"), /ORC/);
  clean(p);
  await p.context().close();
});

test("every view is sound for assistive technology, light and dark, and fits a phone", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const p = await page(env, "", { colorScheme, viewport: { width: 390, height: 844 } });
    await p.waitForSelector("a.card");
    await axe(p, `home, ${colorScheme}`);
    for (const [v, wait] of [
      ["timeline", "a.instant"],
      ["files", ".slice"],
      ["blocks&p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776&b=0&l=chennai/.025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0_20261129232542776.log.1_2-1209-1507", ".block-detail .records"],
      ["blocks&p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776&r=merge&n=36", "#replay-queue"],
      ["rows", "#grid [role=gridcell][aria-colindex]"],
      ["history&k=trip-001", ".rung.result"],
      ["compare&c1=20261129232604740", ".compare .tiles"],
      ["health", ".health-finding"],
      ["metadata", ".mparts, .metadata .empty"],
      ["table", "#housekeeping"],
    ]) {
      await p.evaluate((h) => (location.hash = h), `#/t=sample:mor_rollback_multi_h0150&v=${v}`);
      await p.waitForSelector(wait, { timeout: 60000 });
      await axe(p, `${v}, ${colorScheme}`);
      const over = await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(over <= 0, `${v} is ${over} px wider than a phone`);
    }
    clean(p);
    await p.context().close();
  }
});
