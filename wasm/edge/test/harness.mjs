// What the tests of the edge worker share: tests that are counted, and answers that are compared.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");

export const counts = { passed: 0, failed: 0 };

export async function test(what, fn) {
  try {
    await fn();
    counts.passed++;
    console.log(`ok ${what}`);
  } catch (err) {
    counts.failed++;
    console.log(`not ok ${what}\n  ${String(err?.stack ?? err).replace(/\n/g, "\n  ")}`);
  }
}

export function same(got, want, what) {
  if (!isDeepStrictEqual(got, want)) throw new Error(`${what}\n got ${JSON.stringify(got)}\nwant ${JSON.stringify(want)}`);
}
