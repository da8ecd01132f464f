// The service worker: keeps this release's files in the browser, so that the page opens without a
// network. tools/dist writes the list of the files with their hashes before it, as "release".
//
// - Each release has a cache of its own, filled as a whole before it is used: a page never gets the
//   program of one release and the loader of another.
// - A file whose content is not what the list says is not kept.
// - Only files of the list are answered. Tables, the service below /api/ and everything on other
//   origins go past this worker.
"use strict";
/* global release */

const prefix = "hudiscope-";
const present = prefix + release.version;
const scope = new URL("./", self.location.href);
// Kept when they are used first, or once the page rests (see "keep"): the first visit does not wait for them.
const later = (name) => name.startsWith("samples/") && name.endsWith(".zip") || name === "engine-orc.wasm";

const address = (name) => new URL(name, scope).href;

// name is the file of the list that an address means, or "".
const named = (url) => {
  const u = new URL(url);
  if (u.origin !== scope.origin || !u.pathname.startsWith(scope.pathname)) return "";
  const name = u.pathname.slice(scope.pathname.length) || "index.html";
  return Object.hasOwn(release.files, name) ? name : "";
};

const hex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
const right = async (name, bytes) => hex(await crypto.subtle.digest("SHA-256", bytes)) === release.files[name];

// kept is the answer that stands in the cache: decoded, with the headers that matter.
const kept = (name, bytes, from) => {
  const headers = new Headers({ "Content-Length": String(bytes.byteLength), ETag: `"${release.files[name].slice(0, 20)}"`, "Accept-Ranges": "bytes" });
  for (const h of ["Content-Type", "Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Permissions-Policy"]) {
    const v = from.get(h);
    if (v) headers.set(h, v);
  }
  return new Response(bytes, { status: 200, headers });
};

// load gets a file of this release: from an older release that has the same, or from the server.
const load = async (name) => {
  const cache = await caches.open(present);
  const there = await cache.match(address(name));
  if (there) return there;
  for (const other of await caches.keys()) {
    if (!other.startsWith(prefix) || other === present) continue;
    const old = await (await caches.open(other)).match(address(name));
    if (!old) continue;
    const bytes = await old.clone().arrayBuffer();
    if (await right(name, bytes)) {
      await cache.put(address(name), kept(name, bytes, old.headers));
      return cache.match(address(name));
    }
  }
  // What the browser has already is taken when it is right, else the server is asked.
  for (const mode of ["default", "reload"]) {
    const answer = await fetch(address(name), { cache: mode, credentials: "same-origin" });
    if (!answer.ok) throw new Error(`${name}: HTTP ${answer.status}`);
    const bytes = await answer.arrayBuffer();
    if (await right(name, bytes)) {
      const whole = kept(name, bytes, answer.headers);
      // Without room it is used all the same.
      if (later(name)) await cache.put(address(name), whole.clone()).catch(() => {});
      else await cache.put(address(name), whole.clone());
      return whole;
    }
  }
  throw new Error(`${name} is not that of this release`);
};

self.addEventListener("install", (e) => {
  e.waitUntil((async () => {
    for (const name of Object.keys(release.files)) {
      if (!later(name)) await load(name);
    }
    // The samples that an older release kept stay usable without a network.
    const cache = await caches.open(present);
    for (const other of await caches.keys()) {
      if (!other.startsWith(prefix) || other === present) continue;
      const old = await caches.open(other);
      for (const request of await old.keys()) {
        const name = named(request.url);
        if (!name || !later(name) || (await cache.match(request))) continue;
        const answer = await old.match(request);
        const bytes = await answer.arrayBuffer();
        if (await right(name, bytes)) await cache.put(request, kept(name, bytes, answer.headers));
      }
    }
  })());
});

self.addEventListener("activate", (e) => {
  e.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith(prefix) && name !== present) await caches.delete(name);
    }
    // A first visit is taken over at once. After an update there is no page left but one that
    // is going to be loaded again.
    await self.clients.claim();
  })());
});

self.addEventListener("message", (e) => {
  const m = e.data || {};
  const reply = (v) => e.ports[0] && e.ports[0].postMessage(v);
  if (m.type === "rest") {
    // What is not kept yet: the samples first, which are small.
    e.waitUntil((async () => {
      const cache = await caches.open(present);
      const names = Object.keys(release.files).filter(later).sort((a, b) => a.endsWith(".wasm") - b.endsWith(".wasm"));
      const there = await Promise.all(names.map((n) => cache.match(address(n))));
      reply({ names: names.filter((_, i) => !there[i]) });
    })());
  } else if (m.type === "keep") {
    // One file at a time, as the page asks for them; it stops where there is no network or no room.
    e.waitUntil((async () => {
      if (!Object.hasOwn(release.files, m.name)) return reply({ kept: false });
      await load(m.name).catch(() => {});
      reply({ kept: Boolean(await (await caches.open(present)).match(address(m.name))) });
    })());
  } else if (m.type === "others" || m.type === "take") {
    // A page that runs keeps its release: this one starts when it is alone.
    e.waitUntil((async () => {
      const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
      const ours = pages.filter((c) => c.url.startsWith(scope.href));
      if (ours.length <= 1 && m.type === "take") await self.skipWaiting();
      reply({ others: ours.length > 1 });
    })());
  }
});

// part answers a request for a range, or for the headers, out of a whole file.
const part = async (request, whole) => {
  if (request.method === "HEAD") return new Response(null, { status: 200, headers: whole.headers });
  const m = /^bytes=(\d*)-(\d*)$/.exec(request.headers.get("Range") || "");
  if (!m || (!m[1] && !m[2])) return whole;
  const bytes = await whole.arrayBuffer();
  const size = bytes.byteLength;
  const from = m[1] ? Number(m[1]) : Math.max(0, size - Number(m[2]));
  const to = m[1] && m[2] ? Math.min(Number(m[2]), size - 1) : size - 1;
  const headers = new Headers(whole.headers);
  if (from >= size || to < from) {
    headers.set("Content-Range", `bytes */${size}`);
    headers.delete("Content-Length");
    return new Response(null, { status: 416, headers });
  }
  headers.set("Content-Range", `bytes ${from}-${to}/${size}`);
  headers.set("Content-Length", String(to - from + 1));
  return new Response(bytes.slice(from, to + 1), { status: 206, headers });
};

// Ports of this machine are used by one program after the other. When the page is asked for there, and
// what runs now has no hudiscope, this worker leaves.
const loopback = /^(localhost|127\.0\.0\.1|\[::1\]|.*\.localhost)$/.test(self.location.hostname);
const replaced = async () => {
  try {
    const answer = await fetch(address("sw.js"), { cache: "no-store" });
    return answer.ok ? !(await answer.text()).startsWith("const release = ") : answer.status === 404 || answer.status === 410;
  } catch {
    return false; // nothing runs: the page works all the same
  }
};
const leave = async () => {
  await self.registration.unregister();
  for (const name of await caches.keys()) if (name.startsWith(prefix)) await caches.delete(name);
};

self.addEventListener("fetch", (e) => {
  const request = e.request;
  if (request.method !== "GET" && request.method !== "HEAD") return;
  const url = new URL(request.url);
  if (url.href.split(/[?#]/)[0] === address("tables.json")) {
    // The tables of the server: without it there are none.
    e.respondWith(fetch(request).catch(() => new Response("[]", { headers: { "Content-Type": "application/json" } })));
    return;
  }
  const name = named(request.url);
  if (!name) return;
  e.respondWith((async () => {
    if (request.mode === "navigate" && loopback && (await replaced())) {
      await leave();
      return fetch(request);
    }
    const cache = await caches.open(present);
    let whole = await cache.match(address(name));
    if (!whole) {
      try {
        whole = await load(name);
      } catch (err) {
        // The server has another release. A table of that is as good; a program is not.
        if (name.endsWith(".zip")) return fetch(request);
        return new Response(String((err && err.message) || err), { status: 504, statusText: "Not of this release" });
      }
    }
    return part(request, whole);
  })());
});
