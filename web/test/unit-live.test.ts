// The hub that follows many runs by one stream.
import assert from "node:assert/strict";
import test from "node:test";
import { Hub } from "../src/live/hub";
import { isAfter, type Notice } from "../src/live/protocol";

/** A server under control: each opening of the stream is kept, and fed by hand. */
class Server {
  opened: { path: string; send: (text: string) => void; end: () => void; aborted: () => boolean }[] = [];
  #wanted: (() => void)[] = [];
  status = 200;

  readonly open = async (path: string, signal: AbortSignal): Promise<Response> => {
    let control!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (c) => void (control = c) });
    signal.addEventListener("abort", () => control.error(new DOMException("", "AbortError")));
    const bytes = new TextEncoder();
    this.opened.push({
      path,
      send: (text) => control.enqueue(bytes.encode(text)),
      end: () => control.close(),
      aborted: () => signal.aborted,
    });
    for (const tell of this.#wanted.splice(0)) tell();
    return new Response(this.status === 200 ? body : '{"error":{"code":"no","message":"refused"}}', {
      status: this.status,
    });
  };

  async nth(n: number) {
    while (this.opened.length < n) await new Promise<void>((tell) => this.#wanted.push(tell));
    return this.opened[n - 1]!;
  }
}

class Ear {
  replies: Notice[] = [];
  #wanted: (() => void)[] = [];
  readonly tell = (reply: Notice): void => {
    this.replies.push(reply);
    for (const tell of this.#wanted.splice(0)) tell();
  };
  async said(n: number): Promise<string[]> {
    while (this.replies.length < n) await new Promise<void>((tell) => this.#wanted.push(tell));
    return this.replies.map((r) => (r.type === "event" ? `${r.id} ${r.event} ${r.place}` : `${r.id} ${r.type}`));
  }
}

const frame = (run: string, place: string, kind = "note") => `event: ${kind}\nid: ${run}@${place}\ndata: {}\n\n`;

test("places are compared by number", () => {
  for (const [a, b, after] of [
    ["2", "10", false],
    ["10", "2", true],
    ["3.1", "3", true],
    ["3", "3", false],
    ["0", "", true],
    ["", "0", false],
    ["3.10", "3.9", true],
  ] as const)
    assert.equal(isAfter(a, b), after, `${a} after ${b}`);
});

test("all runs go over one stream, which is opened anew with places when another one comes", async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const [one, two] = [new Ear(), new Ear()];
  hub.handle("a", { type: "follow", id: 1, run: "r1", after: "" }, one.tell);
  hub.handle("a", { type: "follow", id: 2, run: "r2", after: "4.2" }, one.tell);
  const first = await server.nth(1);
  assert.equal(first.path, "/events?run=r1&run=r2@4.2");
  first.send(frame("r1", "0") + frame("r1", "1") + frame("r2", "4.3"));
  assert.deepEqual(await one.said(3), ["1 note 0", "1 note 1", "2 note 4.3"]);
  // Another tab wants one of them from its beginning, and the first tab is not told anything twice.
  hub.handle("b", { type: "follow", id: 1, run: "r1", after: "" }, two.tell);
  const second = await server.nth(2);
  assert.ok(first.aborted());
  assert.equal(second.path, "/events?run=r1&run=r2@4.3");
  second.send(frame("r1", "0") + frame("r1", "1") + frame("r1", "2") + frame("r2", "5", "done"));
  assert.deepEqual(await two.said(3), ["1 note 0", "1 note 1", "1 note 2"]);
  assert.deepEqual((await one.said(5)).slice(3), ["1 note 2", "2 done 5"]);
  // Who has gone is not told, and the last one closes the stream.
  hub.disconnect("a");
  second.send(frame("r1", "3"));
  assert.deepEqual((await two.said(4)).at(-1), "1 note 3");
  assert.equal(one.replies.length, 5);
  hub.disconnect("b");
  assert.ok(second.aborted());
});

test("what ends before its run is reported as broken; a missing run as gone; no route as unsupported", async () => {
  for (const [status, feed, said] of [
    [200, frame("r1", "0"), ["1 note 0", "1 broken"]],
    [200, 'event: gone\ndata: {"run_id": "r1"}\n\n', ["1 gone"]],
    [200, "event: note\ndata: {}\n\nid: nonsense\ndata: {}\n\n", ["1 broken"]],
    [503, null, ["1 broken"]],
    [404, null, ["1 unsupported"]],
  ] as const) {
    const server = new Server();
    server.status = status;
    const ear = new Ear();
    new Hub(server.open).handle("a", { type: "follow", id: 1, run: "r1", after: "" }, ear.tell);
    const stream = await server.nth(1);
    if (feed) stream.send(feed);
    if (feed) stream.end();
    assert.deepEqual(await ear.said(said.length), said, `${status} ${feed}`);
    const [last] = ear.replies.slice(-1);
    if (status === 503) assert.equal(last?.type === "broken" && last.failure.code, "no");
  }
});

test("more runs than one stream may carry wait for their turn", async () => {
  const server = new Server();
  const hub = new Hub(server.open);
  const ear = new Ear();
  for (let i = 0; i < 101; i++) hub.handle("a", { type: "follow", id: i, run: `r${i}`, after: "" }, ear.tell);
  const first = await server.nth(1);
  assert.equal(first.path.split("run=").length - 1, 100);
  for (let i = 0; i < 100; i++) first.send(frame(`r${i}`, "0", "done"));
  first.end();
  assert.equal((await server.nth(2)).path, "/events?run=r100");
});
