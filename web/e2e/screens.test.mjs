// Every view as it is drawn, at three sizes, light and dark, in English and Chinese, against the pictures in screens/.
// They are drawn with fonts out of packages, at a fixed time, and made smaller: what one can't see makes no difference,
// what one can does. "node screens.test.mjs --update [PART-OF-NAME…]" takes them anew.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beside, decode, differences, encode, marked, smaller } from "./screens-png.mjs";
import { arrange, combinations, langs, open, shoot, sizes, views, visit } from "./screens.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const kept = path.join(here, "screens");
const failed = path.join(here, "screenshots", "failed");
const colours = 48;
const file = (name, c) => path.join(kept, `${name}-${c.id}.png`);
// nearly is how a picture may differ from the kept one that is not taken anew.
const nearly = { strong: 24, strongPixels: 0, flat: 4, flatPixels: 12 };
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// small takes the picture that is compared, and returns it with the one in full size.
async function small(p, c) {
  const full = await shoot(p);
  return { full, picture: smaller(decode(full), sizes[c.width].by) };
}

// walk opens a view in one language and calls each for every combination of it.
async function walk(p, name, each) {
  await visit(p, name);
  for (const c of combinations(name).filter((c) => c.lang === p.lang)) {
    const wide = await arrange(p, name, c);
    await each(c, wide);
  }
}

async function update(only) {
  const env = await open();
  try {
    if (env.missing) throw new Error(`no pictures are taken: ${env.missing}`);
    fs.mkdirSync(kept, { recursive: true });
    const names = Object.keys(views).filter((n) => !only.length || only.some((o) => n.includes(o)));
    const wrong = [];
    let [taken, changed] = [0, 0];
    await Promise.all(
      langs.map(async (lang) => {
        let p = await env.page(lang);
        for (const name of names) {
          try {
            await walk(p, name, async (c, wide) => {
              if (wide) wrong.push(`${name}-${c.id}: ${wide}`);
              taken++;
              let { picture } = await small(p, c);
              // A picture that is almost the same stays as it is.
              const was = fs.existsSync(file(name, c)) && decode(fs.readFileSync(file(name, c)));
              if (was && differences(was, picture, nearly).ok) return;
              for (let i = 0; ; i++) {
                await sleep(60);
                const again = (await small(p, c)).picture;
                const same = again.data.equals(picture.data);
                picture = again;
                if (same) break;
                if (i === 20) throw new Error(`${c.id} changes all the time`);
              }
              const now = encode(picture, colours);
              const cost = differences(decode(now), picture);
              if (!cost.ok) wrong.push(`${name}-${c.id}: ${colours} colours are too few for it: ${cost.strong} pixels are far off, ${cost.flat} surfaces`);
              fs.writeFileSync(file(name, c), now);
              changed++;
            });
          } catch (e) {
            wrong.push(`${name} ${lang}: ${e.message}`);
            await p.context().close();
            p = await env.page(lang);
          }
        }
      }),
    );
    if (!only.length) {
      const expected = new Set(names.flatMap((n) => combinations(n).map((c) => path.basename(file(n, c)))));
      for (const f of fs.readdirSync(kept)) if (f.endsWith(".png") && !expected.has(f)) fs.rmSync(path.join(kept, f));
      fs.writeFileSync(path.join(kept, "taken-with.json"), JSON.stringify({ chromium: env.version }) + "\n");
    }
    const size = fs.readdirSync(kept).reduce((n, f) => n + fs.statSync(path.join(kept, f)).size, 0);
    console.log(`${taken} pictures, ${changed} of them new or changed; the folder has ${(size / 1e6).toFixed(2)} MB`);
    for (const w of wrong) console.error(w);
    if (wrong.length) process.exitCode = 1;
  } finally {
    await env.stop();
  }
}

function compare() {
  let env;
  const pages = {};
  const busy = {};
  before(async () => {
    env = await open();
    if (env.missing) return;
    await Promise.all(langs.map(async (lang) => (pages[lang] = await env.page(lang))));
    fs.rmSync(failed, { recursive: true, force: true });
  });
  after(async () => env?.stop());

  test("there is a picture of every combination, and no other", () => {
    const want = Object.keys(views).flatMap((n) => combinations(n).map((c) => path.basename(file(n, c)))).sort();
    const have = fs.readdirSync(kept).filter((f) => f.endsWith(".png")).sort();
    assert.deepEqual(have, want, 'take them anew: "make screens"');
    for (const width of Object.keys(sizes)) for (const scheme of ["light", "dark"]) for (const lang of langs) assert.ok(want.filter((f) => f.endsWith(`-${width}-${scheme}-${lang}.png`)).length > 15);
  });

  // A page of each language works on its own; the views of one language come after each other.
  describe("views", { concurrency: 2 }, () => {
    for (const name of Object.keys(views)) {
      for (const lang of langs) {
        test(`${name}, ${lang}`, async (t) => {
          if (env.missing) return t.skip(`pictures can't be compared here: ${env.missing}`);
          const before = busy[lang];
          let free;
          busy[lang] = new Promise((done) => (free = done));
          await before;
          const wrong = [];
          try {
            await walk(pages[lang], name, async (c, wide) => {
              if (wide) wrong.push(`${c.id}: ${wide}`);
              const was = decode(fs.readFileSync(file(name, c)));
              let now;
              let d;
              // What is still moving is looked at again.
              for (let i = 0; i < 4; i++) {
                if (i) await sleep(100 << i);
                now = await small(pages[lang], c);
                d = differences(was, now.picture);
                if (d.ok) return;
              }
              const to = path.join(failed, `${name}-${c.id}`);
              fs.mkdirSync(failed, { recursive: true });
              const changes = marked(now.picture, d.marks);
              fs.writeFileSync(`${to}.full.png`, now.full);
              fs.writeFileSync(`${to}.actual.png`, encode(now.picture));
              fs.copyFileSync(file(name, c), `${to}.baseline.png`);
              fs.writeFileSync(`${to}.diff.png`, encode(changes));
              fs.writeFileSync(`${to}.all.png`, encode(beside([was, now.picture, changes])));
              wrong.push(`${c.id}: ${d.strong} pixels are far off, ${d.flat} of surfaces have another colour: ${path.relative(process.cwd(), to)}.all.png (baseline, actual, what differs), .full.png`);
            });
          } catch (e) {
            pages[lang].used = true;
            throw e;
          } finally {
            free();
          }
          if (wrong.length) {
            const taken = JSON.parse(fs.readFileSync(path.join(kept, "taken-with.json"), "utf8")).chromium;
            if (taken !== env.version) wrong.push(`the pictures were taken with Chromium ${taken}, this is ${env.version}`);
            assert.fail(`${name} looks otherwise than it did; if that is meant, "make screens" takes the pictures anew\n${wrong.join("\n")}`);
          }
        });
      }
    }
  });
}

if (process.argv.includes("--update")) await update(process.argv.slice(process.argv.indexOf("--update") + 1));
else compare();
