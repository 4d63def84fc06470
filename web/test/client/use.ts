// What a program with types generated from /openapi.json may write: it compiles strictly, and runs against the server at JARVIS_URL.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import { shapes } from "../mock/media";
import type { components, paths } from "./generated/api";

type Schemas = components["schemas"];
type Event = Schemas["Event"];

const api = createClient<paths>({ baseUrl: process.env.JARVIS_URL ?? "" });
const ask = (content: string, more: Partial<Schemas["Ask"]> = {}): Schemas["Ask"] => ({
  ...more,
  messages: [{ role: "user", content }],
});
const SENTENCE = "what is the sentiment of: I love this house and its garden";

/** What an event says, read by its kind; a kind that is not listed does not compile. */
function words(event: Event): string {
  switch (event.event) {
    case "queued":
      return `after ${event.ahead}`;
    case "run_started":
      return event.request.text;
    case "resumed":
      return `${event.steps} steps`;
    case "model_call":
      return `${event.model}: ${event.prompt_tokens + event.completion_tokens}`;
    case "plan":
      return event.plan.tasks.map((task) => task.task).join();
    case "plan_grew":
      return event.tasks.map((task) => task.task).join();
    case "budget":
      return event.bound;
    case "mapped":
      return event.to;
    case "model_chosen":
      return event.selection.chosen.id;
    case "execution_config":
      return event.value.tasks.map((task) => task.model_id).join();
    case "approval_needed":
      return Object.keys(event.arguments).join();
    case "approval_given":
      return event.approved ? "yes" : "no";
    case "task_started":
      return event.model;
    case "task_attempt":
      return event.attempt.error?.message ?? "";
    case "task_finished":
      return event.outcome.status;
    case "thought":
    case "observation":
    case "token":
      return event.text;
    case "action":
      return event.tool;
    case "answer":
      return event.answer.text;
    case "note":
    case "error":
      return event.message;
    case "done":
      return `${event.usage.prompt_tokens}`;
    default:
      return event satisfies never;
  }
}

// A run, and what is kept of it.
const asked = await api.POST("/hugginggpt", { body: ask(SENTENCE) });
assert.ok(asked.data && "run" in asked.data, JSON.stringify(asked.error));
const run = asked.data.run;
assert.deepEqual(
  run.outcomes.map((outcome) => outcome.status),
  ["succeeded"],
);
const listed = await api.GET("/runs", { params: { query: { limit: 10 } } });
assert.ok(listed.data?.runs.some((line) => line.run_id === run.run_id));
const shown = await api.GET("/runs/{id}", { params: { path: { id: run.run_id } } });
assert.ok(shown.data);
const said = new Map(shown.data.events.map((event) => [event.event, words(event)]));
assert.equal(said.get("plan"), "text-classification");
assert.equal(said.get("answer"), asked.data.message);

// The same as a stream.
const stream = await api.POST("/hugginggpt/stream", { body: ask(SENTENCE), parseAs: "stream" });
assert.ok(stream.data);
let text = "";
for await (const piece of stream.data.pipeThrough(new TextDecoderStream())) text += piece;
const events = text
  .split("\n")
  .filter((line) => line.startsWith("data:"))
  .map((line) => JSON.parse(line.slice("data:".length)) as Event);
assert.deepEqual([events[0]?.event, events.at(-1)?.event], ["run_started", "done"]);
assert.ok(events.map(words).includes("text-classification"));

// A file goes in, and what is made of it comes out.
const form = new FormData();
form.append("file", new Blob([new Uint8Array(shapes())], { type: "image/png" }), "shapes.png");
const sent = await api.POST("/upload", { body: { file: [] }, bodySerializer: () => form });
assert.ok(sent.data?.path);
const attachments = [{ kind: sent.data.kind, path: sent.data.path, name: "shapes.png" }];
const drawn = await api.POST("/hugginggpt", { body: ask("find the edges of shapes.png", { attachments }) });
assert.ok(drawn.data && "run" in drawn.data);
const name = drawn.data.run.answer.resources[0]?.url.split("/").at(-1);
assert.ok(name);
const picture = await api.GET("/images/{name}", { params: { path: { name } }, parseAs: "arrayBuffer" });
assert.ok(picture.data && picture.data.byteLength > 0);

// A refusal.
const refused = await api.GET("/runs/{id}", { params: { path: { id: "00000000-0000-7000-8000-000000000000" } } });
assert.equal(refused.error?.error.code, "not_found");
