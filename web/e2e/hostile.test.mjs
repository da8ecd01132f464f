// Tables that someone hostile wrote, in a real browser: markup, scripts, addresses, escapes, formulas in every place
// that a table's writer chooses. Nothing of it runs, loads or leads anywhere; all of it is shown, copied and exported
// as the text that it is. The page comes from "hudiscope serve", with the headers that it really sends.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { dist, drop, readGrid, ready, repo, start } from "./harness.mjs";

const cli = process.env.HUDISCOPE_CLI || path.join(repo, "bin/hudiscope");
const mark = (place) => `<img src=x onerror="owned('${place}')">`;

let env, dir, want, server, site;
before(async () => {
  if (!fs.existsSync(cli)) throw new Error(`${cli} is missing: run "make build" first`);
  env = await start();
  dir = path.join(env.temp, "hostile");
  execFileSync("go", ["run", "./web/e2e/hostile", dir], { cwd: repo, stdio: ["ignore", "inherit", "inherit"] });
  want = JSON.parse(fs.readFileSync(path.join(dir, "expected.json"), "utf8"));
  const tables = [want.folder, "columns", "damaged", "refused"].map((n) => path.join(dir, n));
  server = spawn(cli, ["serve", "-addr", "127.0.0.1:0", "-app", dist, ...tables], { stdio: ["ignore", "pipe", "pipe"] });
  site = await new Promise((done, failed) => {
    let said = "";
    for (const s of [server.stdout, server.stderr]) {
      s.on("data", (b) => {
        said += b;
        const m = /(http:\/\/[\w.:[\]]+)\//.exec(said);
        if (m) done(m[1]);
      });
    }
    server.on("exit", () => failed(new Error(said)));
  });
});
after(async () => {
  server?.kill();
  await env?.stop();
});

// The page's own files are all that may be a script, and these elements are all that markup could do harm with.
const scripts = ["boot.js", "folders.js", "wasm_exec.js"];

// open opens a page that notes whatever content of a table would do if it were taken for more than text.
async function open(hash, options = {}) {
  const context = await env.browser.newContext({ viewport: { width: 1400, height: 900 }, locale: "en-US", serviceWorkers: "block", ...options });
  const p = await context.newPage();
  p.broken = [];
  const own = new URL(site).host;
  context.on("request", (r) => {
    const u = new URL(r.url());
    if (u.host !== own && u.protocol !== "blob:" && !(u.protocol === "data:" && r.resourceType() === "image")) p.broken.push(`request: ${r.url().slice(0, 200)}`);
    if (/\/x$/.test(u.pathname)) p.broken.push(`request: ${r.url().slice(0, 200)}`); // src=x
  });
  context.on("page", (other) => other !== p && p.broken.push(`another page: ${other.url()}`));
  p.on("dialog", (d) => (p.broken.push(`dialog: ${d.message()}`), d.dismiss()));
  p.on("pageerror", (e) => p.broken.push(`error: ${e}`));
  p.on("console", (m) => {
    if (m.text().includes("Service Worker registration blocked") || !["error", "warning"].includes(m.type())) return;
    // The browser itself reports files that were looked for and are not there.
    if (!/status of 404/.test(m.text())) p.broken.push(`console: ${m.text()}`);
  });
  p.on("framenavigated", (f) => (f !== p.mainFrame() || new URL(f.url()).host !== own) && f.url() !== "about:blank" && p.broken.push(`navigation: ${f.url()}`));
  await p.addInitScript(() => {
    window.ownedBy = [];
    window.violations = [];
    window.owned = (place) => window.ownedBy.push(place);
    window.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.effectiveDirective}: ${e.blockedURI} ${e.sample}`));
  });
  await p.goto(`${site}/${hash}`);
  return p;
}

// harmless looks at the page as it is.
async function harmless(p, where) {
  const found = await p.evaluate(
    ({ scripts }) => {
      const out = [...window.ownedBy.map((x) => `executed: ${x}`), ...window.violations.map((x) => `policy: ${x}`)];
      if (window.owned.toString().length > 200 || Object.prototype.owned !== undefined) out.push("an object was changed");
      for (const e of document.querySelectorAll("*")) {
        const tag = e.localName;
        const said = e.outerHTML.slice(0, 200);
        if (["iframe", "frame", "object", "embed", "base", "style", "animate", "set", "foreignobject", "video", "audio", "portal", "template"].includes(tag)) out.push(`element: ${said}`);
        if (tag === "script" && !(scripts.includes(e.getAttribute("src")) && !e.textContent)) out.push(`script: ${said}`);
        if (tag === "meta" && e.httpEquiv === "refresh") out.push(`refresh: ${said}`);
        if (tag === "form" && e.getAttribute("action") !== null) out.push(`form: ${said}`);
        if ((["meta", "link", "script"].includes(tag) || (tag === "title" && !e.closest("svg"))) && !e.closest("head")) out.push(`in the body: ${said}`);
        if (tag === "img" && !/^(icon\.svg|\/?icon\.svg|data:image\/svg)/.test(e.getAttribute("src") || "")) out.push(`image: ${said}`);
        for (const a of e.attributes) {
          if (/^on/i.test(a.name) || !/^[a-z][-a-z0-9:]*$/i.test(a.name)) out.push(`attribute ${a.name}: ${said}`);
          if (/^(href|xlink:href|src|action|formaction|srcdoc|poster|background|ping|data)$/i.test(a.name) && tag !== "meta") {
            const u = new URL(a.value, location.href);
            if (u.origin !== location.origin && !(tag === "img" && u.protocol === "data:") && !/^https:\/\/hudi\.apache\.org\//.test(u.href)) out.push(`address: ${said}`);
          }
          if (a.name === "style" && /url|expression|import|@/i.test(a.value)) out.push(`style: ${said}`);
        }
      }
      return out;
    },
    { scripts }
  );
  assert.deepEqual([...found, ...p.broken], [], where);
}

const at = (name) => `#/t=${encodeURIComponent(`/tables/${encodeURIComponent(name)}/`)}`;

// settle waits until nothing is loading any more.
async function settle(p) {
  await p.waitForFunction(() => document.querySelector("#main > *") && !document.querySelector("#main .loading, #main .skeleton, #boot"), null, { timeout: 60000 });
  await p.waitForTimeout(150);
}
const go = async (p, hash) => {
  await p.evaluate((h) => (location.hash = h), hash);
  await p.waitForTimeout(100);
  await settle(p);
};
const shows = async (p, text, where, selector = "#main") => {
  const all = await p.textContent(selector);
  assert.ok(all.includes(text), `${where} does not show ${JSON.stringify(text)}: ${all.slice(0, 3000)}`);
};

// Cells of the grid show at most 160 characters of a value, on one line, controls as marks.
const short = (s) => [...s].slice(0, 160).join("").replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/\x7f/g, "␡").replace(/[\0-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));

test("the policy that is sent allows no script but the page's own, and the page's own says the same", async () => {
  const page = await fetch(`${site}/`);
  const meta = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(await page.text())[1];
  const parse = (text) => Object.fromEntries(text.split(";").map((d) => d.trim().split(/\s+/)).map(([name, ...list]) => [name, list.join(" ")]));
  for (const file of ["", "index.html", ...scripts, "engine.js", "sw.js"]) {
    const r = await fetch(`${site}/${file}`);
    const policy = parse(r.headers.get("content-security-policy") ?? "");
    const strict = { "default-src": "'none'", "script-src": "'self' 'wasm-unsafe-eval'", "worker-src": "'self'", "style-src": "'self'", "base-uri": "'none'", "form-action": "'none'" };
    for (const p of [policy, parse(meta)]) for (const [k, v] of Object.entries(strict)) assert.equal(p[k], v, `${file}: ${k}`);
    assert.equal(policy["frame-ancestors"], "'none'", file);
    assert.equal(policy["img-src"], "'self' data:");
    for (const p of [policy, parse(meta)]) for (const [k, v] of Object.entries(p)) assert.ok(k === "style-src-attr" || !/unsafe-(inline|eval|hashes)|strict-dynamic|blob:|https?:/.test(v.replace("'wasm-unsafe-eval'", "")), `${k} ${v}`);
    assert.equal(r.headers.get("x-content-type-options"), "nosniff");
    assert.equal(r.headers.get("x-frame-options"), "DENY");
    assert.equal(r.headers.get("referrer-policy"), "no-referrer");
    assert.equal(r.headers.get("cross-origin-opener-policy"), "same-origin");
  }
  // What a table holds is never a page of this origin: a file of it that is opened runs nothing.
  const odd = `/tables/${encodeURIComponent(want.folder)}/${encodeURIComponent("p=" + mark("partition"))}/`;
  const list = await fetch(site + odd, { headers: { Accept: "text/html" } });
  assert.match(list.headers.get("content-security-policy"), /^default-src 'none'; style-src 'unsafe-inline';/);
  assert.ok(!(await list.text()).includes("<img"), "the listing has markup of the table");
  const file = await fetch(site + odd + encodeURIComponent(mark("odd")));
  assert.ok(!/html|svg|xml|javascript/.test(file.headers.get("content-type") ?? ""), file.headers.get("content-type"));
});

test("the policy is in force: what markup and eval would do is refused and told", async () => {
  const p = await open("");
  await p.waitForSelector("a.card");
  await harmless(p, "home");
  const got = await p.evaluate(async (mark) => {
    const box = document.createElement("div");
    box.innerHTML = mark + "<a id=js href=\"javascript:owned('link')\">x</a><iframe srcdoc=\"<script>parent.owned(1)</script>\"></iframe>";
    document.body.append(box);
    const s = document.createElement("script");
    s.textContent = "owned('script')";
    document.body.append(s);
    document.getElementById("js").click();
    await new Promise((done) => setTimeout(done, 500));
    return { owned: window.ownedBy, violations: window.violations };
  }, mark("probe"));
  assert.deepEqual(got.owned, []);
  for (const d of ["script-src-attr", "script-src-elem"]) assert.ok(got.violations.some((v) => v.startsWith(d)), `${d}: ${got.violations}`);
  await p.context().close();
});

test("every view shows hostile content as text", { timeout: 600_000 }, async () => {
  const p = await open(at(want.folder) + "&v=timeline");
  await ready(p);
  await settle(p);
  assert.equal(await p.textContent(".table-name"), mark("name"));
  await p.waitForFunction((name) => document.title.startsWith(name), mark("name"));
  await harmless(p, "timeline");
  const t = at(want.folder).slice(1);
  const part = encodeURIComponent("p=" + mark("partition"));
  const group = `&p=${part}&f=${encodeURIComponent(mark("file"))}`;
  const slice = `${group}&s=20260101000000001`;
  const log = encodeURIComponent(`p=${mark("partition")}/.${mark("file")}_20260101000000001.log.1_0-1-0`);
  const base = encodeURIComponent(`p=${mark("partition")}/${mark("file")}_0-1-0_20260101000000001.parquet`);
  const views = [
    ["&v=timeline&i=20260101000000002", [mark("operation"), mark("extra"), mark("extra value")]],
    ["&v=timeline&i=20260101000000001", [mark("partition")]],
    ["&v=timeline&i=20260101000000004", []],
    ["&v=files", [mark("file").slice(0, 8), mark("partition"), "q=\u202egpj.exe"]],
    [`&v=files${slice}`, [mark("file")]],
    [`&v=files${group}&gh=1`, [mark("partition")]],
    ["&v=files&tm=1", []],
    [`&v=files&an=${base}`, [mark("created")]],
    [`&v=files&an=${base}&ap=meta`, []],
    [`&v=blocks${slice}`, []],
    ...[0, 1, 2, 3].map((b) => [`&v=blocks${slice}&l=${log}&b=${b}`, [[mark("log"), mark("key")], [mark("deleted"), mark("ordering")], [mark("block instant")], [mark("target")]][b]]),
    [`&v=blocks${slice}&r=scan`, []],
    [`&v=blocks${slice}&r=merge&n=3`, []],
    ["&v=rows&m=0", []],
    ["&v=rows&q=inc&qb=000", []],
    ["&v=rows&q=cdc&qb=000", []],
    [`&v=rows&w=${encodeURIComponent("v = '" + mark("where").replaceAll("'", "''") + "'")}`, []],
    [`&v=rows&w=${encodeURIComponent(mark("syntax"))}`, []],
    ["&v=rows&ob=v&cs=v", []],
    [`&v=rows&cols=${encodeURIComponent(mark("no column"))}`, []],
    ["&v=plan", [mark("partition")]],
    ["&v=stream", []],
    ["&v=stream&fr=1", []],
    [`&v=history&k=${encodeURIComponent(mark("key"))}`, [mark("key")]],
    ["&v=history&k=log", [mark("log")]],
    [`&v=history&k=${encodeURIComponent(mark("no key"))}&ke=1`, []],
    ["&v=compare&c1=20260101000000001&c2=20260101000000003", []],
    ["&v=health", [mark("file").slice(0, 8)]],
    ["&v=metadata", []],
    ["&v=table", ["<script>owned('property')</script>", "hoodie.note.<img src=x onerror=owned('property')>", "javascript:owned('property')"]],
    [`&v=timeline&i=${encodeURIComponent(mark("instant"))}&act=${encodeURIComponent(mark("action"))}`, []],
    [`&v=rows&a=${encodeURIComponent(mark("as of"))}`, []],
    [`&v=rows&h=${encodeURIComponent(mark("release"))}`, []],
    [`&v=files&ls=${encodeURIComponent(mark("lesson"))}`, []],
  ];
  for (const [hash, texts] of views) {
    await go(p, t + hash);
    await harmless(p, hash);
    for (const x of texts) await shows(p, x, hash);
    assert.equal(await p.locator(".crashed").count(), 0, hash);
  }
  await go(p, t + "&v=table");
  await p.click('#main :is(button, summary):has-text("As Avro")');
  await p.waitForFunction(() => document.querySelector("#main").textContent.includes("onerror=") && document.querySelector("#main").textContent.includes("owned('schema')"));
  await harmless(p, "the Avro schema");
  // Trees unfolded, the palette, the hand-off, the network.
  await go(p, t + "&v=timeline&i=20260101000000002");
  for (let i = 0; i < 6; i++) {
    const shut = p.locator('.detail .tree [aria-expanded="false"]');
    if ((await shut.count()) === 0) break;
    await shut.first().click();
  }
  await harmless(p, "a tree");
  await p.keyboard.press("Control+k");
  await p.waitForSelector("#palette-input");
  await p.fill("#palette-input", "img src");
  await p.waitForTimeout(300);
  await harmless(p, "palette");
  await p.keyboard.press("Escape");
  await p.waitForSelector("#palette", { state: "detached" });
  await go(p, t + "&v=rows");
  await p.click("#open-handoff");
  await p.waitForSelector("#snippet");
  for (let i = 0; (await p.locator(`#engine-${i}`).count()) > 0; i++) {
    await p.click(`#engine-${i}`);
    await harmless(p, "hand-off");
  }
  await p.keyboard.press("Escape");
  await p.waitForSelector("#snippet", { state: "detached" });
  await p.click("#network-button");
  await p.waitForSelector("#network");
  await settle(p);
  await harmless(p, "network");
  await p.context().close();
});

test("rows are shown, copied and exported as they are", { timeout: 300_000 }, async () => {
  const p = await open(at(want.folder) + "&v=rows&cols=id,v", { permissions: ["clipboard-read", "clipboard-write"] });
  await ready(p);
  const rows = await readGrid(p);
  assert.deepEqual(Object.fromEntries(rows.map((r) => [r.id, r.v.replace(/…$/, "")])), Object.fromEntries(Object.entries(want.rows).map(([id, v]) => [short(id), short(v)])));
  await harmless(p, "rows");
  // The whole value, in the inspector and on the clipboard.
  await p.focus("#grid");
  await p.keyboard.press("Control+Home");
  await p.keyboard.press("ArrowRight");
  await p.keyboard.press("Enter");
  await p.waitForSelector(".inspector");
  const seen = new Set();
  for (let r = 0; r < rows.length; r++) {
    if (r > 0) {
      await p.focus("#grid");
      await p.keyboard.press("ArrowDown");
    }
    const [id, value] = Object.entries(want.rows).find(([id]) => short(id) === rows[r].id);
    await p.waitForFunction((v) => document.querySelector(".inspector .value")?.textContent === v, value, { timeout: 10000 }).catch(async () => assert.equal((await p.textContent(".inspector .value")).slice(0, 500), value.slice(0, 500), id));
    await p.click('.inspector button:has-text("Copy value"), .inspector button.copy');
    const copied = await p.evaluate(() => navigator.clipboard.readText());
    // The clipboard itself ends a text at NUL on some systems.
    assert.ok(copied === value || (value.includes("\0") && copied === value.slice(0, value.indexOf("\0"))), `${id}: ${JSON.stringify(copied.slice(0, 300))}`);
    await harmless(p, `inspector of ${id}`);
    seen.add(id);
  }
  assert.equal(seen.size, Object.keys(want.rows).length);
  await p.keyboard.press("Escape");
  await p.evaluate(() => delete window.showSaveFilePicker);
  const got = {};
  for (const format of ["jsonl", "csv"]) {
    await p.click("#open-export");
    await p.check(`#export-dialog input[value="${format}"]`).catch(() => p.click(`#export-dialog :text("${format === "csv" ? "CSV" : "JSON Lines"}")`));
    const [download] = await Promise.all([p.waitForEvent("download"), p.click("#start-export")]);
    // No name that a table gives itself leads out of the folder or hides its kind.
    assert.match(download.suggestedFilename(), new RegExp(`^[\\w-]+\\.${format}$`));
    await download.saveAs(path.join(env.temp, "out." + format));
    got[format] = fs.readFileSync(path.join(env.temp, "out." + format), "utf8");
    await p.waitForSelector("#export-done");
    await harmless(p, `export to ${format}`);
    await p.keyboard.press("Escape");
    await p.waitForSelector("#export-dialog", { state: "detached" });
  }
  const lines = got.jsonl.trim().split("\n").map((l) => JSON.parse(l));
  assert.deepEqual(Object.fromEntries(lines.map((r) => [r.id, r.v])), want.rows);
  assert.deepEqual(Object.fromEntries(csv(got.csv).slice(1)), want.rows);
  await p.context().close();
});

// csv reads a file of RFC 4180.
function csv(text) {
  const out = [];
  let row = [];
  for (let i = 0; i < text.length; ) {
    let cell = "";
    if (text[i] === '"') {
      for (i++; ; i++) {
        if (text[i] !== '"') cell += text[i];
        else if (text[i + 1] === '"') cell += text[++i];
        else break;
      }
      i++;
    } else {
      while (i < text.length && text[i] !== "," && text[i] !== "\n" && text[i] !== "\r") cell += text[i++];
    }
    row.push(cell);
    if (text[i] === ",") {
      i++;
      continue;
    }
    if (text[i] === "\r") i++;
    i++;
    out.push(row);
    row = [];
  }
  return out;
}

test("columns of hostile names, damaged files and refused tables: errors are text", { timeout: 300_000 }, async () => {
  for (const [name, said] of [["columns", {}], ["damaged", { rows: mark("partition") }], ["refused", { rows: "OWNED('TYPE')" }]]) {
    const p = await open(at(name) + "&v=timeline");
    await p.waitForSelector("#main .headline, #main .fault", { timeout: 60000 });
    for (const view of ["timeline", "timeline&i=20260101000000002", "timeline&i=20260101000000003", "files", "blocks", "rows", "rows&cs=*", "plan", "stream", "history&k=log", "compare&c1=20260101000000001&c2=20260101000000002", "health", "metadata", "table"]) {
      await go(p, `${at(name).slice(1)}&v=${view}`);
      await harmless(p, `${name}: ${view}`);
      if (said[view]) await shows(p, said[view], `${name}: ${view}`);
      assert.equal(await p.locator(".crashed").count(), 0, `${name}: ${view}`);
    }
    if (name === "columns") {
      await go(p, `${at(name).slice(1)}&v=rows`);
      const rows = await readGrid(p);
      assert.ok(rows.length > 20 && rows.every((r) => r[mark("column")] === mark("column value")), JSON.stringify(rows[0]));
      await harmless(p, "rows of the column");
    }
    await p.context().close();
  }
});

test("names of dropped folders, zip files and addresses are text", async () => {
  const p = await open("");
  await p.waitForSelector("a.card");
  // The tables of the server have hostile names, too.
  await p.waitForSelector("a.served");
  await harmless(p, "home");
  await drop(p, [path.join(dir, want.folder)]);
  await ready(p);
  await settle(p);
  await harmless(p, "a dropped folder");
  await p.click(".brand");
  await p.waitForSelector("a.served");
  await drop(p, [path.join(dir, "hostile.zip")]);
  await ready(p);
  await settle(p);
  await harmless(p, "a dropped zip");
  await go(p, "/t=drop:2&v=rows&cols=id,v");
  assert.equal((await readGrid(p)).length, Object.keys(want.rows).length);
  await harmless(p, "rows of a zip");
  for (const t of [mark("address"), `javascript:owned('address')`, `data:text/html,<script>owned('address')</script>`, `sample:${mark("sample")}`, `drop:${mark("drop")}`, `/tables/${mark("table")}/`]) {
    await go(p, `/t=${encodeURIComponent(t)}&v=timeline`);
    await p.waitForSelector(".fault");
    await harmless(p, t);
  }
  await p.context().close();
});

test("a storage's listings and error pages are data", async () => {
  const evil = mark("server");
  const storage = http.createServer((req, res) => {
    const headers = { "Access-Control-Allow-Origin": "*", "Content-Type": "text/html" };
    if (/bucket/.test(req.url)) {
      res.writeHead(200, { ...headers, "Content-Type": "text/html" }).end(`<!doctype html><title>Index of /</title><pre><a href="javascript:owned('listing')">javascript</a><a href="http://evil.invalid/out/">out</a><a href="//evil.invalid/out2/">out</a><a href="../../up/">up</a>${evil}<script>owned('listing')</script></pre>`);
      return;
    }
    res.writeHead(500, evil.replace(/[^\x20-\x7e]/g, ""), headers).end(`<h1>${evil}</h1><script>owned('error')</script>`);
  });
  await new Promise((done) => storage.listen(0, "127.0.0.1", done));
  const own = `http://127.0.0.1:${storage.address().port}`;
  for (const place of ["error/", "bucket/", "error/x.zip"]) {
    const p = await open(`#/t=${encodeURIComponent(`${own}/${place}`)}&v=timeline`);
    await p.waitForSelector(".fault", { timeout: 60000 });
    await settle(p);
    // This storage is what the user opened; what it leads to is not.
    p.broken = p.broken.filter((b) => !b.includes(own) && !/status of 500/.test(b));
    await harmless(p, place);
    await p.context().close();
  }
  storage.closeAllConnections();
  await new Promise((done) => storage.close(done));
});
