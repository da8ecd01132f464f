// The plan of a read, conditions with data skipping, Flink's streaming read, hand-off and export:
// in the browser, held against the command line's answers and Hudi's own.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { axe, gold, page, readGrid, ready, repo, start, unzip } from "./harness.mjs";
import { serve } from "./server.mjs";

const cli = process.env.HUDISCOPE_CLI || path.join(repo, "bin/hudiscope");
const run = (...args) => execFileSync(cli, args, { encoding: "buffer", maxBuffer: 1 << 28 });

let env;
before(async () => {
  if (!fs.existsSync(cli)) throw new Error(`${cli} is missing: run "make build" first`);
  env = await start();
});
after(async () => {
  await env?.stop();
});

const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");
const indexed = "#/t=sample:mdt_full_h120";
const changelog = "#/t=sample:flink_mor_changelog_1.2.0&v=stream";

async function open(hash, options) {
  const p = await page(env, hash, options);
  await ready(p);
  return p;
}

const count = (p, text) => p.waitForFunction((t) => document.querySelector("#row-count")?.textContent === t, text);

test("a plan shows the relation, the schema, the instants with reasons, the slices", async () => {
  const p = await open("#/t=sample:mor_trips_h120&v=plan&q=inc");
  await p.waitForSelector("#plan-range");
  const want = JSON.parse(run("plan", unzip(env, "mor_trips_h120"), "--json", "-o", "hoodie.datasource.query.type=incremental", "-o", "hoodie.datasource.read.begin.instanttime=earliest"));
  const taken = p.locator("#plan-relation tr[aria-current=true]");
  assert.equal(await taken.count(), 1);
  assert.match(await taken.textContent(), new RegExp(want.relation.rules[want.relation.taken].when));
  assert.equal(await p.locator("#plan-relation tbody tr").count(), want.relation.rules.length);
  assert.ok((await p.textContent("#plan-schema")).includes(want.schema_from.replace(/^the /, "")));
  assert.deepEqual(await p.locator("#plan-range tbody th").allTextContents(), want.instants.map((i) => i.requested));
  assert.deepEqual(await p.locator("#plan-range tbody td:last-child").allTextContents(), want.instants.map((i) => i.why));
  assert.equal(await p.locator("#plan-parts tbody tr").count(), want.parts.length);
  // An instant leads to the timeline.
  await p.locator("#plan-range tbody th a").first().click();
  await p.waitForFunction((i) => location.hash.includes("v=timeline") && location.hash.includes("i=" + i), want.instants[0].requested);
  clean(p);
  await p.context().close();
});

test("tasks are drawn to scale and follow Spark's numbers and a limit", async () => {
  const p = await open(`${indexed}&v=plan`);
  await p.waitForSelector("#plan-task-list .task");
  const plan = JSON.parse(run("plan", unzip(env, "mdt_full_h120"), "--json"));
  assert.equal(await p.locator(".task").count(), plan.tasks.tasks.length);
  // Without the cost of opening files and with one core, one task takes all.
  await p.fill("#spark-1", "1");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("so=1"));
  await p.fill("#spark-2", "1");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => document.querySelectorAll(".task").length === 1);
  assert.match(p.url(), /sp=1/);
  assert.equal(await p.locator(".task .piece").count(), plan.parts.length);
  // The widths are in the proportion of the bytes.
  await p.click('button:has-text("Bytes only")');
  // They are drawn anew after the click.
  await p.waitForFunction(() => [...document.querySelectorAll(".task .piece")].every((e) => e.getBoundingClientRect().width > 0), null, { timeout: 10000 }).catch(() => {});
  const widths = await p.locator(".task .piece").evaluateAll((list) => list.map((e) => e.getBoundingClientRect().width));
  const bytes = plan.parts.map((x) => x.bytes).sort((a, b) => b - a);
  const all = bytes.reduce((a, b) => a + b);
  const track = await p.locator(".task-track").evaluate((e) => e.getBoundingClientRect().width);
  widths.forEach((w, i) => assert.ok(Math.abs(w / track - bytes[i] / all) < 0.01, `piece ${i} is ${w} of ${track} wide`));
  // The address holds the numbers; a limit shows the rounds of tasks.
  await p.reload();
  await p.waitForFunction(() => document.querySelectorAll(".task").length === 1);
  await p.fill("#spark-1", "");
  await p.keyboard.press("Enter");
  await p.fill("#spark-2", "");
  await p.keyboard.press("Enter");
  await p.fill("#query-limit", "5");
  await p.keyboard.press("Enter");
  await p.waitForSelector(".task-round");
  const limited = JSON.parse(run("plan", unzip(env, "mdt_full_h120"), "--json", "--limit", "5"));
  assert.deepEqual(
    await p.locator(".task-round").allTextContents(),
    limited.tasks.rounds.map((r, i) => `Round ${i + 1}: ${r.tasks} task${r.tasks === 1 ? "" : "s"}`),
  );
  clean(p);
  await p.context().close();
});

test("a condition skips files, says by which statistic, and gives the rows that fulfil it", async () => {
  const p = await open(`${indexed}&v=rows`);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  const all = await readGrid(p);
  const where = "fare > 78"; // one partition is ruled out by its statistics, one file of another by its own
  await p.fill("#where", where);
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("w=fare"));
  const want = all.filter((r) => Number(r.fare) > 78);
  assert.ok(want.length > 0 && want.length < all.length);
  await count(p, want.length === 1 ? "1 row" : `${want.length} rows`);
  const key = (rows) => rows.map((r) => r.uuid).sort();
  assert.deepEqual(key(await readGrid(p)), key(want));
  const lines = run("rows", unzip(env, "mdt_full_h120"), "--where", where, "--format", "jsonl").toString().trim().split("\n");
  assert.deepEqual(lines.map((l) => JSON.parse(l).uuid).sort(), key(want));
  // Some files are skipped, and the chip says how many.
  const plan = JSON.parse(run("plan", unzip(env, "mdt_full_h120"), "--json", "--where", where)).pruning;
  const skipped = plan.files.filter((f) => !f.kept);
  assert.ok(skipped.length > 0, "the condition skips no file");
  await p.waitForFunction((t) => document.querySelector("#skip-chip")?.textContent === t, `${skipped.length} of ${plan.files.length} files skipped`);
  await axe(p, "rows with a condition");
  await p.click("#skip-chip");
  await p.waitForSelector("#plan-files");
  assert.equal(await p.locator("#plan-files > .verdict").count(), plan.files.length);
  assert.equal(await p.locator("#plan-files > .verdict.left-out").count(), skipped.length);
  const text = await p.textContent("#plan-pruning");
  for (const f of plan.files) assert.ok(text.includes(f.why), f.why);
  const steps = await p.locator(".index-step > strong").allTextContents();
  assert.deepEqual(steps, plan.indexes.map((i) => i.name));
  assert.equal(await p.locator(".index-step.used").count(), plan.indexes.filter((i) => i.used).length);
  assert.deepEqual([...new Set(skipped.map((f) => f.by))].sort(), ["column_stats", "partition_stats"]);
  await p.locator("#plan-files > .left-out details summary").first().click();
  await p.waitForSelector("#plan-files > .left-out tr.decides");
  await axe(p, "plan with a condition");
  // The partition alone decides, too.
  await p.fill("#where", "city = 'chennai'");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => document.querySelectorAll("#plan-pruning tr.left-out").length > 0);
  clean(p);
  await p.context().close();
});

test("a condition that goes wrong is marked where it does", async () => {
  const p = await open(`${indexed}&v=rows`);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.fill("#where", "fare > 20 AND no_such_column = 1");
  await p.keyboard.press("Enter");
  await p.waitForSelector("#where-fault");
  assert.equal(await p.textContent(".where-echo .wrong"), "no_such_column");
  assert.equal(await p.getAttribute("#where", "aria-invalid"), "true");
  await axe(p, "a wrong condition");
  await p.fill("#where", "fare > ");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => document.querySelector(".where-echo .wrong")?.textContent.trim() === "");
  await p.fill("#where", "fare > 20");
  await p.waitForSelector("#where-fault", { state: "detached" }); // the mark goes when the text changes
  await p.keyboard.press("Enter");
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.click('button[aria-label="Clear the condition"]');
  await p.waitForFunction(() => !location.hash.includes("w="));
  assert.equal(await p.inputValue("#where"), "");
  clean(p);
  await p.context().close();
});

test("columns come in the order chosen, a limit ends the rows, the address holds both", async () => {
  const p = await open(`${indexed}&v=rows`);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.click("#choose-columns");
  await p.check('[data-column="fare"]');
  await p.check('[data-column="uuid"]');
  await p.click('button:has-text("Read these")');
  await p.waitForFunction(() => [...document.querySelectorAll("#grid .hname")].map((e) => e.textContent).join() === "fare,uuid");
  await p.fill("#query-limit", "3");
  await p.keyboard.press("Enter");
  await count(p, "3 rows");
  assert.match(p.url(), /cols=fare,uuid/);
  assert.match(p.url(), /lim=3/);
  await p.reload();
  await count(p, "3 rows");
  const rows = await readGrid(p);
  assert.equal(rows.length, 3);
  assert.deepEqual(Object.keys(rows[0]), ["fare", "uuid"]);
  clean(p);
  await p.context().close();
});

test("the stream is polled commit by commit; splits, readers and rows are those of the whole read", async () => {
  const p = await open(changelog, { permissions: ["clipboard-read", "clipboard-write"] });
  await p.waitForSelector("#monitor");
  await p.fill("#flink-0", "earliest");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("read.start-commit"));
  await p.selectOption("#flink-3", "true");
  await p.fill("#flink-2", "2");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("changelog.enabled") && location.hash.includes("read.tasks"));
  const times = JSON.parse(run("timeline", unzip(env, "flink_mor_changelog_1.2.0"), "--json")).active.map((i) => i.completion_time).sort();
  const last = times.length;
  // Back to where only the first commit is seen.
  for (let i = 0; i < last; i++) await p.click('button[aria-label="One commit less is seen"]');
  await p.waitForFunction((t) => document.querySelector("#seen-text")?.textContent === t, times[0]);
  const saved = [];
  for (let i = 1; i <= last; i++) {
    await p.click("#poll");
    await p.waitForSelector(`[data-poll="${i}"]`);
    await p.waitForSelector("#poll:not([disabled])");
    assert.match(await p.textContent("#monitor"), new RegExp(`Issued offset\\s*${times[i - 1]}`));
    await p.click('button:has-text("Copy the state")');
    saved.push(await p.evaluate(() => navigator.clipboard.readText()));
    await p.click('button[aria-label="One commit more is seen"]');
  }
  // Nothing is new.
  await p.click("#poll");
  await p.waitForSelector(`[data-poll="${last + 1}"]:has-text("nothing new")`);
  const splitsOf = async () => p.locator("[data-poll] td:first-child.num").allTextContents();
  assert.ok((await splitsOf()).length >= last);
  await axe(p, "stream");
  // The readers: two records a mini batch, then all that is left.
  assert.equal(await p.locator("[data-reader]").count(), 2);
  await p.waitForSelector('[data-reader] .qsplit');
  await p.selectOption("#batch-size", "2");
  await p.click("#run-batch");
  await p.waitForSelector('[data-reader] .qsplit.head:has-text("2 records consumed")');
  assert.ok((await p.locator('.reader-status:has-text("RUNNING")').count()) > 0);
  await p.click("#run-all");
  await p.waitForFunction(() => [...document.querySelectorAll(".reader-status")].every((e) => e.textContent === "IDLE") && !document.querySelector(".qsplit"));
  const want = run("stream", unzip(env, "flink_mor_changelog_1.2.0"), "--format", "jsonl", "-o", "read.start-commit=earliest", "-o", "changelog.enabled=true")
    .toString().trim().split("\n").map((l) => JSON.parse(l));
  assert.match(await p.textContent("#handed-on"), new RegExp(`^${want.length} rows handed on`));
  const head = await p.locator(".handed-on thead th").allTextContents();
  const at = (name) => head.indexOf(name);
  const got = await p.locator(".handed-on tbody tr").evaluateAll((rows, [k, s]) => rows.map((r) => `${r.children[k].textContent} ${r.children[s].textContent}`), [at("kind"), at("_hoodie_commit_seqno")]);
  assert.deepEqual(got.sort(), want.map((r) => `${r.kind} ${r._hoodie_commit_seqno}`).sort());
  // Back to an earlier poll, then forward again from a state that was copied.
  await p.locator('[data-poll="2"] button:has-text("Back to here")').click();
  await p.waitForFunction(() => document.querySelectorAll("[data-poll]").length === 2);
  await p.click('button:has-text("Copy the state")');
  assert.deepEqual(JSON.parse(await p.evaluate(() => navigator.clipboard.readText())), JSON.parse(saved[1]));
  await p.click('summary:has-text("Restore a saved state")');
  await p.fill("#paste-state", "{\"x\": 1}");
  await p.click('.restore button:has-text("Restore")');
  await p.waitForSelector("#paste-fault");
  await p.fill("#paste-state", saved[2]);
  await p.click('.restore button:has-text("Restore")');
  await p.waitForSelector('#monitor-state:has-text("restored")');
  assert.match(await p.textContent("#monitor"), new RegExp(`Issued offset\\s*${times[2]}`));
  await p.click('button:has-text("Poll until nothing is new")');
  await p.waitForSelector('[data-poll]:has-text("nothing new")');
  assert.match(await p.textContent("#monitor"), new RegExp(`Issued offset\\s*${times[last - 1]}`));
  clean(p);
  await p.context().close();
});

test("all rows of a stream are Hudi's own, with their kinds", async () => {
  const about = JSON.parse(fs.readFileSync(path.join(gold, "flink_mor_changelog_1.2.0/splits_earliest_end.json"), "utf8"));
  const options = Object.entries({ ...about.options, "changelog.enabled": "true" }).map(([k, v]) => `${k}=${v}`).join(";");
  const p = await open(`${changelog}&fr=1&fo=${encodeURIComponent(options)}`);
  const want = fs.readFileSync(path.join(gold, "flink_mor_changelog_1.2.0/stream_earliest_end.jsonl"), "utf8").trim().split("\n").map((l) => JSON.parse(l));
  const rows = await readGrid(p);
  assert.equal(rows.length, want.length);
  const row = (r) => `${r.kind} ${r._hoodie_commit_seqno} ${r.uuid} ${r.name}`;
  assert.deepEqual(rows.map(row).sort(), want.map(row).sort());
  // They are exported with their kinds.
  await p.evaluate(() => delete window.showSaveFilePicker);
  const [download] = await Promise.all([p.waitForEvent("download"), exported(p, "jsonl")]);
  const file = path.join(env.temp, "stream.jsonl");
  await download.saveAs(file);
  const written = fs.readFileSync(file, "utf8").trim().split("\n").map((l) => JSON.parse(l));
  assert.deepEqual(written.map(row).sort(), want.map(row).sort());
  await p.keyboard.press("Escape");
  // The batch read plans its splits at once.
  await p.click('.seg:has-text("Step by step")');
  await p.click('.seg:has-text("Batch")');
  await p.waitForSelector('.poll:has-text("one batch read")');
  assert.equal(await p.locator(".poll tbody tr:has(.iterator)").count(), 2);
  clean(p);
  await p.context().close();
});

// exported opens the export, chooses a format and starts it.
async function exported(p, format) {
  await p.click("#open-export");
  await p.check(`dialog input[value="${format}"]`);
  await p.click("#start-export");
}

test("rows are exported to a download, as the command writes them", async () => {
  const p = await open(`${indexed}&v=rows&w=${encodeURIComponent("fare > 20")}&cols=uuid,fare,city&lim=4`);
  await p.evaluate(() => delete window.showSaveFilePicker);
  await p.waitForSelector("#row-count");
  for (const format of ["jsonl", "csv", "parquet"]) {
    const [download] = await Promise.all([p.waitForEvent("download"), exported(p, format)]);
    assert.equal(download.suggestedFilename(), `mdt_full_h120.${format}`);
    const file = path.join(env.temp, `export.${format}`);
    await download.saveAs(file);
    await p.waitForSelector("#export-done");
    assert.match(await p.textContent("#export-done"), /4 rows/);
    if (format === "jsonl") await axe(p, "export");
    const to = path.join(env.temp, `cli.${format}`);
    fs.writeFileSync(to, run("export", unzip(env, "mdt_full_h120"), "--where", "fare > 20", "--columns", "uuid,fare,city", "--limit", "4", "--format", format));
    const [got, want] = [fs.readFileSync(file), fs.readFileSync(to)];
    assert.ok(got.equals(want), `${format}: ${got.length} bytes, not the ${want.length} of the command`);
    if (format === "parquet") assert.equal(got.subarray(0, 4).toString() + got.subarray(-4).toString(), "PAR1PAR1");
    await p.keyboard.press("Escape");
    await p.waitForSelector("#export-dialog", { state: "detached" });
  }
  clean(p);
  await p.context().close();
});

test("an export goes straight into a file where the browser can do that", async () => {
  const p = await open("#/t=sample:mor_trips_h120&v=rows");
  // The picker itself can't be worked by a test; the file it gives is a real one.
  await p.evaluate(() => {
    window.showSaveFilePicker = async (o) => (await navigator.storage.getDirectory()).getFileHandle(o.suggestedName, { create: true });
  });
  await p.waitForSelector("#row-count");
  await exported(p, "jsonl");
  await p.waitForSelector("#export-done");
  const text = await p.evaluate(async () => {
    const d = await navigator.storage.getDirectory();
    return (await (await d.getFileHandle("mor_trips_h120.jsonl")).getFile()).text();
  });
  assert.equal(text, run("export", unzip(env, "mor_trips_h120"), "--format", "jsonl").toString());
  clean(p);
  await p.context().close();
});

test("an export can be cancelled, and its dialog closed meanwhile", async () => {
  const slow = await serve(path.dirname(unzip(env, "mor_trips_h120")), { cors: true, delay: 250 });
  try {
    // The plan reads no data, so all of it is still to be read when the export begins.
    const p = await page(env, `#/t=${slow.url}/mor_trips_h120/&v=plan`);
    await ready(p);
    await p.evaluate(() => delete window.showSaveFilePicker);
    await p.waitForSelector("#plan-parts");
    let downloads = 0;
    p.on("download", () => downloads++);
    await exported(p, "csv");
    await p.waitForSelector(".export-progress");
    await p.keyboard.press("Escape");
    await p.waitForSelector(".export-notice");
    await p.click('.export-notice button:has-text("Cancel")');
    await p.waitForSelector(".export-notice", { state: "detached" });
    await p.click("#open-export");
    await p.waitForSelector('#export-dialog .fault[data-kind="cancelled"]');
    await p.waitForTimeout(500);
    assert.equal(downloads, 0);
    clean(p);
    await p.context().close();
  } finally {
    await slow.close();
  }
});

test("a view is handed to other engines, at the same instant", async () => {
  const p = await open(`${indexed}&v=rows&w=${encodeURIComponent("fare > 20")}`, { permissions: ["clipboard-read", "clipboard-write"] });
  await p.waitForSelector("#row-count");
  await p.click("#open-handoff");
  await p.waitForSelector("#handoff-panel");
  const want = JSON.parse(run("handoff", unzip(env, "mdt_full_h120"), "--where", "fare > 20", "--json"));
  const tabs = await p.locator("#handoff-dialog [role=tab]").count();
  assert.equal(tabs, want.snippets.length);
  for (const [i, s] of want.snippets.entries()) {
    await p.locator("#handoff-dialog [role=tab]").nth(i).click();
    await p.waitForSelector(`#handoff-panel[aria-label="${s.engine}"]`);
    const text = await p.textContent("#handoff-panel");
    if (s.refused) {
      assert.ok(text.includes(s.refused));
      continue;
    }
    assert.ok(text.includes(s.versions), s.versions);
    for (const r of s.remarks ?? []) assert.ok(text.includes(r), r);
    // The same code, but for the place of the table.
    const strip = (code) => code.replaceAll(/(['"])[^'"\n]*mdt_full_h120\1/g, "TABLE");
    const code = await p.textContent("#snippet");
    assert.equal(strip(code), strip(s.code), s.engine);
    await p.click('#handoff-panel button:has-text("Copy")');
    assert.equal(await p.evaluate(() => navigator.clipboard.readText()), code);
  }
  await axe(p, "hand-off");
  // Keys: left goes around, Escape closes and gives the focus back.
  await p.locator("#handoff-dialog [role=tab][aria-selected=true]").focus();
  await p.keyboard.press("ArrowRight");
  await p.waitForSelector(`#handoff-panel[aria-label="${want.snippets[0].engine}"]`);
  await p.keyboard.press("Escape");
  await p.waitForSelector("#handoff-dialog", { state: "detached" });
  assert.equal(await p.evaluate(() => document.activeElement.id), "open-handoff");
  // A stream is handed to Flink with its options.
  await p.evaluate((h) => (location.hash = h), `${changelog}&fo=${encodeURIComponent("read.start-commit=earliest")}`);
  await p.waitForSelector("#monitor");
  await p.click("#open-handoff");
  await p.waitForSelector("#handoff-panel");
  await p.click('#handoff-dialog [role=tab]:has-text("Flink SQL")');
  await p.waitForFunction(() => /read\.start-commit'? ?= ?'earliest/.test(document.querySelector("#snippet")?.textContent ?? ""));
  clean(p);
  await p.context().close();
});

const instantsOf = (name) =>
  JSON.parse(run("timeline", unzip(env, name), "--json")).active.map((i) => ({ requested: i.timestamp, completed: i.completion_time, action: i.action, state: i.state }));

test("the ends of a range are the times that the table's version takes", async () => {
  for (const name of ["mor_compacted_h120", "mor_compacted_h0150"]) unzip(env, name);
  const site = await serve(path.join(env.temp, "unzipped"), { cors: true });
  for (const [name, completed] of [["mor_compacted_h120", true], ["mor_compacted_h0150", false]]) {
    const timeline = instantsOf(name);
    const table = `#/t=${site.url}/${name}`;
    const p = await open(`${table}&v=plan&q=inc`);
    await p.waitForSelector("#plan-range tbody th");
    const planned = () => p.locator("#plan-range tbody th").allTextContents();
    const all = await planned();
    assert.ok(all.length > 3, `${name}: ${all.length} instants`);
    // Up to the newest is all of it: what is sent is that write's time, and the rows are the same.
    await p.evaluate((h) => (location.hash = h), `${table}&v=rows&q=inc`);
    await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
    const want = await readGrid(p);
    await p.waitForFunction(() => document.querySelector("#query-end").options.length > 2);
    const newest = (await p.locator("#query-end option").nth(1).textContent()).slice(0, 17);
    await p.selectOption("#query-end", { index: 1 });
    await p.waitForFunction(() => /qe=\d{17}/.test(location.hash));
    const at = timeline.find((i) => i.requested === newest && i.state === "COMPLETED");
    assert.ok(p.url().includes("qe=" + (completed ? at.completed : at.requested)), `${name}: ${p.url()}`);
    assert.match(await p.textContent("#query-end-times"), new RegExp(completed ? `requested ${at.requested}, completed ${at.completed}` : `requested ${at.requested}`));
    assert.deepEqual(await readGrid(p), want, `${name}: up to the newest`);
    // After a write leaves this one out, and takes the next one.
    const x = all[1];
    await p.evaluate((h) => (location.hash = h), `${table}&v=plan&q=inc`);
    await p.waitForFunction((n) => document.querySelectorAll("#plan-range tbody th").length === n, all.length);
    const value = await p.locator("#query-begin option", { hasText: new RegExp("^" + x) }).first().getAttribute("value");
    await p.selectOption("#query-begin", value);
    await p.waitForFunction((n) => {
      const now = document.querySelectorAll("#plan-range tbody th").length;
      return location.hash.includes("qb=") && now > 0 && now < n; // none while the new plan is read
    }, all.length);
    const begun = timeline.find((i) => i.requested === x && i.state === "COMPLETED" && ["commit", "deltacommit", "replacecommit"].includes(i.action));
    const later = timeline.filter((i) => all.includes(i.requested) && (completed ? i.completed > begun.completed : i.requested > x)).map((i) => i.requested);
    assert.deepEqual([...new Set(await planned())].sort(), [...new Set(later)].sort(), `${name}: after ${x}`);
    // A time that is typed is completed to an instant's digits.
    await p.selectOption("#query-begin", "…");
    await p.fill("#query-begin-typed", "2020-01-01 00:00");
    await p.keyboard.press("Enter");
    await p.waitForFunction(() => location.hash.includes("qb=20200101000000"));
    await p.waitForFunction((n) => document.querySelectorAll("#plan-range tbody th").length === n, all.length);
    clean(p);
    await p.context().close();
  }
  // A range that Hudi itself was asked for, chosen by its instants.
  const [begin, end] = ["20261129230538906", "20261129231047125"];
  const p = await open(`#/t=${site.url}/mor_compacted_h120&v=rows&q=inc`);
  await p.waitForFunction((v) => [...document.querySelector("#query-begin").options].some((o) => o.value === v), begin);
  await p.selectOption("#query-begin", begin);
  await p.waitForFunction((v) => location.hash.includes("qb=" + v), begin);
  await p.selectOption("#query-end", end);
  await p.waitForFunction((v) => location.hash.includes("qe=" + v), end);
  const answer = fs.readFileSync(path.join(gold, `mor_compacted_h120/incremental_${begin}_${end}.jsonl`), "utf8").trim().split("\n").map((l) => JSON.parse(l)._hoodie_record_key);
  await count(p, `${answer.length} rows`);
  assert.deepEqual((await readGrid(p)).map((r) => r._hoodie_record_key).sort(), answer.sort());
  clean(p);
  const address = new URL(p.url()).hash;
  await p.context().close();
  // The address alone opens the same.
  const q = await open(address);
  await count(q, `${answer.length} rows`);
  assert.match(await q.textContent("#query-end-times"), /requested 20261129230938393, completed 20261129231047125/);
  clean(q);
  await q.context().close();
  // Flink's start is offered by the same times, and a start of it belongs to the range.
  const f = await open("#/t=sample:flink_mor_changelog_1.2.0&v=stream");
  await f.waitForFunction(() => document.querySelectorAll("#flink-instants option").length > 1);
  const offered = await f.locator("#flink-instants option").evaluateAll((l) => l.map((o) => o.value).slice(1));
  const done = new Set(instantsOf("flink_mor_changelog_1.2.0").map((i) => i.completed));
  assert.ok(offered.length > 0 && offered.every((t) => done.has(t)), offered.join());
  clean(f);
  await f.context().close();
  await site.close();
});

test("more options of a query are in its address and change what is read", async () => {
  const p = await open("#/t=sample:mor_trips_h120&v=rows");
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.click("#query-options");
  await p.click("#more-query-options > summary");
  const merged = run("rows", unzip(env, "mor_trips_h120"), "--format", "jsonl").toString().trim().split("\n").length;
  const all = run("rows", unzip(env, "mor_trips_h120"), "--format", "jsonl", "-o", "hoodie.datasource.merge.type=skip_merge").toString().trim().split("\n").length;
  assert.notEqual(all, merged);
  await count(p, `${merged} rows`);
  await p.selectOption("#option-mt", "skip_merge");
  await p.waitForFunction(() => location.hash.includes("qo=mt%3Dskip_merge"));
  await count(p, `${all} rows`);
  await p.evaluate((h) => (location.hash = h), `${indexed}&v=plan&w=${encodeURIComponent("fare > 90")}`);
  await p.waitForSelector("#plan-pruning");
  assert.ok((await p.locator("#plan-pruning .left-out").count()) > 0);
  await p.click("#more-query-options > summary");
  await p.selectOption("#option-ds", "false");
  await p.waitForFunction(() => location.hash.includes("qo=ds%3Dfalse") && document.querySelector("#plan-pruning")?.textContent.includes("off (hoodie.enable.data.skipping)"));
  // An option that is not known is refused by its name.
  await p.fill("#option-others", "hoodie.no.such=1");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => document.querySelector(".fault")?.textContent.includes("hoodie.no.such"));
  await axe(p, "more options");
  clean(p);
  await p.context().close();
});

test("images of changes begin with the table's own columns", async () => {
  const p = await open("#/t=sample:cdc_data_before_cow_h0150&v=rows&q=cdc");
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  const images = (await readGrid(p)).flatMap((r) => [r.before, r.after]).filter((x) => x?.startsWith("{"));
  assert.ok(images.length > 0);
  for (const x of images) assert.doesNotMatch(x, /^\{"_hoodie_/);
  clean(p);
  await p.context().close();
});

test("a release's rules stand beside the right answer", async () => {
  const p = await open("#/t=sample:flink_mor_changelog_1.2.0&v=plan&q=inc&h=1.0.2");
  await p.waitForSelector("#otherwise");
  await p.waitForFunction(() => !document.querySelector("#otherwise").textContent.includes("Comparing"));
  await axe(p, "plan beside the right answer");
  await p.click('#otherwise a:has-text("The right answer")');
  await p.waitForFunction(() => !location.hash.includes("h=1.0.2"));
  clean(p);
  await p.context().close();
});

test("plan and stream are sound for assistive technology, light and dark, and fit a phone", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const p = await page(env, "", { colorScheme, viewport: { width: 390, height: 844 } });
    await p.waitForSelector("a.card");
    for (const [hash, wait, act] of [
      [`${indexed}&v=plan&w=${encodeURIComponent("fare > 90")}`, "#plan-files"],
      ["#/t=sample:mor_trips_h120&v=plan&q=inc&lim=5", "#plan-range"],
      [`${indexed}&v=rows&w=${encodeURIComponent("fare >> 90")}`, "#where-fault"],
      [`${changelog}&fo=read.start-commit%3Dearliest;read.tasks%3D2`, "#monitor", "#poll"],
      [`${changelog}&fo=read.start-commit%3Dearliest&fr=1`, "#grid [role=gridcell][aria-colindex]"],
      [`${changelog}&fb=1`, ".poll"],
    ]) {
      await p.evaluate((h) => (location.hash = h), hash);
      await p.waitForSelector(wait, { timeout: 60000 });
      if (act) {
        await p.click(act);
        await p.waitForSelector("#operator");
      }
      await axe(p, `${hash}, ${colorScheme}`);
      const over = await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(over <= 0, `${hash} is ${over} px wider than a phone`);
    }
    clean(p);
    await p.context().close();
  }
});
