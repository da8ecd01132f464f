// A plain web server over the files of one zip archive: listings as JSON or HTML, byte
// ranges, and a log of what was asked of it.
import http from "node:http";
import { inflateRawSync } from "node:zlib";

/** The files of a zip archive, by path. */
export function unzip(buffer) {
  const end = buffer.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0) throw new Error("not a zip archive");
  const files = new Map();
  let at = buffer.readUInt32LE(end + 16);
  for (let n = buffer.readUInt16LE(end + 10); n > 0; n--) {
    if (buffer.readUInt32LE(at) !== 0x02014b50) throw new Error("broken central directory");
    const method = buffer.readUInt16LE(at + 10);
    const size = buffer.readUInt32LE(at + 20);
    const nameLength = buffer.readUInt16LE(at + 28);
    const name = buffer.toString("utf8", at + 46, at + 46 + nameLength);
    const local = buffer.readUInt32LE(at + 42);
    const start = local + 30 + buffer.readUInt16LE(local + 26) + buffer.readUInt16LE(local + 28);
    const data = buffer.subarray(start, start + size);
    if (!name.endsWith("/")) files.set(name, method === 0 ? data : inflateRawSync(data));
    at += 46 + nameLength + buffer.readUInt16LE(at + 30) + buffer.readUInt16LE(at + 32);
  }
  return files;
}

function list(files, dir) {
  const names = new Map();
  for (const [path, data] of files) {
    if (!path.startsWith(dir)) continue;
    const [first, ...rest] = path.slice(dir.length).split("/");
    names.set(first, rest.length ? null : data.length);
  }
  return [...names].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Starts a server. mounts maps a path prefix to {files, json} or {redirect}; every
 * request is pushed to log.
 */
export async function serve(mounts) {
  const log = [];
  const server = http.createServer((req, res) => {
    const path = decodeURIComponent(new URL(req.url, "http://x").pathname);
    log.push({ method: req.method, path, range: req.headers.range ?? "" });
    const mount = Object.keys(mounts).find((p) => path.startsWith(p));
    const m = mounts[mount];
    if (!m) return void res.writeHead(404).end("not here");
    if (m.redirect) return void res.writeHead(302, { Location: m.redirect + path.slice(mount.length) }).end();
    const rest = path.slice(mount.length);
    const data = m.files.get(rest);
    if (data) {
      const range = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? "");
      if (!range) return void res.writeHead(200, { "Content-Length": data.length, "Accept-Ranges": "bytes" }).end(req.method === "HEAD" ? undefined : data);
      const [from, to] = [Number(range[1]), Math.min(Number(range[2]), data.length - 1)];
      if (from > to) return void res.writeHead(416, { "Content-Range": `bytes */${data.length}` }).end();
      const part = data.subarray(from, to + 1);
      return void res
        .writeHead(206, { "Content-Range": `bytes ${from}-${to}/${data.length}`, "Content-Length": part.length })
        .end(req.method === "HEAD" ? undefined : part);
    }
    const entries = rest === "" || rest.endsWith("/") ? list(m.files, rest) : [];
    if (!entries.length) return void res.writeHead(404).end("not here");
    if (m.json && /application\/json/.test(req.headers.accept ?? "")) {
      const body = entries.map(([name, size]) => (size === null ? { name, type: "directory" } : { name, type: "file", size }));
      return void res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    }
    const links = entries.map(([name, size]) => {
      const slash = size === null ? "/" : "";
      return `<a href="${encodeURIComponent(name)}${slash}">${name.replace(/&/g, "&amp;").replace(/</g, "&lt;")}${slash}</a>  ${size ?? "-"}`;
    });
    res.writeHead(200, { "Content-Type": "text/html" }).end(`<html><head><title>Index of ${path}</title></head><body><h1>Index of ${path}</h1><pre><a href="../">../</a>\n${links.join("\n")}\n</pre></body></html>`);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { url: `http://127.0.0.1:${server.address().port}`, log, close: () => server.close() };
}
