// A reader of server-sent events over fetch: EventSource can only GET, and runs are started by POST.
// It follows the WHATWG parsing rules that matter here: any line ending, comments, several data lines, ids.

export interface ServerEvent {
  event: string;
  data: string;
  id: string | null;
}

/** The longest single event read, in characters. A longer one is an error rather than a full memory. */
const MAX_EVENT = 8_000_000;

/** Turns text as it arrives into events. Separate from fetch so that it can be tested by itself. */
export class EventParser {
  #buffer = "";
  #data: string[] = [];
  #event = "";
  #id: string | null = null;
  #size = 0;
  /** How far the buffer has been searched, so that a long line is not searched again for each piece. */
  #seen = 0;

  /** The events completed by this piece of text. */
  push(text: string): ServerEvent[] {
    this.#buffer += text;
    const out: ServerEvent[] = [];
    let start = 0;
    for (;;) {
      const end = this.#lineEnd(start);
      if (end === null) break;
      const line = this.#buffer.slice(start, end.at);
      start = end.next;
      const event = this.#line(line);
      if (event) out.push(event);
    }
    this.#buffer = this.#buffer.slice(start);
    this.#seen = Math.max(0, this.#buffer.length - 1);
    if (this.#buffer.length + this.#size > MAX_EVENT) throw new Error("an event of the stream is too large");
    return out;
  }

  #lineEnd(from: number): { at: number; next: number } | null {
    for (let i = Math.max(from, this.#seen); i < this.#buffer.length; i++) {
      const c = this.#buffer.charCodeAt(i);
      if (c === 10) return { at: i, next: i + 1 };
      if (c === 13) {
        if (i + 1 === this.#buffer.length) return null; // a line feed may follow
        return { at: i, next: this.#buffer.charCodeAt(i + 1) === 10 ? i + 2 : i + 1 };
      }
    }
    return null;
  }

  #line(line: string): ServerEvent | null {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") {
      this.#data.push(value);
      this.#size += value.length;
    } else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  #dispatch(): ServerEvent | null {
    const event = this.#data.length
      ? { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id }
      : null;
    this.#data = [];
    this.#event = "";
    this.#size = 0;
    return event;
  }
}

/** The events of a response body, until it ends. */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const parser = new EventParser();
  for await (const text of texts(body)) yield* parser.push(text);
}

/** The lines of a response body that has one JSON value a line. */
export async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of texts(body)) {
    const all = (rest + text).split("\n");
    rest = all.pop() ?? "";
    if (rest.length > MAX_EVENT) throw new Error("a line of the stream is too large");
    yield* all.filter((line) => line.trim() !== "");
  }
  if (rest.trim()) yield rest;
}

async function* texts(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
