// Streams of events: server-sent events as an AsyncIterable of typed objects.

import { EventSourceParserStream } from "eventsource-parser/stream";

import type { components } from "./api.js";
import { ApiError } from "./errors.js";

/** One thing that happened in a run; its `event` says what kind it is. */
export type Event = components["schemas"]["Event"];
/** The same, or that a run is not there. */
export type RunsEvent = components["schemas"]["RunsEvent"];

type Body = ReadableStream<Uint8Array>;

/**
 * The events of a stream up to the one that ends the run; with `all` up to the end of the stream. Whoever leaves the loop closes the
 * connection. `over` is asked where nothing came: whether nothing was to come.
 */
export async function* events<E extends Event | RunsEvent>(
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal) => Promise<unknown>,
  upTo: "done" | "all" = "done",
  over: () => Promise<boolean> = async () => false,
): AsyncGenerator<E, void, void> {
  let empty = true;
  const leaving = new AbortController();
  const both = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
  try {
    const body = (await open(both)) as Body;
    const messages = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
    for await (const { data } of messages.pipeThrough(new EventSourceParserStream())) {
      const event = parsed<E>(data);
      empty = false;
      yield event;
      if (upTo === "done" && isEnd(event)) return;
    }
  } catch (cause) {
    // undici says `terminated` where a connection broke off.
    if (both.aborted || cause instanceof ApiError || !(cause instanceof TypeError)) throw cause;
    throw cutOff(cause);
  } finally {
    leaving.abort();
  }
  if (upTo === "done" && !(empty && (await over()))) throw cutOff();
}

/** Whether nothing follows the event. */
function isEnd(event: Event | RunsEvent | undefined): boolean {
  return event !== undefined && "event" in event && (event.event === "done" || event.event === "error");
}

/** Whether the event, or one before it, is the end of a run of these events. */
export function hasSeenEnd(events: readonly Event[], lastEventId: string): boolean {
  const end = events.at(-1);
  return end !== undefined && isEnd(end) && end.seq <= Number.parseInt(lastEventId, 10);
}

function parsed<E>(data: string): E {
  try {
    return JSON.parse(data) as E;
  } catch (cause) {
    throw new ApiError("an event of the stream is not JSON", { cause });
  }
}

function cutOff(cause?: unknown): ApiError {
  const hint = "the run may go on: `follow` it by the `run_id` of its events";
  return new ApiError("the stream ended before its run did", { code: "cut_off", hint, cause });
}

/** The header that says behind which event a stream begins. */
export function place(lastEventId: string | undefined): { header?: { "Last-Event-ID": string } } {
  return lastEventId === undefined ? {} : { header: { "Last-Event-ID": lastEventId } };
}
