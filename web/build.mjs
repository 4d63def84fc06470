// Builds the page into dist/. `build(outdir)` is also used by check.mjs and the tests, so that there is one recipe.
// Same input, same bytes: versions are pinned by package-lock.json, and nothing here reads the clock or the machine.
import { build as bundle } from "esbuild";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const embedded = [
  "preact",
  "@preact/signals",
  "@preact/signals-core",
  "@dagrejs/dagre",
  "@dagrejs/graphlib",
  "lowlight",
  "highlight.js",
  "devlop",
  "temml",
  "papaparse",
];

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
  const { metafile } = await bundle({
    ...common,
    metafile: true,
    // What is loaded later has a name of its own; what several of these share goes into chunks.
    entryPoints: {
      table: "src/lazy/table.ts",
      pages: "src/ui/pages.tsx",
      app: "src/main.tsx",
      docs: "src/docs/main.tsx",
      code: "src/lazy/code.ts",
      math: "src/lazy/math.ts",
    },
    outdir,
    format: "esm",
    splitting: true,
    chunkNames: "chunk-[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  // A shared worker is a classic script of its own: every browser that has them can load it.
  await bundle({ ...common, entryPoints: { live: "src/live/worker.ts" }, outdir, format: "iife" });
  await bundle({ ...common, entryPoints: { app: "src/styles/app.css" }, outdir });
  await cp(join(root, "src", "icon.svg"), join(outdir, "icon.svg"));
  // The browser learns from the page itself which chunks its script will ask for, and does not wait for the script to say so.
  for (const [page, script] of [
    ["index.html", "app.js"],
    ["docs.html", "docs.js"],
  ]) {
    const [, built] = Object.entries(metafile.outputs).find(([path]) => path.endsWith(`/${script}`)) ?? [];
    const chunks = (built?.imports ?? [])
      .filter((one) => one.kind === "import-statement")
      .map((one) => basename(one.path));
    const links = chunks.map((name) => `<link rel="modulepreload" href="/${name}" />\n    `).join("");
    const html = await readFile(join(root, "src", page), "utf8");
    await writeFile(join(outdir, page), html.replace(`<script src="/${script}"`, `${links}<script src="/${script}"`));
  }
  await writeFile(join(outdir, "licenses.txt"), await licenses());
}

/** The licence texts of the libraries inside the scripts, which ask to travel with them. */
async function licenses() {
  const parts = [];
  for (const name of embedded) {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((one) => /^licen[cs]e(?:\.\w+)?$/i.test(one));
    if (!file) throw new Error(`${name} brings no licence text`);
    const text = await readFile(join(folder, file), "utf8");
    parts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return parts.join(`\n${"-".repeat(72)}\n\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build(join(root, "dist"));
