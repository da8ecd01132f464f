// Takes pictures of every view in full size, to look at: node screenshots.mjs [FOLDER [PART-OF-NAME…]]. They are those that
// screens.test.mjs compares; with a size in a name (rows-390), all that there can be.
import fs from "node:fs";
import path from "node:path";
import { arrange, combinations, langs, open, shoot, views, visit } from "./screens.mjs";

const [out = "screenshots", ...only] = process.argv.slice(2);
fs.mkdirSync(out, { recursive: true });
const env = await open();
if (env.missing) console.error(env.missing);
await Promise.all(
  langs.map(async (lang) => {
    let p = await env.page(lang);
    for (const name of Object.keys(views)) {
      const take = combinations(name, only.some((o) => /-\d/.test(o))).filter((c) => c.lang === lang && (!only.length || only.some((o) => `${name}-${c.id}`.includes(o))));
      if (!take.length) continue;
      try {
        await visit(p, name);
        for (const c of take) {
          const wide = await arrange(p, name, c);
          if (wide) console.error(`${name}-${c.id}: ${wide}`);
          fs.writeFileSync(path.join(out, `${name}-${c.id}.png`), await shoot(p));
        }
      } catch (e) {
        console.error(`${name} ${lang}: ${e.message.split("\n").slice(0, 4).join(" ")}`);
        process.exitCode = 1;
        await p.context().close();
        p = await env.page(lang);
      }
    }
  }),
);
await env.stop();
