// One event stream for all runs that the tabs of a browser follow: over HTTP/1.1 a browser opens only six connections to a
// server. The hub lives in a shared worker or in one of the tabs. It does not reconnect: it reports the failure, and the
// subscriber decides whether to subscribe again.
import { record, str, taskError } from "../api/decode";
import { events, type ServerEvent } from "../api/sse";
import { isAfter, type Command, type Failure, type Notice } from "./protocol";

/** The server accepts this many runs in one stream; further ones wait until some have ended. */
const MOST_RUNS = 100;
/** Subscriptions within this many milliseconds, as when a page opens, share one connection. */
const DEBOUNCE = 15;

interface Subscriber {
  tab: string;
  id: number;
  run: string;
  place: string;
  send: (notice: Notice) => void;
}

const ENDS = new Set(["done", "error"]);
const LOST: Failure = { status: 0, code: "lost", message: "", hint: null, retryAfter: null };

export class Hub {
  #subscribers = new Map<string, Subscriber>();
  #stream: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `open` makes the request; tests pass their own. */
  constructor(private readonly open: (path: string, signal: AbortSignal) => Promise<Response>) {}

  handle(tab: string, command: Command, send: (notice: Notice) => void): void {
    const key = `${tab} ${command.id}`;
    if (command.type === "leave") return this.#drop(key);
    this.#subscribers.set(key, { tab, id: command.id, run: command.run, place: command.after, send });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), DEBOUNCE);
  }

  /** Ends all subscriptions of a tab that was closed. */
  disconnect(tab: string): void {
    for (const [key, subscriber] of this.#subscribers) if (subscriber.tab === tab) this.#drop(key);
  }

  /** The stream is closed with its last subscriber; until then events of a run without subscribers are ignored. */
  #drop(key: string): void {
    this.#subscribers.delete(key);
    if (this.#subscribers.size) return;
    clearTimeout(this.#timer);
    this.#stream?.abort();
    this.#stream = null;
  }

  /** The runs to request, each from the earliest place among its subscribers. */
  #wanted(): Map<string, string> {
    const wanted = new Map<string, string>();
    for (const { run, place } of this.#subscribers.values()) {
      const known = wanted.get(run);
      if (known === undefined ? wanted.size < MOST_RUNS : isAfter(known, place)) wanted.set(run, place);
    }
    return wanted;
  }

  /** Replaces the stream by one with all runs, and reads it to its end. */
  async #connect(): Promise<void> {
    this.#stream?.abort();
    const wanted = this.#wanted();
    if (!wanted.size) return;
    const stream = new AbortController();
    this.#stream = stream;
    const query = [...wanted].map(([run, at]) => `run=${encodeURIComponent(run)}${at === "" ? "" : `@${at}`}`);
    let failure = LOST;
    try {
      const response = await this.open(`/events?${query.join("&")}`, stream.signal);
      if (stream.signal.aborted) return;
      if (response.status === 404 || response.status === 405) {
        const all = [...this.#subscribers.values()];
        this.#subscribers.clear();
        for (const s of all) s.send({ type: "unsupported", id: s.id });
        return;
      }
      if (!response.ok || !response.body) failure = await failureOf(response);
      else for await (const event of events(response.body)) if (!stream.signal.aborted) this.#dispatch(event);
    } catch (e) {
      if (stream.signal.aborted) return;
      failure = { ...LOST, code: "unreachable", message: e instanceof Error ? e.message : "" };
    }
    if (stream.signal.aborted) return;
    this.#stream = null;
    for (const f of this.#take(wanted)) f.send({ type: "broken", id: f.id, failure });
    if (this.#subscribers.size) void this.#connect();
  }

  /** Removes and returns the subscribers of these runs. */
  #take(runs: Map<string, string>): Subscriber[] {
    const all = [...this.#subscribers].filter(([, f]) => runs.has(f.run));
    for (const [key] of all) this.#subscribers.delete(key);
    return all.map(([, f]) => f);
  }

  #dispatch({ event, data, id }: ServerEvent): void {
    if (event === "gone") {
      const run = str(record(parsed(data)).run_id);
      for (const f of this.#take(new Map([[run, ""]]))) f.send({ type: "gone", id: f.id });
      return;
    }
    const at = id?.lastIndexOf("@") ?? -1;
    if (id === null || at < 0) return;
    const [run, place] = [id.slice(0, at), id.slice(at + 1)];
    for (const [key, f] of [...this.#subscribers]) {
      if (f.run !== run || !isAfter(place, f.place)) continue;
      f.place = place;
      f.send({ type: "event", id: f.id, event, data, place });
      if (ENDS.has(event)) this.#subscribers.delete(key);
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function failureOf(response: Response): Promise<Failure> {
  const error = taskError(record(parsed(await response.text().catch(() => ""))).error);
  const wait = response.headers.get("retry-after");
  return {
    status: response.status,
    code: error?.code ?? `http_${response.status}`,
    message: error?.message || `HTTP ${response.status}`,
    hint: error?.hint ?? null,
    retryAfter: wait !== null && /^\d+$/.test(wait) ? Number(wait) : null,
  };
}

/** Requests a stream from the server of this page. */
export const request = (path: string, signal: AbortSignal): Promise<Response> =>
  fetch(path, { credentials: "same-origin", redirect: "error", headers: { accept: "text/event-stream" }, signal });
