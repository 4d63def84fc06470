// Checks what is committed in dist/: it equals a fresh build, it is small enough, and it asks nothing of other origins.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "./build.mjs";

/** Bounds in bytes, gzip -9: on what the page needs before anything is shown, and on everything in dist/ together. */
const FIRST = 120_000;
const ALL = 300_000;
const root = dirname(fileURLToPath(import.meta.url));
const problems = [];

const fresh = await mkdtemp(join(tmpdir(), "jarvis-web-"));
try {
  await build(fresh);
  const kept = join(root, "dist");
  const names = new Set([...(await readdir(fresh)), ...(await readdir(kept).catch(() => []))]);
  const sizes = new Map();
  const sources = new Map();
  for (const name of [...names].sort()) {
    const [a, b] = await Promise.all([fresh, kept].map((folder) => readFile(join(folder, name)).catch(() => null)));
    if (!a || !b || !a.equals(b)) problems.push(`dist/${name} is not what the sources give; run \`npm run build\``);
    if (!b) continue;
    const size = gzipSync(b, { level: 9 }).length;
    sizes.set(name, size);
    if (name.endsWith(".js")) sources.set(name, b.toString());
    console.log(`${name.padEnd(20)} ${String(b.length).padStart(8)} B ${String(size).padStart(8)} B gzip`);
    if (/\.(html|css)$/.test(name) && /(?:src|href|url\(|@import)\s*=?\s*["'(]?\s*(?:https?:)?\/\//i.test(b.toString()))
      problems.push(`dist/${name} names another origin`);
    if (name.endsWith(".html") && /\sstyle=|<style|<script(?![^>]*\ssrc=)|\son[a-z]+=/i.test(b.toString()))
      problems.push(`dist/${name} has an inline style or script, which the content policy refuses`);
  }
  // What the page loads at once: its own files, and the scripts that these import without waiting.
  const first = new Set(["index.html", "app.css", "icon.svg", "app.js"]);
  for (const name of first)
    for (const [, other] of (sources.get(name) ?? "").matchAll(/(?:from|import)"\.\/([\w.-]+)"/g)) first.add(other);
  const sum = (names) => [...names].reduce((all, name) => all + (sizes.get(name) ?? 0), 0);
  for (const [what, size, limit] of [
    ["at first", sum(first), FIRST],
    ["all", sum(sizes.keys()), ALL],
  ]) {
    console.log(`${what.padEnd(20)} ${"".padStart(10)} ${String(size).padStart(8)} B gzip (limit ${limit})`);
    if (size > limit) problems.push(`${what}: dist/ is ${size} bytes compressed, more than ${limit}`);
  }
  // Text from outside must have no way to become markup or code: the sources name none of the ways.
  const unsafe = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|javascript:/;
  for (const file of await readdir(join(root, "src"), { recursive: true, withFileTypes: true }))
    if (file.isFile() && unsafe.test(await readFile(join(file.parentPath ?? file.path, file.name), "utf8")))
      problems.push(`src: ${file.name} names a way to make markup or code of text`);
} finally {
  await rm(fresh, { recursive: true, force: true });
}
for (const problem of problems) console.error(`error: ${problem}`);
process.exit(problems.length ? 1 : 0);
