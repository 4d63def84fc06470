// Bundles the TypeScript of this folder and runs parts of it: unit and page tests, tests against a server, the mock, shots.
// Usage: node test/run.mjs unit|page|server|mock|dev|shots …; `page` stands for all tests that begin so, `page-plans` for one.
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, ".out");
const programs = new Set(["mock", "dev", "shots"]);
const wanted = process.argv.slice(2);

const tests = readdirSync(here).flatMap((file) => /^(.+)\.test\.ts$/.exec(file)?.[1] ?? []);
await build({
  absWorkingDir: here,
  entryPoints: {
    ...Object.fromEntries(tests.map((name) => [name, `${name}.test.ts`])),
    mock: "mock/main.ts",
    dev: "dev.ts",
    shots: "shots.ts",
  },
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  external: ["../build.mjs", "../../build.mjs"],
  logLevel: "warning",
});
const kind = (prefix) => tests.filter((name) => name === prefix || name.startsWith(`${prefix}-`));
const names = wanted
  .filter((name) => !name.startsWith("-"))
  .flatMap((name) => (programs.has(name) ? [name] : kind(name)));
const files = names.map((name) => join(out, `${name}.mjs`));
const program = wanted.some((name) => programs.has(name));
const args = program
  ? files
  : ["--test", "--test-reporter=spec", "--test-concurrency=1", ...wanted.filter((a) => a.startsWith("-")), ...files];
const child = spawn(process.execPath, args, { stdio: "inherit", cwd: dirname(here) });
child.on("exit", (code) => process.exit(code ?? 1));
