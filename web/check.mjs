// Checks what is committed in dist/: it equals a fresh build, it is small enough, and it asks nothing of other origins.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "./build.mjs";

/** The bound on everything in dist/ together, gzip -9, in bytes. The project promises 300 kB; we hold ourselves to less. */
const LIMIT = 120_000;
const root = dirname(fileURLToPath(import.meta.url));
const problems = [];

const fresh = await mkdtemp(join(tmpdir(), "jarvis-web-"));
try {
  await build(fresh);
  const kept = join(root, "dist");
  const names = new Set([...(await readdir(fresh)), ...(await readdir(kept).catch(() => []))]);
  let total = 0;
  for (const name of [...names].sort()) {
    const [a, b] = await Promise.all([fresh, kept].map((folder) => readFile(join(folder, name)).catch(() => null)));
    if (!a || !b || !a.equals(b)) problems.push(`dist/${name} is not what the sources give; run \`npm run build\``);
    if (!b) continue;
    const size = gzipSync(b, { level: 9 }).length;
    total += size;
    console.log(`${name.padEnd(14)} ${String(b.length).padStart(8)} B ${String(size).padStart(8)} B gzip`);
    if (/\.(html|css)$/.test(name) && /(?:src|href|url\(|@import)\s*=?\s*["'(]?\s*(?:https?:)?\/\//i.test(b.toString()))
      problems.push(`dist/${name} names another origin`);
    if (name.endsWith(".html") && /\sstyle=|<style|<script(?![^>]*\ssrc=)|\son[a-z]+=/i.test(b.toString()))
      problems.push(`dist/${name} has an inline style or script, which the content policy refuses`);
  }
  console.log(`${"all".padEnd(14)} ${"".padStart(10)} ${String(total).padStart(8)} B gzip (limit ${LIMIT})`);
  if (total > LIMIT) problems.push(`dist/ is ${total} bytes compressed, more than ${LIMIT}`);
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
