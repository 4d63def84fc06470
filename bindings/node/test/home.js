// @ts-check
// What the tests work with: a folder of one's own, servers, a shop that is a tool, and a model that holds its breath.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

for (const name of Object.keys(process.env))
  if (/^(JARVIS_(?!BINARY)|OPENAI_|HF_)/.test(name)) delete process.env[name];

/** The program that is tried. */
export const binary = process.env["JARVIS_BINARY"] ?? "";
assert.ok(binary, "JARVIS_BINARY names the program");
process.env["JARVIS_BIN"] = binary;

/** A folder that is gone after the tests of this file. */
export const folder = mkdtempSync(join(tmpdir(), "jarvis-node-"));
process.env["JARVIS_DATA_DIR"] = join(folder, "data");
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** A picture: a red square on white. */
export const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAACgAAAAYCAIAAAAH5iiXAAAALklEQVR4nGP4P0CAYdTiUYtHlMUXFBSIR6MWj1o8avGoxSPbYpqCUYtHLaYZAADOaPeHRWdsMgAAAABJRU5ErkJggg==",
  "base64",
);

/**
 * A server of jarvis on a free port.
 * @param {string[]} flags
 * @param {Record<string, string>} env
 */
export async function serve(flags = ["--llm", "offline"], env = {}) {
  const data = mkdtempSync(join(folder, "server-"));
  const args = ["serve", "--http", "127.0.0.1:0", "--data-dir", data, ...flags];
  const child = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => child.once("exit", () => resolve()));
  const told = [];
  for await (const line of createInterface({ input: child.stderr })) {
    told.push(line);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stderr.resume();
    return {
      url,
      stop: async () => {
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  throw new Error(`the server does not start:\n${told.join("\n")}`);
}

/**
 * An HTTP server on a free port.
 * @param {import("node:http").RequestListener} answer
 */
export async function listening(answer) {
  const server = createServer(answer);
  await /** @type {Promise<void>} */ (new Promise((resolve) => server.listen(0, "127.0.0.1", resolve)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A shop that keeps what it was asked to reserve, and the configuration that has it as a tool. */
export async function shop() {
  /** @type {unknown[]} */
  const reserved = [];
  const server = await listening((request, response) => {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => {
      reserved.push(JSON.parse(text));
      response.writeHead(201, { "content-type": "application/json" }).end('{"reservation": 5}');
    });
  });
  const body = { type: "object", required: ["article"], properties: { article: { type: "integer" } } };
  const operation = {
    operationId: "reserve",
    summary: "Reserves an article",
    requestBody: { required: true, content: { "application/json": { schema: body } } },
    responses: { 201: { description: "Reserved" } },
  };
  const document = {
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    servers: [{ url: server.url }],
    paths: { "/reservations": { post: operation } },
  };
  const [file, config] = [join(folder, "shop.json"), join(folder, "shop.yaml")];
  writeFileSync(file, JSON.stringify(document));
  writeFileSync(config, `tools:\n  - name: shop\n    when: an article is wanted\n    openapi: {document: ${file}}\n`);
  return { ...server, reserved, config };
}

/** A chat model that plans nothing, and then says nothing until whoever asked goes away. */
export async function silentModel() {
  /** @type {() => void} */
  let left = () => undefined;
  /** @type {() => void} */
  let asked = () => undefined;
  const model = {
    held: /** @type {Promise<void>} */ (new Promise((resolve) => (asked = resolve))),
    gone: /** @type {Promise<void>} */ (new Promise((resolve) => (left = resolve))),
  };
  const server = await listening((request, response) => {
    request.resume();
    if (request.headers["x-jarvis-stage"] === "parse_task") {
      const message = { role: "assistant", content: "[]" };
      const reply = { choices: [{ index: 0, message, finish_reason: "stop" }] };
      request.on("end", () =>
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply)),
      );
      return;
    }
    response.on("close", left);
    request.on("end", asked);
  });
  return { ...server, ...model, flags: ["--llm", "fake", "--base-url", `${server.url}/v1`] };
}
