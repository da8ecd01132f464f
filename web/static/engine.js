// The engine's Web Worker: loads wasm_exec.js and engine.wasm, tells how far the loading
// is, keeps messages until the Go program is ready, and says when it ends. The engine starts
// Workers of this script, too ("lanes"), which read file slices for it: they get the compiled
// program from it, so that it is loaded and compiled once.
"use strict";

const parameters = new URLSearchParams(self.location.search);
const waiting = [];
let program;
const given = new Promise((done) => (program = done));
self.onmessage = (e) => {
  if (e.data && e.data.program instanceof WebAssembly.Module) program(e.data.program);
  else if (self.engineReceive) self.engineReceive(e.data);
  else waiting.push(e.data);
};

// Called by the Go program once it has set engineReceive.
self.engineReady = () => {
  self.postMessage({ ready: true });
  for (const m of waiting.splice(0)) self.engineReceive(m);
};

importScripts("wasm_exec.js");

// The last lines the program writes before it ends tell why.
let tail = "";
const write = self.fs.writeSync;
self.fs.writeSync = (fd, bytes) => {
  tail = (tail + new TextDecoder().decode(bytes)).slice(-4000);
  return write(fd, bytes);
};

const reason = () => {
  const line = tail.split("\n").find((l) => /^(fatal error|panic|runtime):?/.test(l));
  return (line || "the program ended").slice(0, 300);
};

// compiled is this program. engineLane starts a Worker of it, one of several that share the memory of one:
// the Go program calls it.
let compiled = null;
if (typeof Worker === "function") {
  self.engineLane = (lanes, memory) => {
    const worker = new Worker(`engine.js?lane=${lanes}&memory=${memory}`);
    worker.postMessage({ program: compiled });
    return worker;
  };
}

const load = async () => {
  if (parameters.has("lane")) return given;
  const part = parameters.get("part") || "";
  if (!/^[a-z0-9]*$/.test(part)) throw new Error("no such part");
  const program = part ? `engine-${part}.wasm` : "engine.wasm";
  const response = await fetch(program);
  if (!response.ok) throw new Error(program + ": HTTP " + response.status);
  // The size is known only when the body isn't compressed on the way.
  const total = response.headers.get("Content-Encoding") ? 0 : Number(response.headers.get("Content-Length")) || 0;
  let received = 0;
  let last = 0;
  const counted = response.body.pipeThrough(
    new TransformStream({
      transform(chunk, out) {
        received += chunk.byteLength;
        if (performance.now() - last > 60) {
          last = performance.now();
          self.postMessage({ load: { received, total } });
        }
        out.enqueue(chunk);
      },
      flush() {
        self.postMessage({ load: { received, total: received } });
      },
    })
  );
  return WebAssembly.compileStreaming(new Response(counted, { headers: { "Content-Type": "application/wasm" } }));
};

(async () => {
  compiled = await load();
  const go = new Go();
  await go.run(await WebAssembly.instantiate(compiled, go.importObject));
  self.postMessage({ dead: reason() });
})().catch((err) => {
  self.postMessage({ dead: tail ? reason() : String((err && err.message) || err) });
});
