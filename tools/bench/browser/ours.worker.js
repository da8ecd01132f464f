// The core as WebAssembly: scan(url, columns) reads a table over HTTP.
"use strict";
importScripts("wasm_exec.js");
self.ready = () => self.postMessage({ ready: true });
self.onmessage = async (e) => {
  const { url, columns } = e.data;
  const start = performance.now();
  try {
    const rows = await self.scan(url, columns.join(","));
    self.postMessage({ rows, ms: performance.now() - start });
  } catch (err) {
    self.postMessage({ error: String(err) });
  }
};
(async () => {
  const go = new Go();
  const wasm = await WebAssembly.instantiateStreaming(fetch("scan.wasm"), go.importObject);
  go.run(wasm.instance);
})();
