// Types generated from the document of the server at JARVIS_URL, and a program that uses them: it compiles strictly, and it works.
import { build } from "esbuild";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";

const url = (process.env.JARVIS_URL ?? "").replace(/\/$/, "");
if (!url) throw new Error("set JARVIS_URL to the address of a running `jarvis serve`, such as http://127.0.0.1:8004");

const client = join("test", "client");

function run(program: string, ...args: string[]): void {
  const done = spawnSync(program, args, {
    encoding: "utf8",
    env: { ...process.env, JARVIS_URL: url },
    timeout: 120_000,
  });
  assert.equal(done.status, 0, `${program} ${args.join(" ")}\n${done.error ?? ""}${done.stdout}${done.stderr}`);
}

test("a program with generated types compiles, and runs against the server", async () => {
  run(
    join(client, "node_modules", ".bin", "openapi-typescript"),
    `${url}/openapi.json`,
    "-o",
    join(client, "generated", "api.d.ts"),
  );
  run(join("node_modules", ".bin", "tsc"), "-p", client);
  const outfile = join("test", ".out", "client.mjs");
  await build({
    entryPoints: [join(client, "use.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "warning",
  });
  run(process.execPath, outfile);
});
