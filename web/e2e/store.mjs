// An object store of S3's kind for the tests: it lists pages of the files of a folder, checks the
// signature in the query of each request, and answers as the real ones do when it is wrong.
import crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const xml = (s) => s.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const escape = (s) => encodeURIComponent(s).replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
const hmac = (key, s) => crypto.createHmac("sha256", key).update(s).digest();

// signature computes the signature that a request must have (Signature Version 4, in the query).
function signature(method, host, url, secret) {
  const [pathname, query] = url.split("?");
  const params = query.split("&").filter((p) => !p.startsWith("X-Amz-Signature="));
  const get = (name) => decodeURIComponent((params.find((p) => p.startsWith(name + "=")) || "=").split("=")[1]);
  const scope = get("X-Amz-Credential").split("/").slice(1);
  const canonical = [method, pathname, params.sort().join("&"), "host:" + host, "", "host", "UNSIGNED-PAYLOAD"].join("\n");
  const text = ["AWS4-HMAC-SHA256", get("X-Amz-Date"), scope.join("/"), crypto.createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = scope.reduce((k, part) => hmac(k, part), "AWS4" + secret);
  return hmac(key, text).toString("hex");
}

// store serves the folder root as a bucket. keys are {id, secret, token}, without them it is public;
// origin is the one that may read it, "" for none. Both may be changed while it serves.
export function store(root, { bucket = "lake", keys = null, origin = "*", pageSize = 1000 } = {}) {
  const self = { bucket, keys, origin, requests: [] };
  const files = [];
  const walk = (dir, at) => {
    for (const d of fs.readdirSync(dir, { withFileTypes: true })) {
      if (d.isDirectory()) walk(path.join(dir, d.name), at + d.name + "/");
      else files.push({ key: at + d.name, file: path.join(dir, d.name) });
    }
  };
  walk(root, "");
  for (const f of files) {
    f.data = fs.readFileSync(f.file);
    f.etag = crypto.createHash("md5").update(f.data).digest("hex");
  }
  files.sort((a, b) => (a.key < b.key ? -1 : 1));
  self.files = files;
  const server = http.createServer((req, res) => {
    self.requests.push({ method: req.method, url: req.url, range: req.headers.range });
    const headers = {};
    if (self.origin) {
      headers["Access-Control-Allow-Origin"] = self.origin;
      headers["Access-Control-Expose-Headers"] = "Content-Range, ETag, Content-Length, Accept-Ranges, Last-Modified";
    }
    const refuse = (status, code) => res.writeHead(status, { ...headers, "Content-Type": "application/xml" }).end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
    const url = new URL(req.url, "http://x");
    const q = url.searchParams;
    if (self.keys) {
      const id = (q.get("X-Amz-Credential") || "").split("/")[0];
      if (!id) return refuse(403, "AccessDenied");
      if (id !== self.keys.id) return refuse(403, "InvalidAccessKeyId");
      if ((q.get("X-Amz-Security-Token") || "") !== (self.keys.token || "")) return refuse(400, "ExpiredToken");
      if (q.get("X-Amz-Signature") !== signature(req.method, req.headers.host, req.url, self.keys.secret)) return refuse(403, "SignatureDoesNotMatch");
    }
    const name = decodeURIComponent(url.pathname).slice(1);
    const [head, ...rest] = name.split("/");
    if (head !== self.bucket) return refuse(404, "NoSuchBucket");
    const key = rest.join("/");
    if (!key) {
      const prefix = q.get("prefix") || "";
      const delimiter = q.get("delimiter") || "";
      const after = q.get("continuation-token") || "";
      const names = new Map();
      for (const f of files) {
        if (!f.key.startsWith(prefix)) continue;
        const cut = delimiter ? f.key.indexOf(delimiter, prefix.length) : -1;
        const n = cut < 0 ? f.key : f.key.slice(0, cut + 1);
        if (n > after && !names.has(n)) names.set(n, cut < 0 ? f : null);
      }
      const page = [...names].slice(0, pageSize);
      const more = names.size > page.length;
      const parts = page.map(([n, f]) =>
        f
          ? `<Contents><Key>${escape(n)}</Key><LastModified>2026-03-07T16:26:11.000Z</LastModified><ETag>&quot;${f.etag}&quot;</ETag><Size>${f.data.length}</Size></Contents>`
          : `<CommonPrefixes><Prefix>${escape(n)}</Prefix></CommonPrefixes>`
      );
      const next = more ? `<NextContinuationToken>${xml(page.at(-1)[0])}</NextContinuationToken>` : "";
      res.writeHead(200, { ...headers, "Content-Type": "application/xml" });
      res.end(`<?xml version="1.0"?><ListBucketResult><Name>${self.bucket}</Name><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${next}${parts.join("")}</ListBucketResult>`);
      return;
    }
    const f = files.find((x) => x.key === key);
    if (!f) return refuse(404, "NoSuchKey");
    headers.ETag = `"${f.etag}"`;
    headers["Last-Modified"] = "Sat, 07 Mar 2026 16:26:11 GMT";
    const m = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range || "");
    if (!m) return res.writeHead(200, { ...headers, "Content-Length": f.data.length }).end(f.data);
    const from = Number(m[1]);
    const to = Math.min(Number(m[2]), f.data.length - 1);
    if (from >= f.data.length) return res.writeHead(416, { ...headers, "Content-Range": `bytes */${f.data.length}` }).end();
    res.writeHead(206, { ...headers, "Content-Range": `bytes ${from}-${to}/${f.data.length}`, "Content-Length": to - from + 1 });
    res.end(f.data.subarray(from, to + 1));
  });
  return new Promise((done) => {
    server.listen(0, "127.0.0.1", () => {
      self.url = `http://127.0.0.1:${server.address().port}`;
      self.close = () => new Promise((end) => { server.closeAllConnections(); server.close(end); });
      done(self);
    });
  });
}
