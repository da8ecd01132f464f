// The history of a record: every version in merge order, and as the last rung the row that
// Hudi itself gives.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { axe, drawn, cell, goldRows, page, ready, start, drop, tables } from "./harness.mjs";
import path from "node:path";

let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");
const number = (s) => (s !== null && /^-?[\d.]+(e[-+]?\d+)?$/i.test(s) && /[.e]/i.test(s) ? String(Number(s)) : s);
const short = (s) => (s === null ? null : s === "" ? "“”" : [...s].slice(0, 160).join("").replace(/\n/g, "↵").replace(/\t/g, "⇥"));

// open opens a table of the test data: a sample by its name, others as a dropped file.
async function open(name, hash) {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [path.join(tables, name + ".zip")]);
  await ready(p);
  const table = /t=([^&]*)/.exec(p.url())[1];
  await p.evaluate((h) => (location.hash = h), `#/t=${table}&${hash}`);
  return p;
}

// ladders reads what the page shows of every key.
const ladders = (p) =>
  p.evaluate(() =>
    [...document.querySelectorAll(".key")].map((k) => ({
      key: k.getAttribute("aria-label").slice(4),
      copies: [...k.querySelectorAll(".group-copy")].map((c) => ({
        shown: c.querySelector(".shown").dataset.shown,
        rungs: [...c.querySelectorAll(".rung:not(.result)")].map((r) => ({ outcome: r.dataset.outcome, why: r.querySelector(".why").textContent, node: r.querySelector(".node").textContent })),
        row: Object.fromEntries(
          [...[...c.querySelectorAll(".rung.result")].at(-1).querySelectorAll(".value-item")].map((v) => {
            const dd = v.querySelector("dd").cloneNode(true);
            dd.querySelectorAll(".source").forEach((s) => s.remove());
            return [v.querySelector("dt").textContent, dd.classList.contains("j-null") ? null : dd.textContent];
          }),
        ),
      })),
    })),
  );

// Tables with rollbacks, corrupt blocks, event time, partial updates, deletes.
for (const name of ["mor_rollback_multi_h0150", "mor_corrupt_middle_h0150", "merge_event_time_mor_h120", "partial_update_h120", "mor_rollback_retry_h0150", "mor_trips_h120"]) {
  test(`${name}: the last rung of every key is the row that Hudi gives`, async () => {
    const gold = goldRows(name);
    const p = await open(name, "v=history&k=&kp=1");
    await p.waitForSelector("#search");
    const first = cell(gold[0]._hoodie_record_key);
    // All keys of these tables begin with the same letters.
    let prefix = first;
    for (const r of gold) while (!cell(r._hoodie_record_key).startsWith(prefix)) prefix = prefix.slice(0, -1);
    assert.ok(prefix.length > 0, "the keys have a common beginning");
    await p.fill("#search", prefix);
    await p.click("button.switch");
    await p.click('.history-form button[type="submit"]');
    await p.waitForSelector(".rung.result", { timeout: 60000 });
    await drawn(p);
    const shown = await ladders(p);
    const by = new Map(shown.map((k) => [k.key, k]));
    const more = (await p.textContent(".history")).includes("More keys begin");
    let held = 0;
    for (const r of gold) {
      const k = by.get(cell(r._hoodie_record_key));
      if (!k && more) continue;
      assert.ok(k, `${cell(r._hoodie_record_key)} is not found`);
      const copies = k.copies.filter((c) => c.shown === "yes");
      assert.equal(copies.length, 1, `${k.key} is shown once`);
      for (const [c, v] of Object.entries(r)) {
        if (c.startsWith("_hoodie_")) continue;
        assert.equal(number(copies[0].row[c]), number(short(cell(v))), `${k.key}: ${c}`);
      }
      assert.ok(copies[0].rungs.length > 0 && copies[0].rungs.every((x) => x.why.length > 10 && x.outcome), `${k.key}: every version has its reason`);
      held++;
    }
    assert.ok(held >= Math.min(gold.length, 8), `${held} of ${gold.length} rows compared`);
    // What is not among the rows is not shown as one.
    const keys = new Set(gold.map((r) => cell(r._hoodie_record_key)));
    for (const k of shown) if (!keys.has(k.key)) assert.ok(k.copies.every((c) => c.shown === "no"), `${k.key} is no row`);
    clean(p);
    await p.context().close();
  });
}

test("from a row to its history: outcomes, reasons, links to the bytes", async () => {
  const p = await page(env, "#/t=sample:mor_rollback_multi_h0150&v=rows");
  await ready(p);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  // Opening the table was one click, the row is the second, the history the third.
  const at = await p.evaluate(() => [...document.querySelectorAll("#grid [role=gridcell]")].findIndex((c) => c.textContent === "trip-001"));
  await p.locator("#grid [role=gridcell]").nth(at).click();
  await p.click('.inspector a:has-text("history")');
  await p.waitForSelector(".rung.result");
  assert.match(p.url(), /v=history.*&k=trip-001/);
  const [k] = await ladders(p);
  assert.deepEqual(k.copies[0].rungs.map((r) => [r.node, r.outcome]), [
    ["B", "superseded"], ["D", "superseded"], ["D", "not read"], ["X", "not read"], ["D", "won"],
  ]);
  assert.match(k.copies[0].rungs[2].why, /Rolled back by the command block/i);
  await axe(p, "history");
  await p.click('.rung[data-outcome="won"] a:has-text("block 0")');
  await p.waitForSelector(".block-detail .records");
  assert.match(await p.textContent(".records"), /trip-001/);
  await p.waitForSelector(".hex-row.marked");
  // And from a record of the block back to the history.
  await p.click('.records a:has-text("trip-001")');
  await p.waitForSelector(".rung.result");
  clean(p);
  await p.context().close();
});

test("the keyboard reaches a history: h on a row, / for another key", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=rows");
  await ready(p);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.focus("#grid");
  await p.keyboard.press("ArrowDown");
  await p.keyboard.press("h");
  await p.waitForSelector(".rung.result");
  await p.keyboard.press("/");
  await p.keyboard.press("Control+A");
  await p.keyboard.type("nobody");
  await p.keyboard.press("Enter");
  await p.waitForSelector('.empty:has-text("Not found")');
  clean(p);
  await p.context().close();
});

test("by keyboard alone, from opening the page to why a row has its value", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  // reach presses Tab until the focus is where it is wanted.
  const reach = async (what, is) => {
    for (let i = 0; i < 150; i++) {
      if (await p.evaluate(is)) return;
      await p.keyboard.press("Tab");
    }
    assert.fail(`${what} is not reached by Tab`);
  };
  await reach("the sample", () => document.activeElement?.matches('a.card[href*="merge_event_time_mor_h120"]'));
  await p.keyboard.press("Enter");
  await ready(p);
  await reach("the tab of rows", () => document.activeElement?.matches('.tab[href*="v=rows"]'));
  await p.keyboard.press("Enter");
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await reach("the grid", () => document.activeElement?.id === "grid");
  await p.keyboard.press("ArrowDown");
  await p.keyboard.press("End");
  await p.waitForSelector("#cell-current");
  await p.keyboard.press("Enter");
  await p.waitForSelector(".inspector h2");
  await reach("the way to the history", () => document.activeElement?.matches('.inspector a[href*="v=history"]'));
  await p.keyboard.press("Enter");
  await p.waitForSelector(".rung.result");
  assert.ok((await p.textContent(".history .rule")).length > 10);
  const [k] = await ladders(p);
  assert.ok(k.copies[0].rungs.some((r) => r.outcome === "won" || r.outcome === "merged"));
  clean(p);
  await p.context().close();
});

test("a partial update tells from which version each value comes", async () => {
  const p = await open("partial_update_h120", "v=history&k=trip-00&kp=1");
  await p.waitForSelector(".rung.result", { timeout: 60000 });
  assert.ok((await p.locator('.rung[data-outcome="merged"]').count()) > 0, "versions are combined");
  assert.ok((await p.locator(".value-item.missing").count()) > 0, "what an update does not carry is told");
  const sources = await p.evaluate(() => [...document.querySelectorAll(".rung.result")].map((r) => new Set([...r.querySelectorAll("dd .source")].map((s) => s.textContent)).size));
  assert.ok(Math.max(...sources) >= 2, "values of a row come from several versions");
  clean(p);
  await p.context().close();
});
