// Messages between tabs and the hub. Plain data: it crosses threads and tabs.

/** Subscribes a tab to the events of a run after a place, or ends that. `id` is chosen by the tab. */
export type Command = { type: "follow"; id: number; run: string; after: string } | { type: "leave"; id: number };

/** Why a subscription ended before its run. `status` is 0 when there was no HTTP response. */
export interface Failure {
  status: number;
  code: string;
  message: string;
  hint: string | null;
  retryAfter: number | null;
}

export type Notice =
  /** A server-sent event: its kind, its JSON, and its place in the run. */
  | { type: "event"; id: number; event: string; data: string; place: string }
  /** The run does not exist, or belongs to another user. */
  | { type: "gone"; id: number }
  | { type: "broken"; id: number; failure: Failure }
  /** The server does not support streams of many runs. */
  | { type: "unsupported"; id: number };

/** A place in a run as it stands in `id:`: the number of an event, and of the piece of the answer behind it. */
export const placeOf = (seq: number, piece = 0): string => (seq < 0 ? "" : piece > 0 ? `${seq}.${piece}` : String(seq));

/** The number of a place's event and of its piece; before everything when it is no place. */
export function numbersOf(place: string): [seq: number, piece: number] {
  const m = /^(\d+)(?:\.(\d+))?$/.exec(place);
  return m ? [Number(m[1]), Number(m[2] ?? 0)] : [-1, 0];
}

/** Whether a place comes after another one in the same run. */
export function isAfter(place: string, other: string): boolean {
  const [a, b] = [numbersOf(place), numbersOf(other)];
  return a[0] > b[0] || (a[0] === b[0] && a[1] > b[1]);
}
