// The events of a run, by the one stream of the browser.
import * as client from "../api/client";
import * as decode from "../api/decode";
import { ApiError, authorize } from "../api/http";
import type { RunEvent } from "../api/types";
import { connect, type Line } from "./line";
import { numbersOf, type Ask, type Reply } from "./protocol";

interface Followed {
  ask: Ask & { say: "follow" };
  take(reply: Reply): void;
}

const followed = new Map<number, Followed>();
let line: Line | null = null;
let last = 0;
/** Set by a server that has no stream for many runs. */
let absent = false;

function open(): Line {
  line ??= connect({
    hear: (reply) => followed.get(reply.id)?.take(reply),
    anew: () => {
      for (const { ask } of followed.values()) line?.say(ask);
    },
  });
  return line;
}

/** The replies about one run, in order, until the reader lets go. */
async function* replies(run: string, after: string, signal: AbortSignal): AsyncGenerator<Reply> {
  const id = ++last;
  const waiting: Reply[] = [];
  let wake = () => {};
  const entry: Followed = {
    ask: { say: "follow", id, run, after },
    take: (reply) => {
      // The place from which another hub is asked.
      if (reply.say === "event") entry.ask = { ...entry.ask, after: reply.place };
      waiting.push(reply);
      wake();
    },
  };
  const end = () => wake();
  followed.set(id, entry);
  signal.addEventListener("abort", end);
  try {
    open().say(entry.ask);
    while (!signal.aborted) {
      const reply = waiting.shift();
      if (reply) yield reply;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    followed.delete(id);
    signal.removeEventListener("abort", end);
    line?.say({ say: "leave", id });
  }
}

/** Follows a run from behind a place ("" for its beginning) to its end. Throws when the stream breaks before. */
export async function* follow(run: string, after: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  let place = after;
  while (!absent && !signal.aborted) {
    let entered = false;
    for await (const reply of replies(run, place, signal)) {
      if (reply.say === "absent") {
        absent = true;
        break;
      }
      if (reply.say === "gone") throw new ApiError("not_found", "", null, 404);
      if (reply.say === "broken") {
        const { status, code, message, hint, retryAfter } = reply.failure;
        entered = status === 401 && (await authorize());
        if (entered) break;
        throw new ApiError(code, message, hint, status, retryAfter);
      }
      place = reply.place;
      const event = read(reply.data, reply.event);
      if (event) yield event.seq < 0 ? { ...event, seq: numbersOf(place)[0] } : event;
      if (reply.event === "done" || reply.event === "error") return;
    }
    if (!absent && !entered) return;
  }
  if (!signal.aborted) yield* client.follow(run, place, signal);
}

function read(data: string, kind: string): RunEvent | null {
  try {
    return decode.event(JSON.parse(data), kind);
  } catch {
    return null;
  }
}
