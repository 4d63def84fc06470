// @ts-check
import assert from "node:assert/strict";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import test from "node:test";

import { JarvisError, plan, program, ProgramNotFoundError, run } from "jarvis-run";

import { binary, folder, picture, shop, silentModel } from "./home.js";

const photo = join(folder, "photo.png");
writeFileSync(photo, picture);
const MOOD = "tell the mood of: I love this house";

test("a run is typed and whole", async () => {
  const result = await run(MOOD);
  assert.ok(result.ok);
  assert.deepEqual(
    result.outcomes.map(({ task, status, model }) => [task, status, model]),
    [["text-classification", "succeeded", "native/vader"]],
  );
  assert.match(result.answer.text, /positive/);
});

test("a file goes in, and what is made comes out", async () => {
  const result = await run("find the edges of photo.png", { files: [photo], out: join(folder, "made") });
  const made = result.answer.resources[0]?.path;
  assert.ok(made && existsSync(made), JSON.stringify(result.answer));
});

test("no request is an option, and no name of a file", async () => {
  for (const request of ["--help", "-", "summarise: naïve café 猫\nand a second line"])
    assert.equal((await run(request)).request, request);
  writeFileSync(join(folder, "-"), "I love it");
  for (const files of [["-"], "-"]) assert.ok((await run("tell the mood of the text", { files, cwd: folder })).ok);
});

test("a folder to work in is looked at first", async () => {
  writeFileSync(join(folder, "file"), "");
  for (const [name, why] of [
    ["none", "does not exist"],
    ["file", "is no folder"],
  ])
    for (const call of [run, plan])
      await assert.rejects(call("hello", { cwd: join(folder, name ?? "") }), {
        name: "JarvisError",
        message: `\`cwd\` is \`${join(folder, name ?? "")}\`, which ${why}`,
        exitCode: 2,
        hint: /cwd/,
      });
});

test("what is not done is no success, and no error", async () => {
  const result = await run("fly to the moon");
  assert.deepEqual([result.ok, result.not_done], [false, ["no tool fits the request"]]);
});

test("a failure has its hint and its code", async () => {
  const dead = { llm: "some-model", baseUrl: "http://127.0.0.1:9/v1", env: { OPENAI_API_KEY: "unused" } };
  const hint = "check the base URL and whether the server runs";
  await assert.rejects(run("hello", dead), { name: "JarvisError", code: "unavailable", exitCode: 1, hint });
  // Planning has no document of failures: the same is read from stderr.
  await assert.rejects(plan("hello", dead), {
    name: "JarvisError",
    code: "failed",
    exitCode: 1,
    hint,
    message: /127\.0\.0\.1:9/,
  });
  await assert.rejects(run("hello", { config: join(folder, "none.yaml") }), { code: "usage", exitCode: 2 });
  await assert.rejects(run("hello", { replan: /** @type {any} */ ("sometimes") }), {
    exitCode: 2,
    message: /invalid value 'sometimes'/,
  });
});

test("a plan is decided, edited and carried out", async () => {
  const decided = await plan(MOOD);
  const [task] = decided.execution_config.tasks;
  assert.equal(task?.model_id, "native/vader");
  task.args = { text: "I hate rain" };
  assert.match((await run(decided)).answer.text, /negative/);
  const part = await plan("find the edges of photo.png and fax it", { files: [photo] });
  assert.ok(part.execution_config.warnings?.length, JSON.stringify(part));
});

test("a call that changes something needs leave", async (t) => {
  const there = await shop();
  t.after(there.stop);
  assert.equal((await run("reserve article 17", { config: there.config })).ok, false);
  assert.deepEqual(there.reserved, []);
  assert.ok((await run("reserve article 17", { config: there.config, yes: true })).ok);
  assert.ok((await run("reserve article 18", { config: there.config, approve: ["shop.*"] })).ok);
  assert.deepEqual(there.reserved, [{ article: 17 }, { article: 18 }]);
  // A pattern alone is one pattern, no list of letters: the `*` in it would allow everything.
  assert.equal((await run("reserve article 19", { config: there.config, approve: "stock.*" })).ok, false);
  assert.equal(there.reserved.length, 2);
  assert.ok((await run("reserve article 20", { config: there.config, approve: "shop.*" })).ok);
  assert.equal(there.reserved.length, 3);
});

test("a signal stops the program", async (t) => {
  const model = await silentModel();
  t.after(model.stop);
  const stopping = new AbortController();
  const asked = run("good morning", { llm: "fake", baseUrl: `${model.url}/v1`, signal: stopping.signal });
  await model.held;
  stopping.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
  await model.gone;
});

test("the program is the one that is named", async (t) => {
  t.after(() => (process.env["JARVIS_BIN"] = binary));
  assert.equal(program(), binary);
  // A relative name is of this process's folder, wherever the program works.
  process.env["JARVIS_BIN"] = relative(process.cwd(), binary);
  assert.ok((await run(MOOD, { cwd: folder })).ok);
  process.env["JARVIS_BIN"] = join(folder, "gone");
  assert.throws(program, (error) => error instanceof ProgramNotFoundError && /gone/.test(error.message));
  const broken = join(folder, "broken");
  writeFileSync(broken, "\x7fELF nothing");
  chmodSync(broken, 0o755);
  process.env["JARVIS_BIN"] = broken;
  await assert.rejects(run("hello"), ProgramNotFoundError);
  delete process.env["JARVIS_BIN"];
  // No package of a platform is installed beside the sources.
  assert.throws(program, (error) => error instanceof JarvisError && /JARVIS_BIN/.test(error.hint ?? ""));
});
