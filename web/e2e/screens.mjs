// Every view of the page, and how pictures of them are taken that are the same on every machine: with fonts of their
// own, at a fixed time, in one order.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { dist, repo, start, tables, unzip } from "./harness.mjs";
import { serve } from "./server.mjs";
import { store } from "./store.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

// Heights are more than most windows have, so that more of a view is in its picture. by is how much smaller the
// compared pictures are.
export const sizes = { 390: { height: 1260, by: 3 }, 1024: { height: 900, by: 3 }, 1600: { height: 1000, by: 4 } };
export const schemes = ["light", "dark"];
export const langs = ["en", "zh"];

const slice = "p=chennai&f=025be33a-9f31-4c7c-9abe-5e2d4e967ccd-0&s=20261129232542776";
const corrupt = "p=&f=4475257a-0a28-4fc1-9107-ce6639a1845c-0&s=20261129231416761";
const base = "chennai/70c165d1-938b-449d-9ae8-e7e1ddd2e117-1_2-113-128_20261129231018172.parquet";
const cell = "#grid [role=gridcell][aria-colindex]";
const lake = "http://lake.example.org";

// way opens the form of one kind of storage.
const way = (kind) => ({ wait: "a.card", click: `#way-${kind}`, then: `#way-${kind}[aria-selected=true]` });

// A view: where it is (hash), what says that it is there (wait), what is done then (click, fill, press; or act), what
// is there after that (then), what is brought into sight (show), and what differs from visit to visit: its place is left
// empty (hide), or it has none (drop). Of those with main there are pictures in every size, scheme and language.
export const views = {
  home: { hash: "", wait: "a.card", main: true },
  lessons: { hash: "", wait: "a.lesson-card", show: ".lessons" },
  samples: { hash: "", wait: "a.card", show: "[aria-labelledby=samples-title]" },
  "connect-s3": { hash: "", ...way("s3") },
  "connect-azure": { hash: "", ...way("azure") },
  "connect-gcs": { hash: "", ...way("gcs") },
  "connect-signer": { hash: "", ...way("signer") },
  "connect-bundle": { hash: "", ...way("bundle") },
  timeline: { hash: "#/t=sample:cow_trips_h102&v=timeline&i=20261129230906701&act=commit", wait: ".detail .tree", main: true },
  "timeline-pending": { hash: "#/t=sample:pending_compaction_requested_h120&v=timeline", wait: "a.instant" },
  "timeline-restore": { hash: "#/t=sample:savepoint_restore_h120&v=timeline&i=20261129233753056&act=restore", wait: ".detail .relations" },
  "timeline-archived": { hash: "#/t=sample:archived_mor_h120&v=timeline", wait: "a.instant", act: (p, say) => p.click(`button:has-text("${say("Archived instants")}")`), then: 'g[data-c~="archived"]' },
  "timeline-activity": { hash: "#/t=sample:mor_trips_h120&v=timeline&ac=1", wait: "a.instant" },
  files: { hash: "#/t=sample:mor_trips_h120&v=files", wait: ".slice", click: ".slice:has(.box.log)", then: ".detail", main: true },
  "files-replaced": { hash: "#/t=sample:replace_clustering_mor_h120&v=files&a=20261129225040784", wait: ".slice" },
  "files-treemap": { hash: "#/t=sample:part_hive_two_level_h120&v=files&tm=1", wait: ".treemap" },
  "files-none": { hash: "#/t=sample:mor_trips_h120&v=files&a=20200101000000000", wait: ".empty" },
  group: { hash: `#/t=sample:mor_rollback_multi_h0150&v=files&${slice}&gh=1`, wait: ".group-chart" },
  anatomy: { hash: `#/t=sample:cow_trips_h102&v=files&an=${base}`, wait: ".anatomy" },
  "anatomy-part": { hash: `#/t=sample:cow_trips_h102&v=files&an=${base}`, wait: ".anatomy", act: (p) => p.locator(".anatomy-list a.instant").nth(5).click() },
  blocks: { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}`, wait: "g[data-b]", click: 'g[data-c~="blk-data"]', then: ".hex-row", main: true },
  "blocks-corrupt": { hash: `#/t=sample:mor_corrupt_middle_h0150&v=blocks&${corrupt}`, wait: "g[data-b]", click: 'g[data-c~="blk-corrupt"]', then: ".hex-row" },
  hex: { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}`, wait: "g[data-b]", click: 'g[data-c~="blk-data"]', then: ".hex-row", show: ".hex" },
  "blocks-choose": { hash: "#/t=sample:mor_trips_h120&v=blocks", wait: ".picks" },
  replay: { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&r=scan&n=8`, wait: "#replay-queue" },
  "replay-merge": { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&r=merge&n=39`, wait: "#replay-queue" },
  rows: { hash: "#/t=sample:mor_trips_h120&v=rows", wait: cell, main: true },
  "rows-types": { hash: "#/t=sample:all_types_mor_h120&v=rows&m=0", wait: cell, click: '#grid [data-r="2"] [aria-colindex="5"]' },
  "rows-options": { hash: "#/t=sample:mor_trips_h120&v=rows&q=inc", wait: ".query-form" },
  "rows-inspector": { hash: "#/t=sample:mor_trips_h120&v=rows", wait: cell, click: '#grid [data-r="2"] [aria-colindex="4"]' },
  "rows-cdc": { hash: "#/t=sample:cdc_data_before_cow_h0150&v=rows&q=cdc&qb=20261129231904913", wait: cell },
  "rows-where": { hash: "#/t=sample:mor_trips_h120&v=rows&w=fare%20%3E%20", wait: "#where-fault" },
  "rows-none": { hash: "#/t=sample:mor_trips_h120&v=rows&w=fare%20%3E%20100000", wait: ".empty" },
  remark: { hash: "#/t=sample:orc_base_h120&v=rows", wait: ".headline .findings" },
  columns: { hash: "#/t=sample:mor_trips_h120&v=rows", wait: cell, click: "#grid-columns", then: "#column-chooser" },
  "columns-stats": { hash: "#/t=sample:mor_trips_h120&v=rows&cs=*", wait: ".all-stats tbody tr", show: ".all-stats" },
  "column-stats": { hash: "#/t=sample:mor_trips_h120&v=rows&cs=fare", wait: "#column-stats #stat-distinct", show: "#column-stats" },
  plan: { hash: "#/t=sample:mdt_full_h120&v=plan&w=rider%20%3D%20'rider-BFC'", wait: "#plan-files", main: true },
  "plan-incremental": { hash: "#/t=sample:mor_trips_h120&v=plan&q=inc&lim=5", wait: "#plan-range" },
  stream: { hash: "#/t=sample:flink_mor_changelog_1.2.0&v=stream&fo=read.start-commit%3Dearliest", wait: "#monitor" },
  "stream-rows": { hash: "#/t=sample:flink_mor_changelog_1.2.0&v=stream&fo=changelog.enabled%3Dtrue;read.start-commit%3Dearliest&fr=1", wait: cell },
  history: { hash: "#/t=sample:mor_rollback_multi_h0150&v=history&k=trip-001", wait: ".rung.result", main: true },
  "history-late": { hash: "#/t=sample:merge_event_time_mor_h120&v=history&k=trip-00&kp=1", wait: ".rung.result" },
  "history-partial": { hash: "#/t=sample:partial_update_h120&v=history&k=trip-000", wait: ".rung.result" },
  "history-empty": { hash: "#/t=sample:mor_trips_h120&v=history", wait: ".history .empty" },
  compare: { hash: "#/t=sample:cow_trips_h102&v=compare&c1=20261129230906701", wait: ".compare .tiles", main: true },
  "compare-choose": { hash: "#/t=sample:cow_trips_h102&v=compare", wait: ".compare .empty" },
  health: { hash: "#/t=sample:mor_rollback_multi_h0150&v=health", wait: ".health-summary", main: true },
  "health-corrupt": { hash: "#/t=sample:mor_corrupt_middle_h0150&v=health", wait: ".health-summary" },
  metadata: { hash: "#/t=sample:mdt_full_h120&v=metadata&mp=column_stats", wait: "#meta-records", main: true },
  "metadata-none": { hash: "#/t=sample:mor_trips_h120&v=metadata", wait: ".metadata .empty" },
  table: { hash: "#/t=sample:mor_trips_h120&v=table", wait: ".props" },
  housekeeping: { hash: "#/t=sample:mor_rollback_multi_h0150&v=table", wait: "#housekeeping", show: "#housekeeping" },
  lesson: { hash: "#/t=sample:mor_rollback_multi_h0150&v=timeline&i=20261129232717337&act=rollback&ls=rollback&ln=1", wait: ".lesson-text", main: true },
  "lesson-answered": { hash: `#/t=sample:mor_rollback_multi_h0150&v=blocks&${slice}&ls=rollback&ln=2`, wait: ".lesson-text", fill: ["#lesson-answer", "7"], press: "Enter", then: ".lesson-verdict" },
  palette: { hash: "#/t=sample:mor_trips_h120&v=timeline", wait: "a.instant", click: "#open-palette", then: "#palette-list [aria-selected=true]" },
  "palette-found": { hash: "#/t=sample:mor_trips_h120&v=timeline", wait: "a.instant", click: "#open-palette", then: "#palette-list [aria-selected=true]", fill: ["#palette-input", "com"] },
  help: { hash: "#/t=sample:mor_trips_h120&v=timeline", wait: "a.instant", press: "?", then: ".help" },
  export: { hash: "#/t=sample:mor_trips_h120&v=rows", wait: cell, click: "#open-export", then: "#start-export" },
  handoff: { hash: "#/t=sample:mor_trips_h120&v=rows&w=fare%20%3E%2020", wait: cell, click: "#open-handoff", then: "#handoff-panel" },
  network: { hash: `#/t=${lake}/mor_trips_h120.zip&v=files`, wait: ".slice", click: "#network-button", then: "#network-requests tbody tr", hide: "#network .tile-value, #kept-usage", drop: "#network .network-tables, #network p" },
  cors: {
    hash: "",
    wait: "a.card",
    async act(p) {
      await p.fill("#url", "s3://lake/mor_trips_h120");
      await p.click(".open-url button[type=submit]");
      await p.waitForSelector("#open-bucket");
      await p.fill("#open-endpoint", "http://s3.example.org");
      await p.click(".store-form button[type=submit]");
    },
    then: ".diagnosis[data-cors=true]",
  },
  fault: { hash: "#/t=http://127.0.0.1:9/table/&v=timeline", wait: ".fault" },
  "not-there": { hash: `#/t=${lake}/nowhere/&v=timeline`, wait: ".fault" },
};

// Each of the other views is seen at the three sizes, in both schemes and languages; by their places in the list they
// take turns, so that all twelve combinations are seen often.
const turns = [
  ["390-light-zh", "1024-dark-en", "1600-light-en"],
  ["390-dark-en", "1024-light-zh", "1600-dark-zh"],
  ["390-light-en", "1024-light-en", "1600-dark-zh"],
  ["390-dark-zh", "1024-dark-zh", "1600-light-en"],
  ["390-light-zh", "1024-light-en", "1600-dark-en"],
  ["390-dark-en", "1024-dark-en", "1600-light-zh"],
];

// What depends on what was looked at before, how many requests there were, takes no room at all.
const ever = "* { caret-color: transparent !important; } #network-button span { display: none !important; }";

// combinations gives what pictures there are of a view, in the order in which they are taken.
export function combinations(name, all = false) {
  const at = Object.keys(views).filter((n) => !views[n].main).indexOf(name);
  const out = [];
  for (const lang of langs) {
    for (const width of Object.keys(sizes)) {
      for (const scheme of schemes) {
        const id = `${width}-${scheme}-${lang}`;
        if (all || views[name].main || turns[at % turns.length].includes(id)) out.push({ id, width: Number(width), scheme, lang });
      }
    }
  }
  return out;
}

// The fonts, out of packages: for Latin letters, for what is of one width and for signs, and for Chinese.
const fonts = [
  ...["400Regular", "500Medium", "600SemiBold", "700Bold", "400Regular_Italic"].map((w) => `@expo-google-fonts/noto-sans/${w}/NotoSans_${w}.ttf`),
  ...["DejaVuSansMono", "DejaVuSansMono-Bold", "DejaVuSans", "DejaVuSans-Bold"].map((f) => `dejavu-fonts-ttf/ttf/${f}.ttf`),
  ...["Regular", "Medium", "Bold"].map((w) => `@embedpdf/fonts-sc/fonts/NotoSansHans-${w}.otf`),
];
const wanted = { "Noto Sans": ["var(--font)", "Rows"], "DejaVu Sans Mono": ["var(--mono)", "Rows"], "Noto Sans S Chinese": ["var(--font)", "时间线"] };

const alias = (name, family) => `<match target="pattern"><test name="family" qual="any"><string>${name}</string></test><edit name="family" mode="prepend" binding="strong"><string>${family}</string></edit></match>`;
function fontconfig(temp) {
  const dir = path.join(temp, "fonts");
  fs.mkdirSync(dir, { recursive: true });
  const missing = [];
  for (const f of fonts) {
    const from = path.join(here, "node_modules", f);
    if (!fs.existsSync(from)) missing.push(f);
    else fs.copyFileSync(from, path.join(dir, path.basename(f)));
  }
  const set = (name, kind, value) => `<edit name="${name}" mode="assign"><${kind}>${value}</${kind}></edit>`;
  fs.writeFileSync(
    path.join(temp, "fonts.conf"),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${dir}</dir><cachedir>${path.join(temp, "cache")}</cachedir>
${["system-ui", "sans-serif", "sans", "serif"].map((n) => alias(n, "Noto Sans")).join("\n")}
${["ui-monospace", "monospace"].map((n) => alias(n, "DejaVu Sans Mono")).join("\n")}
<match target="pattern"><edit name="family" mode="append_last" binding="weak"><string>Noto Sans</string></edit></match>
<match target="font">${set("antialias", "bool", "true")}${set("hinting", "bool", "false")}${set("autohint", "bool", "false")}${set("hintstyle", "const", "hintnone")}${set("rgba", "const", "none")}${set("lcdfilter", "const", "lcdnone")}</match>
</fontconfig>`,
  );
  return missing;
}

// The time that page and engine are given.
const fixed = `{
  const Real = Date, now = ${Date.UTC(2026, 11, 1, 12)};
  self.Date = class Date extends Real {
    constructor(...a) { a.length ? super(...a) : super(now); }
    static now() { return now; }
  };
}
`;

// open starts servers and a browser for pictures, one page for each language. missing says why pictures would not be
// the same as elsewhere, "" when they are.
export async function open() {
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), "hudiscope-screens-"));
  const lacking = fontconfig(temp);
  const root = path.join(temp, "site");
  fs.mkdirSync(root);
  for (const f of fs.readdirSync(dist)) if (f !== "engine.js") fs.symlinkSync(path.join(dist, f), path.join(root, f));
  fs.writeFileSync(path.join(root, "engine.js"), fixed + fs.readFileSync(path.join(dist, "engine.js"), "utf8"));

  const zips = await serve(tables, { cors: true });
  const refusing = await store(path.dirname(unzip({ temp }, "mor_trips_h120")), { origin: "" });
  // The addresses that pages show have no ports that change; the page's own is known only when it is served.
  const site = await serve(root);
  const at = (url) => new URL(url).host;
  const env = await start({
    root,
    args: [
      `--host-resolver-rules=MAP hudiscope.localhost:80 ${at(site.url)},MAP lake.example.org:80 ${at(zips.url)},MAP s3.example.org:80 ${at(refusing.url)}`,
      "--font-render-hinting=none",
      "--disable-lcd-text",
      "--force-color-profile=srgb",
      "--hide-scrollbars",
      "--lang=en-US",
    ],
    vars: { FONTCONFIG_FILE: path.join(temp, "fonts.conf"), TZ: "UTC", LC_ALL: "C.UTF-8", LANGUAGE: "" },
  });
  const texts = JSON.parse(fs.readFileSync(path.join(repo, "web/text/zh.json"), "utf8"));
  const self = {
    temp,
    missing: "",
    version: env.browser.version(),
    pages: {},
    async stop() {
      await env.stop();
      await Promise.all([site.close(), zips.close(), refusing.close()]);
      fs.rmSync(temp, { recursive: true, force: true });
    },
  };
  // page opens the page in a language.
  self.page = async (lang, deviceScaleFactor = 1) => {
    const context = await env.browser.newContext({
      viewport: { width: 1024, height: 900 },
      deviceScaleFactor,
      locale: lang === "zh" ? "zh-CN" : "en-US",
      timezoneId: "UTC",
      reducedMotion: "reduce",
      serviceWorkers: "block",
    });
    await context.addInitScript(fixed);
    const p = await context.newPage();
    p.lang = lang;
    p.say = (text) => (lang === "zh" && texts[text]) || text;
    p.cdp = await context.newCDPSession(p);
    p.address = "http://hudiscope.localhost/";
    await p.goto(p.address);
    await p.waitForSelector("a.card", { timeout: 120000 });
    return p;
  };
  if (lacking.length) self.missing = `fonts are not installed (npm ci in web/e2e): ${lacking.join(", ")}`;
  else self.missing = await otherFonts(env.browser);
  return self;
}

// otherFonts says which of the fonts the browser doesn't draw with: it may be one that has no fontconfig, or that may not
// read the folder.
async function otherFonts(browser) {
  const p = await browser.newPage();
  const css = fs.readFileSync(path.join(dist, "hudiscope.css"), "utf8");
  const stack = (name) => new RegExp(`${name}:\\s*([^;]+);`).exec(css)[1];
  const lines = Object.values(wanted).map(([family, text]) => `<p style='font-family:${stack(family.slice(4, -1))}'>${text}</p>`);
  await p.setContent(lines.join(""));
  const cdp = await p.context().newCDPSession(p);
  await cdp.send("DOM.enable");
  await cdp.send("CSS.enable");
  const { root } = await cdp.send("DOM.getDocument");
  const { nodeIds } = await cdp.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: "p" });
  const wrong = [];
  for (const [i, want] of Object.keys(wanted).entries()) {
    const { fonts } = await cdp.send("CSS.getPlatformFontsForNode", { nodeId: nodeIds[i] });
    const got = fonts.map((f) => f.familyName).join(", ");
    if (!got.startsWith(want) || fonts.length > 1) wrong.push(`${got || "nothing"} instead of ${want}`);
  }
  await p.close();
  return wrong.length ? `this Chromium does not take the fonts of FONTCONFIG_FILE, it draws with ${wrong.join("; ")}` : "";
}

// quiet waits until nothing is being read or drawn any more.
const quiet = (p, pause = 120) =>
  p.evaluate(
    (pause) =>
      new Promise((done, fail) => {
        const busy = () => document.querySelector('[aria-busy="true"], .skeleton, .loading');
        const end = performance.now() + 30000;
        let last = performance.now();
        const seen = new MutationObserver(() => (last = performance.now()));
        seen.observe(document.documentElement, { subtree: true, childList: true, attributes: true, characterData: true });
        const look = () => {
          const t = performance.now();
          if (t > end) fail(new Error("the page does not come to rest: " + (busy()?.outerHTML.slice(0, 200) ?? "it changes all the time")));
          else if (t - last > pause && !busy()) document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(done)));
          else return setTimeout(look, 25);
          seen.disconnect();
        };
        look();
      }),
    pause,
  );

// visit opens a view in the page of a language. Going over the home page forgets what was read and chosen; where one was
// on it, and did something there, the page is loaded again.
export async function visit(p, name) {
  const v = views[name];
  await p.setViewportSize({ width: 1024, height: 900 });
  await p.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  for (let i = 0; i < 3 && (await p.locator("dialog[open], .help, #network").count()); i++) await p.keyboard.press("Escape");
  if (await p.locator("dialog[open], .help, #network").count()) p.used = true;
  if (!p.used) {
    await p.evaluate(() => {
      localStorage.clear();
      location.hash = "#/";
    });
    await p.waitForSelector("a.card");
    await p.evaluate((hash) => (location.hash = hash || "#/"), v.hash);
  } else {
    await p.evaluate(() => localStorage.clear());
    await p.goto("about:blank");
    await p.goto(p.address + v.hash);
    p.used = false;
  }
  await p.waitForSelector(v.wait, { timeout: 60000 });
  await quiet(p);
  if (v.click) await p.locator(v.click).first().click();
  if (v.then && v.click) await p.waitForSelector(v.then);
  if (v.act) await v.act(p, p.say);
  if (v.fill) await p.fill(...v.fill);
  if (v.press) await p.keyboard.press(v.press);
  if (v.then) await p.waitForSelector(v.then, { timeout: 60000 });
  if (!v.hash && (v.click || v.act)) p.used = true;
  if (p.url().includes("ls=")) p.used = true;
  await p.mouse.move(0, 0);
  await p.evaluate((css) => {
    // The page's policy takes no styles but its own from elements.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    document.adoptedStyleSheets = [sheet];
  }, `${ever} ${v.hide ?? "#none"} { visibility: hidden !important; } ${v.drop ?? "#none"} { display: none !important; }`);
  await quiet(p);
}

// arrange sets size and scheme, and brings into sight what the view is about. It says what sticks out of the page.
export async function arrange(p, name, { width, scheme }) {
  await p.setViewportSize({ width, height: sizes[width].height });
  await p.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  await quiet(p);
  await p.evaluate((show) => {
    window.scrollTo(0, 0);
    if (show) document.querySelector(show).scrollIntoView({ block: "start", behavior: "instant" });
  }, views[name].show);
  await quiet(p, 60);
  return p.evaluate(() => {
    const page = document.documentElement;
    if (page.scrollWidth <= page.clientWidth) return "";
    const out = [...document.querySelectorAll("body *")].filter((el) => el.getBoundingClientRect().right > page.clientWidth + 1).at(-1);
    return `the page is ${page.scrollWidth} px wide, its window ${page.clientWidth}: ${out ? `<${out.localName} class="${out.getAttribute("class") ?? ""}"> sticks out` : ""}`;
  });
}

// shoot takes the picture of what is in the window, as a PNG.
export async function shoot(p) {
  const { data } = await p.cdp.send("Page.captureScreenshot", { format: "png", optimizeForSpeed: true });
  return Buffer.from(data, "base64");
}
