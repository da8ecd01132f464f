// Pictures for screens.test.mjs: PNG files are read and written, made smaller by averaging, given few colours, compared.
import zlib from "node:zlib";

const signature = Buffer.from("89504e470d0a1a0a", "hex");
const bytesOf = { 0: 1, 2: 3, 3: 1, 6: 4 };

// decode reads a PNG of 8 bits a channel, or a palette of 4 or 8, that is not interlaced: {width, height, data} with three
// bytes a pixel, transparency left out.
export function decode(file) {
  if (!file.subarray(0, 8).equals(signature)) throw new Error("no PNG");
  let width, height, depth, type, palette;
  const parts = [];
  for (let at = 8; at < file.length; ) {
    const size = file.readUInt32BE(at);
    const name = file.toString("latin1", at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + size);
    at += 12 + size;
    if (name === "IHDR") {
      [width, height, depth, type] = [body.readUInt32BE(0), body.readUInt32BE(4), body[8], body[9]];
      if (!bytesOf[type] || (depth !== 8 && !(type === 3 && depth === 4)) || body[12]) throw new Error(`a PNG of type ${type}, depth ${depth}, interlace ${body[12]} is not read`);
    } else if (name === "PLTE") palette = body;
    else if (name === "IDAT") parts.push(body);
    else if (name === "IEND") break;
  }
  const n = bytesOf[type];
  const stride = Math.ceil((width * n * depth) / 8);
  const raw = zlib.inflateSync(Buffer.concat(parts));
  if (raw.length !== (stride + 1) * height) throw new Error(`a PNG of ${raw.length} bytes is no ${width} × ${height}`);
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    const from = y * (stride + 1) + 1;
    const to = y * stride;
    raw.copy(rows, to, from, from + stride);
    const up = to - stride;
    if (filter === 1) for (let x = n; x < stride; x++) rows[to + x] += rows[to + x - n];
    else if (filter === 2 && y) for (let x = 0; x < stride; x++) rows[to + x] += rows[up + x];
    else if (filter === 3) for (let x = 0; x < stride; x++) rows[to + x] += ((x >= n ? rows[to + x - n] : 0) + (y ? rows[up + x] : 0)) >> 1;
    else if (filter === 4) {
      for (let x = 0; x < stride; x++) {
        const a = x >= n ? rows[to + x - n] : 0;
        const b = y ? rows[up + x] : 0;
        const c = x >= n && y ? rows[up + x - n] : 0;
        const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
        rows[to + x] += pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      }
    }
  }
  if (type === 2) return { width, height, data: rows };
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++, to += 3) {
      const at = y * stride + x * n;
      if (type === 0) data.fill(rows[at], to, to + 3);
      else if (type === 3) {
        const i = depth === 8 ? rows[at] : (rows[y * stride + (x >> 1)] >> (x & 1 ? 0 : 4)) & 15;
        palette.copy(data, to, i * 3, i * 3 + 3);
      } else {
        data[to] = rows[at];
        data[to + 1] = rows[at + 1];
        data[to + 2] = rows[at + 2];
      }
    }
  }
  return { width, height, data };
}

// smaller averages squares of by × by pixels.
export function smaller({ width, height, data }, by) {
  const [w, h] = [Math.floor(width / by), Math.floor(height / by)];
  const out = Buffer.alloc(w * h * 3);
  const area = by * by;
  for (let y = 0, to = 0; y < h; y++) {
    for (let x = 0; x < w; x++, to += 3) {
      let [r, g, b] = [0, 0, 0];
      for (let j = 0; j < by; j++) {
        for (let i = 0, at = ((y * by + j) * width + x * by) * 3; i < by; i++, at += 3) {
          r += data[at];
          g += data[at + 1];
          b += data[at + 2];
        }
      }
      out[to] = r / area + 0.5;
      out[to + 1] = g / area + 0.5;
      out[to + 2] = b / area + 0.5;
    }
  }
  return { width: w, height: h, data: out };
}

// flatAt tells whether a pixel and its four neighbours have one colour.
function flatAt({ width, height, data }, x, y) {
  if (!x || !y || x === width - 1 || y === height - 1) return false;
  const at = (y * width + x) * 3;
  const same = (q) => data[at] === data[q] && data[at + 1] === data[q + 1] && data[at + 2] === data[q + 2];
  return same(at - 3) && same(at + 3) && same(at - width * 3) && same(at + width * 3);
}

// chosen gives the colours of a palette: those of surfaces as they are, the others the middle of boxes of like colours.
// counts has every colour, with the number of its pixels that are in surfaces.
function chosen(counts, most) {
  const all = [...counts].map(([c, n]) => ({ n, c: [c >> 16, (c >> 8) & 255, c & 255] })).sort((a, b) => b.n - a.n || a.c[0] - b.c[0] || a.c[1] - b.c[1] || a.c[2] - b.c[2]);
  if (all.length <= most) return all.map((x) => x.c);
  const flat = all.filter((x) => x.n >= 4).slice(0, most >> 1);
  const boxes = [all.slice(flat.length)];
  const span = (box, ch) => Math.max(...box.map((x) => x.c[ch])) - Math.min(...box.map((x) => x.c[ch]));
  const spans = [[0, 1, 2].map((ch) => span(boxes[0], ch))];
  while (boxes.length + flat.length < most) {
    // The widest box is halved, so that no colour is far from its box's middle.
    let at = -1;
    let ch = 0;
    spans.forEach((s, i) => s.forEach((v, k) => (at < 0 || v > spans[at][ch]) && boxes[i].length > 1 && ([at, ch] = [i, k])));
    if (at < 0 || spans[at][ch] === 0) break;
    const values = boxes[at].map((x) => x.c[ch]);
    const cut = (Math.max(...values) + Math.min(...values)) / 2;
    const halves = [boxes[at].filter((x) => x.c[ch] <= cut), boxes[at].filter((x) => x.c[ch] > cut)];
    boxes.splice(at, 1, ...halves);
    spans.splice(at, 1, ...halves.map((b) => [0, 1, 2].map((k) => span(b, k))));
  }
  const middle = (box) => [0, 1, 2].map((ch) => Math.round((Math.max(...box.map((x) => x.c[ch])) + Math.min(...box.map((x) => x.c[ch]))) / 2));
  return [...flat.map((x) => x.c), ...boxes.map(middle)];
}

const crc = new Uint32Array(256).map((_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});
function chunk(name, body) {
  const b = Buffer.alloc(12 + body.length);
  b.writeUInt32BE(body.length, 0);
  b.write(name, 4, "latin1");
  body.copy(b, 8);
  let c = 0xffffffff;
  for (let i = 4; i < 8 + body.length; i++) c = crc[(c ^ b[i]) & 255] ^ (c >>> 8);
  b.writeUInt32BE((c ^ 0xffffffff) >>> 0, 8 + body.length);
  return b;
}

// encode writes a PNG with a palette of at most most colours.
export function encode(picture, most = 256) {
  const { width, height, data } = picture;
  const counts = new Map();
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      const c = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
      counts.set(c, (counts.get(c) || 0) + (flatAt(picture, x, y) ? 1 : 0));
    }
  }
  const colours = chosen(counts, most);
  const index = new Map();
  for (const c of counts.keys()) {
    const [r, g, b] = [c >> 16, (c >> 8) & 255, c & 255];
    let best = 0;
    let least = Infinity;
    colours.forEach((p, i) => {
      const d = (p[0] - r) ** 2 + (p[1] - g) ** 2 + (p[2] - b) ** 2;
      if (d < least) [best, least] = [i, d];
    });
    index.set(c, best);
  }
  const depth = colours.length <= 16 ? 4 : 8;
  const stride = Math.ceil((width * depth) / 8) + 1;
  const raw = Buffer.alloc(stride * height);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      const i = index.get((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
      if (depth === 8) raw[y * stride + 1 + x] = i;
      else raw[y * stride + 1 + (x >> 1)] |= x & 1 ? i : i << 4;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = depth;
  head[9] = 3;
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(colours.flat())),
    chunk("IDAT", zlib.deflateSync(raw, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

// What differs between a baseline and what is there now. A pixel that is far off counts as strong: text, icons and edges
// that are elsewhere. One that is a little off counts where both are flat around it: colours of surfaces.
// Its values are above what few colours cost, and what another version of the browser draws differently.
export const tolerance = { strong: 32, strongPixels: 6, flat: 5, flatPixels: 20 };

export function differences(was, now, t = tolerance) {
  if (was.width !== now.width || was.height !== now.height) return { strong: Infinity, flat: Infinity, worst: 255, marks: null, ok: false };
  const { width, height } = was;
  const [a, b] = [was.data, now.data];
  const marks = new Uint8Array(width * height);
  let [strong, flat, worst] = [0, 0, 0];
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const at = i * 3;
      const d = Math.max(Math.abs(a[at] - b[at]), Math.abs(a[at + 1] - b[at + 1]), Math.abs(a[at + 2] - b[at + 2]));
      if (d > worst) worst = d;
      if (d > t.strong) {
        strong++;
        marks[i] = 2;
      } else if (d > t.flat && flatAt(was, x, y) && flatAt(now, x, y)) {
        flat++;
        marks[i] = 1;
      }
    }
  }
  return { strong, flat, worst, marks, ok: strong <= t.strongPixels && flat <= t.flatPixels };
}

// marked draws the present picture pale, what is far off red, and surfaces of another colour orange.
export function marked(now, marks) {
  const data = Buffer.from(now.data.map((v) => 255 - ((255 - v) >> 2)));
  marks?.forEach((m, i) => m && data.set(m === 2 ? [220, 0, 40] : [255, 150, 0], i * 3));
  return { width: now.width, height: now.height, data };
}

// beside puts pictures next to each other.
export function beside(pictures) {
  const gap = 8;
  const width = pictures.reduce((w, p) => w + p.width, gap * (pictures.length - 1));
  const height = Math.max(...pictures.map((p) => p.height));
  const data = Buffer.alloc(width * height * 3, 128);
  let left = 0;
  for (const p of pictures) {
    for (let y = 0; y < p.height; y++) p.data.copy(data, (y * width + left) * 3, y * p.width * 3, (y + 1) * p.width * 3);
    left += p.width + gap;
  }
  return { width, height, data };
}
