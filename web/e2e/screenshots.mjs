// Takes pictures of every view at three widths, light and dark: node screenshots.mjs FOLDER
import fs from "node:fs";
import path from "node:path";
import { page, ready, start, tables } from "./harness.mjs";
import { serve } from "./server.mjs";

const out = process.argv[2] || "screenshots";
const only = process.argv[3];
fs.mkdirSync(out, { recursive: true });

// Tables that are no samples come over HTTP.
const zips = await serve(tables, { cors: true });
const slice = "p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776";
const views = {
  home: { hash: "", wait: "a.card" },
  timeline: { hash: "#/t=sample:cow_trips_h102&v=timeline&i=20261129230906701&act=commit", wait: ".detail .tree" },
  "timeline-pending": { hash: "#/t=sample:pending_compaction_requested_h120&v=timeline", wait: "a.instant" },
  files: { hash: "#/t=sample:mor_trips_h120&v=files", wait: ".slice", click: ".slice:has(.box.log)" },
  "files-replaced": { hash: "#/t=sample:replace_clustering_mor_h120&v=files", wait: ".slice" },
  blocks: { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}`, wait: "g[data-b]", click: 'g[data-c~="blk-data"]' },
  "blocks-corrupt": { hash: "#/t=sample:mor_corrupt_middle_h0150&v=blocks&p=&f=4475257a-0a28-4fc1-9107-ce6639a1845c-0&s=20261129231416761", wait: "g[data-b]", click: 'g[data-c~="blk-corrupt"]' },
  "blocks-choose": { hash: "#/t=sample:mor_trips_h120&v=blocks", wait: "text=choose one" },
  rows: { hash: "#/t=sample:mor_trips_h120&v=rows", wait: "#grid [role=gridcell][aria-colindex]" },
  "rows-types": { hash: "#/t=sample:all_types_mor_h120&v=rows&m=0", wait: "#grid [role=gridcell][aria-colindex]", click: '#grid [data-r="2"] [aria-colindex="5"]' },
  history: { hash: "#/t=sample:mor_rollback_multi_h0150&v=history&k=trip-001", wait: ".rung.result" },
  "history-late": { hash: "#/t=sample:merge_event_time_mor_h120&v=history&k=trip-00&kp=1", wait: ".rung.result" },
  "history-empty": { hash: "#/t=sample:mor_trips_h120&v=history", wait: ".history .empty" },
  replay: { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&r=scan&n=8`, wait: "#replay-queue" },
  "replay-merge": { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&r=merge&n=39`, wait: "#replay-queue" },
  compare: { hash: "#/t=sample:cow_trips_h102&v=compare&c1=20261129230906701", wait: ".compare .tiles" },
  "compare-choose": { hash: "#/t=sample:cow_trips_h102&v=compare", wait: ".compare .empty" },
  health: { hash: "#/t=sample:mor_rollback_multi_h0150&v=health", wait: ".health-summary" },
  metadata: { hash: `#/t=${zips.url}/mdt_full_h120.zip&v=metadata&mp=column_stats`, wait: "#meta-records" },
  "metadata-none": { hash: "#/t=sample:mor_trips_h120&v=metadata", wait: ".metadata .empty" },
  "history-partial": { hash: `#/t=${zips.url}/partial_update_h120.zip&v=history&k=trip-00&kp=1`, wait: ".rung.result" },
  "timeline-restore": { hash: "#/t=sample:savepoint_restore_h120&v=timeline&i=20261129233753056&act=restore", wait: ".detail .relations" },
  "timeline-archived": { hash: "#/t=sample:archived_mor_h120&v=timeline", wait: "a.instant", click: 'button:has-text("Archived instants")' },
  "rows-options": { hash: "#/t=sample:mor_trips_h120&v=rows&q=inc", wait: ".query-form" },
  "rows-inspector": { hash: "#/t=sample:mor_trips_h120&v=rows", wait: "#grid [role=gridcell][aria-colindex]", click: '#grid [data-r="2"] [aria-colindex="9"]' },
  table: { hash: "#/t=sample:mor_trips_h120&v=table", wait: ".props" },
  remark: { hash: "#/t=sample:orc_base_h120&v=rows", wait: ".headline .findings" },
  fault: { hash: "#/t=http://127.0.0.1:9/table/&v=timeline", wait: ".fault" },
};

const env = await start();
for (const scheme of ["light", "dark"]) {
  for (const [width, height] of [[390, 844], [1024, 768], [1600, 1000]]) {
    for (const [name, v] of Object.entries(views)) {
      if (only && !`${name}-${width}-${scheme}`.includes(only)) continue;
      const p = await page(env, v.hash, { viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: width === 390 ? 2 : 1 });
      try {
        if (v.hash && name !== "fault") await ready(p);
        await p.waitForSelector(v.wait, { timeout: 60000 });
        if (v.click) await p.locator(v.click).first().click();
        await p.waitForTimeout(700);
        await p.screenshot({ path: path.join(out, `${name}-${width}-${scheme}.png`) });
      } catch (e) {
        console.error(`${name} ${width} ${scheme}: ${e.message.split("\n")[0]}`);
        process.exitCode = 1;
      }
      await p.context().close();
    }
  }
}
await env.stop();
await zips.close();
