// The events of a run, over the event stream that all tabs share.
import * as client from "../api/client";
import * as decode from "../api/decode";
import { ApiError, authorize } from "../api/http";
import type { RunEvent } from "../api/types";
import { numbersOf, type Command, type Notice } from "./protocol";
import { connect, type Transport } from "./transport";

interface Subscription {
  command: Command & { type: "follow" };
  push(notice: Notice): void;
}

const subscriptions = new Map<number, Subscription>();
let transport: Transport | null = null;
let lastId = 0;
/** Set when the server has no stream of many runs: from then on each run has a stream of its own. */
let unsupported = false;

function open(): Transport {
  transport ??= connect({
    onNotice: (notice) => subscriptions.get(notice.id)?.push(notice),
    onReset: () => {
      for (const { command } of subscriptions.values()) transport?.send(command);
    },
  });
  return transport;
}

/** The notices about one run, until the caller stops or aborts. */
async function* subscribe(run: string, after: string, signal: AbortSignal): AsyncGenerator<Notice> {
  const id = ++lastId;
  const queue: Notice[] = [];
  let wake = () => {};
  const subscription: Subscription = {
    command: { type: "follow", id, run, after },
    push: (notice) => {
      // A new hub continues from here.
      if (notice.type === "event") subscription.command = { ...subscription.command, after: notice.place };
      queue.push(notice);
      wake();
    },
  };
  const stop = () => wake();
  subscriptions.set(id, subscription);
  signal.addEventListener("abort", stop);
  try {
    open().send(subscription.command);
    while (!signal.aborted) {
      const notice = queue.shift();
      if (notice) yield notice;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    subscriptions.delete(id);
    signal.removeEventListener("abort", stop);
    transport?.send({ type: "leave", id });
  }
}

/** Follows a run from after a place ("" for its beginning) to its end. Throws when the stream breaks before that. */
export async function* follow(run: string, after: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  let place = after;
  while (!unsupported && !signal.aborted) {
    let authorized = false;
    for await (const notice of subscribe(run, place, signal)) {
      if (notice.type === "unsupported") {
        unsupported = true;
        break;
      }
      if (notice.type === "gone") throw new ApiError("not_found", "", null, 404);
      if (notice.type === "broken") {
        const { status, code, message, hint, retryAfter } = notice.failure;
        authorized = status === 401 && (await authorize());
        if (authorized) break;
        throw new ApiError(code, message, hint, status, retryAfter);
      }
      place = notice.place;
      const event = parse(notice.data, notice.event);
      if (event) yield event.seq < 0 ? { ...event, seq: numbersOf(place)[0] } : event;
      if (notice.event === "done" || notice.event === "error") return;
    }
    if (!unsupported && !authorized) return;
  }
  if (!signal.aborted) yield* client.follow(run, place, signal);
}

function parse(data: string, kind: string): RunEvent | null {
  try {
    return decode.event(JSON.parse(data), kind);
  } catch {
    return null;
  }
}
