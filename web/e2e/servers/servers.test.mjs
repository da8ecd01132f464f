// Tables on real object stores and web servers of another origin, read by the engine in the browser:
// what CORS lets it read, and what is said where it does not. "make test-servers" starts the servers
// and names them in SERVERS.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { cell, goldRows, page, readGrid, ready, start, tab } from "../harness.mjs";

const at = JSON.parse(process.env.SERVERS);
let env;
before(async () => {
  env = await start();
});
after(async () => {
  await env?.stop();
});

const open = (location, view = "rows") => page(env, `#/t=${encodeURIComponent(location)}&v=${view}`);
/** What the page says of a place that a browser may not read: it asks the server once more first. */
const diagnosis = async (p) => {
  await p.waitForSelector(".diagnosis[data-cors=true]", { timeout: 60000 });
  return p.textContent(".diagnosis");
};

// rows opens a table and holds its rows against Hudi's own.
async function rows(location, name) {
  const p = await open(location);
  await ready(p);
  await tab(p, "Rows");
  // Numbers with a fraction may be written in more than one way.
  const plain = (v) => (v !== null && /^-?\d+\.\d+(e[-+]?\d+)?$/i.test(v) ? String(Number(v)) : v);
  const lines = (rows, text) => rows.map((r) => JSON.stringify(Object.entries(r).map(([k, v]) => [k, plain(text(v))]).sort())).sort();
  const want = lines(goldRows(name), cell);
  assert.ok(want.length > 0);
  assert.deepEqual(lines(await readGrid(p), (v) => v), want);
  return p;
}

for (const name of at.tables) {
  test(`S3 anonymous: ${name}`, async () => {
    const p = await rows(`s3://public/lake/${name}?endpoint=${encodeURIComponent(at.s3)}&style=path`, name);
    assert.deepEqual(p.errors.filter((e) => !/status of (404|416)/.test(e)), []);
    await p.context().close();
  });
}

for (const name of at.tables.slice(1, 2)) {
  test(`presigned bundle of a private bucket: ${name}`, async () => {
    const p = await rows(at.bundles[name], name);
    await p.context().close();
  });
  test(`nginx of another origin that hides dot names: ${name}`, async () => {
    const p = await rows(`${at.nginx}/${name}/`, name);
    await p.context().close();
  });
}

test("a bucket without CORS rules is explained", async () => {
  const p = await open(`s3://closed/lake/${at.tables[0]}?endpoint=${encodeURIComponent(at.s3)}&style=path`, "timeline");
  const said = await diagnosis(p);
  assert.match(said, /CORS|another origin|allow/i);
  await p.context().close();
});

test("a bucket whose rule names another origin is explained", async () => {
  const p = await open(`s3://elsewhere/lake/${at.tables[0]}?endpoint=${encodeURIComponent(at.s3)}&style=path`, "timeline");
  assert.match(await diagnosis(p), /CORS|another origin|allow/i);
  await p.context().close();
});

test("a refusal that the store sends without CORS headers is explained as far as can be", async () => {
  const p = await open(`s3://private/lake/${at.tables[0]}?endpoint=${encodeURIComponent(at.s3)}&style=path`, "timeline");
  assert.match(await diagnosis(p), /three reasons look the same.*keys are missing or refused.*CORS/is);
  await p.context().close();
});

test("a web server without CORS headers is explained", async () => {
  const p = await open(`${at.nginxClosed}/${at.tables[0]}/`, "timeline");
  assert.match(await diagnosis(p), /CORS|another origin|allow/i);
  await p.context().close();
});
