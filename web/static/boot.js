// The loader of the page: sets the colour theme, loads the user interface and, once its
// bytes are there, the engine's Web Worker, and shows how many bytes have arrived.
"use strict";

(() => {
  const root = document.documentElement;
  try {
    const theme = localStorage.getItem("hudiscope.theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage may be forbidden; the theme then follows the system.
  }

  // A percent sign that begins no escape makes the address one that can't be read as a URL: it is
  // meant as itself, in a link that was typed or cut.
  const mendHash = () => {
    const mended = location.hash.replace(/%(?![0-9A-Fa-f]{2})/g, "%25");
    if (mended !== location.hash) history.replaceState(history.state, "", mended);
  };
  mendHash();
  window.addEventListener("hashchange", mendHash, { capture: true });
  window.addEventListener("popstate", mendHash, { capture: true });

  const loads = { app: { received: 0, total: 0 } };

  const mb = (n) => (n / 1048576).toFixed(1);
  const show = () => {
    const text = document.getElementById("boot-status");
    if (!text) return;
    // The engine begins once the user interface is there, which draws its progress itself.
    const { received, total } = loads.app;
    const known = total > 0;
    text.textContent = known ? `Loading ${mb(received)} of ${mb(total)} MB` : `Loading ${mb(received)} MB`;
    const bar = document.getElementById("boot-bar");
    if (bar && known) {
      bar.max = total;
      bar.value = received;
    }
  };
  const fail = (message) => {
    const text = document.getElementById("boot-status");
    if (!text) return;
    text.textContent = message;
    text.classList.add("failed");
    const bar = document.getElementById("boot-bar");
    if (bar) bar.remove();
  };

  // Everything the Go program needs of this page.
  const hudiscope = (window.hudiscope = {
    engine: null,
    // part names an engine that can read more: "orc".
    startEngine(part) {
      const worker = new Worker(part ? "engine.js?part=" + encodeURIComponent(part) : "engine.js");
      worker.early = [];
      worker.onmessage = (e) => worker.early.push(e.data);
      worker.onerror = (e) => worker.early.push({ dead: e.message || "the worker could not start" });
      hudiscope.engine = worker;
      return worker;
    },
  });

  // go-app asks for its environment by this name.
  window.goappGetenv = () => "";

  const start = async () => {
    if (typeof WebAssembly !== "object" || typeof WebAssembly.instantiateStreaming !== "function") {
      fail("This browser can't run WebAssembly, which hudiscope needs. Any current browser can.");
      return;
    }
    const response = await fetch("app.wasm");
    if (!response.ok) throw new Error("app.wasm: HTTP " + response.status);
    const length = Number(response.headers.get("Content-Length")) || 0;
    loads.app.total = response.headers.get("Content-Encoding") ? 0 : length;
    const counted = response.body.pipeThrough(
      new TransformStream({
        transform(chunk, out) {
          loads.app.received += chunk.byteLength;
          show();
          out.enqueue(chunk);
        },
        flush() {
          loads.app.total = loads.app.received;
          // Only now: on a slow line the engine, which is larger, would take half of it
          // away from what draws the page.
          hudiscope.startEngine();
        },
      })
    );
    const go = new Go();
    const wasm = await WebAssembly.instantiateStreaming(
      new Response(counted, { headers: { "Content-Type": "application/wasm" } }),
      go.importObject
    );
    await go.run(wasm.instance);
    // The program runs as long as the page; when it ends, the page must say so.
    const note = document.createElement("div");
    note.className = "crashed";
    note.setAttribute("role", "alert");
    note.textContent = "The user interface stopped because of an error in it. Reload the page to go on; the address keeps your place.";
    document.body.append(note);
  };

  document.addEventListener("DOMContentLoaded", () => {
    show();
    start().catch((err) => {
      fail("hudiscope could not be loaded: " + ((err && err.message) || err) + " Reload the page to try again.");
    });
  });
})();
