// What the keyboard reaches in each view, and what of a view its address keeps.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { axe, page, ready, settled, start } from "./harness.mjs";

let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");
const slice = "p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776";
const focus = (p) => p.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.tagName);

test("the key / goes to the box of every view, and to the palette where there is none", async () => {
  const p = await page(env);
  for (const [hash, wait, id] of [
    ["t=sample:mor_trips_h120&v=timeline", "a.instant", "search"],
    ["t=sample:mor_trips_h120&v=files", "a.slice", "search"],
    ["t=sample:mor_rollback_multi_h0150&v=blocks", "a.pick", "search"],
    [`t=sample:mor_rollback_multi_h0150&v=blocks&${slice}`, "g[data-b]", "search"],
    ["t=sample:mor_trips_h120&v=rows", "#grid [role=gridcell]", "where"],
    ["t=sample:mor_trips_h120&v=plan", "#plan-parts", "where"],
    ["t=sample:mor_trips_h120&v=stream", "#flink-options", "flink-0"],
    ["t=sample:mor_trips_h120&v=history", "#search", "search"],
    ["t=sample:mor_trips_h120&v=compare", "#compare-a", "compare-a"],
    ["t=sample:mor_trips_h120&v=health", ".health-summary", "search"],
    ["t=sample:mdt_full_h120&v=metadata", "#meta-records", "search"],
    ["t=sample:mor_trips_h120&v=table", ".props", "search"],
    ["", "a.card", "palette-input"],
    [`t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&r=scan`, "#replay-queue", "palette-input"],
  ]) {
    await p.goto("about:blank");
    await p.goto(`${env.site.url}/#/${hash}`);
    await p.waitForSelector(wait);
    await p.keyboard.press("/");
    await p.waitForFunction((id) => document.activeElement.id === id, id).catch(async () => assert.fail(`${hash}: / leads to ${await focus(p)}, not to ${id}`));
    if (id === "search" || id === "palette-input") assert.ok(await p.evaluate(() => document.activeElement.placeholder.length < 60));
  }
  clean(p);
  await p.context().close();
});

test("filters leave what has the term", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=files");
  await p.waitForSelector("a.slice");
  const heads = () => p.locator(".partition-head").count();
  assert.equal(await heads(), 3);
  await p.fill("#search", "chenn");
  await p.waitForFunction(() => document.querySelectorAll(".partition-head").length === 1);
  assert.match(await p.textContent(".find [role=status]"), /^2 found/);
  const fid = await p.textContent(".fid");
  await p.fill("#search", fid.slice(0, 8));
  await p.waitForFunction(() => document.querySelectorAll(".group-head").length === 1);
  await p.fill("#search", "no such thing");
  await p.waitForFunction(() => document.querySelectorAll(".partition-head").length === 0);
  await axe(p, "nothing left");
  await p.goto(`${env.site.url}/#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}`);
  await p.waitForSelector("g[data-b]");
  await p.fill("#search", "rolled back");
  await p.waitForFunction(() => document.querySelector(".find [role=status]").textContent === "3 found");
  const found = [];
  for (let i = 0; i < 4; i++) {
    const before = await p.evaluate(() => location.hash);
    await p.press("#search", "Enter");
    await p.waitForFunction((b) => location.hash !== b, before);
    found.push(/log\.(\d+)/.exec(await p.evaluate(() => location.hash))[1]);
  }
  assert.deepEqual(found, ["2", "4", "7", "2"]);
  await p.goto(`${env.site.url}/#/t=sample:mor_corrupt_middle_h0150&v=health`);
  await p.waitForSelector(".health-finding");
  await p.fill("#search", "longer than");
  await p.waitForFunction(() => document.querySelectorAll(".health-finding").length === 1);
  await p.goto(`${env.site.url}/#/t=sample:mdt_full_h120&v=metadata`);
  await p.waitForSelector("#meta-records");
  await p.selectOption("#lookup-in", "files");
  await p.fill("#search", "__all_partitions__");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("mp=files&mk=__all_partitions__"));
  clean(p);
  await p.context().close();
});

test("files are a tree for the keyboard", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=files");
  await p.waitForSelector("#files-tree[role=tree] a.slice");
  await axe(p, "the tree");
  const stops = () => p.locator('#files-tree [tabindex="0"]').count();
  await p.waitForFunction(() => document.querySelectorAll('#files-tree [tabindex="0"]').length === 1);
  await p.focus("#search");
  await p.keyboard.press("Tab");
  const at = () => p.evaluate(() => `${document.activeElement.getAttribute("role")} ${document.activeElement.getAttribute("aria-level")} ${document.activeElement.textContent.slice(0, 7)}`);
  assert.equal(await at(), "treeitem 1 chennai");
  await p.keyboard.press("ArrowRight");
  assert.match(await at(), /^treeitem 2/);
  await p.keyboard.press("j");
  assert.match(await at(), /^treeitem 3/);
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("&s="));
  assert.match(await at(), /^treeitem 3/);
  await p.keyboard.press("ArrowLeft");
  await p.keyboard.press("ArrowLeft");
  assert.equal(await at(), "treeitem 1 chennai");
  await p.keyboard.press("ArrowLeft");
  await p.waitForFunction(() => document.querySelector(".partition-head").getAttribute("aria-expanded") === "false");
  await p.keyboard.press("ArrowDown");
  assert.match(await at(), /^treeitem 1 san_fra/);
  await p.keyboard.press("k");
  await p.keyboard.press("ArrowRight");
  await p.waitForFunction(() => document.querySelector(".partition-head").getAttribute("aria-expanded") === "true");
  assert.equal(await stops(), 1);
  // One Tab leaves it.
  await p.keyboard.press("Tab");
  assert.ok(!(await p.evaluate(() => document.activeElement.closest("#files-tree"))));
  clean(p);
  await p.context().close();
});

test("the list of instants is one stop of the Tab key", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=timeline");
  await p.waitForSelector("a.instant");
  const stops = () => p.locator('.instant-rows [tabindex="0"], .instant-rows[tabindex="0"]').count();
  assert.equal(await stops(), 1);
  await p.focus('a.instant[tabindex="0"]');
  for (const [key, at] of [["ArrowDown", 0], ["ArrowDown", 1], ["j", 2], ["k", 1], ["End", 4], ["Home", 0]]) {
    await p.keyboard.press(key);
    await p.waitForFunction((at) => document.activeElement === document.querySelectorAll("a.instant")[at] && document.activeElement.classList.contains("chosen"), at);
  }
  assert.equal(await stops(), 1);
  assert.ok((await p.evaluate(() => location.hash)).includes("i=20261129225100017"));
  clean(p);
  await p.context().close();
});

test("the help takes the focus and gives it back; a history leads back to its cell", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=rows");
  await settled(p);
  await p.focus("#grid");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"]) await p.keyboard.press(key);
  await p.waitForFunction(() => document.querySelector("#grid").getAttribute("aria-activedescendant"));
  const cell = () => p.evaluate(() => {
    const c = document.getElementById(document.querySelector("#grid").getAttribute("aria-activedescendant"));
    return c && `${c.closest("[data-r]")?.dataset.r} ${c.getAttribute("aria-colindex")}`;
  });
  await p.waitForTimeout(200);
  const before = await cell();
  assert.match(before, /^2 5$/);
  await p.keyboard.press("?");
  await p.waitForFunction(() => document.activeElement.id === "help-title");
  assert.equal(await p.getAttribute("#help", "role"), "dialog");
  await axe(p, "the help");
  await p.keyboard.press("Tab");
  assert.ok(await p.evaluate(() => Boolean(document.activeElement.closest("#help"))));
  await p.keyboard.press("Escape");
  await p.waitForFunction(() => document.activeElement.id === "grid");
  assert.equal(await p.locator("#help").count(), 0);
  await p.keyboard.press("h");
  await p.waitForSelector(".rung");
  await p.goBack();
  await settled(p);
  await p.waitForFunction(() => document.activeElement.id === "grid");
  assert.equal(await cell(), before);
  clean(p);
  await p.context().close();
});

test("copying a value moves nothing; the rows read and a stream can be copied as JSON", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=rows", { permissions: ["clipboard-read", "clipboard-write"], viewport: { width: 1024, height: 800 } });
  await settled(p);
  await p.focus("#grid");
  await p.keyboard.press("ArrowDown");
  const box = () => p.locator("#grid").boundingBox();
  const was = await box();
  await p.keyboard.press("Control+c");
  await p.waitForSelector('.said[role=status]:has-text("Copied")');
  assert.deepEqual(await box(), was);
  const copied = async () => {
    await p.click('.crumb [aria-label="Copy what this view shows as JSON"]');
    await p.waitForSelector('.copy-shown [aria-label="Copied"]');
    return JSON.parse(await p.evaluate(() => navigator.clipboard.readText()));
  };
  const rows = await copied();
  assert.equal(rows.length, Number(/\d+/.exec(await p.textContent("#row-count"))[0]));
  assert.ok(rows.every((r) => r.uuid && r.city));
  await p.goto(`${env.site.url}/#/t=sample:mor_trips_h120&v=stream&fr=1&fo=read.start-commit%3Dearliest`);
  await settled(p);
  await p.waitForSelector('.crumb [aria-label="Copy what this view shows as JSON"]');
  assert.ok((await copied()).length > 0);
  clean(p);
  await p.context().close();
});

test("the part of the timeline that is seen and the archive stand in the address", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=timeline");
  await p.waitForSelector("#timeline-plot svg");
  for (let i = 0; i < 3; i++) await p.keyboard.press("w");
  await p.waitForFunction(() => /&z=0\.\d+-0\.\d+/.test(location.hash));
  const ticks = () => p.evaluate(() => [...document.querySelectorAll('[data-c="tick-label"]')].map((t) => t.textContent).join());
  const seen = await ticks();
  await p.reload();
  await p.waitForSelector("#timeline-plot.zoomed svg");
  assert.equal(await ticks(), seen);
  await p.click('button:has-text("Whole timeline")');
  await p.waitForFunction(() => !location.hash.includes("z="));

  await p.goto(`${env.site.url}/#/t=sample:archived_mor_h0150&v=timeline`);
  await p.waitForSelector("a.instant");
  await p.click('button:has-text("Archived instants")');
  await p.waitForSelector("a.instant.archived");
  assert.match(await p.evaluate(() => location.hash), /&ar=1/);
  await p.reload();
  await p.waitForSelector("a.instant.archived");
  const archived = await p.textContent("a.instant.archived .mono");
  await p.click('button:has-text("Hide archived instants")');
  await p.waitForSelector("a.instant.archived", { state: "detached" });
  assert.ok(!(await p.evaluate(() => location.hash)).includes("ar=1"));
  // An archived instant that a link names has its bar and its line.
  await p.goto("about:blank");
  await p.goto(`${env.site.url}/#/t=sample:archived_mor_h0150&v=timeline&i=${archived}`);
  await p.waitForSelector("a.instant.archived.chosen");
  await p.waitForSelector('[data-c~="bar"][data-c~="archived"][data-c~="chosen"]');
  clean(p);
  await p.context().close();
});

test("what the cursor includes is not drawn as later", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=timeline&a=20261129225257593");
  await p.waitForSelector('[data-c~="cursor-later"]');
  const order = await p.evaluate(() => {
    const all = [...document.querySelectorAll('#timeline-plot [data-c~="bar"], #timeline-plot [data-c~="cursor-later"]')];
    const veil = all.findIndex((x) => x.dataset.c.includes("cursor-later"));
    return all.map((x, i) => (x.dataset.i === undefined ? "veil" : `${x.dataset.i} ${i > veil ? "over" : "under"}`));
  });
  assert.deepEqual(order.sort(), ["0 over", "1 over", "2 over", "3 under", "4 under", "veil"]);
  clean(p);
  await p.context().close();
});

test("what an address has that is not known is said", async () => {
  const p = await page(env);
  for (const [hash, said] of [["t=sample:mor_trips_h120&v=nonsense", "v=nonsense"], ["t=sample:mor_trips_h120&v=rows&q=all", "q=all"], ["t=sample:mor_trips_h120&v=rows&a=garbage", "a=garbage"], ["ls=rollback", "ls=rollback"]]) {
    await p.goto("about:blank");
    await p.goto(`${env.site.url}/#/${hash}`);
    await p.waitForSelector(".notice");
    assert.ok((await p.textContent(".notice")).includes(said), hash);
    await p.waitForSelector(hash.startsWith("t=") ? ".headline" : "a.card");
    assert.equal(await p.locator(".notice, .fault").count(), 1);
  }
  await p.click("a.card >> nth=0");
  await ready(p);
  assert.equal(await p.locator(".notice").count(), 0);
  clean(p);
  await p.context().close();
});

test("the header has room for its parts on phones; letters grow on very wide screens", async () => {
  for (const width of [320, 390]) {
    const p = await page(env, "#/t=sample:mor_trips_h120&v=timeline", { viewport: { width, height: 800 } });
    await ready(p);
    const boxes = await p.evaluate(() => [...document.querySelectorAll(".topbar .icon-button, .topbar .palette-open, .topbar #network-button, .topbar .crumb-loc")].map((e) => ({ name: e.id || e.className, ...e.getBoundingClientRect().toJSON() })).filter((b) => b.width));
    for (const [i, a] of boxes.entries()) {
      assert.ok(a.left >= 0 && a.right <= width, `${a.name} is cut`);
      for (const b of boxes.slice(i + 1)) assert.ok(a.right <= b.left + 0.5 || b.right <= a.left + 0.5 || a.bottom <= b.top + 0.5 || b.bottom <= a.top + 0.5, `${width}: ${a.name} lies on ${b.name}`);
    }
    assert.ok((await p.locator(".crumb-loc").boundingBox()).width > 120);
    await p.context().close();
  }
  const size = async (width) => {
    const p = await page(env, "#/t=sample:mor_trips_h120&v=timeline", { viewport: { width, height: 1200 } });
    await ready(p);
    const px = await p.$eval("body", (b) => Number.parseFloat(getComputedStyle(b).fontSize));
    await p.context().close();
    return px;
  };
  assert.ok((await size(3840)) > 1.3 * (await size(1600)));
});
