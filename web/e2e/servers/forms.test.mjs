// Tables opened by the forms of the page, in real stores of another origin: what is typed opens the
// table, what is secret is nowhere but in the tab's memory, and what is wrong is said in the form.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { axe, cell, goldRows, page, readGrid, ready, start, tab } from "../harness.mjs";

const at = JSON.parse(process.env.SERVERS);
let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const name = { azure: "Azure", gcs: "Google", signer: "Signer" }[at.kind];
const secrets = [at.sas && new URLSearchParams(at.sas).get("sig"), at.auth].filter(Boolean);

/** form opens the page's form of the kind and fills in where the table is. */
async function form(table) {
  const p = await page(env);
  await p.click(`[role=tab]:has-text("${name}")`);
  if (at.kind === "azure") await p.fill("#open-container", at.container + table);
  if (at.bucket) await p.fill("#open-bucket", at.bucket);
  if (at.prefix !== undefined) await p.fill("#open-prefix", at.prefix + table);
  await p.fill("#open-endpoint", at.endpoint);
  return p;
}

const go = (p) => p.click(".store-form button[type=submit]");

async function same(p, table) {
  await ready(p);
  await tab(p, "Rows");
  const plain = (v) => (v !== null && /^-?\d+\.\d+(e[-+]?\d+)?$/i.test(v) ? String(Number(v)) : v);
  const lines = (rows, text) => rows.map((r) => JSON.stringify(Object.entries(r).map(([k, v]) => [k, plain(text(v))]).sort())).sort();
  const want = lines(goldRows(table), cell);
  assert.ok(want.length > 0);
  assert.deepEqual(lines(await readGrid(p), (v) => v), want);
}

for (const table of at.tables) {
  test(`${at.kind}, by its form: ${table}`, async () => {
    const p = await form(table);
    if (at.sas) await p.fill("#open-sas", at.sas);
    if (at.auth) await p.fill("#open-auth", at.auth);
    if (table === at.tables[0]) await axe(p, "the form");
    await go(p);
    await same(p, table);
    const kept = await p.evaluate(() => [location.href, document.title, JSON.stringify(localStorage), JSON.stringify(sessionStorage), JSON.stringify(history.state), document.documentElement.outerHTML].join("\n"));
    for (const s of secrets) for (const way of [s, encodeURIComponent(s)]) assert.ok(!kept.includes(way), "a secret is stored or shown");
    assert.deepEqual(p.errors.filter((e) => !/status of (404|416)/.test(e)), []);
    await p.context().close();
  });
}

if (secrets.length > 0) {
  test(`${at.kind}: without what it asks for, the page asks for it, and the table opens when it is given`, async () => {
    const p = await form(at.tables[1]);
    await go(p);
    const field = at.sas ? "sas" : "auth";
    await p.waitForSelector(`#access-${field}`, { timeout: 60000 });
    await p.fill(`#access-${field}`, at.sas ? at.sas.replace("sp=rl", "sp=rwl") : "Bearer nobody");
    await p.click(".access-form button[type=submit]");
    await p.waitForSelector(".store-wrong, .fault");
    await p.waitForSelector(`#access-${field}`);
    await p.fill(`#access-${field}`, at.sas || at.auth);
    await p.click(".access-form button[type=submit]");
    await same(p, at.tables[1]);
    await p.context().close();
  });
} else {
  test(`${at.kind}: an absent bucket is said to be absent`, async () => {
    const p = await form(at.tables[1]);
    await p.fill("#open-bucket", "absent");
    await go(p);
    await p.waitForSelector(".fault, .diagnosis", { timeout: 60000 });
    assert.match(await p.textContent("#main"), /no such bucket/i);
    await p.context().close();
  });
}
