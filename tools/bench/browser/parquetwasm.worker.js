// parquet-wasm: Arrow tables in the memory of its program; nothing is handed to JavaScript.
import init, { readParquet } from "./node_modules/parquet-wasm/esm/parquet_wasm.js";

self.onmessage = async (e) => {
  const { files, columns } = e.data;
  const start = performance.now();
  try {
    let rows = 0;
    for (const url of files) {
      const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
      const table = readParquet(bytes, columns.length ? { columns } : undefined);
      for (const b of table.recordBatches()) {
        rows += b.numRows;
        b.free();
      }
      table.free();
    }
    self.postMessage({ rows, ms: performance.now() - start });
  } catch (err) {
    self.postMessage({ error: String(err && err.stack) });
  }
};
await init();
self.postMessage({ ready: true });
