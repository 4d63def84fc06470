// @ts-check
// Every example of the pages works as it is written.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { binary, folder, picture, serve } from "./home.js";

const here = fileURLToPath(new URL("..", import.meta.url));
const root = join(here, "../..");

for (const page of ["docs/node.md", "bindings/node/README.md"])
  test(`the examples of ${page} work`, async (t) => {
    const server = await serve();
    t.after(server.stop);
    const text = readFileSync(join(root, page), "utf8");
    const blocks = [...text.matchAll(/^```(?:js|ts)\n(.*?)^```/gms)].map((match) => match[1] ?? "");
    assert.ok(blocks.length > 0);
    // Where the package is known by its name, and not among the sources: what lies in `dist` is packed.
    const known = join(folder, "node_modules", "jarvis-run");
    mkdirSync(join(known, ".."), { recursive: true });
    if (!existsSync(known)) symlinkSync(here, known);
    writeFileSync(join(folder, "photo.png"), picture);
    cpSync(join(folder, "photo.png"), join(folder, "photo.jpg"));
    for (const [number, block] of blocks.entries()) {
      const file = join(folder, `${number}.mjs`);
      // The address is that of a server that runs by itself.
      writeFileSync(file, block.replaceAll("http://127.0.0.1:8004", server.url));
      const env = { ...process.env, JARVIS_BIN: binary };
      const done = spawnSync(process.execPath, [file], { cwd: folder, env, encoding: "utf8", timeout: 60_000 });
      assert.equal(done.status, 0, `${page}, block ${number + 1}:\n${block}\n${done.stderr}`);
    }
  });
