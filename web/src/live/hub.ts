// The one event stream of a browser: it carries all runs that the tabs follow, since a browser opens only six connections to
// a server over HTTP/1.1. It lives in a shared worker or in one of the tabs. It does not rejoin what broke: it tells, and
// whoever follows asks again.
import { record, str, taskError } from "../api/decode";
import { events, type ServerEvent } from "../api/sse";
import { isAfter, type Ask, type Failure, type Reply } from "./protocol";

/** The most runs that one stream carries; the others wait until some have ended. */
const MOST_RUNS = 100;
/** Several asked for at once, as when a page opens, share one opening. In milliseconds. */
const GATHER = 15;

interface Follower {
  tab: string;
  id: number;
  run: string;
  place: string;
  tell: (reply: Reply) => void;
}

const ENDS = new Set(["done", "error"]);
const LOST: Failure = { status: 0, code: "lost", message: "", hint: null, retryAfter: null };

export class Hub {
  #followers = new Map<string, Follower>();
  #stream: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `open` asks the server; apart, so that the hub can be tested by itself. */
  constructor(private readonly open: (path: string, signal: AbortSignal) => Promise<Response>) {}

  /** What a tab says. */
  hear(tab: string, ask: Ask, tell: (reply: Reply) => void): void {
    const key = `${tab} ${ask.id}`;
    if (ask.say === "leave") return this.#drop(key);
    this.#followers.set(key, { tab, id: ask.id, run: ask.run, place: ask.after, tell });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#follow(), GATHER);
  }

  /** A tab was closed. */
  bye(tab: string): void {
    for (const [key, follower] of this.#followers) if (follower.tab === tab) this.#drop(key);
  }

  /** What nobody needs any more is passed over until the stream is opened anew; without anybody it is closed. */
  #drop(key: string): void {
    this.#followers.delete(key);
    if (this.#followers.size) return;
    clearTimeout(this.#timer);
    this.#stream?.abort();
    this.#stream = null;
  }

  /** The runs with the place from which each is asked for: the earliest of those who follow it. */
  #wanted(): Map<string, string> {
    const wanted = new Map<string, string>();
    for (const { run, place } of this.#followers.values()) {
      const known = wanted.get(run);
      if (known === undefined ? wanted.size < MOST_RUNS : isAfter(known, place)) wanted.set(run, place);
    }
    return wanted;
  }

  /** Opens the stream anew with all runs, each at its place, and reads it to its end. */
  async #follow(): Promise<void> {
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
        for (const f of this.#take(wanted)) f.tell({ say: "absent", id: f.id });
        return;
      }
      if (!response.ok || !response.body) failure = await refusal(response);
      else for await (const event of events(response.body)) if (!stream.signal.aborted) this.#pass(event);
    } catch (e) {
      if (stream.signal.aborted) return;
      failure = { ...LOST, code: "unreachable", message: e instanceof Error ? e.message : "" };
    }
    if (stream.signal.aborted) return;
    this.#stream = null;
    for (const f of this.#take(wanted)) f.tell({ say: "broken", id: f.id, failure });
    if (this.#followers.size) void this.#follow();
  }

  /** Those who follow one of these runs; they are let go. */
  #take(runs: Map<string, string>): Follower[] {
    const all = [...this.#followers].filter(([, f]) => runs.has(f.run));
    for (const [key] of all) this.#followers.delete(key);
    return all.map(([, f]) => f);
  }

  #pass({ event, data, id }: ServerEvent): void {
    if (event === "gone") {
      const run = str(record(parsed(data)).run_id);
      for (const f of this.#take(new Map([[run, ""]]))) f.tell({ say: "gone", id: f.id });
      return;
    }
    const at = id?.lastIndexOf("@") ?? -1;
    if (id === null || at < 0) return;
    const [run, place] = [id.slice(0, at), id.slice(at + 1)];
    for (const [key, f] of [...this.#followers]) {
      if (f.run !== run || !isAfter(place, f.place)) continue;
      f.place = place;
      f.tell({ say: "event", id: f.id, event, data, place });
      if (ENDS.has(event)) this.#followers.delete(key);
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

async function refusal(response: Response): Promise<Failure> {
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

/** Asks the server of the page that the hub belongs to. */
export const ask = (path: string, signal: AbortSignal): Promise<Response> =>
  fetch(path, { credentials: "same-origin", redirect: "error", headers: { accept: "text/event-stream" }, signal });
