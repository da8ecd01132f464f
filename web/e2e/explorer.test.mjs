// The page in a real browser: opening tables in every way there is, every view, what it
// says about bad input, and that the tab stays alive while the engine works.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, cell, drop, goldRows, page, readGrid, ready, start, tab, tables, unzip } from "./harness.mjs";
import { serve } from "./server.mjs";

let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");

// same compares what the grid shows with what Hudi gave, whatever the order of rows.
function same(shown, want, name) {
  const number = (s) => (s !== null && s !== "" && /^-?[\d.]+(e[-+]?\d+)?$/i.test(s) && /[.e]/i.test(s) ? String(Number(s)) : s);
  // Cells of the grid show at most 160 characters of a value, on one line.
  const short = (s) => (s === null ? null : [...s].slice(0, 160).join("").replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/[\0-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))));
  const line = (row) => JSON.stringify(Object.entries(row).map(([k, v]) => [k, v]).sort());
  const a = shown.map((r) => line(Object.fromEntries(Object.entries(r).map(([k, v]) => [k, number(v === null ? null : v.replace(/…$/, ""))])))).sort();
  const b = want.map((r) => line(Object.fromEntries(Object.entries(r).map(([k, v]) => [k, number(short(cell(v)))])))).sort();
  assert.equal(a.length, b.length, `${name}: number of rows`);
  for (let i = 0; i < b.length; i++) assert.equal(a[i], b[i], `${name}: row ${i}`);
}

for (const name of ["mor_trips_h120", "cow_trips_h102", "mor_rollback_multi_h0150", "mor_corrupt_middle_h0150", "merge_event_time_mor_h120", "all_types_mor_h120"]) {
  test(`sample ${name}: the rows shown are those Hudi gives`, async () => {
    const p = await page(env, `#/t=sample:${name}&v=rows`);
    await ready(p);
    const rows = await readGrid(p);
    same(rows, goldRows(name), name);
    assert.equal(await p.textContent("#row-count"), `${rows.length} rows`);
    clean(p);
    await p.context().close();
  });
}

test("the page is drawn before any program runs, and the gallery opens a table", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  assert.match(await p.textContent("h1"), /Apache Hudi table/);
  const cards = await p.locator("a.card").count();
  assert.ok(cards >= 10, `${cards} samples`);
  await p.click('a.card:has-text("Merge-on-read")');
  await ready(p);
  assert.match(await p.textContent(".headline"), /Merge-on-read.*table version 9.*Parquet.*by event time.*hoodie\.record\.merge\.mode/s);
  assert.match(p.url(), /#\/t=sample:mor_trips_h120&v=files$/);
  clean(p);
  await p.context().close();
});

test("without scripts the page says what it needs", async () => {
  const context = await env.browser.newContext({ javaScriptEnabled: false });
  const p = await context.newPage();
  await p.goto(env.site.url);
  assert.match(await p.textContent("body"), /needs JavaScript and WebAssembly/);
  await context.close();
});

test("timeline: lanes, axes, keys, metadata decoded", async () => {
  const p = await page(env, "#/t=sample:savepoint_restore_h120&v=timeline");
  await ready(p);
  await p.waitForSelector(".plot svg");
  assert.deepEqual(await p.locator('[data-c="lane-label"]').allTextContents(), ["deltacommit", "restore", "savepoint"]);
  assert.equal(await p.locator("a.instant").count(), 5);
  await p.locator('.plot [data-c~="act-restore"]').click();
  await p.waitForSelector(".detail .tree");
  assert.match(await p.textContent(".detail"), /HoodieRestoreMetadata/);
  assert.match(p.url(), /i=20261129233753056&act=restore/);
  await p.keyboard.press("k");
  await p.waitForFunction(() => location.hash.includes("act=savepoint"));
  await p.keyboard.press("j");
  await p.keyboard.press("]");
  await p.waitForFunction(() => location.hash.includes("i=20261129233902905"));
  await p.waitForSelector(".tiles");
  assert.match(await p.textContent(".tiles"), /\d+inserted.*\d+updated.*\d+deleted/s);
  await p.click('.seg:has-text("Equal steps")');
  await p.waitForFunction(() => location.hash.includes("x=steps"));
  await p.keyboard.press("Escape");
  await p.waitForSelector(".detail.none");
  clean(p);
  await p.context().close();
});

test("files: slices lead to their files, blocks and rows", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=files");
  await ready(p);
  await p.waitForSelector(".slice");
  assert.equal(await p.locator(".partition").count(), 3);
  assert.equal(await p.locator(".slice").count(), 6);
  await p.locator('.slice:has(.box.log)').first().click();
  await p.waitForSelector(".files-table");
  const logs = await p.locator(".files-table .box.log").count();
  assert.ok(logs > 0);
  await p.click('.detail a:has-text("Log blocks")');
  await p.waitForSelector("g[data-b]");
  assert.match(await p.textContent(".toolbar"), new RegExp(`^${logs} log file`));
  await p.goBack();
  await p.click('.detail a:has-text("Rows of the file group")');
  await p.waitForSelector("#grid");
  assert.ok((await p.locator(".chip").count()) === 1);
  clean(p);
  await p.context().close();
});

test("log blocks: strips, arcs, header, records, bytes that light up", async () => {
  const p = await page(env, "#/t=sample:mor_rollback_multi_h0150&v=blocks&p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776");
  await ready(p);
  await p.waitForSelector("g[data-b]");
  assert.equal(await p.locator("g[data-b]").count(), 10);
  assert.equal(await p.locator('[data-c="arc"]').count(), 3);
  assert.equal(await p.locator('[data-c~="struck"]').count(), 3);
  assert.deepEqual(await p.locator("g[data-b] [data-c=letter]").allTextContents(), ["D", "D", "C", "D", "C", "D", "X", "C", "D", "D"]);
  await p.locator("g[data-b]").first().click();
  await p.waitForSelector(".block-detail .records");
  assert.match(await p.textContent(".block-detail"), /Merged.*INSTANT_TIME.*20261129232604740/s);
  assert.match(await p.textContent(".records"), /trip-001.*rider-BDB/s);
  assert.match(await p.textContent(".hex-row"), /23\s48\s55\s44\s49\s23/);
  await p.hover('.span-line:has-text("magic")');
  await p.waitForFunction(() => document.querySelectorAll(".hex [data-lit]").length === 2);
  await p.hover(".records tbody tr");
  await p.waitForFunction(() => document.querySelectorAll(".records tr[data-lit]").length === 1);
  await p.keyboard.press("j");
  await p.keyboard.press("j");
  await p.waitForFunction(() => document.querySelector(".block-detail h2").textContent.includes("Command"));
  assert.match(await p.textContent(".block-detail"), /Rolls back\s*20261129232638088/);
  clean(p);
  await p.context().close();
});

test("a corrupt block is hatched, and says where and why", async () => {
  const p = await page(env, "#/t=sample:mor_corrupt_middle_h0150&v=blocks&p=&f=4475257a-0a28-4fc1-9107-ce6639a1845c-0&s=20261129231416761");
  await ready(p);
  await p.locator('[data-c~="blk-corrupt"]').click();
  await p.waitForSelector(".block-detail .finding.bad");
  assert.match(await p.textContent(".block-detail"), /1,927/);
  clean(p);
  await p.context().close();
});

test("rows: keys, inspector, hidden columns, as of an instant", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=rows");
  await ready(p);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  assert.equal(await p.getAttribute("#grid", "aria-rowcount"), "25");
  assert.equal(await p.getAttribute("#grid", "aria-colcount"), "13");
  await p.focus("#grid");
  await p.keyboard.press("Control+End");
  await p.waitForFunction(() => document.querySelector("#cell-current")?.closest("[data-r]").dataset.r === "23");
  await p.keyboard.press("Enter");
  await p.waitForSelector(".inspector");
  await p.keyboard.press("Escape");
  await p.waitForSelector(".inspector", { state: "detached" });
  await p.click(".switch");
  await p.waitForFunction(() => location.hash.includes("m=0") && document.querySelector("#grid").getAttribute("aria-colcount") === "8");
  await p.waitForFunction(() => document.querySelector("#grid .hname").textContent === "uuid");
  await p.goto(`${env.site.url}/#/t=sample:mor_trips_h120&v=rows&a=20261129225100017`);
  await p.waitForFunction(() => /as of 20261129225100017/.test(document.querySelector(".toolbar")?.textContent || ""));
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  clean(p);
  await p.context().close();
});

// longTable writes a table of n rows in one log file, one Avro data block.
function longTable(dir, n) {
  const u32 = (x) => Buffer.from(Uint32Array.of(x).buffer).swap32();
  const u64 = (x) => Buffer.concat([u32(0), u32(x)]);
  const schema = JSON.stringify({ type: "record", name: "r", fields: ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name", "k"].map((name) => ({ name, type: "string" })) });
  const instant = "20260101000000001";
  const string = (x) => Buffer.concat([Buffer.from([x.length * 2]), Buffer.from(x)]);
  const records = Array.from({ length: n }, (_, i) => Buffer.concat([instant, `s${i}`, `key-${i}`, "", "f1-0", `key-${i}`].map(string)));
  const data = Buffer.concat([u32(3), u32(n), ...records.flatMap((r) => [u32(r.length), r])]);
  const header = [u32(2), ...[[0, instant], [2, schema]].flatMap(([key, value]) => [u32(key), u32(value.length), Buffer.from(value)])];
  const body = Buffer.concat([u32(1), u32(3), ...header, u64(data.length), data, u32(0)]);
  const log = `.f1-0_${instant}.log.1_0-1-1`;
  fs.mkdirSync(path.join(dir, ".hoodie"), { recursive: true });
  fs.writeFileSync(path.join(dir, log), Buffer.concat([Buffer.from("#HUDI#"), u64(body.length + 8), body, u64(body.length + 14)]));
  fs.writeFileSync(path.join(dir, ".hoodie_partition_metadata"), "commitTime=20260101000000001\npartitionDepth=0\n");
  fs.writeFileSync(path.join(dir, ".hoodie/hoodie.properties"), ["hoodie.table.name=long", "hoodie.table.type=MERGE_ON_READ", "hoodie.table.version=6", "hoodie.timeline.layout.version=1", "hoodie.table.recordkey.fields=k", "hoodie.table.base.file.format=PARQUET", ""].join("\n"));
  const stat = { fileId: "f1-0", path: log, prevCommit: "null", partitionPath: "", numWrites: n, totalLogBlocks: 1, baseFile: "", logFiles: [log] };
  fs.writeFileSync(path.join(dir, `.hoodie/${instant}.deltacommit`), JSON.stringify({ partitionToWriteStats: { "": [stat] }, compacted: false, extraMetadata: { schema }, operationType: "UPSERT" }));
  for (const state of ["inflight", "requested"]) fs.writeFileSync(path.join(dir, `.hoodie/${instant}.deltacommit.${state}`), "");
}

test("rows are counted when asked, and End goes to the last", async () => {
  const dir = path.join(env.temp, "long");
  longTable(dir, 1234);
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [dir]);
  await ready(p);
  await tab(p, "Rows");
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  assert.equal(await p.textContent("#row-count"), "200 rows read so far");
  assert.equal(await p.getAttribute("#grid", "aria-rowcount"), "-1");
  await p.click('button:has-text("Count all")');
  await p.waitForFunction(() => document.querySelector("#row-count").textContent === "1,234 rows");
  assert.equal(await p.locator('button:has-text("Count all")').count(), 0);
  await p.focus("#grid");
  await p.keyboard.press("End");
  await p.keyboard.press("End");
  await p.waitForFunction(() => document.querySelector("#cell-current")?.closest("[data-r]").dataset.r === "1233");
  // The completion times of this layout are those of the files, or not there at all; the axis says so.
  await p.evaluate(() => (location.hash = location.hash.replace(/v=rows.*/, "v=timeline&x=completed")));
  await p.waitForSelector("#completion-note");
  clean(p);
  await p.context().close();
});

test("table: properties can be searched, the schema is listed", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=table");
  await ready(p);
  await p.waitForSelector(".props");
  assert.match(await p.textContent(".table-view"), /checksum right/);
  await p.keyboard.press("/");
  await p.keyboard.type("merge.mode");
  await p.waitForFunction(() => document.querySelectorAll(".props tbody tr").length === 1);
  assert.match(await p.textContent(".props tbody"), /hoodie\.record\.merge\.modeEVENT_TIME_ORDERING/);
  assert.match(await p.textContent(".stats"), /uuidstringkey/);
  clean(p);
  await p.context().close();
});

test("a dropped folder opens", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [unzip(env, "mor_trips_h120")]);
  await ready(p);
  assert.match(await p.textContent(".headline"), /mor_trips_h120/);
  await tab(p, "Rows");
  same(await readGrid(p), goldRows("mor_trips_h120"), "dropped folder");
  clean(p);
  await p.context().close();
});

test("a dropped .zip opens", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [path.join(tables, "virtual_keys_mor_h120.zip")]);
  await ready(p);
  await tab(p, "Rows");
  same(await readGrid(p), goldRows("virtual_keys_mor_h120"), "dropped zip");
  clean(p);
  await p.context().close();
});

const oneLog = (name) => {
  const dir = unzip(env, name);
  const file = fs.readdirSync(dir).find((f) => f.includes(".log."));
  return path.join(dir, file);
};

test("a dropped log file opens without its table", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [oneLog("mor_corrupt_middle_h0150")]);
  await ready(p);
  assert.match(await p.textContent(".headline"), /single log file/);
  await p.waitForSelector("g[data-b]");
  assert.equal(await p.locator(".tab").count(), 1);
  await p.locator('[data-c~="blk-data"]').first().click();
  await p.waitForSelector(".records tbody tr");
  assert.equal(await p.locator(".records tbody tr").count(), 6);
  clean(p);
  await p.context().close();
});

test("a folder and a file can be chosen in a dialog", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.setInputFiles("#choose-folder", unzip(env, "mor_trips_h120"));
  await ready(p);
  assert.match(await p.textContent(".headline"), /mor_trips_h120/);
  await p.click(".brand");
  await p.waitForSelector("a.card");
  await p.setInputFiles("#choose-file", path.join(tables, "cow_trips_h102.zip"));
  await p.waitForFunction(() => /cow_trips_h102/.test(document.querySelector(".headline")?.textContent || ""));
  clean(p);
  await p.context().close();
});

test("a folder and a .zip open over HTTP from another origin", async () => {
  const dir = unzip(env, "mor_trips_h120");
  const remote = await serve(path.dirname(dir), { cors: true });
  const zips = await serve(tables, { cors: true });
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.fill("#url", `${remote.url}/mor_trips_h120/`);
  await p.click('button:has-text("Open")');
  await ready(p);
  await tab(p, "Rows");
  same(await readGrid(p), goldRows("mor_trips_h120"), "HTTP folder");
  assert.ok(remote.requests.filter((r) => r.range).every((r) => /^bytes=\d+-\d+$/.test(r.range)), "only plain ranges are asked for");
  await p.click(".brand");
  await p.waitForSelector("a.card");
  await p.fill("#url", `${zips.url}/cow_trips_h102.zip`);
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => /cow_trips_h102/.test(document.querySelector(".table-name")?.textContent || ""));
  await ready(p);
  await tab(p, "Rows");
  same(await readGrid(p), goldRows("cow_trips_h102"), "HTTP zip");
  // The browser itself reports files that were looked for and are not there.
  assert.deepEqual(p.errors.filter((e) => !/status of 404/.test(e)), []);
  await p.context().close();
  await remote.close();
  await zips.close();
});

test("credentials do not stay in the address", async () => {
  const zips = await serve(tables, { cors: true });
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.fill("#url", `${zips.url}/cow_trips_h102.zip?X-Amz-Signature=secretsecret&X-Amz-Expires=60`);
  await p.click('button:has-text("Open")');
  await ready(p);
  assert.ok(!p.url().includes("secret"), p.url());
  assert.match(await p.textContent(".notice"), /X-Amz-Signature/);
  assert.ok(zips.requests.some((r) => r.url.includes("X-Amz-Signature=secretsecret")), "the storage still gets them");
  // A link with credentials is cleaned as well.
  await p.goto(`${env.site.url}/#/t=${zips.url}/cow_trips_h102.zip%3FX-Amz-Signature=secretsecret&v=files`);
  await p.waitForFunction(() => !location.href.includes("secret"));
  await ready(p);
  clean(p);
  await p.context().close();
  await zips.close();
});

test("what is typed without a scheme, and a query that is named like nothing secret", async () => {
  const zips = await serve(tables, { cors: true });
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.fill("#url", `${zips.url.replace("http://", "")}/cow_trips_h102.zip?key=secretsecret`);
  await p.click('button:has-text("Open")');
  await ready(p);
  assert.ok(!(await p.content()).includes("secretsecret") && !p.url().includes("secret"), p.url());
  assert.match(await p.textContent(".headline"), /formats supported/);
  assert.ok(zips.requests.some((r) => r.url.includes("key=secretsecret")), "the storage still gets it");
  clean(p);
  await p.context().close();
  await zips.close();
});

test("a link with a path escaped once opens; a listing without sizes is said to be one", async () => {
  const dir = path.join(env.temp, "once");
  fs.cpSync(unzip(env, "mor_trips_h120"), path.join(dir, "we ird#na%me"), { recursive: true });
  const remote = await serve(dir, { cors: true });
  const p = await page(env, `#/t=${remote.url}/we%20ird%23na%25me/&v=files`);
  await ready(p);
  await p.waitForSelector("#no-sizes");
  assert.ok((await p.locator(".slice .box.unsized").count()) > 0);
  assert.deepEqual([...new Set(await p.locator(".slice-size").allTextContents())], ["?"]);
  await p.context().close();
  await remote.close();
});

test("the tables of the page's own server are offered", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  assert.equal(await p.locator("a.served").count(), 0);
  await p.route("**/tables.json", (r) => r.fulfill({ json: [{ name: "we ird#na%me", type: "directory" }] }));
  await p.reload();
  await p.waitForSelector("a.served");
  assert.equal(await p.getAttribute("a.served", "href"), "#/t=/tables/we%2520ird%2523na%2525me/&v=timeline");
  await p.context().close();
});

test("a link reopens the same view; back and forward work", async () => {
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.click('a.card:has-text("corrupt block")');
  await p.waitForSelector("g[data-b]");
  await p.locator('[data-c~="blk-corrupt"]').click();
  await p.waitForSelector(".block-detail .finding.bad");
  const link = p.url();
  await tab(p, "Rows");
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.goBack();
  await p.waitForSelector(".block-detail .finding.bad");
  assert.equal(p.url(), link);
  await p.goForward();
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.goBack();
  await p.reload();
  await p.waitForSelector(".block-detail .finding.bad", { timeout: 60000 });
  assert.equal(p.url(), link);
  clean(p);
  const q = await page(env, link.slice(link.indexOf("#")));
  await q.waitForSelector(".block-detail .finding.bad", { timeout: 60000 });
  clean(q);
  await p.context().close();
  await q.context().close();
});

// Bad input: a sentence, and a page that goes on living.
const fault = async (p) => {
  await p.waitForSelector(".fault .fault-message", { timeout: 60000 });
  const text = await p.textContent(".fault");
  assert.ok(await p.isVisible(".topbar"), "the page is still there");
  return text;
};

test("a folder that is no table says so", async () => {
  const dir = path.join(env.temp, "photos");
  fs.mkdirSync(path.join(dir, "2026"), { recursive: true });
  fs.writeFileSync(path.join(dir, "2026", "a.txt"), "hello");
  fs.writeFileSync(path.join(dir, "b.txt"), "hello");
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [dir]);
  assert.match(await fault(p), /not a Hudi table|no \.hoodie|hoodie\.properties/i);
  clean(p);
  await p.click('a:has-text("Open another table")');
  await p.waitForSelector("a.card");
  await p.context().close();
});

test("an empty folder says so", async () => {
  const dir = path.join(env.temp, "nothing");
  fs.mkdirSync(dir, { recursive: true });
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [dir]);
  await p.waitForSelector(".notice.bad");
  assert.match(await p.textContent(".notice"), /“nothing” is empty/);
  clean(p);
  await p.context().close();
});

test("a cut log file shows what is whole and where it ends", async () => {
  const log = oneLog("mor_corrupt_middle_h0150");
  const bytes = fs.readFileSync(log);
  const cut = path.join(env.temp, path.basename(log));
  fs.writeFileSync(cut, bytes.subarray(0, 1000));
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [cut]);
  await p.waitForSelector('[data-c~="blk-corrupt"], .fault', { timeout: 60000 });
  const said = await p.textContent("#main");
  assert.match(said, /corrupt|cut|ends/i);
  await p.locator('[data-c~="blk-corrupt"]').first().click();
  await p.waitForSelector(".block-detail .finding");
  assert.match(await p.textContent(".block-detail .finding"), /\d/);
  clean(p);
  await p.context().close();
});

test("a file that is no log, and a zip that is none, say so", async () => {
  const zip = path.join(env.temp, "broken.zip");
  fs.writeFileSync(zip, fs.readFileSync(path.join(tables, "cow_trips_h102.zip")).subarray(0, 20000));
  const text = path.join(env.temp, "notes.txt");
  fs.writeFileSync(text, "hello");
  for (const file of [zip, text]) {
    const p = await page(env, "");
    await p.waitForSelector("a.card");
    await drop(p, [file]);
    const said = await fault(p);
    assert.ok(said.length > 20, said);
    clean(p);
    await p.context().close();
  }
});

test("a 404 says so", async () => {
  const remote = await serve(env.temp, { cors: true });
  const p = await page(env, `#/t=${remote.url}/nowhere/&v=timeline`);
  assert.match(await fault(p), /not found|no .*table|404/i);
  await p.context().close();
  await remote.close();
});

test("refused CORS is explained with the headers to send", async () => {
  const remote = await serve(path.dirname(unzip(env, "mor_trips_h120")));
  const p = await page(env, `#/t=${remote.url}/mor_trips_h120/&v=timeline`);
  await fault(p);
  // The page asks the server once more before it says what is wrong.
  await p.waitForSelector(".diagnosis[data-cors=true]");
  assert.match(await p.textContent(".diagnosis"), /CORS|another origin|allow/i);
  assert.match(await p.textContent("#rule-text"), /Access-Control-Allow-Origin/);
  await p.context().close();
  await remote.close();
});

test("what was dropped is gone after a reload, and the page says so", async () => {
  const p = await page(env, "#/t=drop:1&v=rows");
  assert.match(await fault(p), /reload/);
  clean(p);
  await p.context().close();
});

test("while a scan runs the tab answers, shows progress, and can stop it", async () => {
  const remote = await serve(path.dirname(unzip(env, "mor_trips_h120")), { cors: true, delay: 250 });
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await p.evaluate(() => {
    window.long = [];
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) window.long.push(e.duration);
    }).observe({ entryTypes: ["longtask"] });
    window.gaps = [];
    let last = performance.now();
    const beat = () => {
      const now = performance.now();
      window.gaps.push(now - last);
      last = now;
      requestAnimationFrame(beat);
    };
    requestAnimationFrame(beat);
  });
  await p.fill("#url", `${remote.url}/mor_trips_h120/`);
  await p.click('button:has-text("Open")');
  await p.waitForSelector(".headline", { timeout: 60000 });
  await tab(p, "Rows");
  await p.waitForSelector(".loading:not(.quiet)", { timeout: 30000 });
  assert.match(await p.textContent(".loading"), /Cancel/);
  // Clicks are answered while the engine works.
  const answers = [];
  for (let i = 0; i < 6; i++) {
    const began = Date.now();
    await p.click(".topbar-end .icon-button:last-child");
    await p.waitForFunction((n) => (document.documentElement.dataset.theme || "") === n, ["light", "dark", ""][i % 3]);
    answers.push(Date.now() - began);
  }
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]", { timeout: 120000 });
  const { long, gap } = await p.evaluate(() => ({ long: window.long, gap: Math.max(...window.gaps) }));
  console.log(`# answers to clicks during the scan: ${answers.join(", ")} ms; long tasks: ${long.map(Math.round).join(", ") || "none"}; longest gap between frames ${Math.round(gap)} ms`);
  assert.ok(Math.max(...answers) < 1000, `a click took ${Math.max(...answers)} ms`);
  assert.ok(Math.max(0, ...long) < 400, `a task of ${Math.max(...long)} ms`);
  // And a scan can be stopped.
  await p.click('[aria-label="Read the table again"]');
  await p.waitForSelector(".loading .button", { timeout: 30000 });
  await p.click(".loading .button");
  assert.match(await fault(p), /cancelled/i);
  await p.click('.fault button:has-text("Try again")');
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]", { timeout: 120000 });
  assert.deepEqual(p.errors.filter((e) => !/status of 404/.test(e)), []);
  await p.context().close();
  await remote.close();
});

test("an engine that dies is told and started again", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=timeline");
  await ready(p);
  await p.waitForSelector("a.instant");
  await p.evaluate(() => {
    const w = window.hudiscope.engine;
    w.onmessage({ data: { dead: "fatal error: runtime: out of memory" } });
  });
  await p.waitForSelector(".notice");
  assert.match(await p.textContent(".notice"), /out of memory/);
  await tab(p, "Files");
  await p.waitForSelector(".slice", { timeout: 60000 });
  clean(p);
  await p.context().close();
});

test("tables can't smuggle markup into the page", async () => {
  const dir = path.join(env.temp, "evil");
  fs.cpSync(unzip(env, "mor_trips_h120"), dir, { recursive: true });
  const props = path.join(dir, ".hoodie/hoodie.properties");
  const evil = "<img src\\=x onerror\\=document.title\\='owned'>";
  fs.writeFileSync(props, fs.readFileSync(props, "utf8").replace(/^hoodie\.table\.name=.*$/m, "hoodie.table.name=" + evil));
  const p = await page(env, "");
  await p.waitForSelector("a.card");
  await drop(p, [dir]);
  await ready(p);
  assert.match(await p.textContent(".table-name"), /<img src=x/);
  assert.equal(await p.locator("#main img").count(), 0);
  assert.ok(!(await p.title()).startsWith("owned"));
  clean(p);
  await p.context().close();
});

test("on a phone a long finding is folded to two lines, and opens", async () => {
  for (const [lang, more, less] of [["en", "more", "less"], ["zh", "展开", "收起"]]) {
    const p = await page(env, "#/t=sample:mor_trips_h120&v=rows", { viewport: { width: 390, height: 844 }, locale: lang === "zh" ? "zh-CN" : "en-US" });
    await ready(p);
    const button = p.locator(".view .finding .fold");
    await button.waitFor();
    const lines = () => p.$eval(".view .finding .finding-text", (e) => ({ shown: Math.round(e.clientHeight / parseFloat(getComputedStyle(e).lineHeight)), hidden: e.scrollHeight > e.clientHeight + 1 }));
    assert.deepEqual(await lines(), { shown: 2, hidden: true });
    assert.equal(await button.textContent(), more);
    assert.equal(await button.getAttribute("aria-expanded"), "false");
    await button.focus();
    await p.keyboard.press("Enter");
    await p.waitForSelector('.view .finding .fold[aria-expanded="true"]');
    assert.equal(await button.textContent(), less);
    const open = await lines();
    assert.ok(open.shown > 4 && !open.hidden, JSON.stringify(open));
    await axe(p, `a finding opened, ${lang}`);
    await button.click();
    await p.waitForSelector('.view .finding .fold[aria-expanded="false"]');
    assert.equal((await lines()).shown, 2);
    await p.setViewportSize({ width: 1024, height: 844 });
    assert.ok(!(await button.isVisible()), "where there is room, nothing is folded");
    assert.ok(!(await lines()).hidden);
    clean(p);
    await p.context().close();
  }
});

test("it fits a phone", async () => {
  for (const view of ["timeline", "files", "blocks", "rows", "table"]) {
    const p = await page(env, `#/t=sample:mor_trips_h120&v=${view}`, { viewport: { width: 360, height: 740 } });
    await ready(p);
    await p.waitForSelector(".view > *");
    await p.waitForTimeout(400);
    const over = await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `${view} is ${over} px wider than the screen`);
    clean(p);
    await p.context().close();
  }
});
