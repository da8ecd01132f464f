// No view of the Chinese page has an English sentence left: three Latin words in a row that are no data, code or name.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { open, views, visit } from "./screens.mjs";

const cell = "#grid [role=gridcell][aria-colindex]";
const slice = "p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776";
const engine = (n) => ({ hash: "#/t=sample:mor_trips_h120&v=rows", wait: cell, click: "#open-handoff", then: "#handoff-panel", act: (p) => p.click(`#engine-${n}`) });

// What the pictures don't show: instants of every action, other steps of a replay and a stream, other tables' plans.
const more = {
  "instant: compaction": { hash: "#/t=sample:pending_compaction_requested_h120&v=timeline&i=20261130000032801&act=compaction", wait: ".detail .sentence" },
  "instant: clean": { hash: "#/t=sample:cow_trips_h102&v=timeline&i=20261129231009543&act=clean", wait: ".detail .sentence" },
  "instant: savepoint": { hash: "#/t=sample:savepoint_restore_h120&v=timeline&i=20261129233447240&act=savepoint", wait: ".detail .sentence" },
  "instant: replacecommit": { hash: "#/t=sample:replace_clustering_mor_h120&v=timeline&i=20261129225040784", wait: ".detail .sentence" },
  "activity with a metadata table": { hash: "#/t=sample:mdt_full_h120&v=timeline&ac=1", wait: ".activity-table" },
  "plan of changes": { hash: "#/t=sample:cdc_data_before_cow_h0150&v=plan&q=cdc&qb=20261129231904913", wait: "#plan-parts" },
  "plan without indexes": { hash: "#/t=sample:part_hive_two_level_h120&v=plan&w=rider%20%3D%20'rider-A'", wait: "#plan-parts" },
  "health of a clean table": { hash: "#/t=sample:cow_trips_h102&v=health", wait: ".health-summary" },
  "an old table": { hash: "#/t=sample:v0_mor_h0150&v=table", wait: ".props" },
  "housekeeping of a metadata table": { hash: "#/t=sample:mdt_full_h120&v=table", wait: "#housekeeping" },
  "metadata: files": { hash: "#/t=sample:mdt_full_h120&v=metadata&mp=files", wait: "#meta-records" },
  "metadata: record index": { hash: "#/t=sample:mdt_full_h120&v=metadata&mp=record_index", wait: "#meta-records" },
  "stream polled": { hash: "#/t=sample:flink_mor_changelog_1.2.0&v=stream&fo=read.start-commit%3Dearliest", wait: "#poll", click: "#poll", then: "#operator" },
  "replay: read": { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&r=scan&n=1`, wait: "#replay-queue" },
  "replay: skip": { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&r=scan&n=15`, wait: "#replay-queue" },
  "handoff: Flink": engine(2),
  "handoff: Trino": engine(3),
  "handoff: hudi-rs": engine(4),
};
Object.assign(views, more);

// Places of data, code and names: table content, properties, paths, what is typed.
const data = "code, pre, kbd, .mono, .hex, .tree, .props, .crumb, .value-item, .hcell, .gcell, [data-r], .where-echo, .piece, input[value], textarea";

// Names and quotations that stay as they are, wherever they stand.
const terms = [
  "Apache Hudi", "Google Cloud", "schema on read", "insert overwrite", "Shift Enter", "Failed to fetch",
  "fare > 20 AND city IN ('sao_paulo', 'chennai')",
  "aws s3api put-bucket-cors --bucket lake --endpoint-url", "hudiscope serve FOLDER", "hudiscope bundle", "gcloud auth print-access-token",
  "bloom_filters, column_stats, expr_index_idx_day, files, partition_stats, record_index, secondary_index_idx_rider",
  "Spark structured streaming", "Hive metastore", "Exception when reading log file",
];

// english lists what a page says in three or more Latin words on end, with the place of each.
const english = (p) =>
  p.evaluate(
    ({ data, terms }) => {
      const run = /(?:[A-Za-z][A-Za-z'’-]*[,;:]? +(?:\d[\d.,]* +)*){2,}[A-Za-z][A-Za-z'’-]*/g;
      const out = new Set();
      const look = (what, el, said) => {
        for (const t of terms) said = said.replaceAll(t, "·");
        for (const [sentence] of said.replace(/\s+/g, " ").matchAll(run)) {
          // Instants, file names, numbers with their units and names of types are data: words have small letters.
          if (sentence.split(/[ ,;:]+/).filter((w) => /^[A-Za-z]?[a-z'’-]+$/.test(w) && w.length > 1).length > 2) out.add(`${what} of <${el.localName} class="${el.getAttribute("class") ?? el.dataset.c ?? ""}">: ${sentence}`);
        }
      };
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let n = walk.nextNode(); n; n = walk.nextNode()) {
        const el = n.parentElement;
        if (!el.closest(`script, style, ${data}`)) look("text", el, n.data);
      }
      for (const name of ["title", "aria-label", "aria-valuetext", "aria-description", "placeholder", "alt"]) {
        for (const el of document.querySelectorAll(`[${name}]`)) {
          // A sentence of the core that is shown in Chinese has its English in the title.
          if (el.closest(data) || (name === "title" && el.lang === "zh-Hans")) continue;
          look(name, el, el.getAttribute(name));
        }
      }
      return [...out];
    },
    { data, terms },
  );

let env, zh;
before(async () => {
  env = await open();
  zh = await env.page("zh");
});
after(async () => env?.stop());

for (const name of Object.keys(views)) {
  test(`${name} speaks Chinese`, async () => {
    try {
      await visit(zh, name);
    } catch (e) {
      zh.used = true;
      throw e;
    }
    assert.deepEqual(await english(zh), []);
  });
}

test("an English page would be found out", async () => {
  const p = await env.page("en");
  for (const name of ["home", "timeline", "replay", "plan", "history"]) {
    await visit(p, name);
    const found = await english(p);
    assert.ok(found.length > 8, `${name}: ${found.join("\n")}`);
  }
});
