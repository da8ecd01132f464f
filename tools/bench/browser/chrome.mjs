// What the scripts that measure in Chromium share: the browser as they start it, the processor time it took, the
// latency of a network, and medians.
import { chromium } from "playwright-core";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

// median is the middle one, or the mean of the two in the middle.
export const median = (v) => {
  const s = [...v].sort((a, b) => a - b);
  return (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2;
};

// machine says on what was measured.
export const machine = () => `${new Date().toISOString().slice(0, 10)}, ${os.cpus().length} cores (${os.cpus()[0].model.trim()}), ${execFileSync("go", ["env", "GOVERSION"], { encoding: "utf8" }).trim()}, Node ${process.versions.node}`;

const tick = 1 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

// stat reads the fields behind the name in a stat file of /proc, from the state on.
function stat(file) {
  const text = fs.readFileSync(file, "utf8");
  const end = text.lastIndexOf(")");
  return { name: text.slice(text.indexOf("(") + 1, end), fields: text.slice(end + 2).split(" ") };
}

// processes are those that descend from this one: the browser's.
function processes() {
  const children = new Map();
  for (const pid of fs.readdirSync("/proc").filter((x) => /^\d+$/.test(x))) {
    try {
      const { fields } = stat(`/proc/${pid}/stat`);
      if (!children.has(fields[1])) children.set(fields[1], []);
      children.get(fields[1]).push({ pid, fields });
    } catch {
      // It has ended.
    }
  }
  const out = [];
  for (const todo = [String(process.pid)]; todo.length; ) {
    for (const p of children.get(todo.pop()) ?? []) {
      out.push(p);
      todo.push(p.pid);
    }
  }
  return out;
}

// cpu is the processor time in seconds that all processes of the browser have taken, those that ended included.
export const cpu = () => processes().reduce((sum, { fields }) => sum + fields.slice(11, 15).reduce((a, b) => a + Number(b), 0), 0) * tick;

// threads is the processor time in seconds of every thread of the browser, by its id.
export function threads() {
  const out = new Map();
  for (const { pid } of processes()) {
    try {
      for (const t of fs.readdirSync(`/proc/${pid}/task`)) {
        const { name, fields } = stat(`/proc/${pid}/task/${t}/stat`);
        out.set(t, { name, cpu: (Number(fields[11]) + Number(fields[12])) * tick });
      }
    } catch {
      // It has ended.
    }
  }
  return out;
}

// away puts a server at a distance: what goes either way arrives half of the round trip later. Bytes that came from the
// server are counted in it.
export function away(url, roundTrip) {
  const target = new URL(url);
  const out = { bytes: 0 };
  const server = net.createServer((near) => {
    const far = net.connect(Number(target.port), target.hostname);
    for (const [from, to] of [[near, far], [far, near]]) {
      from.setNoDelay(true);
      const later = (f) => (roundTrip ? setTimeout(f, roundTrip / 2) : f());
      from.on("data", (b) => {
        if (from === far) out.bytes += b.length;
        later(() => to.destroyed || to.write(b));
      });
      from.on("end", () => later(() => to.end()));
      from.on("error", () => to.destroy());
    }
  });
  return new Promise((done) =>
    server.listen(0, "127.0.0.1", () => {
      out.url = `http://127.0.0.1:${server.address().port}`;
      out.close = () => server.close();
      done(out);
    })
  );
}
