// @ts-check
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";

import { ApiError, ApprovalNeededError, Client } from "jarvis-run";

import { folder, listening, picture, serve, shop, silentModel } from "./home.js";

const MOOD = "tell the mood of: I love this house";
const NOBODY = "00000000-0000-7000-8000-000000000000";

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {Client} */
let client;
before(async () => {
  server = await serve();
  client = new Client(server.url);
});
after(() => server.stop());

/**
 * @template T
 * @param {AsyncIterable<T>} items
 */
async function all(items) {
  const list = [];
  for await (const item of items) list.push(item);
  return list;
}

test("a run is waited for", async () => {
  const result = await client.run(MOOD, { budget: { max_calls: 3 }, experience: false });
  assert.ok(result.ok);
  assert.equal((await client.getRun(result.run_id)).status, "done");
});

test("a stream is of typed events", async () => {
  const told = await all(client.stream(MOOD));
  for (const event of told) {
    // What a type checker knows of an event by its kind.
    if (event.event === "task_finished") assert.equal(event.outcome.status, "succeeded");
    if (event.event === "done") assert.equal(event.usage.prompt_tokens, 0);
  }
  const last = told.at(-1);
  assert.equal(last?.event, "done");
  const followed = await all(client.follow(last.run_id));
  assert.deepEqual(
    followed.map((event) => event.seq),
    [...followed.keys()],
  );
  const behind = client.follow(last.run_id, { lastEventId: String(followed.length - 2) });
  assert.deepEqual(await all(behind), followed.slice(-1));
  // Nothing is behind the end.
  assert.deepEqual(await all(client.follow(last.run_id, { lastEventId: String(last.seq) })), []);
});

test("a run goes on by itself", async () => {
  const [one, two] = await Promise.all([client.start(MOOD), client.start(MOOD)]);
  const ended = await client.wait(one.run_id);
  assert.deepEqual([ended.status, ended.events.at(-1)?.event], ["done", "done"]);
  const told = await all(client.followAll([one.run_id, two.run_id, NOBODY]));
  const done = told.filter((event) => "event" in event && event.event === "done").map((event) => event.run_id);
  assert.deepEqual(done.sort(), [one.run_id, two.run_id].sort());
  assert.ok(told.some((event) => !("event" in event) && event.run_id === NOBODY));
  const alone = await all(client.followAll(one.run_id));
  assert.deepEqual([...new Set(alone.map((event) => event.run_id))], [one.run_id]);
});

test("runs come in pages", async () => {
  const ids = [];
  for (const number of [1, 2, 3]) ids.unshift((await client.run(`tell the mood of: page ${number}`)).run_id);
  const first = await client.runs({ limit: 2, text: "page", status: ["done", "failed"] });
  const second = await client.runs({ limit: 2, text: "page", before: first.next ?? "" });
  assert.deepEqual(
    [...first.runs, ...second.runs].map((run) => run.run_id),
    ids,
  );
  assert.equal((await client.rate(ids[0] ?? "", "good")).run_id, ids[0]);
  assert.ok((await client.removeRun(ids[0] ?? "")).deleted);
  await assert.rejects(client.getRun(ids[0] ?? ""), { name: "ApiError", status: 404, code: "not_found" });
});

test("a file goes in, and what is made comes out", async () => {
  const photo = join(folder, "photo.png");
  writeFileSync(photo, picture);
  const [image, notes] = await client.upload(photo, { name: "notes.txt", data: "I love it" });
  assert.ok(image && notes);
  assert.deepEqual([image.kind, image.name, notes.kind], ["image", "photo.png", "text"]);
  const result = await client.run("find the edges of photo.png", { attachments: [image] });
  const made = await client.download(result.answer.resources[0]?.url ?? "");
  assert.deepEqual(
    [...made.slice(1, 4)],
    [..."PNG"].map((letter) => letter.charCodeAt(0)),
  );
  assert.match((await client.run("tell the mood of the text", { attachments: [notes] })).answer.text, /positive/);
  for (const url of ["https://example.org/a.png", "//example.org/a.png", "images/a.png"])
    await assert.rejects(client.download(url), /no file of the server/);
});

test("a plan is decided, edited and carried out", async () => {
  const plan = await client.plan(MOOD);
  assert.deepEqual((await client.getPlan(plan.plan_id)).execution_config, plan.execution_config);
  assert.match((await client.runPlan(plan.plan_id)).answer.text, /positive/);
  const [task] = plan.execution_config.tasks;
  assert.ok(task);
  task.args = { text: "I hate rain" };
  assert.match((await client.runPlan(plan)).answer.text, /negative/);
  assert.equal((await all(client.streamPlan(plan))).at(-1)?.event, "done");
  assert.equal((await all(client.streamPlan(plan.plan_id))).at(-1)?.event, "done");
  task.task_type = "no such task";
  await assert.rejects(client.runPlan(plan), (error) => {
    assert.ok(error instanceof ApiError && error.status === 422 && error.details);
    return true;
  });
});

test("a call that waits is answered", async (t) => {
  const there = await shop();
  const selling = await serve(["--llm", "offline", "--config", there.config]);
  t.after(async () => {
    await selling.stop();
    there.stop();
  });
  const buyer = new Client(selling.url);
  const waiting = await buyer.run("reserve article 17").then(
    () => assert.fail("it needs leave"),
    (error) => error,
  );
  assert.ok(waiting instanceof ApprovalNeededError && waiting.runId);
  assert.deepEqual(waiting.waiting[0]?.arguments, { article: 17 });
  await buyer.approve(waiting.runId, waiting.waiting[0]?.task ?? -1, { arguments: { article: 18 } });
  assert.equal((await buyer.wait(waiting.runId)).status, "done");
  const { run_id } = await buyer.start("reserve article 19");
  for await (const event of buyer.follow(run_id))
    if (event.event === "approval_needed") await buyer.refuse(run_id, event.task, "too dear");
  const again = await buyer.retry(run_id);
  for await (const event of buyer.follow(again.run_id))
    if (event.event === "approval_needed")
      await buyer.approve(again.run_id, event.task, { decision: "approve_always" });
  assert.deepEqual(there.reserved, [{ article: 18 }, { article: 19 }]);
});

test("whoever leaves the loop cancels the run", async (t) => {
  const model = await silentModel();
  const chatting = await serve(model.flags);
  t.after(async () => {
    await chatting.stop();
    model.stop();
  });
  const talker = new Client(chatting.url);
  let id = "";
  for await (const event of talker.stream("good morning")) {
    id = event.run_id;
    if (event.event !== "run_started") continue;
    await model.held;
    break;
  }
  await model.gone;
  assert.equal((await talker.wait(id)).status, "cancelled");
  await assert.rejects(talker.resume(id), { status: 409 });
  const { run_id } = await talker.start("good morning");
  assert.ok((await talker.cancel(run_id)).cancelled);
  assert.equal((await talker.wait(run_id)).status, "cancelled");
  const stopping = new AbortController();
  const asked = talker.run("good morning", { signal: stopping.signal });
  stopping.abort();
  await assert.rejects(asked, { name: "AbortError" });
});

test("what there is", async () => {
  assert.ok((await client.pipelines()).includes("hugginggpt"));
  assert.ok((await client.models()).models.some((model) => model.id === "native/canny"));
  assert.ok((await client.tools()).tools.length > 0 && (await client.localModels()));
  const { data } = await client.api.GET("/ready");
  assert.equal(data?.planner, "offline");
});

test("the token is sent", async (t) => {
  const guarded = await serve(["--llm", "offline"], { JARVIS_TOKEN: "open sesame" });
  t.after(guarded.stop);
  assert.ok((await new Client(guarded.url, { token: "open sesame" }).run(MOOD)).ok);
  const stranger = new Client(guarded.url);
  await assert.rejects(stranger.run(MOOD), { status: 401 });
  await assert.rejects(all(stranger.stream(MOOD)), { status: 401 });
});

test("replies that are none are errors", async (t) => {
  /** @type {Record<string, [number, string, string]>} */
  const bodies = {
    "/models": [502, "text/html", "<p>bad gateway</p>"],
    "/runs/cut/events": [
      200,
      "text/event-stream",
      ': hello\n\nid: 0\ndata: {"event": "run_started", "run_id": "cut"}\n\n',
    ],
    "/runs/odd/events": [200, "text/event-stream", "id: 0\ndata: {\n\n"],
    // Two streams that break off before anything comes: of a run that goes on, and of one whose end was not told.
    "/runs/on/events": [200, "text/event-stream", ": hello\n\n"],
    "/runs/on": [200, "application/json", '{"events": [{"event": "run_started", "seq": 0}]}'],
    "/runs/over/events": [200, "text/event-stream", ": hello\n\n"],
    "/runs/over": [200, "application/json", '{"events": [{"event": "done", "seq": 5}]}'],
  };
  const odd = await listening((request, response) => {
    const [status, kind, body] = bodies[request.url ?? ""] ?? [500, "text/html", ""];
    response.writeHead(status, { "content-type": kind }).end(body);
  });
  t.after(odd.stop);
  const lost = new Client(odd.url);
  await assert.rejects(lost.models(), { name: "ApiError", status: 502 });
  for (const id of ["cut", "on", "over"])
    await assert.rejects(all(lost.follow(id)), { name: "ApiError", code: "cut_off" });
  for (const [id, lastEventId] of /** @type {const} */ ([
    ["on", "0"],
    ["over", "4"],
  ]))
    await assert.rejects(all(lost.follow(id, { lastEventId })), { name: "ApiError", code: "cut_off" });
  assert.deepEqual(await all(lost.follow("over", { lastEventId: "5" })), []);
  await assert.rejects(all(lost.follow("odd")), { name: "ApiError", message: /not JSON/ });
  odd.stop();
  await assert.rejects(lost.health(), { name: "ApiError", code: "unreachable", hint: /jarvis serve/ });
  await assert.rejects(all(lost.stream(MOOD)), { name: "ApiError", code: "unreachable" });
});
