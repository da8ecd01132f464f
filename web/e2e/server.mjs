// A small static server for the tests: files of a folder with Range, directory listings as
// HTML, and CORS that can be left out to see what the page says then.
import http from "node:http";
import fs from "node:fs";
import path from "node:path";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".zip": "application/zip",
  ".webmanifest": "application/manifest+json",
};

const escape = (s) => s.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

export function serve(root, { cors = false, listing = true, delay = 0, port = 0 } = {}) {
  const requests = [];
  const server = http.createServer(async (req, res) => {
    requests.push({ method: req.method, url: req.url, range: req.headers.range });
    if (delay) await new Promise((done) => setTimeout(done, delay));
    const headers = {};
    if (cors) {
      headers["Access-Control-Allow-Origin"] = "*";
      headers["Access-Control-Expose-Headers"] = "Content-Range, Content-Length, ETag, Last-Modified, Accept-Ranges";
    }
    const name = decodeURIComponent(new URL(req.url, "http://x").pathname);
    const file = path.join(root, path.normalize(name));
    let st;
    try {
      st = fs.statSync(file);
    } catch {
      res.writeHead(404, headers).end("not found");
      return;
    }
    if (st.isDirectory()) {
      const index = path.join(file, "index.html");
      if (fs.existsSync(index)) {
        res.writeHead(200, { ...headers, "Content-Type": types[".html"] });
        fs.createReadStream(index).pipe(res);
        return;
      }
      if (!listing) {
        res.writeHead(403, headers).end("no listing");
        return;
      }
      const names = fs.readdirSync(file, { withFileTypes: true }).map((d) => d.name + (d.isDirectory() ? "/" : ""));
      const items = names.map((n) => `<a href="${escape(encodeURIComponent(n).replace(/%2F$/, "/"))}">${escape(n)}</a>`);
      res.writeHead(200, { ...headers, "Content-Type": types[".html"] });
      res.end(`<!doctype html><title>Index of ${escape(name)}</title><h1>Index of ${escape(name)}</h1><pre><a href="../">../</a>\n${items.join("\n")}</pre>`);
      return;
    }
    headers["Content-Type"] = types[path.extname(file)] || "application/octet-stream";
    headers["Accept-Ranges"] = "bytes";
    headers["ETag"] = `"${st.mtimeMs.toString(36)}-${st.size.toString(36)}"`;
    const m = /^bytes=(\d+)-(\d*)$/.exec(req.headers.range || "");
    if (m) {
      const from = Number(m[1]);
      const to = Math.min(m[2] ? Number(m[2]) : st.size - 1, st.size - 1);
      if (from >= st.size) {
        res.writeHead(416, { ...headers, "Content-Range": `bytes */${st.size}` }).end();
        return;
      }
      res.writeHead(206, { ...headers, "Content-Range": `bytes ${from}-${to}/${st.size}`, "Content-Length": to - from + 1 });
      fs.createReadStream(file, { start: from, end: to }).pipe(res);
      return;
    }
    res.writeHead(200, { ...headers, "Content-Length": st.size });
    if (req.method === "HEAD") res.end();
    else fs.createReadStream(file).pipe(res);
  });
  return new Promise((done) => {
    server.listen(port, "127.0.0.1", () => {
      const url = `http://127.0.0.1:${server.address().port}`;
      done({ url, requests, close: () => new Promise((end) => { server.closeAllConnections(); server.close(end); }) });
    });
  });
}
