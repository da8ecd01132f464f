// What the scripts that measure in Chromium share: the browser as they start it, the latency of a network, and medians.
import { chromium } from "playwright-core";
import { execFileSync } from "node:child_process";
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
