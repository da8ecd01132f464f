// Tables in object stores, archives and folders, in a real browser: keys stay in memory, refusals are
// explained, requests are counted, and what is kept over sessions is used and can be removed.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { axe, cell, drop, goldRows, page, readGrid, ready, start, tab, unzip } from "./harness.mjs";
import { serve } from "./server.mjs";
import { store } from "./store.mjs";

const table = "mor_trips_h120";
const keys = { id: "AKIDTESTKEY00001", secret: "s3cr3t/of+the=tests000000000000000000000", token: "sessionTOKENofTHEtests" };

let env;
let root; // a folder that holds the table's
before(async () => {
  env = await start();
  root = path.dirname(unzip(env, table));
});
after(async () => env && env.stop());

const shots = process.env.HUDISCOPE_SHOTS;
async function shoot(p, name) {
  if (!shots) return;
  fs.mkdirSync(shots, { recursive: true });
  for (const [width, height] of [[1600, 1000], [1024, 800], [390, 844]]) {
    await p.setViewportSize({ width, height });
    for (const scheme of ["light", "dark"]) {
      await p.emulateMedia({ colorScheme: scheme });
      await p.waitForTimeout(250);
      await p.screenshot({ path: path.join(shots, `${name}-${width}-${scheme}.png`) });
    }
  }
  await p.emulateMedia({ colorScheme: "light" });
  await p.setViewportSize({ width: 1280, height: 900 });
}

// typed types the address of a store, which leads to its form, and gives the endpoint there.
async function typed(p, s, prefix = table) {
  await p.fill("#url", `s3://${s.bucket}/${prefix}`);
  await p.click(".open-url button[type=submit]");
  await p.waitForSelector("#open-bucket");
  assert.equal(await p.inputValue("#open-bucket"), s.bucket);
  assert.equal(await p.inputValue("#open-prefix"), prefix);
  await p.fill("#open-endpoint", s.url);
}

async function sameRows(p) {
  await tab(p, "Rows");
  const rows = await readGrid(p);
  const want = goldRows(table);
  assert.equal(rows.length, want.length);
  const key = "_hoodie_record_key";
  const byKey = new Map(rows.map((r) => [r[key], r]));
  for (const w of want) {
    const got = byKey.get(cell(w[key]));
    assert.ok(got, `no row ${w[key]}`);
    for (const c of Object.keys(w)) assert.equal(got[c], cell(w[c]), `${w[key]}, ${c}`);
  }
}

// stored is all that the page keeps anywhere: its address, its storages, and its document.
const stored = (p) =>
  p.evaluate(async () => {
    const out = [location.href, document.title, JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie, document.documentElement.outerHTML, JSON.stringify(history.state)];
    for (const el of document.querySelectorAll("input, textarea")) out.push(el.value);
    const settled = (r) => new Promise((ok, bad) => { r.onsuccess = () => ok(r.result); r.onerror = () => bad(r.error); });
    const text = (v) => (v instanceof Uint8Array ? new TextDecoder("latin1").decode(v) : JSON.stringify(v));
    let pieces = 0;
    for (const { name } of await indexedDB.databases()) {
      const db = await settled(indexedDB.open(name));
      for (const s of db.objectStoreNames) {
        const t = db.transaction(s).objectStore(s);
        const [ks, vs] = await Promise.all([settled(t.getAllKeys()), settled(t.getAll())]);
        out.push(name, s, JSON.stringify(ks), ...vs.map(text));
        pieces += vs.length;
      }
      db.close();
    }
    return { text: out.join("\n"), pieces };
  });

test("a public bucket opens from its s3:// address", async () => {
  const s = await store(root, { pageSize: 7 });
  const p = await page(env);
  await typed(p, s);
  await axe(p, "the form of S3");
  await shoot(p, "form-s3");
  await p.click(".store-form button[type=submit]");
  await ready(p);
  await sameRows(p);
  assert.match(decodeURIComponent(p.url()), /s3:\/\/lake\/mor_trips_h120\?endpoint=http/);
  assert.ok(s.requests.every((r) => !r.url.includes("X-Amz-")), "nothing is signed");
  // The link opens the same table.
  const other = await page(env, new URL(p.url()).hash);
  await ready(other);
  await other.context().close();
  assert.deepEqual(p.errors.filter((e) => !/404/.test(e)), []);
  await p.context().close();
  await s.close();
});

test("keys sign requests, stay in memory, and are asked for again after a reload", async () => {
  const s = await store(root, { keys });
  const p = await page(env);
  await typed(p, s);
  await p.fill("#open-key", keys.id);
  await p.fill("#open-secret", keys.secret);
  await p.fill("#open-session", keys.token);
  assert.equal(await p.getAttribute("#open-secret", "type"), "password");
  assert.equal(await p.getAttribute("#open-secret", "autocomplete"), "off");
  await p.click(".store-form button[type=submit]");
  await ready(p);
  await sameRows(p);
  assert.ok(s.requests.length > 3 && s.requests.every((r) => r.url.includes("X-Amz-Signature=") && r.method === "GET"), "every request is a signed GET");
  await p.click("#network-button");
  await p.waitForSelector("#network-requests tbody tr");
  await p.waitForTimeout(1500); // what is kept has been written
  const found = await stored(p);
  assert.ok(found.pieces > 2, "files are kept");
  for (const secret of [keys.id, keys.secret, keys.token, "X-Amz-Signature", encodeURIComponent(keys.secret)]) assert.ok(!found.text.includes(secret), `${secret} is stored or shown`);

  // Another engine takes over: it is handed the keys again.
  const worker = p.workers()[0];
  await worker.evaluate(() => setTimeout(() => { throw new Error("stop"); }));
  await p.waitForSelector(".notice:has-text('engine')");
  await p.click("[aria-label='Read the table again']");
  await ready(p);

  await p.reload();
  await p.waitForSelector("#access-secret", { timeout: 60000 });
  assert.equal(await p.inputValue("#access-secret"), "");
  await axe(p, "the prompt for keys");
  await shoot(p, "prompt-keys");
  await p.click(".access-form button[type=submit]");
  await p.waitForSelector(".store-wrong");
  await p.fill("#access-key", keys.id);
  await p.fill("#access-secret", "wrong");
  await p.fill("#access-session", keys.token);
  await p.click(".access-form button[type=submit]");
  await p.waitForSelector(".fault:has-text('SignatureDoesNotMatch')");
  await p.fill("#access-key", keys.id);
  await p.fill("#access-secret", keys.secret);
  await p.fill("#access-session", keys.token);
  await p.click(".access-form button[type=submit]");
  await ready(p);
  assert.ok(!(await stored(p)).text.includes(keys.secret));

  // The keys end while the table is open.
  s.keys = { ...keys, token: "another" };
  await p.click("[aria-label='Read the table again']");
  await p.waitForSelector("#access-session");
  await p.fill("#access-key", keys.id);
  await p.fill("#access-secret", keys.secret);
  await p.fill("#access-session", "another");
  await p.click(".access-form button[type=submit]");
  await ready(p);
  await p.context().close();
  await s.close();
});

test("keys in an address are taken out", async () => {
  const p = await page(env);
  await p.fill("#url", `s3://AKID:${keys.secret}@lake/t?X-Amz-Signature=${keys.token}&region=eu-west-1`);
  await p.click(".open-url button[type=submit]");
  await p.waitForSelector("#open-bucket");
  assert.equal(await p.inputValue("#open-bucket"), "lake");
  assert.equal(await p.inputValue("#open-region"), "eu-west-1");
  const text = (await stored(p)).text;
  assert.ok(!text.includes(keys.token) && !text.includes("AKID:"), "taken out");
  await p.context().close();
});

test("a refusal by cross-origin rules is told apart from a server that is down, with the rule to paste", async () => {
  const s = await store(root, { origin: "" });
  const p = await page(env);
  await typed(p, s);
  await p.click(".store-form button[type=submit]");
  await p.waitForSelector(".diagnosis[data-cors=true]", { timeout: 60000 });
  // Refused keys and a wrong region would look the same: neither is claimed, and the keys are asked for.
  const found = await p.textContent(".diagnosis");
  assert.match(found, /can’t tell why/);
  assert.match(found, /keys are missing or refused.*region is wrong.*no rule \(CORS\)/);
  assert.equal(await p.locator(".diagnosis #access-secret").count(), 1);
  const origin = env.site.url;
  const rule = JSON.parse(await p.textContent("#rule-text"));
  assert.deepEqual(rule.CORSRules[0].AllowedOrigins, [origin]);
  assert.ok(rule.CORSRules[0].ExposeHeaders.includes("Content-Range"));
  assert.match(await p.textContent(".rule-panel"), new RegExp(`--endpoint-url ${s.url}`));
  await axe(p, "the rule");
  await shoot(p, "cors");
  await p.click("#rule-2");
  await p.waitForSelector("#rule-text:has-text('<CORSConfiguration>')");
  assert.ok((await p.textContent("#rule-text")).includes(`<AllowedOrigin>${origin}</AllowedOrigin>`));
  // With the rule in force it opens.
  s.origin = origin;
  await p.click(".fault button:has-text('Try again')");
  await ready(p);
  await p.context().close();

  const files = await serve(root);
  const q = await page(env);
  await q.fill("#url", `http://user:password@${new URL(files.url).host}/${table}/`);
  await q.click(".open-url button[type=submit]");
  await q.waitForSelector("#barred");
  assert.ok(!q.url().includes("password"));
  assert.equal(await q.locator("#rule-text").count(), 0);
  await shoot(q, "barred");
  await q.click("#barred button");
  await q.waitForSelector(".diagnosis[data-cors=true]", { timeout: 60000 });
  await q.goto(env.site.url);
  await q.fill("#url", `${files.url}/${table}/`);
  await q.click(".open-url button[type=submit]");
  await q.waitForSelector(".diagnosis[data-cors=true]", { timeout: 60000 });
  for (const [i, name] of ["nginx", "Apache", "Caddy", "lighttpd"].entries()) {
    await q.click(`#rule-${i}`);
    await q.waitForSelector(`#rule-${i}[aria-selected=true]`);
    assert.equal(await q.textContent(`#rule-${i}`), name);
    assert.ok((await q.textContent("#rule-text")).includes(origin));
  }
  const port = new URL(files.url).port;
  await files.close();
  await q.click(".fault button:has-text('Try again')");
  await q.waitForSelector(`.diagnosis[data-cors=false]:has-text("127.0.0.1:${port} could not be reached")`, { timeout: 60000 });
  assert.equal(await q.locator("#rule-text").count(), 0);
  await q.context().close();
  await s.close();
});

const total = async (p, id) => Number((await p.textContent(id)).replace(/\D/g, ""));

test("the network panel counts what the store was asked, and the next session asks for less", async () => {
  const s = await store(root);
  const p = await page(env);
  await typed(p, s);
  await p.click(".store-form button[type=submit]");
  await ready(p);
  await sameRows(p);
  const link = p.url();
  await p.click("#network-button");
  await p.waitForSelector("#network-requests tbody tr");
  await p.waitForTimeout(2500);
  const listed = await p.$$eval("#network-requests tbody .net-name", (all) => all.map((td) => decodeURIComponent(td.title)).sort());
  const sent = s.requests.map((r) => s.url + decodeURIComponent(r.url.replace(/\?.*/, ""))).sort();
  assert.deepEqual(listed, sent);
  assert.equal(await total(p, "#net-requests"), sent.length);
  assert.ok((await total(p, "#net-rounds")) > 0);
  const bytes = s.requests.length;
  assert.equal(await p.locator("#network-requests tbody tr").count(), bytes);
  assert.ok(await p.locator("#network-requests tbody tr:has-text('Rows')").count());
  await axe(p, "the network panel");
  await shoot(p, "network");
  await p.waitForFunction(() => !/^0 B/.test(document.querySelector("#kept-usage").textContent), null, { timeout: 15000 });

  const again = async () => {
    s.requests.length = 0;
    await p.goto("about:blank");
    await p.goto(link);
    await ready(p);
    await sameRows(p);
    return s.requests.filter((r) => r.range).map((r) => r.url.replace(/\?.*/, ""));
  };
  const second = await again();
  const kept = second.filter((u) => /\.(parquet|hfile)$|\.log\./.test(u));
  assert.deepEqual(kept, [], "no base or log file is asked for again");
  assert.ok(second.length < bytes / 2, `${second.length} reads of ${bytes} requests`);
  await p.click("#network-button");
  await p.waitForFunction(() => Number(document.querySelector("#net-kept")?.textContent) > 0);
  assert.ok(await p.locator("#network-requests tr.from-kept").count());

  // A file that was replaced is read anew.
  const base = s.files.find((f) => /chennai\/608568ed.*\.parquet$/.test(f.key));
  base.etag = "replaced";
  assert.ok((await again()).some((u) => decodeURIComponent(u).endsWith(base.key)), "the replaced file is asked for");

  await p.click("#network-button");
  await p.click(".kept button:has-text('Remove all')");
  await p.waitForFunction(() => /^0 B/.test(document.querySelector("#kept-usage").textContent));
  await p.click("#kept-switch");
  await p.waitForSelector("#kept-switch[aria-checked=false]");
  const third = await again();
  assert.ok(third.some((u) => /\.parquet$|\.log\./.test(u)), "after it was removed, files are asked for");
  await p.click("#network-button");
  await p.waitForSelector("#kept-switch[aria-checked=false]");
  assert.match(await p.textContent("#kept-usage"), /^0 B/);
  await p.context().close();
  await s.close();
});

test("tar and tar.gz archives, and folders by the file input", async () => {
  const tar = path.join(env.temp, "t.tar");
  const tgz = path.join(env.temp, "t.tar.gz");
  execFileSync("tar", ["cf", tar, "-C", root, table]);
  execFileSync("tar", ["czf", tgz, "-C", root, table]);
  for (const file of [tar, tgz]) {
    const p = await page(env);
    await p.waitForSelector("#choose-file", { state: "attached" });
    await p.setInputFiles("#choose-file", file);
    await ready(p);
    await sameRows(p);
    await p.click("#network-button");
    await p.waitForSelector("#network:has-text('Nothing goes over the network')");
    await p.context().close();
  }
  const cut = path.join(env.temp, "cut.tar.gz");
  const whole = fs.readFileSync(tgz);
  fs.writeFileSync(cut, whole.subarray(0, whole.length - 2000));
  const p = await page(env);
  await p.waitForSelector("#choose-file", { state: "attached" });
  await p.setInputFiles("#choose-file", cut);
  await p.waitForSelector(".fault[data-kind=corrupt]", { timeout: 60000 });
  await p.context().close();

  const q = await page(env, "#/", {});
  await q.addInitScript(() => delete window.showDirectoryPicker);
  await q.reload();
  await q.waitForSelector("#choose-folder", { state: "attached" });
  await q.setInputFiles("#choose-folder", path.join(root, table));
  await ready(q);
  await sameRows(q);
  await q.context().close();
});

test("a folder chosen with the browser's dialog is remembered, and opens again", async () => {
  const p = await page(env);
  // A folder of the page's own file system stands for one of the machine: its handles are of the same kind.
  const files = [];
  const walk = (dir, at) => {
    for (const d of fs.readdirSync(dir, { withFileTypes: true })) {
      if (d.isDirectory()) walk(path.join(dir, d.name), [...at, d.name]);
      else files.push({ at: [...at, d.name], data: fs.readFileSync(path.join(dir, d.name)).toString("base64") });
    }
  };
  walk(path.join(root, table), []);
  await p.waitForSelector("#pick-folder");
  await p.evaluate(async (files) => {
    const top = await (await navigator.storage.getDirectory()).getDirectoryHandle("my trips", { create: true });
    for (const f of files) {
      let dir = top;
      for (const name of f.at.slice(0, -1)) dir = await dir.getDirectoryHandle(name, { create: true });
      const w = await (await dir.getFileHandle(f.at.at(-1), { create: true })).createWritable();
      await w.write(Uint8Array.from(atob(f.data), (c) => c.charCodeAt(0)));
      await w.close();
    }
    window.showDirectoryPicker = async () => top;
  }, files);
  await p.click("#pick-folder");
  await ready(p);
  await sameRows(p);
  await p.goto(`${env.site.url}/`);
  await p.waitForSelector(".recent-open:has-text('my trips')");
  await axe(p, "home with a recent folder");
  await shoot(p, "home");
  await p.click(".recent-open");
  await ready(p);
  await p.goto(`${env.site.url}/`);
  await p.waitForSelector(".recent-open");
  assert.equal(await p.locator(".recent-open").count(), 1);
  await p.click("[aria-label='Forget my trips']");
  await p.waitForSelector(".recent-open", { state: "detached" });
  await p.context().close();
});

test("a bundle says how long it is valid, and a new one takes its place", async () => {
  const s = await store(root);
  const bundle = (expires) => {
    const files = {};
    for (const f of s.files.filter((f) => f.key.startsWith(table + "/"))) {
      files[f.key.slice(table.length + 1)] = { url: `${s.url}/${s.bucket}/` + f.key.split("/").map(encodeURIComponent).join("/"), size: f.data.length, etag: f.etag };
    }
    return JSON.stringify({ v: 1, base: table, taken: new Date().toISOString(), expires: new Date(expires).toISOString(), files });
  };
  const p = await page(env);
  await p.click("#way-bundle");
  await p.fill("#bundle-text", "{}");
  await p.click(".store-form button[type=submit]");
  await p.waitForSelector(".store-wrong");
  await axe(p, "the form of a bundle");
  await p.fill("#bundle-text", bundle(Date.now() + 3 * 3600e3 + 30e3));
  await p.click(".store-form button[type=submit]");
  await ready(p);
  await p.waitForSelector("#expiry:has-text('URLs valid for 3 h 0 min')");
  const old = path.join(env.temp, "old.json");
  const fresh = path.join(env.temp, "fresh.json");
  fs.writeFileSync(old, bundle(Date.now() - 1000));
  fs.writeFileSync(fresh, bundle(Date.now() + 5 * 60e3));
  await drop(p, [old]);
  await p.waitForSelector(".fault[data-kind=expired]", { timeout: 60000 });
  await p.setInputFiles("#renew-bundle", fresh);
  await ready(p);
  await p.waitForSelector("#expiry.warn:has-text('URLs valid for 4 min')");
  await sameRows(p);
  await p.context().close();
  await s.close();
});
