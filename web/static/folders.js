// Folders of this machine that the user chose with the browser's own dialog, remembered by their
// handles in IndexedDB: the browser asks once more before a page may read one again. No file and no
// path of the machine is stored.
"use strict";

(() => {
  const keep = 12;
  const settled = (r) => new Promise((ok, bad) => {
    r.onsuccess = () => ok(r.result);
    r.onerror = () => bad(r.error);
  });
  const store = async (mode, use) => {
    const open = indexedDB.open("hudiscope-folders", 1);
    open.onupgradeneeded = () => open.result.createObjectStore("folders", { keyPath: "id", autoIncrement: true });
    const db = await settled(open);
    try {
      return await use(db.transaction("folders", mode).objectStore("folders"));
    } finally {
      db.close();
    }
  };
  const all = async () => (await store("readonly", (s) => settled(s.getAll()))).sort((a, b) => b.at - a.at);

  const remember = async (handle) => {
    const known = await all();
    const same = [];
    for (const f of known) if (await f.handle.isSameEntry(handle)) same.push(f.id);
    const old = known.filter((f) => !same.includes(f.id)).slice(keep - 1).map((f) => f.id);
    await store("readwrite", async (s) => {
      for (const id of [...same, ...old]) s.delete(id);
      await settled(s.add({ name: handle.name, at: Date.now(), handle }));
    });
  };

  window.hudiscope.folders = {
    works: typeof window.showDirectoryPicker === "function" && typeof indexedDB === "object",

    // pick asks the user for a folder; null when none was chosen.
    async pick() {
      let handle;
      try {
        handle = await window.showDirectoryPicker({ id: "table", mode: "read" });
      } catch (err) {
        if (err && err.name === "AbortError") return null;
        throw err;
      }
      await remember(handle).catch(() => {}); // storage may be forbidden: the folder opens all the same
      return handle;
    },

    // list are the folders chosen earlier: a JSON text of [{id, name, at}].
    async list() {
      return JSON.stringify((await all()).map(({ id, name, at }) => ({ id, name, at })));
    },

    // again is the handle of a folder chosen earlier, once the user has allowed it; null if not.
    async again(id) {
      const f = (await all()).find((f) => f.id === id);
      if (!f) throw new Error("the browser does not remember this folder any more");
      const mode = { mode: "read" };
      if ((await f.handle.queryPermission(mode)) !== "granted" && (await f.handle.requestPermission(mode)) !== "granted") return null;
      await remember(f.handle).catch(() => {});
      return f.handle;
    },

    async forget(id) {
      await store("readwrite", (s) => settled(s.delete(id)));
    },

    // files lists what a folder holds: [{path, file}], at most limit of them.
    async files(handle, limit, told) {
      const out = [];
      const dirs = [[handle, handle.name || "table"]];
      let last = 0;
      while (dirs.length) {
        const [dir, at] = dirs.pop();
        let batch = [];
        const flush = async () => {
          for (const f of await Promise.all(batch)) out.push(f);
          batch = [];
          if (out.length > limit) throw new Error(`it holds more than ${limit.toLocaleString("en")} files; serve it over HTTP instead`);
          if (out.length - last >= 500) told((last = out.length));
        };
        for await (const [name, h] of dir.entries()) {
          const path = at + "/" + name;
          if (h.kind === "directory") dirs.push([h, path]);
          else batch.push(h.getFile().then((file) => ({ path, file }), (err) => { throw new Error(path + ": " + err.message); }));
          if (batch.length >= 64) await flush();
        }
        await flush();
      }
      return out;
    },
  };
})();
