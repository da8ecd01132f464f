// The processor time of the browser that a script has started, from Linux's accounting of processes and threads.
import { execFileSync } from "node:child_process";
import fs from "node:fs";

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
