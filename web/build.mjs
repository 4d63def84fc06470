// Builds the page into dist/. `build(outdir)` is also used by check.mjs and the tests, so that there is one recipe.
// Same input, same bytes: versions are pinned by package-lock.json, and nothing here reads the clock or the machine.
import { build as bundle } from "esbuild";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const embedded = ["preact", "@preact/signals", "@preact/signals-core", "@dagrejs/dagre", "@dagrejs/graphlib"];

/** Builds the page into `outdir`, which is emptied first. */
export async function build(outdir) {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const common = {
    absWorkingDir: root,
    bundle: true,
    minify: true,
    legalComments: "none",
    charset: "utf8",
    target: ["chrome123", "firefox121", "safari17.5"],
    logLevel: "warning",
  };
  await bundle({
    ...common,
    entryPoints: { app: "src/main.tsx", docs: "src/docs/main.tsx" },
    outdir,
    format: "esm",
    // What both pages use goes into shared.js.
    splitting: true,
    chunkNames: "shared",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  // A shared worker is a classic script of its own: every browser that has them can load it.
  await bundle({ ...common, entryPoints: { live: "src/live/worker.ts" }, outdir, format: "iife" });
  await bundle({ ...common, entryPoints: { app: "src/styles/app.css" }, outdir });
  for (const name of ["index.html", "docs.html", "icon.svg"]) await cp(join(root, "src", name), join(outdir, name));
  await writeFile(join(outdir, "licenses.txt"), await licenses());
}

/** The licence texts of the libraries inside app.js and docs.js, which ask to travel with them. */
async function licenses() {
  const parts = [];
  for (const name of embedded) {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const text = await readFile(join(folder, "LICENSE"), "utf8");
    parts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return parts.join(`\n${"-".repeat(72)}\n\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build(join(root, "dist"));
