// Lessons, the palette, working without a network, the page in Chinese.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import crypto from "node:crypto";
import { axe, dist, page, ready, repo, start } from "./harness.mjs";
import { serve } from "./server.mjs";

let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const clean = (p) => assert.deepEqual(p.errors, [], "the console has errors");
const lessons = JSON.parse(fs.readFileSync(path.join(repo, "testdata/lessons.json"), "utf8"));
const rollback = lessons.find((l) => l.id === "rollback");
// kept waits until the service worker has files. What waitForFunction calls may not be asynchronous: a promise is true.
const kept = async (p, names) => {
  for (let waited = 0; waited < 60000; waited += 100) {
    const missing = await p.evaluate(async (all) => (await Promise.all(all.map((n) => caches.match(n)))).filter((x) => !x).length, names);
    if (missing === 0) return;
    await p.waitForTimeout(100);
  }
  assert.fail(`not kept after a minute: ${names}`);
};
const hash = (p) => p.evaluate(() => location.hash);

test("a lesson is walked through; its questions are answered by the table", async () => {
  const p = await page(env);
  await p.click(`a.lesson-card:has-text("${rollback.title.en}")`);
  await ready(p);
  await p.waitForSelector("#lesson");
  assert.match(await hash(p), /v=timeline&i=20261129232717337&act=rollback&ls=rollback&ln=1$/);
  assert.equal(await p.textContent("#lesson-title"), rollback.title.en);
  assert.equal(await p.textContent(".lesson-text"), rollback.steps[0].text.en);
  await p.waitForFunction(() => document.activeElement?.id === "lesson-title");
  // A wrong answer gets a second try; after the second one the right one is shown.
  await p.fill("#lesson-answer", "7");
  await p.keyboard.press("Enter");
  await p.waitForSelector(".lesson-verdict.bad");
  assert.equal(await p.locator(".lesson-real").count(), 0, "the answer is given away");
  assert.ok(!(await p.textContent("#lesson-said")).includes(rollback.steps[0].ask.why.en));
  await p.fill("#lesson-answer", "8");
  await p.keyboard.press("Enter");
  await p.waitForSelector(".lesson-verdict.bad .lesson-real");
  assert.equal(await p.textContent(".lesson-real"), rollback.steps[0].ask.answer);
  assert.ok((await p.textContent("#lesson-said")).includes(rollback.steps[0].ask.why.en));
  await axe(p, "a wrong answer");
  await p.fill("#lesson-answer", " 3 ");
  await p.click('.lesson-ask button[type="submit"]');
  await p.waitForSelector(".lesson-verdict.good");
  // The arrow keys with Alt work while the field has the focus; n and p elsewhere.
  await p.focus("#lesson-answer");
  await p.keyboard.press("Alt+ArrowRight");
  await p.waitForFunction(() => location.hash.endsWith("&ls=rollback&ln=2"));
  await p.waitForSelector("g[data-b]");
  assert.equal(await p.textContent(".lesson-text"), rollback.steps[1].text.en);
  assert.equal(await p.inputValue("#lesson-answer"), "");
  assert.equal(await p.locator(".lesson-dot.right").count(), 1);
  await p.click('.lesson-ask button:has-text("Show the answer")');
  await p.waitForSelector(".lesson-verdict.calm");
  assert.equal(await p.textContent(".lesson-real"), rollback.steps[1].ask.answer);
  await p.focus("#lesson-title");
  await p.keyboard.press("n");
  await p.waitForFunction(() => location.hash.endsWith("&ls=rollback&ln=3"));
  await p.waitForSelector("#replay-queue");
  await p.keyboard.press("p");
  await p.waitForFunction(() => location.hash.endsWith("&ls=rollback&ln=2"));
  // Looking elsewhere keeps the lesson, and leads back.
  await p.click('.tab:has-text("Rows")');
  await p.waitForSelector("#grid [role=gridcell]");
  await p.click(".lesson-back");
  await p.waitForSelector("g[data-b]");
  assert.equal(await p.locator(".lesson-back").count(), 0);
  // A step is a link.
  await p.reload();
  await ready(p);
  assert.equal(await p.textContent(".lesson-text"), rollback.steps[1].text.en);
  // The panel hides nothing: the view ends where it begins.
  const [main, panel] = await p.evaluate(() => ["main", "lesson"].map((id) => document.getElementById(id).getBoundingClientRect().toJSON()));
  assert.ok(main.right <= panel.left + 1, `the view ends at ${main.right}, the panel begins at ${panel.left}`);
  await axe(p, "a lesson");
  await p.focus("#lesson-title");
  await p.keyboard.press("Escape");
  await p.waitForSelector("#lesson", { state: "detached" });
  assert.ok(!(await hash(p)).includes("ls="));
  assert.equal(await p.evaluate(() => document.activeElement.id), "main");
  clean(p);
  await p.context().close();
});

test("what was learned is remembered by this browser, and only there", async () => {
  const p = await page(env);
  await p.waitForSelector("a.lesson-card");
  assert.equal(await p.locator(".lesson-progress").count(), 0, "nothing is said before the first step");
  const card = `a.lesson-card:has-text("${rollback.title.en}")`;
  const n = rollback.steps.length;
  await p.click(card);
  await p.waitForSelector("#lesson-title");
  await p.focus("#lesson-title");
  await p.keyboard.press("n");
  await p.waitForFunction(() => location.hash.endsWith("&ls=rollback&ln=2"));
  await p.waitForFunction((t) => document.querySelector(".lesson-text")?.textContent === t, rollback.steps[1].text.en);
  const home = async (q) => {
    await q.goto(`${env.site.url}/#/`);
    await q.waitForSelector("a.lesson-card");
  };
  await home(p);
  assert.equal(await p.textContent(`${card} .lesson-count`), `2 of ${n} steps seen`);
  assert.equal(await p.textContent(".lesson-progress .num"), `0 of ${lessons.length} finished`);
  for (let i = 2; i < n; i++) {
    await p.goto(`${env.site.url}/#/${rollback.steps[i].go}&ls=rollback&ln=${i + 1}`);
    await p.waitForFunction((t) => document.querySelector(".lesson-text")?.textContent === t, rollback.steps[i].text.en);
  }
  await p.reload(); // what is remembered is not this page's
  await ready(p);
  await home(p);
  assert.equal(await p.textContent(".lesson-progress .num"), `1 of ${lessons.length} finished`);
  assert.match(await p.textContent(`${card} .lesson-count`), /^finished · /);
  const next = lessons[0].id === "rollback" ? lessons[1] : lessons[0];
  assert.ok((await p.textContent(".lesson-go-on")).includes(next.title.en));
  assert.match(await p.getAttribute(".lesson-go-on", "href"), new RegExp(`ls=${next.id}&ln=1$`));
  await axe(p, "lessons with progress");
  assert.equal(await p.evaluate(() => localStorage.getItem("hudiscope.lessons")), `rollback:${rollback.steps.map((_, i) => i).join()}`);
  await p.click(".lesson-forget");
  await p.waitForSelector(".lesson-progress", { state: "detached" });
  assert.equal(await p.evaluate(() => localStorage.getItem("hudiscope.lessons")), null);
  clean(p);
  await p.context().close();

  // Where the browser keeps nothing it is known as long as the page is.
  const q = await page(env);
  await q.addInitScript(() => Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("forbidden", "SecurityError"); } }));
  await q.goto("about:blank");
  await home(q);
  await q.click(card);
  await q.waitForSelector("#lesson-title");
  await q.evaluate(() => (location.hash = "#/"));
  await q.waitForSelector(".lesson-progress");
  assert.match(await q.textContent(`${card} .lesson-count`), /^1 of/);
  clean(q);
  await q.context().close();
});

test("every step of every lesson shows its view without a fault", async () => {
  const p = await page(env);
  for (const l of lessons) {
    for (let i = 0; i < l.steps.length; i++) {
      await p.goto(`${env.site.url}/#/${l.steps[i].go}&ls=${l.id}&ln=${i + 1}`);
      await ready(p);
      await p.waitForFunction((t) => document.querySelector(".lesson-text")?.textContent === t, l.steps[i].text.en);
      await p.waitForFunction(() => !document.querySelector('main [aria-busy="true"], main .skeleton, main .loading'));
      assert.equal(await p.locator("main .fault, .lesson-back").count(), 0, `${l.id}, step ${i + 1}`);
      if (l.steps[i].ask?.choices) {
        await p.click(`.lesson-ask button:has-text("${l.steps[i].ask.answer}") >> nth=0`);
        await p.waitForSelector(".lesson-verdict.good, .lesson-verdict.bad");
      }
    }
  }
  clean(p);
  await p.context().close();
});

test("on a phone the lesson is a sheet that can be folded", async () => {
  const p = await page(env, `#/${rollback.steps[1].go}&ls=rollback&ln=2`, { viewport: { width: 390, height: 844 } });
  await ready(p);
  await p.waitForSelector(".lesson-text");
  const sheet = await p.locator("#lesson").boundingBox();
  assert.ok(sheet.height < 844 * 0.43 && sheet.width === 390, JSON.stringify(sheet));
  await axe(p, "a lesson on a phone");
  await p.click(".lesson-fold");
  await p.waitForFunction(() => document.getElementById("lesson").getBoundingClientRect().height < 60);
  clean(p);
  await p.context().close();
});

test("the palette is worked by keyboard", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=timeline", { permissions: ["clipboard-read", "clipboard-write"] });
  await ready(p);
  await p.waitForSelector("a.instant");
  const open = async (typed) => {
    await p.keyboard.press("Control+k");
    await p.waitForFunction(() => document.activeElement?.id === "palette-input");
    await p.keyboard.type(typed);
    await p.waitForFunction((t) => document.querySelector("#palette-input").value === t && document.querySelector("#palette-list [aria-selected=true]"), typed);
  };
  const chosen = () => p.textContent('#palette-list [aria-selected="true"] .palette-title');
  await open("");
  assert.equal(await p.getAttribute("#palette-input", "role"), "combobox");
  const first = await chosen();
  const now = (t) => p.waitForFunction((t) => document.querySelector('#palette-list [aria-selected="true"] .palette-title').textContent === t, t);
  await p.keyboard.press("ArrowDown");
  await now("Files");
  assert.equal(await p.getAttribute("#palette-input", "aria-activedescendant"), await p.getAttribute('#palette-list [aria-selected="true"]', "id"));
  await p.keyboard.press("ArrowUp");
  await now(first);
  await axe(p, "the palette");
  await p.keyboard.press("Escape");
  await p.waitForSelector("#palette", { state: "detached" });
  // A view.
  await open("heal");
  assert.equal(await chosen(), "Health");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("v=health"));
  // An instant of the loaded timeline.
  await open("deltac");
  const instant = (await chosen()).split(" ")[0];
  await p.keyboard.press("Enter");
  await p.waitForFunction((i) => location.hash.includes("v=timeline&i=" + i), instant);
  // An action: it asks for nothing more.
  await open("dark");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await axe(p, "after the palette, dark");
  await open("copy link");
  await p.keyboard.press("Enter");
  await p.waitForSelector(".notice");
  assert.equal(await p.evaluate(() => navigator.clipboard.readText()), p.url());
  // The dialogs of a view.
  await open("export");
  await p.keyboard.press("Enter");
  await p.waitForSelector("#export-dialog[open]");
  await p.keyboard.press("Escape");
  // A release's rules, a lesson, a sample.
  await open("hudi 1.0.2");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("h=1.0.2"));
  await open("late event");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => location.hash.includes("ls=late-event&ln=1"));
  await open("nbcc");
  await p.keyboard.press("Enter");
  await p.waitForFunction(() => !location.hash.includes("ls="));
  await p.keyboard.press("Control+k");
  await p.waitForSelector("#palette-input");
  await p.keyboard.type("zzqqxx");
  await p.waitForSelector(".palette-none");
  await p.keyboard.press("Enter");
  await p.keyboard.press("Control+k");
  await p.waitForSelector("#palette", { state: "detached" });
  clean(p);
  await p.context().close();
});

test("after the first visit the page works without a network, with the samples seen", async () => {
  const p = await page(env, "#/t=sample:mor_trips_h120&v=rows", { serviceWorkers: "allow" });
  await p.waitForSelector("#grid [role=gridcell]");
  await p.evaluate(() => navigator.serviceWorker.ready);
  await p.waitForFunction(() => navigator.serviceWorker.controller);
  await kept(p, ["samples/mor_trips_h120.zip"]);
  // Another sample, seen under the worker.
  await p.goto(`${env.site.url}/#/t=sample:nbcc_h120&v=timeline`);
  await p.waitForSelector("a.instant");
  await p.context().setOffline(true);
  const before = env.site.requests.length;
  await p.goto("about:blank");
  await p.goto(`${env.site.url}/#/t=sample:nbcc_h120&v=timeline`);
  await p.waitForSelector("a.instant");
  await p.goto(`${env.site.url}/#/t=sample:mor_trips_h120&v=rows`);
  await p.waitForSelector("#grid [role=gridcell]");
  await p.goto(`${env.site.url}/#/`);
  await p.waitForSelector("a.lesson-card");
  // The browser itself looks for a new worker, whatever it is told of the network.
  assert.deepEqual(env.site.requests.slice(before).map((r) => r.url).filter((u) => u !== "/sw.js"), [], "the server was asked");
  // What is not kept says that there is no network, and nothing of servers' rules.
  await p.goto(`${env.site.url}/#/t=sample:part_none_h120&v=rows`);
  await p.waitForSelector(".fault");
  assert.match(await p.textContent(".fault"), /You are offline/);
  assert.doesNotMatch(await p.textContent("#main"), /CORS|Failed to fetch/);
  // A lesson whose table can't be read asks nothing.
  await p.evaluate(async () => {
    for (const name of await caches.keys()) await (await caches.open(name)).delete("samples/mor_rollback_multi_h0150.zip");
  });
  await p.goto(`${env.site.url}/#/${rollback.steps[0].go}&ls=rollback&ln=1`);
  await p.waitForSelector(".fault");
  await p.waitForSelector(".lesson-unasked");
  assert.equal(await p.locator(".lesson-ask").count(), 0);
  await p.context().setOffline(false);
  await p.context().close();
});

test("after the first visit every sample and every lesson opens without a network", async () => {
  const p = await page(env, "", { serviceWorkers: "allow" });
  await p.waitForSelector("a.card");
  const names = JSON.parse(/^const release = (.*);$/m.exec(fs.readFileSync(path.join(dist, "sw.js"), "utf8"))[1]).files;
  const later = Object.keys(names).filter((n) => n.endsWith(".zip") || n === "engine-orc.wasm");
  assert.ok(later.length > 15);
  await p.waitForFunction(() => navigator.serviceWorker.controller);
  await kept(p, later);
  await p.context().setOffline(true);
  await p.reload();
  await p.waitForSelector("a.card");
  await p.click('a.card[href*="mor_trips_h120"]');
  await ready(p);
  await p.click('.tab[href*="v=rows"]');
  await p.waitForSelector("#grid [role=gridcell]");
  await p.goto(`${env.site.url}/#/t=sample:orc_base_h120&v=rows`);
  await p.waitForSelector("#grid [role=gridcell]", { timeout: 60000 });
  for (const l of lessons) {
    await p.goto(`${env.site.url}/#/${l.steps[0].go}&ls=${l.id}&ln=1`);
    await ready(p);
    assert.equal(await p.locator(".fault").count(), 0, l.id);
  }
  await p.context().setOffline(false);
  await p.context().close();

  // A connection that is to be spared gets only what is open.
  const c = await env.browser.newContext();
  const s = await c.newPage();
  await s.addInitScript(() => Object.defineProperty(navigator, "connection", { value: { saveData: true } }));
  await s.goto(`${env.site.url}/#/t=sample:nbcc_h120&v=timeline`);
  await kept(s, ["samples/nbcc_h120.zip"]);
  await s.waitForTimeout(1500);
  assert.equal(await s.evaluate(async (all) => (await Promise.all(all.map((n) => caches.match(n)))).filter(Boolean).length, later), 1);
  await c.close();
});

test("without its server the page works; another program at the address gets its place back", async () => {
  let server = await serve(dist);
  const p = await page({ ...env, site: server }, "#/t=sample:mor_trips_h120&v=files", { serviceWorkers: "allow" });
  await p.waitForSelector(".slice");
  await p.waitForFunction(() => navigator.serviceWorker.controller);
  await kept(p, ["samples/mor_trips_h120.zip"]);
  const port = Number(new URL(server.url).port);
  await server.close();
  await p.reload();
  await p.waitForSelector(".slice");
  await p.click('.tab[href*="v=rows"]');
  await p.waitForSelector("#grid [role=gridcell]");
  const site = fs.mkdtempSync(path.join(env.temp, "other-"));
  fs.writeFileSync(path.join(site, "index.html"), "<!doctype html><title>other</title><h1>Another program</h1>");
  server = await serve(site, { port });
  await p.reload();
  await p.waitForSelector('h1:has-text("Another program")');
  assert.equal(await p.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length + (await caches.keys()).length), 0);
  await p.context().close();
  await server.close();
});

test("only the page's own files are kept", async () => {
  // A table below the page's own address, and the list of the server's tables.
  const site = fs.mkdtempSync(path.join(env.temp, "site-"));
  fs.cpSync(dist, site, { recursive: true });
  fs.mkdirSync(path.join(site, "tables"));
  fs.copyFileSync(path.join(repo, "testdata/tables/part_none_h120.zip"), path.join(site, "tables/t.zip"));
  const server = await serve(site);
  const p = await page({ ...env, site: server }, "", { serviceWorkers: "allow" });
  await p.waitForSelector("a.card");
  await p.waitForFunction(() => navigator.serviceWorker.controller);
  await p.goto(`${server.url}/#/t=${server.url}/tables/t.zip&v=rows`);
  await p.waitForSelector("#grid [role=gridcell]");
  const there = await p.evaluate(async () => {
    const out = [];
    for (const name of await caches.keys()) for (const r of await (await caches.open(name)).keys()) out.push(new URL(r.url).pathname);
    return out.sort();
  });
  const list = JSON.parse(/^const release = (.*);$/m.exec(fs.readFileSync(path.join(dist, "sw.js"), "utf8"))[1]);
  // The samples follow while the page rests.
  const first = Object.keys(list.files).filter((n) => (!n.startsWith("samples/") || n === "samples/samples.json") && n !== "engine-orc.wasm").map((n) => "/" + n);
  for (const n of first) assert.ok(there.includes(n), `${n} is not kept`);
  for (const n of there) assert.ok(Object.hasOwn(list.files, n.slice(1)), `${n} is none of the page's files`);
  assert.ok(server.requests.some((r) => r.url === "/tables/t.zip"));
  // The list is that of the files.
  for (const [name, sum] of Object.entries(list.files)) {
    assert.equal(crypto.createHash("sha256").update(fs.readFileSync(path.join(dist, name))).digest("hex"), sum, name);
  }
  clean(p);
  await p.context().close();
  await server.close();
});

test("a new release waits until the user takes it, and never mixes with the running one", async () => {
  const site = fs.mkdtempSync(path.join(env.temp, "site-"));
  fs.cpSync(dist, site, { recursive: true });
  const server = await serve(site);
  const p = await page({ ...env, site: server }, "", { serviceWorkers: "allow" });
  await p.waitForSelector("a.card");
  await p.waitForFunction(() => navigator.serviceWorker.controller);
  await p.evaluate(() => navigator.serviceWorker.ready);
  // A release with another style sheet.
  const css = fs.readFileSync(path.join(site, "hudiscope.css"), "utf8") + "\n:root { --released: 2; }\n";
  const old = fs.readFileSync(path.join(site, "sw.js"), "utf8");
  const release = JSON.parse(/^const release = (.*);$/m.exec(old)[1]);
  release.files["hudiscope.css"] = crypto.createHash("sha256").update(css).digest("hex");
  release.version = "next";
  fs.writeFileSync(path.join(site, "hudiscope.css"), css);
  fs.rmSync(path.join(site, "hudiscope.css.gz"), { force: true });
  fs.writeFileSync(path.join(site, "sw.js"), `const release = ${JSON.stringify(release)};\n` + old.slice(old.indexOf("\n") + 1));
  const styles = (q) => q.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--released"));
  const other = await p.context().newPage();
  await other.goto(`${server.url}/`);
  await other.waitForSelector("a.card");
  await p.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update());
  await p.waitForSelector("#update");
  assert.match(await p.textContent("#update"), /other tabs/);
  await axe(p, "the notice of a new version");
  // The running release is served whole as long as it runs.
  await other.reload();
  await other.waitForSelector("a.card");
  assert.equal(await styles(other), "");
  const wasm = server.requests.filter((r) => r.url.endsWith(".wasm")).length;
  await other.close();
  await p.click('#update button:has-text("Reload")');
  await p.waitForFunction(() => getComputedStyle(document.documentElement).getPropertyValue("--released").trim() === "2");
  await p.waitForSelector("a.card");
  assert.equal(await p.evaluate(async () => (await caches.keys()).join()), "hudiscope-next");
  assert.equal(server.requests.filter((r) => r.url.endsWith(".wasm")).length, wasm, "what has not changed was loaded again");
  await p.context().close();
  await server.close();
});

test("the page is installable", async () => {
  const p = await page(env, "", { serviceWorkers: "allow" });
  await p.waitForSelector("a.card");
  const cdp = await p.context().newCDPSession(p);
  const { errors, data } = await cdp.send("Page.getAppManifest");
  assert.deepEqual(errors, []);
  const m = JSON.parse(data);
  for (const icon of m.icons) assert.ok(fs.existsSync(path.join(dist, icon.src)), icon.src);
  const problems = await cdp.send("Page.getInstallabilityErrors");
  assert.deepEqual(problems.installabilityErrors.map((e) => e.errorId).filter((e) => e !== "in-incognito"), []);
  clean(p);
  await p.context().close();
});

test("what the core finds and why is Chinese on the Chinese page, with its English behind it", async () => {
  const zh = JSON.parse(fs.readFileSync(path.join(repo, "web/text/zh.json"), "utf8"));
  const p = await page(env, "#/t=sample:mor_rollback_multi_h0150&v=health", { locale: "zh-CN" });
  await p.waitForSelector(".health-foot tbody tr");
  const said = (selector) => p.$$eval(selector, (l) => l.map((x) => ({ text: x.textContent, lang: x.lang, en: x.title })));
  for (const selector of [".health-foot section:first-child th[scope=row] span", ".health-finding h3 span", ".health-finding .health-body > p:not(.hudi-does) span", ".hudi-does span", ".limits td:last-child span[lang]"]) {
    const list = await said(selector);
    for (const x of list) {
      assert.match(x.text, /[\u4e00-\u9fff]/, `${selector}: ${x.text}`);
      assert.equal(x.lang, "zh-Hans");
      assert.match(x.en, /^[\x20-\x7e]+$/);
    }
    if (selector.includes("health-foot") || selector.includes("limits")) assert.ok(list.length >= 10, selector);
  }
  const titles = await said(".health-finding h3 span");
  assert.ok(titles.length > 0);
  for (const x of titles) assert.equal(x.text, zh["core|" + x.en]);
  await axe(p, "health in Chinese");
  // Why a row has its value, and what is wrong with a place.
  await p.goto(`${env.site.url}/#/t=sample:merge_event_time_mor_h120&v=rows`);
  await p.waitForSelector("#grid [role=gridcell][aria-colindex]");
  await p.focus("#grid");
  await p.keyboard.press("ArrowDown");
  await p.keyboard.press("h");
  await p.waitForSelector(".rung.result");
  await p.goto(`${env.site.url}/#/t=sample:none_such&v=rows`);
  await p.waitForSelector(".fault");
  assert.match(await p.textContent(".fault .fault-kind"), /[\u4e00-\u9fff]/);
  await p.context().close();
});

test("the page is Chinese where the browser is, and can be switched", async () => {
  const p = await page(env, "", { locale: "zh-CN" });
  await p.waitForSelector("a.lesson-card");
  assert.match(await p.getAttribute("html", "lang"), /^zh/);
  const zh = JSON.parse(fs.readFileSync(path.join(repo, "web/text/zh.json"), "utf8"));
  assert.equal(await p.textContent(".hero h1"), zh["See what is really inside an Apache Hudi table"]);
  assert.equal(await p.textContent("a.lesson-card h3"), lessons[0].title.zh);
  await axe(p, "home in Chinese");
  await p.goto(`${env.site.url}/#/${rollback.steps[0].go}&ls=rollback&ln=1`);
  await ready(p);
  await p.waitForSelector("a.instant");
  assert.equal(await p.textContent('.tab[aria-current="page"] span'), zh["Timeline"]);
  assert.equal(await p.textContent(".lesson-text"), rollback.steps[0].text.zh);
  await p.fill("#lesson-answer", "３"); // full width
  await p.keyboard.press("Enter");
  await p.waitForSelector(".lesson-verdict.good");
  await axe(p, "timeline in Chinese");
  // The switch is remembered.
  await p.click("#switch-lang");
  await p.waitForFunction(() => document.documentElement.lang === "en");
  assert.equal(await p.textContent('.tab[aria-current="page"] span'), "Timeline");
  assert.equal(await p.textContent(".lesson-text"), rollback.steps[0].text.en);
  await p.reload();
  await ready(p);
  assert.equal(await p.textContent('.tab[aria-current="page"] span'), "Timeline");
  await p.click("#switch-lang");
  await p.waitForFunction(() => document.documentElement.lang === "zh-Hans");
  assert.equal(await p.textContent('.tab[aria-current="page"] span'), zh["Timeline"]);
  clean(p);
  await p.context().close();
});
