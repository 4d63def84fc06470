// The parts without a browser: the event parser, the run reducer, plan editing, outputs, the API notation.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as decode from "../src/api/decode";
import { EventParser } from "../src/api/sse";
import type { Attachment } from "../src/api/types";
import { curl, readApi } from "../src/docs/openapi";
import { notation, sample } from "../src/docs/schema";
import { en } from "../src/i18n/en";
import { ru } from "../src/i18n/ru";
import { zh } from "../src/i18n/zh";
import { conversation, type Past } from "../src/model/history";
import { isTable, mediaKind, outputs } from "../src/model/outputs";
import { apply, isLive, newRun, replay, type RunView } from "../src/model/run";
import { clean, duration, label } from "../src/model/text";
import { cutFiles, type Exchange, exchangeOf, slim, withWhole } from "../src/state/storage";
import { arrange, END, links, START } from "../src/ui/graph-layout";

test("events are read however the stream is cut", () => {
  const stream =
    ': hello\r\n\r\nevent: plan\r\nid: 4\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: bare\n\nevent: lost\n\nid: 9\rdata: x\r\r';
  const expected = [
    { event: "plan", data: '{"a":\n1}', id: "4" },
    { event: "message", data: "bare", id: "4" },
    { event: "message", data: "x", id: "9" },
  ];
  for (let size = 1; size <= stream.length; size++) {
    const parser = new EventParser();
    const got = [];
    for (let i = 0; i < stream.length; i += size) got.push(...parser.push(stream.slice(i, i + size)));
    got.push(...parser.push("\n")); // ends the last carriage return
    assert.deepEqual(got, expected, `pieces of ${size}`);
  }
});

test("an endless event is refused, not kept", () => {
  const parser = new EventParser();
  assert.throws(() => {
    for (let i = 0; i < 200; i++) parser.push(`data: ${"x".repeat(100_000)}`);
  });
});

const wire = (seq: number, event: string, rest: object = {}) =>
  decode.event({ run_id: "r1", seq, at_ms: 1000 + seq, event, ...rest });

function follow(...events: ReturnType<typeof wire>[]): RunView {
  return events.reduce((run, e) => (e ? apply(run, e) : run), newRun());
}

const outcome = (id: number, status: string, more: object = {}) => ({
  outcome: {
    id,
    task: "t",
    status,
    args: { image: "/images/a.png" },
    selection: null,
    attempts: [],
    inference: { "generated image": "/images/b.png" },
    error: null,
    ms: 5,
    ...more,
  },
});
const twoTasks = {
  plan: {
    tasks: [
      { id: 0, task: "a", dep: [-1], args: {} },
      { id: 1, task: "b", dep: [0], args: { image: "<GENERATED>-0" } },
    ],
    notes: ["mended"],
  },
};

test("a run goes through its phases", () => {
  const events = [
    wire(0, "queued", { ahead: 2 }),
    wire(1, "run_started", { request: { text: "x" }, planner: "offline", model: "offline" }),
    wire(2, "plan", twoTasks),
    wire(3, "task_started", { id: 0, task: "a", model: "m" }),
    wire(4, "task_finished", outcome(0, "succeeded")),
    wire(5, "task_finished", outcome(1, "failed", { error: { code: "c", message: "no", hint: "h" } })),
    wire(6, "token", { text: "An " }),
    wire(7, "answer", { answer: { text: "An answer", resources: [{ kind: "image", url: "/images/b.png", from: 0 }] } }),
    wire(8, "done", { ok: true, usage: {}, ms: 9 }),
  ];
  const phases = events.map((_, i) => follow(...events.slice(0, i + 1)).phase);
  assert.deepEqual(phases, [
    "queued",
    "planning",
    "running",
    "running",
    "running",
    "answering",
    "answering",
    "answering",
    "done",
  ]);
  const run = follow(...events);
  assert.deepEqual(
    run.tasks.map((t) => t.state),
    ["succeeded", "failed"],
  );
  assert.equal(run.text, "An answer");
  assert.equal(run.tasks[1]?.error?.hint, "h");
  assert.deepEqual(run.notes, ["mended"]);
  // Seen twice, after a reconnection: nothing changes.
  assert.deepEqual(
    events.reduce((r, e) => (e ? apply(r, e) : r), run),
    run,
  );
});

test("a plan grows while it is written, and after it was looked at", () => {
  const task = (id: number, name: string) => ({ id, task: name, dep: [-1], args: {} });
  const events = [
    wire(0, "run_started"),
    wire(1, "plan_grew", { round: 0, why: "written", tasks: [task(0, "a")] }),
    wire(2, "task_started", { id: 0, task: "a", model: "m" }),
    wire(3, "task_finished", outcome(0, "succeeded")),
    wire(4, "plan_grew", { round: 0, why: "written", tasks: [task(1, "b")] }),
    wire(5, "plan", { plan: { tasks: [task(0, "a"), task(1, "c")], notes: [] } }),
    wire(6, "plan_grew", { round: 1, why: "failures", tasks: [task(2, "d")], notes: ["mended"] }),
  ];
  const states = events.map((_, i) =>
    follow(...events.slice(0, i + 1))
      .tasks.map((t) => `${t.task} ${t.state}`)
      .join(),
  );
  assert.deepEqual(states, [
    "",
    "a waiting",
    "a running",
    "a succeeded",
    "a succeeded,b waiting",
    // The plan says otherwise of the second.
    "a succeeded,c waiting",
    "a succeeded,c waiting,d waiting",
  ]);
  const run = follow(...events);
  assert.deepEqual([run.rounds, run.notes, run.phase], [1, ["mended"], "running"]);
});

test("a run that ends early leaves nothing running", () => {
  const begun = [wire(0, "run_started"), wire(1, "plan", twoTasks), wire(2, "task_started", { id: 0 })];
  const failed = follow(...begun, wire(3, "error", { code: "timeout", message: "m", ms: 1 }));
  assert.equal(failed.phase, "failed");
  assert.ok(failed.tasks.every((t) => t.state === "cancelled"));
  const stopping = { ...follow(...begun), stopping: true };
  const late = wire(3, "task_finished", outcome(0, "succeeded"));
  const ended = (cancelled: boolean) =>
    [late, wire(4, "done", { ok: !cancelled, cancelled, ms: 1 })].reduce((r, e) => (e ? apply(r, e) : r), stopping);
  assert.equal(ended(false).phase, "done", "it had ended before it could be stopped");
  const halted = ended(true);
  assert.equal(halted.phase, "cancelled");
  assert.ok(!halted.stopping);
  assert.deepEqual(
    halted.tasks.map((t) => t.state),
    ["succeeded", "cancelled"],
  );
  assert.ok(!isLive(halted.phase));
});

test("unknown events and odd shapes do no harm", () => {
  assert.equal(wire(0, "brand_new", { a: 1 }), null);
  for (const odd of [
    null,
    1,
    "x",
    [],
    {},
    { event: "plan", plan: 5 },
    { event: "task_finished", outcome: [] },
    { event: "answer" },
    { event: "model_chosen", selection: "x" },
    { event: "execution_config", value: { tasks: [{}] } },
  ]) {
    const e = decode.event(odd);
    if (e) apply(newRun(), e);
  }
  const back = replay(
    [
      wire(0, "run_started", {
        request: { text: "hi", attachments: [{ kind: "image", source: { public: "/images/a.png" }, name: "a.png" }] },
      }),
    ].filter((e) => e !== null),
  );
  assert.deepEqual(back.attachments, [{ kind: "image", path: "/images/a.png", name: "a.png" }]);
});

test("an attachment goes back with exactly one of path, text and address", () => {
  assert.deepEqual(decode.attachmentOut({ kind: "text", path: "/x", text: "t", url: "u", name: "n", bytes: 3 }), {
    kind: "text",
    path: "/x",
    name: "n",
  });
  assert.deepEqual(decode.attachmentOut({ kind: "text", text: "t" }), { kind: "text", text: "t" });
});

test("what the store cuts is marked, and is told from what is whole", () => {
  const long = "x".repeat(30_000);
  const request = (text: string, attachments: Attachment[]): Exchange => ({
    id: "e",
    text,
    attachments,
    mode: "run",
    at: 1,
    run: { ...newRun(), phase: "done" },
    draft: null,
  });
  const kept = (e: Exchange) => exchangeOf(JSON.parse(JSON.stringify(slim(e))));
  const files: Attachment[] = [
    { kind: "text", text: "short", name: "a" },
    { kind: "text", text: long, name: "b" },
    { kind: "text", text: long, path: "/texts/c.txt", name: "c" },
  ];
  const e = request(long, files);
  const once = kept(e);
  const twice = once && kept(once);
  for (const got of [once, twice]) {
    assert.ok(got && got.text.length < long.length);
    assert.equal(got.cut, true);
    assert.deepEqual(
      cutFiles(got.attachments).map((a) => a.name),
      ["b"],
    );
  }
  assert.equal(e.cut, undefined);
  assert.deepEqual(cutFiles(e.attachments), [], "in memory all is whole");
  const small = kept(request("x".repeat(20_000), files.slice(0, 1)));
  assert.deepEqual([small?.cut, cutFiles(small?.attachments ?? [])], [undefined, []]);
  assert.ok(!("cut" in decode.attachmentOut({ kind: "text", text: "t", cut: true })), "the mark stays here");
  const chat = (exchange: Exchange | null) => ({
    id: "c",
    title: "",
    version: 0,
    updated: 1,
    exchanges: exchange ? [exchange] : [],
  });
  assert.deepEqual(withWhole(chat(once), chat(e)).exchanges[0]?.attachments, files);
  assert.equal(withWhole(chat(once), chat(e)).exchanges[0]?.cut, undefined);
  assert.equal(withWhole(chat(once), undefined).exchanges[0]?.cut, true);
});

test("only our own tables are offered as files", () => {
  assert.ok(isTable("/tables/0a1b.csv"));
  for (const path of ["/tables/../x.csv", "https://x/tables/a.csv", "/tables/a.html", "/images/a.csv"])
    assert.ok(!isTable(path), path);
});

test("a conversation names earlier files by their paths", () => {
  const history = (past: Past[]) => conversation(past, "x").slice(0, -1);
  const asked = conversation(
    [{ text: "x", attachments: [{ kind: "image", path: "/images/1.jpg", name: "house.jpg" }], answer: "y" }],
    "make house.jpg grey",
  );
  assert.equal(asked.at(-1)?.content, "make /images/1.jpg grey");
  const house = { kind: "image", path: "/images/1.jpg", name: "house.jpg" } as const;
  const cases: [string, string][] = [
    ["edges of house.jpg.", "edges of /images/1.jpg."],
    ["“house.jpg”, (house.jpg)", "“/images/1.jpg”, (/images/1.jpg)"],
    ["找出house.jpg的边缘", "找出/images/1.jpg的边缘"],
    ["контуры house.jpg", "контуры /images/1.jpg"],
    ["my-house.jpg greenhouse.jpg house.jpgs a/house.jpg house.jpg.bak houseXjpg", ""],
  ];
  for (const [text, expected] of cases) {
    const [, reply] = history([{ text: "x", attachments: [house], answer: text }]);
    assert.equal(reply?.content, expected || text);
  }
  const content = (...past: Parameters<typeof history>[0]) => history(past).map((m) => m.content);
  const song = { kind: "audio", path: "/audios/2.wav", name: "notes" } as const;
  const later = { ...house, path: "/images/3.jpg" };
  assert.deepEqual(
    content(
      { text: "grey", attachments: [house, song], answer: "house.jpg is grey, says notes" },
      { text: "turn house.jpg", attachments: [later], answer: null },
      { text: "and house.jpg?", attachments: [], answer: "house.jpg too" },
    ),
    [
      "grey\n\nAttached image: /images/1.jpg\n\nAttached audio: /audios/2.wav",
      "/images/1.jpg is grey, says notes",
      "and /images/3.jpg?",
      "/images/3.jpg too",
    ],
    "the name that came last counts",
  );
  assert.deepEqual(content({ text: "show house.jpg", attachments: [house], answer: "y" }), ["show /images/1.jpg", "y"]);
  const odd = { kind: "image", path: "/images/4.png", name: "a-b (1)+[x]{2}^$|c\\d/e.png" } as const;
  assert.deepEqual(content({ text: `turn ${odd.name}`, attachments: [odd], answer: "y" }), ["turn /images/4.png", "y"]);
  const inline = { kind: "text", text: "t", name: "a.txt" } as const;
  assert.deepEqual(content({ text: "read a.txt", attachments: [inline], answer: "a.txt" }), ["read a.txt", "a.txt"]);
});

test("only our own media paths are media", () => {
  assert.equal(mediaKind("/images/ab.png"), "image");
  assert.equal(mediaKind("/audios/ab.wav"), "audio");
  for (const bad of [
    "images/a.png",
    "//images/a.png",
    "/images/a/b.png",
    "/images/..png",
    "/images/",
    "/images/a.png?x",
    "https://e.org/images/a.png",
    '/images/a".png',
    "/images/.a",
  ])
    assert.equal(mediaKind(bad), null, bad);
});

test("outputs of results", () => {
  const types = (v: unknown) =>
    outputs(v)
      .map((o) => o.type)
      .join();
  assert.equal(
    types({ "generated image": "/images/a.png", predicted: [{ label: "cat", score: 0.5, box: {} }] }),
    "media,scores",
  );
  assert.equal(types({ "generated image": "https://evil.example/a.png" }), "json");
  assert.equal(types([{ label: "a", score: 1 }]), "scores");
  assert.equal(types([{ answer: "red", score: 0.9 }]), "text");
  assert.equal(types({ response: "x", usage: { a: 1 } }), "text,json");
  assert.equal(types(null), "");
});

test("text is cleaned of what deceives", () => {
  assert.equal(clean("a\u202eb\u200bc\u{e0041}d\u0007e\nf"), "abcde\nf");
  assert.equal(label("a\n  b".repeat(100), 10), "a ba ba b…");
});

test("durations", () => {
  const cases: [number, string, string][] = [
    [0, "en", "0 ms"],
    [999, "en", "999 ms"],
    [1500, "en", "1.5 s"],
    [1500, "ru", "1,5 с"],
    [59_900, "en", "1 min"],
    [125_000, "zh", "2 分 5 秒"],
  ];
  for (const [ms, language, expected] of cases) assert.equal(duration(ms, language), expected);
});

test("the languages fill in the same blanks", () => {
  const blanks = (s: string) => [...s.matchAll(/\{\w+\}/g)].map(String).sort().join();
  for (const key of Object.keys(en) as (keyof typeof en)[])
    for (const other of [ru, zh]) {
      assert.equal(blanks(other[key]), blanks(en[key]), key);
      assert.notEqual(other[key].trim(), "", key);
    }
});

const view = (id: number, dep: number[], planned: Record<string, string> = {}) =>
  ({ ...newRun().tasks[0], id, task: "t", dep, planned }) as unknown as RunView["tasks"][number];

test("the graph is laid out in order and within the room", () => {
  const tasks = [view(0, []), view(1, []), view(2, [0, 1], { text: "<GENERATED>-0" })];
  assert.deepEqual(
    links(tasks).map((l) => `${l.from}>${l.to}${l.orderOnly ? "?" : ""}`),
    [`${START}>0`, `${START}>1`, "0>2", "1>2?", `2>${END}`],
  );
  const wide = arrange(tasks, 400);
  assert.ok(wide.width <= 400);
  assert.ok((wide.nodes.get("0")?.x ?? 0) < (wide.nodes.get("1")?.x ?? 0), "the first task comes first");
  for (const a of wide.nodes.values())
    for (const b of wide.nodes.values())
      assert.ok(
        a === b || a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
        `${a.key} and ${b.key} overlap`,
      );
  assert.equal(arrange([], 300).nodes.size, 2);
  assert.ok(
    arrange(
      [0, 1, 2, 3, 4, 5, 6, 7].map((i) => view(i, [])),
      340,
    ).width <= 340,
    "a wide plan turns on its side",
  );
});

test("the API notation", () => {
  const document = {
    components: {
      schemas: {
        A: {
          type: "object",
          required: ["x"],
          properties: { x: { type: "integer", minimum: 3 }, more: { type: ["string", "null"] } },
        },
        B: { type: "array", items: { $ref: "#/components/schemas/A" } },
      },
    },
  };
  const flat = (s: unknown) =>
    notation(s)
      .map((w) => (typeof w === "string" ? w : `@${w.ref}`))
      .join("");
  assert.equal(flat(document.components.schemas.A), "{\n  x: integer\n  more?: string | null\n}");
  assert.equal(flat(document.components.schemas.B), "@A[]");
  assert.equal(flat({ enum: ["a", 1] }), '"a" | 1');
  assert.equal(flat({ type: "string", contentSchema: { $ref: "#/components/schemas/A" } }), "JSON text of @A");
  assert.deepEqual(sample(document, document.components.schemas.B), [{ x: 3 }]);
  const loop = {
    components: { schemas: { L: { type: "object", properties: { l: { $ref: "#/components/schemas/L" } } } } },
  };
  assert.ok(sample(loop, loop.components.schemas.L), "a schema that holds itself ends");
  const api = readApi({
    info: { title: "t" },
    paths: { "/a/{id}": { post: { requestBody: { content: { "application/json": { example: { s: "it's" } } } } } } },
  });
  const operation = api.tags[0]?.operations[0];
  assert.ok(operation);
  assert.equal(
    curl(operation, "http://h"),
    "curl 'http://h/a/ID' \\\n  -H 'content-type: application/json' \\\n  -d '{\"s\":\"it'\\''s\"}'",
  );
});

test("words can be read on their ground in both appearances", () => {
  const css = readFileSync("src/styles/tokens.css", "utf8");
  const pairs = ["ink paper", "ink side", "ink tint", "ink hover", "ink run-tint", "ink fail-tint", "ink-soft paper"];
  pairs.push(
    "ink-soft side",
    "ink-soft surface",
    "ink-soft tint",
    "ink-soft run-tint",
    "ink-soft fail-tint",
    "on-ink ink",
  );
  pairs.push(
    "run paper",
    "run surface",
    "run run-tint",
    "done surface",
    "fail surface",
    "fail paper",
    "fail fail-tint",
  );
  const colour = (name: string, at: number): number[] => {
    const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(css);
    assert.ok(found, name);
    return [1, 3, 5].map((i) => parseInt((found[at] ?? "").slice(i, i + 2), 16) / 255);
  };
  const light = (rgb: number[]): number =>
    rgb
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * ([0.2126, 0.7152, 0.0722][i] ?? 0), 0);
  for (const pair of pairs)
    for (const at of [1, 2]) {
      const [a = 0, b = 0] = pair.split(" ").map((name) => light(colour(name, at)));
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      assert.ok(ratio >= 4.5, `${pair} ${at === 1 ? "light" : "dark"}: ${ratio.toFixed(2)}`);
    }
});

test("the pipelines of a server are names, and an exchange keeps its own", () => {
  const read = (pipelines: unknown) => decode.health({ pipelines }).pipelines;
  assert.deepEqual(read(["hugginggpt", "rewoo"]), ["hugginggpt", "rewoo"]);
  assert.deepEqual(read(["hugginggpt", 7, null, ""]), ["hugginggpt"]);
  for (const none of [undefined, null, "rewoo", {}]) assert.deepEqual(read(none), []);
  const kept = (pipeline: unknown) => exchangeOf({ id: "e", mode: "run", run: { phase: "done" }, pipeline })?.pipeline;
  assert.deepEqual([kept("rewoo"), kept(undefined), kept(3)], ["rewoo", undefined, undefined]);
});

test("an exchange keeps what its run waits for, and how far the answer was told", () => {
  const told = (seq: number, kind: string, more: object) => decode.event({ run_id: "r", seq, event: kind, ...more });
  const asked = { tool: "shop/book", effect: "writes", arguments: { article: 17 }, answer: "/runs/r/approvals/1" };
  const events = [
    told(1, "resumed", { from: "q", steps: 3 }),
    told(2, "approval_needed", { ...asked, task: 1, sources: { article: "task 1" }, unknown: true }),
    told(2, "token", { piece: 1, text: "It is " }),
    told(2, "token", { piece: 2, text: "booked" }),
  ];
  const run = events.reduce((run, event) => (event ? apply(run, event) : run), newRun());
  const stored: unknown = JSON.parse(JSON.stringify({ id: "e", mode: "run", run }));
  const kept = exchangeOf(stored)?.run ?? newRun();
  assert.deepEqual(kept.asks, run.asks);
  assert.deepEqual([kept.takenOver, kept.takenFrom, kept.asks?.[0]?.unknown], [3, "q", true]);
  // The stream begins behind the last whole event, with the pieces that were told before.
  assert.equal(events.slice(2).reduce((run, event) => (event ? apply(run, event) : run), kept).text, "It is booked");
});
