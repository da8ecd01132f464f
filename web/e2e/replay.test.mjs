// The replay of a scan: the queue, the present instant and the counters at every step, what a
// rollback takes out, and how records are merged.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, drop, goldRows, page, ready, start, unzip } from "./harness.mjs";

let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");

const slice = "#/t=sample:mor_rollback_multi_h0150&v=blocks&p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776";

// now is what the page shows of the present step.
const now = (p) =>
  p.evaluate(() => ({
    step: Number(document.querySelector("#replay-step b").textContent.replace(/,/g, "")),
    of: Number(/of ([\d,]+)/.exec(document.querySelector("#replay-step").textContent)[1].replace(/,/g, "")),
    kind: document.querySelector("#replay-said").dataset.kind,
    said: document.querySelector("#replay-said").textContent,
    queue: [...document.querySelectorAll("#replay-queue [data-q]:not(.thrown):not(.taken)")].map((q) => q.dataset.q).reverse(),
    thrown: [...document.querySelectorAll("#replay-queue .thrown")].map((q) => q.dataset.q),
    status: Object.fromEntries([...document.querySelectorAll("g[data-st]")].map((g) => [`${g.dataset.f}.${g.dataset.b}`, g.dataset.st])),
    arcs: document.querySelectorAll('[data-c~="arc"][data-c~="live"]').length,
    idle: document.querySelectorAll('[data-c~="arc"][data-c~="idle"]').length,
    counters: Object.fromEntries([...document.querySelectorAll(".counters .tile")].map((t) => [t.querySelector(".tile-name").textContent, Number(t.querySelector(".tile-value").textContent)])),
  }));

const at = (p, n) => p.waitForFunction((n) => Number(document.querySelector("#replay-step b")?.textContent) === n, n);

test("step by step through a log with three rollbacks", async () => {
  const p = await page(env, slice);
  await ready(p);
  await p.click('a:has-text("Replay the scan")');
  await p.waitForSelector("#replay-queue");
  let s = await now(p);
  assert.equal(s.step, 1);
  assert.equal(s.of, 34);
  assert.ok(Object.values(s.status).every((x) => x === "ahead"), "nothing is read yet");
  const steps = [s];
  for (let i = 2; i <= s.of; i++) {
    await p.keyboard.press("ArrowRight");
    await at(p, i);
    steps.push(await now(p));
  }
  // The queue grows by a push, shrinks by a pop from its oldest end, and stays otherwise.
  for (let i = 1; i < steps.length; i++) {
    const [a, b] = [steps[i - 1].queue, steps[i].queue];
    if (steps[i].kind === "push") assert.deepEqual(b.slice(0, -1), a, `step ${i + 1}`);
    else if (steps[i].kind === "pop") assert.deepEqual(b, a.slice(1), `step ${i + 1}`);
    else assert.deepEqual(b, a.filter((x) => !steps[i].thrown.includes(x)), `step ${i + 1}`);
  }
  const back = steps.filter((x) => x.kind === "rollback");
  assert.equal(back.length, 3);
  assert.ok(back.every((x) => x.idle === 1 && /left out already/.test(x.said)), "each leads to the block that it names");
  const last = steps.at(-1);
  assert.deepEqual(last.queue, []);
  assert.deepEqual(last.counters, { "log files": 10, blocks: 10, records: 4, rollbacks: 3, corrupt: 0 });
  // Hudi's rows of this file group come from these blocks and no others.
  assert.deepEqual(Object.entries(last.status).filter(([, v]) => v === "merged").map(([k]) => k), ["0.0", "5.0", "8.0", "9.0"]);
  assert.deepEqual(Object.entries(last.status).filter(([, v]) => v === "skipped").map(([k]) => k), ["1.0", "3.0", "6.0"]);
  assert.match(p.url(), /r=scan&n=33$/);
  // Back, jump by the slider and by a block, close.
  await p.keyboard.press("ArrowLeft");
  await at(p, 33);
  await p.keyboard.press("Home");
  await at(p, 1);
  await p.locator('g[data-f="2"][data-b="0"]').click();
  const jumped = await now(p);
  assert.ok(jumped.step > 1 && jumped.step < 12, `a click on a block jumps to its first step: ${jumped.step}`);
  await p.locator("#replay-slider").fill("20");
  await at(p, 21);
  await axe(p, "replay");
  await p.locator("#replay-play").focus();
  await p.keyboard.press("Escape");
  await p.waitForSelector("#replay-queue", { state: "detached" });
  clean(p);
  await p.context().close();
});

test("a rollback takes the blocks of its target out of the queue", async () => {
  // The log files of the slice as one file: real blocks in the order of their versions. Without
  // its table nothing says which instants were completed, so that the commands do the work.
  const dir = path.join(unzip(env, "mor_rollback_multi_h0150"), "chennai");
  const logs = fs.readdirSync(dir).filter((f) => f.startsWith(".025be33a") && f.includes(".log.") && !f.endsWith(".crc"));
  const version = (f) => Number(/\.log\.(\d+)_/.exec(f)[1]);
  logs.sort((a, b) => version(a) - version(b));
  assert.equal(logs.length, 10);
  const one = path.join(env.temp, logs[0]);
  fs.writeFileSync(one, Buffer.concat(logs.map((f) => fs.readFileSync(path.join(dir, f)))));
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [one]);
  await ready(p);
  await p.click('a:has-text("Replay the scan")');
  await p.waitForSelector("#replay-queue");
  const { of } = await now(p);
  const removed = [];
  for (let i = 2; i <= of; i++) {
    const before = await now(p);
    await p.keyboard.press("ArrowRight");
    await at(p, i);
    const s = await now(p);
    if (s.kind !== "rollback") continue;
    assert.equal(s.arcs, s.thrown.length, "an arc for each block taken out");
    assert.deepEqual(s.queue, before.queue.filter((x) => !s.thrown.includes(x)));
    for (const t of s.thrown) assert.equal(s.status[t], "removed");
    removed.push(...s.thrown);
  }
  // Blocks 1, 3 and 6 belong to the three failed writes.
  assert.deepEqual(removed, ["0.1", "0.3", "0.6"]);
  const end = await now(p);
  assert.deepEqual(Object.entries(end.status).filter(([, v]) => v === "merged").map(([k]) => k), ["0.0", "0.5", "0.8", "0.9"]);
  clean(p);
  await p.context().close();
});

test("a corrupt block is read, counted and never merged", async () => {
  const p = await page(env, "#/t=sample:mor_corrupt_middle_h0150&v=blocks&p=&f=4475257a-0a28-4fc1-9107-ce6639a1845c-0&s=20261129231416761&r=scan");
  await ready(p);
  await p.waitForSelector("#replay-queue");
  await p.keyboard.press("End");
  await p.waitForFunction(() => /n=\d+/.test(location.hash));
  // The address changes before the page is drawn.
  await p.waitForSelector('g[data-c~="blk-corrupt"][data-st=skipped]');
  const s = await now(p);
  assert.equal(s.counters.corrupt, 1);
  assert.equal(s.counters.records, 16);
  const corrupt = await p.locator('g[data-c~="blk-corrupt"]').getAttribute("data-st");
  assert.equal(corrupt, "skipped");
  clean(p);
  await p.context().close();
});

test("with records: the map, its winners and the rule; it plays and pauses", async () => {
  const p = await page(env, slice + "&r=scan");
  await ready(p);
  await p.waitForSelector("#replay-queue");
  await p.click('.switch:has-text("records")');
  await p.waitForFunction(() => /r=merge/.test(location.hash) && /of 41/.test(document.querySelector("#replay-step")?.textContent || ""));
  await p.click('.replay-bar button:has-text("15×")');
  await p.keyboard.press("Home");
  await p.click("#replay-play");
  await p.waitForFunction(() => Number(document.querySelector("#replay-step b").textContent) > 3);
  await p.click("#replay-play");
  const paused = (await now(p)).step;
  await p.waitForTimeout(300);
  assert.equal((await now(p)).step, paused, "it stands still");
  await p.click("#replay-play");
  await at(p, 41);
  await p.waitForFunction(() => document.querySelector("#replay-play").getAttribute("aria-label").startsWith("Play"));
  // Every key of the map is a row of the gold, and its ordering value is the one in the row.
  const rows = goldRows("mor_rollback_multi_h0150").filter((r) => r._hoodie_partition_path === "chennai");
  const map = await p.evaluate(() => [...document.querySelectorAll(".map tbody tr")].map((r) => [r.dataset.key, r.cells[2].textContent]));
  assert.deepEqual(map.map(([k]) => k).sort(), ["trip-001", "trip-004", "trip-007"]);
  for (const [k, ordering] of map) {
    const r = rows.find((x) => x._hoodie_record_key === k);
    assert.equal(ordering, r.ts.slice(1), k);
  }
  assert.match(await p.textContent("#replay-said"), /Merge with the base file.*the log wins/s);
  await axe(p, "replay with records");
  clean(p);
  await p.context().close();
});
