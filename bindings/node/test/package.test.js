// @ts-check
// What npm installs: the client, and the program of the platform, without a script.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { binary, folder, serve } from "./home.js";

const here = fileURLToPath(new URL("..", import.meta.url));
const platform = `${process.platform}-${process.arch}`;

/**
 * @param {string} cwd
 * @param {string} command
 * @param {string[]} args
 */
function call(cwd, command, ...args) {
  const env = { ...process.env, JARVIS_BIN: "" };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: "utf8", timeout: 240_000 });
  return { status, stdout, stderr: `${stderr}${error ?? ""}` };
}

/**
 * @param {string} cwd
 * @param {string} command
 * @param {string[]} args
 */
function ok(cwd, command, ...args) {
  const { status, stdout, stderr } = call(cwd, command, ...args);
  assert.equal(status, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The package of this platform with the program in it. `npm pack` would compress it for a minute. */
function platformPackage() {
  const own = join(folder, "package");
  cpSync(join(here, "platforms", platform), own, { recursive: true });
  mkdirSync(join(own, "bin"));
  copyFileSync(binary, join(own, "bin", "jarvis"));
  chmodSync(join(own, "bin", "jarvis"), 0o755);
  const tarball = join(folder, "platform.tgz");
  ok(folder, "tar", "--create", "--use-compress-program", "gzip -1", "--file", tarball, "package");
  return tarball;
}

test("all packages are of one version, and none runs a script", () => {
  const main = read(join(here, "package.json"));
  const workspace = /version = "([^"]+)"/.exec(readFileSync(join(here, "../../Cargo.toml"), "utf8"));
  assert.equal(main.version, workspace?.[1]);
  for (const [name, version] of Object.entries(main.optionalDependencies)) {
    const own = read(join(here, "platforms", name.replace("@jarvis-run/", ""), "package.json"));
    const [os, cpu] = name.replace("@jarvis-run/", "").split("-");
    assert.deepEqual(
      [own.name, own.version, version, own.os, own.cpu],
      [name, main.version, main.version, [os], [cpu]],
    );
    assert.equal(own.scripts, undefined);
    const empty = join(folder, name);
    cpSync(join(here, "platforms", `${os}-${cpu}`), empty, { recursive: true });
    mkdirSync(join(empty, "bin"));
    writeFileSync(join(empty, "bin", "jarvis"), "");
    const [packed] = JSON.parse(ok(empty, "npm", "pack", "--dry-run", "--json"));
    const files = packed.files.map((/** @type {{ path: string }} */ file) => file.path);
    assert.deepEqual(files, ["bin/jarvis", "package.json"]);
  }
  for (const script of ["preinstall", "install", "postinstall", "prepare"])
    assert.equal(main.scripts[script], undefined);
});

test("the types are those of the server", async (t) => {
  const server = await serve();
  t.after(server.stop);
  const made = join(folder, "api.ts");
  ok(here, join("node_modules", ".bin", "openapi-typescript"), `${server.url}/openapi.json`, "-o", made);
  const same = readFileSync(made, "utf8") === readFileSync(join(here, "src", "api.ts"), "utf8");
  assert.ok(same, "the API changed: JARVIS_UPDATE_DOCS=1 cargo xtask bindings");
});

test(
  "the tarballs work in a clean folder",
  { skip: !existsSync(join(here, "platforms", platform)) && platform },
  async () => {
    const packed = join(folder, "packed");
    mkdirSync(packed);
    const [wrapper] = JSON.parse(ok(here, "npm", "pack", "--json", "--pack-destination", packed));
    const names = wrapper.files.map((/** @type {{ path: string }} */ file) => file.path);
    assert.deepEqual(
      names.filter((/** @type {string} */ name) => !name.startsWith("dist/")),
      ["README.md", "bin/jarvis.js", "package.json"],
    );
    assert.ok(names.includes("dist/index.d.ts") && names.includes("dist/api.d.ts"));

    const clean = join(folder, "clean");
    mkdirSync(clean);
    writeFileSync(join(clean, "package.json"), '{"private": true, "type": "module"}');
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    ok(clean, "npm", ...install, "--omit=optional", join(packed, wrapper.filename));
    // Without the package of the platform, what to do is said.
    const without = call(clean, "npx", "--no-install", "jarvis", "--version");
    assert.equal(without.status, 1);
    assert.match(
      without.stderr,
      new RegExp(`error: the package @jarvis-run/${platform}, .*is not installed\\n\\nhint: install without`),
    );

    // A cache of its own: the user's would keep every program that is tried.
    ok(clean, "npm", ...install, "--cache", join(folder, "cache"), platformPackage());
    assert.match(ok(clean, "npx", "--no-install", "jarvis", "--version"), /^jarvis \d/);
    writeFileSync(
      join(clean, "use.js"),
      'import { plan, program, run } from "jarvis-run";\n' +
        'const request = "tell the mood of: I love it";\n' +
        "const { ok } = await run(request);\n" +
        "const { execution_config } = await plan(request);\n" +
        'console.log(ok, execution_config.tasks.length, program().includes("node_modules/@jarvis-run"));\n',
    );
    assert.equal(ok(clean, process.execPath, "use.js"), "true 1 true\n");

    // The wrapper ends as the program does.
    const wrapperPath = join(clean, "node_modules/jarvis-run/bin/jarvis.js");
    assert.equal(call(clean, process.execPath, wrapperPath, "run", "--nope").status, 2);
    assert.equal(call(clean, process.execPath, wrapperPath, "run", "fly to the moon").status, 1);
    const env = { ...process.env, JARVIS_BIN: "" };
    const args = [wrapperPath, "serve", "--http", "127.0.0.1:0", "--llm", "offline"];
    const serving = spawn(process.execPath, args, { cwd: clean, env, stdio: ["ignore", "ignore", "pipe"] });
    await once(serving.stderr, "data");
    serving.kill("SIGTERM");
    const [status, signal] = await once(serving, "exit");
    assert.ok(status === 0 || signal === "SIGTERM", `${status} ${signal}`);
  },
);
