// One time for all views, the inside of a base file, and a file group through time: in the browser, over the real engine.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, cell, drop, entries, gold, goldRows, page, readGrid, ready, start, tab, tables, unzip } from "./harness.mjs";

let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");
const name = "mor_trips_h120";
// The requested times of the table's completed instants, by the names of its timeline files.
const stops = [...entries(path.join(tables, name + ".zip"))]
  .map((e) => /\.hoodie\/timeline\/(\d{17})_\d{17}\.\w+$/.exec(e.name))
  .filter(Boolean)
  .map((m) => m[1])
  .sort();

const asOf = (p) => /[&]a=(\d+)/.exec(p.url())?.[1] ?? "";
const until = (p, f, arg) => p.waitForFunction(f, arg, { timeout: 60000 });
const settled = (p) => until(p, () => document.querySelector("#cursor") && !document.querySelector("#cursor.catching"));

test("one time cursor: every view shows the table as of it", async () => {
  assert.ok(stops.length >= 5);
  const p = await page(env, `#/t=sample:${name}&v=files`);
  await ready(p);
  await p.waitForSelector(".slice");
  assert.equal(await p.getAttribute("#cursor-range", "max"), String(stops.length));
  assert.match(await p.textContent("#cursor"), /Latest/);
  const groups = () => p.locator(".group").count();
  const now = await groups();

  // Dragged to the first instant: only what that wrote is there.
  const box = await p.locator("#cursor-range").boundingBox();
  await p.mouse.move(box.x + box.width - 8, box.y + box.height / 2);
  await p.mouse.down();
  for (let i = 1; i <= 8; i++) await p.mouse.move(box.x + box.width - 8 - (i / 8) * (box.width - 16), box.y + box.height / 2);
  await p.mouse.up();
  await until(p, (want) => location.hash.includes("&a=" + want), stops[0]);
  await settled(p);
  await until(p, (n) => document.querySelectorAll(".group").length < n, now);
  const instants = await p.evaluate(() => [...document.querySelectorAll(".slice-instant")].map((x) => x.textContent));
  assert.ok(instants.length > 0 && instants.every((x) => x <= stops[0]), `slices of ${instants}`);
  assert.equal(await p.locator(".slices .box.log").count(), 0, "the first write made base files");
  assert.match(await p.getAttribute("#cursor-range", "aria-valuetext"), new RegExp(`1 / ${stops.length}`));
  await axe(p, "files as of an instant");

  // A drag is one step of the browser's history.
  await p.goBack();
  await until(p, () => !location.hash.includes("&a="));
  await until(p, (n) => document.querySelectorAll(".group").length === n, now);
  await p.goForward();
  await until(p, (want) => location.hash.includes("&a=" + want), stops[0]);

  // The keys move it, in whatever view.
  await p.locator("h1").click();
  await p.keyboard.press("]");
  await until(p, (want) => location.hash.includes("&a=" + want), stops[1]);
  await settled(p);
  await until(p, () => document.querySelectorAll(".slices .box.log").length > 0);

  await tab(p, "Health");
  await p.waitForSelector(".health");
  await settled(p);
  await until(p, () => /Looked at 2 instants/.test(document.querySelector(".health")?.textContent));
  assert.match(await p.textContent(".health"), new RegExp(`as of ${stops[1]}`));

  await tab(p, "Plan");
  await until(p, (want) => document.querySelector(".plan")?.textContent.includes(want), stops[1]);

  // Rows: as of each instant none is later, and as of the last they are the rows that Hudi gives.
  const seen = [];
  for (const at of [stops[1], stops.at(-1)]) {
    await p.evaluate((h) => (location.hash = h), `#/t=sample:${name}&v=rows&a=${at}`);
    await until(p, (want) => location.hash.includes("&a=" + want) && document.querySelector("#grid [role=gridcell][aria-colindex]"), at);
    await p.waitForTimeout(600);
    const rows = await readGrid(p);
    assert.ok(rows.every((r) => r._hoodie_commit_time <= at), `rows as of ${at}`);
    assert.equal(Math.max(...rows.map((r) => Number(r._hoodie_commit_time.slice(4)))), Number(at.slice(4)), "the newest row is of that instant");
    seen.push(rows);
  }
  assert.ok(seen[0].length < seen[1].length);
  const want = goldRows(name);
  assert.equal(seen[1].length, want.length);
  const by = new Map(seen[1].map((r) => [r._hoodie_record_key, r]));
  for (const r of want) assert.equal(by.get(cell(r._hoodie_record_key)).fare, cell(r.fare));

  // The timeline shows where it stands, and goes there from an instant.
  await p.evaluate((h) => (location.hash = h), `#/t=sample:${name}&v=timeline&i=${stops[2]}`);
  await p.click('a:has-text("Move the time cursor here")');
  await until(p, (want) => location.hash.includes("&a=" + want), stops[2]);
  await p.waitForSelector('[data-c~="cursor-line"]', { state: "attached" });
  assert.equal(await p.locator(".instant.later").count(), stops.length - 3);
  await axe(p, "timeline as of an instant");
  await p.keyboard.press("[");
  await until(p, (want) => location.hash.includes("&a=" + want), stops[1]);
  await tab(p, "Metadata");
  await until(p, () => /as it is now/.test(document.querySelector("#cursor")?.textContent));
  await p.click('#cursor button:has-text("Latest")');
  await until(p, () => !location.hash.includes("&a="));

  // Playing goes through all instants and ends at the latest state.
  await tab(p, "Files");
  await p.waitForSelector(".slice");
  const path0 = [];
  await p.exposeFunction("visited", (h) => path0.push(/&a=(\d+)/.exec(h)?.[1] ?? "latest"));
  await p.evaluate(() => {
    let last = location.hash;
    const timer = setInterval(() => {
      if (location.hash !== last) window.visited((last = location.hash));
      if (window.stopWatching) clearInterval(timer);
    }, 15);
  });
  await p.click('button[aria-label="Play the table\'s history"]');
  await p.click('.cursor-speed button:has-text("4×")');
  await until(p, () => !location.hash.includes("&a=") && /Latest/.test(document.querySelector(".cursor-now").textContent));
  await p.evaluate(() => (window.stopWatching = true));
  assert.deepEqual(path0, [...stops, "latest"]);
  assert.equal(await groups(), now);
  clean(p);
  await p.context().close();
});

test("log blocks and their replay are as of the cursor", async () => {
  const t = "mor_rollback_multi_h0150";
  const p = await page(env, `#/t=sample:${t}&v=blocks`);
  await ready(p);
  await p.locator("a.pick").first().click();
  await p.waitForSelector('[data-c~="blk"]');
  const count = (what) => p.locator(`[data-c~="blk"]${what}`).count();
  const unread = await count('[data-c~="unread"]');
  assert.equal(unread, 0);
  const merged = await p.evaluate(() => [...document.querySelectorAll('[data-c~="blk"]')].filter((b) => b.querySelector("title").textContent.endsWith(", merged")).length);
  await p.click('#cursor button[aria-label^="Previous instant"]');
  await until(p, () => location.hash.includes("&a="));
  const last = Number(await p.getAttribute("#cursor-range", "max"));
  for (let i = last - 1; i > 1; i--) {
    await settled(p);
    await p.keyboard.press("[");
  }
  await until(p, () => document.querySelectorAll('[data-c~="blk"][data-c~="unread"]').length > 0);
  await settled(p);
  const then = await p.evaluate(() => [...document.querySelectorAll('[data-c~="blk"]')].map((b) => b.querySelector("title").textContent.split(", ").at(-1)));
  assert.ok(then.filter((f) => f === "merged").length < merged, then.join());
  assert.ok(then.includes("after the query instant"), then.join());
  await p.click('a:has-text("Replay the scan")');
  await p.waitForSelector(".replay");
  // Step by step to the block that is later than the cursor.
  let told = false;
  for (let i = 0; i < 40 && !told; i++) {
    told = /later than the query instant/.test(await p.textContent(".replay"));
    await p.keyboard.press("ArrowRight");
    await p.waitForTimeout(60);
  }
  assert.ok(told, "the replay tells that a block is later than the query instant");
  clean(p);
  await p.context().close();
});

// A base file of the table, with its bytes.
const baseFile = (t, end) => {
  for (const e of entries(path.join(tables, t + ".zip"))) {
    if (e.name.endsWith(end) && !e.name.includes("/.hoodie/")) return { path: e.name.slice(t.length + 1), data: e.data };
  }
  throw new Error(`${t} has no ${end} file`);
};
const plain = (s) => Number(s.replace(/[^\d]/g, ""));

test("the inside of a base file: parts to scale, statistics, bytes; of a cut one what is wrong and where", async () => {
  const { path: file, data } = baseFile(name, ".parquet");
  const p = await page(env, `#/t=sample:${name}&v=files`);
  await ready(p);
  await p.locator(`.slice[href*="${path.basename(file).split("_")[0]}"]`).first().click();
  await p.click('a:has-text("Inside the base file")');
  await p.waitForSelector(".anatomy-list a");
  const facts = () => p.evaluate(() => Object.fromEntries([...document.querySelectorAll(".part-detail .fact")].map((f) => [f.querySelector("dt").textContent, (f.querySelector("dd .mono") ?? f.querySelector("dd")).textContent])));
  // The length of the footer, by the page and by the file's own bytes.
  const foot = data.readUInt32LE(data.length - 8);
  await p.evaluate((h) => (location.hash = h), `#/t=sample:${name}&v=files&an=${file}`);
  await p.waitForSelector(".anatomy-list a");
  await p.keyboard.press("j"); // the magic
  await p.waitForSelector(".part-detail dl");
  await p.keyboard.press("j"); // the row group
  await until(p, () => document.querySelector(".part-detail h2")?.textContent === "Row group 0");
  await p.evaluate(() => (document.querySelector(".anatomy-list .vlist, .anatomy-list [class*=instant-rows]").scrollTop = 1e9));
  await p.click('.anatomy-list a:has-text("Footer"):not(:has-text("Length"))');
  await until(p, () => document.querySelector(".part-detail h2")?.textContent === "Footer");
  let f = await facts();
  assert.deepEqual(f.Bytes.match(/[\d,]+/g).slice(0, 2).map(plain), [data.length - 8 - foot, data.length - 8]);
  // The bytes of a part are those of the file.
  await p.click('.part-detail button:has-text("Show the bytes")');
  await p.waitForSelector(".part-detail .hex-row");
  const hex = await p.evaluate(() => document.querySelector(".part-detail .hex-row").textContent);
  const from = data.length - 8 - foot;
  assert.ok(hex.replace(/\s+/g, "").includes(data.subarray(from, from + Math.min(16 - (from % 16), 8)).toString("hex")), hex);
  await axe(p, "the inside of a base file");
  // Chosen in the drawing.
  await p.evaluate(() => document.querySelector(".anatomy").scrollIntoView());
  await p.evaluate(() => window.scrollTo(0, 0));
  const plot = await p.locator("#anatomy-plot svg").boundingBox();
  const groupEnd = await p.evaluate(() => Number([...document.querySelectorAll('[data-c~="an-row-group"]')].at(-1).getAttribute("d").match(/h([\d.]+)/)[1]));
  await p.mouse.click(plot.x + groupEnd / 2, plot.y + 12);
  await until(p, () => document.querySelector(".part-detail h2")?.textContent === "Row group 0");
  await p.click('button:has-text("Zoom to this part")');
  await until(p, () => [...document.querySelectorAll('[data-c~="an-name"]')].some((x) => x.textContent === "fare"));
  f = await facts();
  const rows = plain(f.rows);
  const key = path.basename(file).split("_")[0];
  const mine = goldRows(name);
  assert.ok(rows > 0 && rows <= mine.length, `${key} has ${rows} rows`);
  assert.match(await p.textContent(".anatomy"), /hoodie_min_record_key/);
  assert.match(await p.textContent(".anatomy"), /DYNAMIC_V0, 30 hashes/);
  const read = /([\d.,]+ K?B) read of it/.exec(await p.textContent(".anatomy"));
  assert.ok(read, "what was read is told");
  clean(p);
  await p.context().close();

  // An HFile of the metadata table.
  const m = "mdt_full_h120";
  const hfile = [...entries(path.join(tables, m + ".zip"))].find((e) => e.name.endsWith(".hfile"));
  const q = await page(env, `#/t=sample:${m}&v=files&an=${hfile.name.slice(m.length + 1)}`);
  await ready(q);
  await q.waitForSelector(".anatomy-list a");
  const kinds = await q.evaluate(() => [...document.querySelectorAll(".anatomy-list .an-text")].map((x) => x.textContent));
  for (const k of ["Data block", "Root index of the data blocks", "File info", "Trailer"]) assert.ok(kinds.includes(k), `${k} among ${kinds}`);
  clean(q);
  await q.context().close();

  // A file that was cut: the table is dropped as a folder.
  const folder = path.join(env.temp, "cut", name);
  fs.cpSync(unzip(env, name), folder, { recursive: true });
  fs.truncateSync(path.join(folder, file), data.length - 5);
  const r = await page(env, "");
  await r.waitForSelector("a.card");
  await drop(r, [folder]);
  await ready(r);
  const t = /t=([^&]*)/.exec(r.url())[1];
  await r.evaluate((h) => (location.hash = h), `#/t=${t}&v=files&an=${file}`);
  await r.waitForSelector(".anatomy .finding");
  assert.match(await r.textContent(".anatomy .findings"), /Parquet magic/);
  clean(r);
  await r.context().close();
});

test("a file group through time, and the partitions by size", async () => {
  const t = "replace_clustering_mor_h120";
  const p = await page(env, `#/t=sample:${t}&v=files`);
  await ready(p);
  await p.waitForSelector(".group.replaced");
  const id = await p.textContent(".group.replaced .fid");
  await p.locator(".group.replaced .fid").first().click();
  await p.waitForSelector(".group-view table");
  const events = () => p.evaluate(() => [...document.querySelectorAll(".group-view section:last-of-type tbody tr")].map((r) => [...r.children].map((c) => c.textContent)));
  const list = await events();
  // The commit metadata of the table tells who wrote to the group.
  const wrote = [...entries(path.join(tables, t + ".zip"))].filter((e) => /\/timeline\/\d+_\d+\.(deltacommit|commit|replacecommit)$/.test(e.name) && e.data.includes(id)).map((e) => path.basename(e.name).split("_")[0]);
  assert.deepEqual([...new Set(list.map((r) => r[0]))].sort(), wrote.sort());
  assert.ok(list.some((r) => r[2].startsWith("replaced")), JSON.stringify(list));
  assert.equal(await p.locator('[data-c~="group-base"]').count() > 1, true);
  await axe(p, "a file group through time");
  // Before the cursor reaches the replacement, the group is not replaced.
  await p.click('#cursor button[aria-label^="Previous instant"]');
  await settled(p);
  const first = wrote[0];
  await p.evaluate((a) => (location.hash = location.hash.replace(/&a=\d+/, "") + "&a=" + a), first);
  await until(p, (a) => document.querySelectorAll(".group-view section:last-of-type tbody tr").length > 0 && [...document.querySelectorAll(".group-view section:last-of-type tbody th")].every((x) => x.textContent <= a), first);
  await settled(p);
  assert.ok(!(await p.textContent(".group-view")).includes("replaced by"));
  await p.click(".group-view section:last-of-type tbody a.link.mono >> nth=1");
  await p.waitForSelector(".anatomy-list a, .block-detail");
  clean(p);

  await p.evaluate((h) => (location.hash = h), `#/t=sample:${t}&v=files&tm=1`);
  await p.waitForSelector(".tm-cell");
  const cells = p.locator("a.tm-cell");
  const n = await cells.count();
  assert.ok(n > 1);
  await axe(p, "partitions by size");
  // Areas are as the bytes are.
  const areas = await p.evaluate(() => {
    const field = document.querySelector(".tm-field").getBoundingClientRect();
    return [...document.querySelectorAll("a.tm-cell")].map((c) => {
      const r = c.getBoundingClientRect();
      return (r.width * r.height) / (field.width * field.height);
    });
  });
  await p.click('summary:has-text("The same as a table")');
  const bytes = await p.evaluate(() => [...document.querySelectorAll(".treemap tbody tr")].map((r) => Number(r.children[1].title.replace(/[^\d]/g, ""))));
  const sum = bytes.reduce((a, b) => a + b, 0);
  bytes.forEach((b, i) => assert.ok(Math.abs(areas[i] - b / sum) < 0.02, `${areas[i]} of the field for ${b} of ${sum} bytes`));
  const label = await cells.first().getAttribute("title");
  await cells.first().click();
  await until(p, () => document.querySelectorAll(".partitions .partition").length === 1);
  assert.ok((await p.textContent(".partitions .partition-head")).includes(label.split(",")[0]));
  await p.click('a:has-text("Show all partitions")');
  await until(p, (k) => document.querySelectorAll(".partitions .partition").length === k, n);
  clean(p);
  await p.context().close();
});

test("what commits wrote, beside the timeline, for what is on the screen", async () => {
  const p = await page(env, `#/t=sample:${name}&v=timeline`);
  await ready(p);
  await p.click('a:has-text("Show what was written")');
  await p.waitForSelector('[data-c~="act-base"]');
  const commits = [...entries(path.join(tables, name + ".zip"))].filter((e) => /\/\.hoodie\/timeline\/\d+_\d+\.deltacommit$/.test(e.name));
  assert.equal(commits.length, stops.length);
  await p.click('summary:has-text("The same as a table")');
  const shown = await p.evaluate(() => [...document.querySelectorAll(".activity-table tbody tr")].map((r) => [r.children[0].textContent, ...[...r.children].slice(2, 5).map((c) => Number(c.textContent.replace(/,/g, "")))]));
  assert.deepEqual(shown.map((r) => r[0]), [...stops].reverse());
  // The numbers are those of the commit metadata as Hudi itself reads it.
  const told = Object.entries(JSON.parse(fs.readFileSync(path.join(gold, name, "commits.json"), "utf8"))).map(([file, m]) => {
    const sum = (k) => Object.values(m.partitionToWriteStats).flat().reduce((a, w) => a + w[k], 0);
    return [file.slice(0, 17), sum("numInserts"), sum("numUpdateWrites"), sum("numDeletes")];
  });
  assert.deepEqual(shown, told.sort((a, b) => (a[0] < b[0] ? 1 : -1)));
  await axe(p, "timeline with numbers");
  // Zoomed in, only the commits on the screen are read.
  await p.hover("#timeline-plot");
  for (let i = 0; i < 4; i++) await p.keyboard.press("w");
  await until(p, (n) => document.querySelectorAll(".activity-table tbody tr").length < n, stops.length);
  clean(p);
  await p.context().close();
});

test("the keys of the help do what it says", async () => {
  const p = await page(env, `#/t=sample:${name}&v=timeline`);
  await ready(p);
  await p.waitForSelector("a.instant");
  const all = await p.$$eval("a.instant .mono", (l) => l.map((x) => x.textContent));
  const chosen = async (i) => until(p, (t) => location.hash.includes(`&i=${t}`), all[i]);
  const press = (k) => p.keyboard.press(k);
  await press("j");
  await chosen(0);
  await press("j");
  await chosen(1);
  await press("]");
  await chosen(2);
  await press("[");
  await chosen(1);
  await press("k");
  await chosen(0);
  await press("Escape");
  await until(p, () => !location.hash.includes("&i="));
  // The axis: nearer, to the right, to the left, further away.
  await until(p, () => document.querySelector("#timeline-plot svg"));
  const lens = () => p.evaluate(() => ["x", "width"].map((a) => Number(document.querySelector('[data-c~="lens"]')?.getAttribute(a) ?? NaN)));
  await press("w");
  await press("w");
  await p.waitForSelector('[data-c~="lens"]');
  await p.waitForTimeout(200);
  const [x, width] = await lens();
  assert.ok(width < 239, `w: ${width}`);
  await press("d");
  await until(p, (x) => Number(document.querySelector('[data-c~="lens"]').getAttribute("x")) > x + 1, x);
  await press("a");
  await until(p, (x) => Math.abs(Number(document.querySelector('[data-c~="lens"]').getAttribute("x")) - x) < 1, x);
  await press("s");
  await press("s");
  await p.waitForSelector('[data-c~="lens"]', { state: "detached" });
  await press("?");
  await p.waitForSelector('.help[role="dialog"]');
  for (const k of ["j", "k", "[", "]", "/", "w", "a", "s", "d", "?"]) assert.ok(await p.locator(`.help kbd:text-is("${k}")`).count(), k);
  await axe(p, "the help");
  await press("Escape");
  await p.waitForSelector(".help", { state: "detached" });
  // Search, where a view has one.
  await tab(p, "History");
  await p.waitForSelector("#search");
  await p.evaluate(() => document.activeElement.blur());
  await press("/");
  await until(p, () => document.activeElement?.id === "search");
  clean(p);
  await p.context().close();
});

test("what every view shows is copied as JSON, and its address is a link to it", async () => {
  const p = await page(env, `#/t=sample:${name}&v=timeline`, { permissions: ["clipboard-read", "clipboard-write"] });
  await ready(p);
  const log = [...entries(path.join(tables, name + ".zip"))].map((e) => e.name).find((n) => /\.log\.1_/.test(n) && !n.includes(".hoodie/"));
  assert.ok(log);
  const of = log.slice(log.indexOf("/") + 1);
  const views = {
    "v=timeline": (a) => a.instants.length >= stops.length,
    [`v=timeline&i=${stops[0]}`]: (a) => a.instant.requested === stops[0] && a.parts.length > 0,
    "v=files": (a) => JSON.stringify(a).includes("partition"),
    [`v=blocks&l=${encodeURIComponent(of)}`]: (a) => a.files.length > 0,
    [`v=blocks&l=${encodeURIComponent(of)}&b=0`]: (a) => !a.files && JSON.stringify(a).includes("block"),
    "v=plan": (a) => JSON.stringify(a).length > 100,
    "v=history&k=trip&kp=1": (a) => a.keys.length > 0,
    [`v=compare&c1=${stops[0]}&c2=${stops.at(-1)}`]: (a) => JSON.stringify(a).includes(stops[0]),
    "v=health": (a) => a.checks.length >= 15,
    "v=table": (a) => a.overview && a.config && a.schema.columns.length > 5,
  };
  for (const [v, right] of Object.entries(views)) {
    await p.evaluate((h) => (location.hash = h), `#/t=sample:${name}&${v}`);
    await until(p, (v) => location.hash.includes("&" + v.split("&")[0]), v);
    await until(p, () => document.querySelector(".view")?.childElementCount && !document.querySelector('main [aria-busy="true"], main .skeleton, main .loading'));
    await p.waitForSelector(".copy-shown button", { timeout: 20000 }).catch((e) => assert.fail(`${v}: nothing to copy, ${e}`));
    const found = async () => {
      await p.click(".copy-shown button");
      return JSON.parse(await p.evaluate(() => navigator.clipboard.readText()));
    };
    let a = await found();
    for (let i = 0; i < 20 && !tries(right, a); i++) {
      await p.waitForTimeout(250);
      a = await found();
    }
    assert.ok(tries(right, a), `${v}: ${JSON.stringify(a).slice(0, 300)}`);
    await p.click('.crumb [aria-label="Copy the link to this view"]');
    await until(p, () => navigator.clipboard.readText().then((t) => t.startsWith("http")));
    assert.equal(await p.evaluate(() => navigator.clipboard.readText()), p.url());
  }
  clean(p);
  await p.context().close();
});

// tries reports whether a test of an answer holds; another view's answer may lack what it looks at.
function tries(right, a) {
  try {
    return Boolean(right(a));
  } catch {
    return false;
  }
}
