// hyparquet with its compressors: all values of every row, as chunks of columns.
import { parquetRead } from "hyparquet";
import { compressors } from "hyparquet-compressors";

self.onmessage = async (e) => {
  const { files, columns } = e.data;
  const start = performance.now();
  try {
    let rows = 0;
    for (const url of files) {
      const bytes = await (await fetch(url)).arrayBuffer();
      const seen = {};
      await parquetRead({
        file: bytes,
        compressors,
        columns: columns.length ? columns : undefined,
        onChunk: (c) => (seen[c.columnName] = (seen[c.columnName] || 0) + c.columnData.length),
      });
      rows += Math.max(...Object.values(seen));
    }
    self.postMessage({ rows, ms: performance.now() - start });
  } catch (err) {
    self.postMessage({ error: String(err && err.stack) });
  }
};
self.postMessage({ ready: true });
