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

  // The language: as it was chosen, else as the browser has it. Its texts come beside the program and
  // are there before it.
  let lang = "";
  try {
    lang = localStorage.getItem("hudiscope.lang") || "";
  } catch {
    // As the browser has it.
  }
  if (lang !== "en" && lang !== "zh") lang = /^zh\b/i.test(navigator.language || "") ? "zh" : "en";
  let texts = null;
  const translate = () => {
    for (const el of document.querySelectorAll("#boot [data-text]")) {
      const text = texts && texts[el.textContent.trim().replace(/\s+/g, " ")];
      if (text) el.textContent = text;
    }
  };
  const say = (text, ...values) => {
    let i = 0;
    return ((texts && texts[text]) || text).replace(/%(?:\[(\d)\])?s/g, (_, at) => values[at ? at - 1 : i++]);
  };
  const language =
    lang === "en"
      ? Promise.resolve()
      : fetch(`lang/${lang}.json`)
          .then((r) => (r.ok ? r.text() : Promise.reject(new Error("HTTP " + r.status))))
          .then((text) => {
            texts = JSON.parse(text);
            Object.assign(hudiscope, { lang, texts: text });
            root.lang = "zh-Hans";
            if (document.readyState !== "loading") translate();
          })
          .catch(() => {}); // English then

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
    text.textContent = known ? say("Loading %s of %s MB", mb(received), mb(total)) : say("Loading %s MB", mb(received));
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
      // What works without a network is kept once everything that this visit needs has arrived.
      worker.addEventListener("message", (e) => e.data && e.data.ready && keepOffline());
      hudiscope.engine = worker;
      return worker;
    },
  });

  // --- Working offline: sw.js keeps the files of this release ---

  const announce = (worker) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = (e) => {
      hudiscope.update = { others: Boolean(e.data.others) };
      window.dispatchEvent(new Event("hudiscope-update"));
    };
    worker.postMessage({ type: "others" }, [channel.port2]);
  };
  // keepRest has the samples and the engine's other part kept too, one after the other while the page rests: first
  // what is open. A connection that is to be spared gets only that.
  const keepRest = async (worker) => {
    const ask = (message) =>
      new Promise((done) => {
        const channel = new MessageChannel();
        channel.port1.onmessage = (e) => done(e.data);
        worker.postMessage(message, [channel.port2]);
        setTimeout(done, 120000, {}); // the worker may be gone
      });
    const open = /[#&/]t=sample:([\w.-]+)/.exec(decodeURI(location.hash));
    const first = open ? `samples/${open[1]}.zip` : "";
    let names = (await ask({ type: "rest" })).names || [];
    if (navigator.connection?.saveData) names = names.filter((n) => n === first);
    names.sort((a, b) => (b === first) - (a === first));
    for (const name of names) {
      await new Promise((done) => (window.requestIdleCallback ? requestIdleCallback(done, { timeout: 2000 }) : setTimeout(done, 200)));
      if (!(await ask({ type: "keep", name })).kept && name !== first) return; // no network, or no room
    }
  };
  let asked = false;
  const keepOffline = async () => {
    if (asked || !("serviceWorker" in navigator) || !window.isSecureContext) return;
    asked = true;
    try {
      const registration = await navigator.serviceWorker.register("sw.js");
      if (registration.waiting && navigator.serviceWorker.controller) announce(registration.waiting);
      registration.addEventListener("updatefound", () => {
        const fresh = registration.installing;
        fresh?.addEventListener("statechange", () => {
          if (fresh.state === "installed" && navigator.serviceWorker.controller) announce(fresh);
        });
      });
      // A long visit hears of a new release, too.
      setInterval(() => registration.update().catch(() => {}), 3600000);
      await keepRest((await navigator.serviceWorker.ready).active);
    } catch {
      // Not allowed, or no room: the page works, with a network only.
    }
  };
  // takeUpdate loads the page again with the new release, unless other tabs run the present one.
  hudiscope.takeUpdate = async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    if (!registration?.waiting) return location.reload();
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    const channel = new MessageChannel();
    channel.port1.onmessage = (e) => {
      if (!e.data.others) return;
      hudiscope.update = { others: true };
      window.dispatchEvent(new Event("hudiscope-update"));
    };
    registration.waiting.postMessage({ type: "take" }, [channel.port2]);
  };

  // go-app asks for its environment by this name.
  window.goappGetenv = () => "";

  const start = async () => {
    if (typeof WebAssembly !== "object" || typeof WebAssembly.instantiateStreaming !== "function") {
      fail(say("This browser can't run WebAssembly, which hudiscope needs. Any current browser can."));
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
    await language;
    await go.run(wasm.instance);
    // The program runs as long as the page; when it ends, the page must say so.
    const note = document.createElement("div");
    note.className = "crashed";
    note.setAttribute("role", "alert");
    note.textContent = say("The user interface stopped because of an error in it. Reload the page to go on; the address keeps your place.");
    document.body.append(note);
  };

  document.addEventListener("DOMContentLoaded", () => {
    translate();
    show();
    start().catch((err) => {
      fail(say("hudiscope could not be loaded: %s Reload the page to try again.", (err && err.message) || err));
    });
  });
})();
