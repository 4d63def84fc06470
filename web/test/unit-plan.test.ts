// Changing a plan: tasks, edges, arguments and models, steps back and forth, and fields by type.
import assert from "node:assert/strict";
import test from "node:test";
import * as decode from "../src/api/decode";
import type { ExecutionConfig } from "../src/api/types";
import { draftsOf, fieldsOf, valuesOf } from "../src/model/fields";
import * as plan from "../src/model/plan";
import { changed, noSteps, redone, undone } from "../src/model/undo";

const config = (): ExecutionConfig =>
  decode.executionConfig({
    user_request: "x",
    version: 7,
    tasks: [
      { task_id: 0, task_type: "a", model_id: "m0", args: { image: "/images/a.png" }, dependencies: [], extra: "kept" },
      {
        task_id: 1,
        task_type: "b",
        model_id: "m1",
        args: { image: "<GENERATED>-0", text: "now" },
        dependencies: [0],
        alternatives: [{ id: "m2", hosted_on: "local" }],
      },
      { task_id: 2, task_type: "c", model_id: "m1", args: { text: "of <GENERATED-1>" }, dependencies: [1] },
      { task_id: 3, task_type: "d", model_id: "m1", args: { text: "plain" }, dependencies: [0] },
    ],
  });

test("deleting a task tells and does what follows", () => {
  const c = plan.rebuild(config(), config().tasks);
  assert.deepEqual([...plan.withUsers(c.tasks, 0)].sort(), [0, 1, 2]);
  assert.deepEqual(
    plan.waitersOf(c.tasks, 0).map((t) => t.task_id),
    [3],
  );
  const less = plan.removeTasks(c, plan.withUsers(c.tasks, 0));
  assert.deepEqual(
    less.tasks.map((t) => t.task_id),
    [3],
  );
  assert.deepEqual(less.tasks[0]?.dependencies, []);
  assert.deepEqual(
    [less.total_tasks, less.dag.edges, less.execution_order],
    [1, [], [{ level: 0, parallel: false, tasks: [3] }]],
  );
  assert.equal(less.version, 7, "fields the page does not know are kept");
});

test("changing an argument moves the dependencies with it", () => {
  const c = plan.setArg(config(), 1, "image", "/images/other.png");
  assert.deepEqual(c.tasks[1]?.dependencies, []);
  assert.deepEqual(
    c.tasks.map((t) => t.execution_level),
    [0, 0, 1, 1],
  );
  assert.deepEqual(plan.problems(c), []);
  assert.deepEqual(plan.problems(plan.setArg(c, 1, "image", "<GENERATED>-9")), [{ task: 1, arg: "image", missing: 9 }]);
  assert.ok(plan.problems(plan.setArg(config(), 0, "image", "<GENERATED>-2")).some((p) => "cycle" in p));
});

test("the model given up can be chosen again", () => {
  const c = plan.setModel(config(), 1, "m2", "local", "by hand");
  assert.deepEqual(
    [c.tasks[1]?.model_id, c.tasks[1]?.hosted_on, c.tasks[1]?.alternatives],
    ["m2", "local", [{ id: "m1", hosted_on: "" }]],
  );
});

test("tasks and edges are added and taken away", () => {
  const begun = config();
  const { config: more, id } = plan.addTask(begun, {
    type: "x",
    model: "m",
    host: "native",
    reason: "r",
    args: ["text"],
  });
  assert.equal(more.tasks.at(-1)?.task_id, id);
  assert.equal(more.total_tasks, begun.tasks.length + 1);
  assert.deepEqual(more.tasks.at(-1)?.args, { text: "" });
  assert.equal(plan.whyNoEdge(more, id, id), "same");
  const linked = plan.addEdge(more, 0, id);
  assert.deepEqual(linked.tasks.at(-1)?.dependencies, [0]);
  assert.equal(plan.whyNoEdge(linked, 0, id), "there");
  assert.equal(plan.whyNoEdge(linked, id, 0), "circle");
  assert.deepEqual(plan.removeEdge(linked, 0, id).tasks.at(-1)?.dependencies, []);
  const used = plan.setArg(linked, id, "text", "<GENERATED>-0");
  assert.deepEqual(plan.usedBy(used, 0, id), ["text"]);
  assert.deepEqual(
    plan.removeEdge(used, 0, id).tasks.at(-1)?.dependencies,
    [0],
    "an output that is used is waited for",
  );
  const without = plan.removeArg(used, id, "text").tasks.at(-1);
  assert.deepEqual([without?.args, without?.dependencies], [{}, []]);
});

test("steps back and forth", () => {
  let steps = noSteps<number>();
  let now = 0;
  const change = (to: number, about?: string) => ((steps = changed(steps, now, about)), (now = to));
  const go = (step: { steps: typeof steps; to: number } | null) => step && ({ steps, to: now } = step);
  change(1, "a");
  change(2, "a");
  change(3, "b");
  go(undone(steps, now));
  assert.equal(now, 2);
  go(undone(steps, now));
  assert.equal(now, 0);
  assert.equal(undone(steps, now), null);
  go(redone(steps, now));
  go(redone(steps, now));
  assert.equal(now, 3);
  go(undone(steps, now));
  change(9);
  assert.equal(redone(steps, now), null, "a change ends what could be done again");
});

test("fields by type", () => {
  const schema = {
    properties: {
      n: { type: "integer" },
      when: { type: ["string", "null"] },
      size: { enum: ["S", 2] },
      on: { type: "boolean" },
      list: { type: "array" },
    },
    required: ["size"],
  };
  const fields = fieldsOf({ n: 1, other: { a: 1 } }, schema);
  assert.deepEqual(
    fields.map((f) => `${f.name}:${f.type}`),
    ["size:choice", "n:integer", "other:json", "when:text", "on:boolean", "list:json"],
  );
  const drafts = draftsOf({ n: 1, other: { a: 1 } }, fields);
  for (const [change, wanted] of [
    [{ size: "2" }, { values: { size: 2, n: 1, other: { a: 1 } } }],
    [{}, { problems: { size: "missing" } }],
    [{ size: '"S"', n: "1.5", on: "x" }, { problems: { n: "integer", on: "json" } }],
    [
      { size: '"S"', n: "", other: "", when: "", on: "false", list: "[1]" },
      { values: { size: "S", when: "", on: false, list: [1] } },
    ],
    [{ size: '"S"', n: "one" }, { problems: { n: "number" } }],
  ] as const)
    assert.deepEqual(valuesOf(fields, { ...drafts, ...change }), wanted, JSON.stringify(change));
});

test("references are split in every spelling, with the paths in them", () => {
  const all = (task: number, path = "") => ({ task, path });
  assert.deepEqual(plan.splitReferences("a <GENERATED>-12 b<GENERATED-3>"), ["a ", all(12), " b", all(3)]);
  assert.deepEqual(plan.splitReferences("<GENERATED-0.flights[0].number>"), [all(0, ".flights[0].number")]);
  assert.deepEqual(plan.splitReferences("<GENERATED-0[]>"), [all(0, "[]")]);
  assert.deepEqual(plan.splitReferences("<GENERATED>-1.text. Then"), [all(1, ".text"), ". Then"]);
  assert.deepEqual(plan.splitReferences("<GENERATED-0x>"), ["<GENERATED-0x>"]);
  const c = plan.setArg(config(), 1, "image", "<GENERATED-0.files[]>");
  assert.deepEqual(c.tasks[1]?.dependencies, [0]);
  assert.deepEqual(plan.problems(plan.setArg(config(), 1, "image", "<GENERATED-7.a>")), [
    { task: 1, arg: "image", missing: 7 },
  ]);
});
