// What tabs and the hub say to each other about the runs they follow. Plain data: it crosses threads and tabs.

/** A tab asks for the events of a run after a place, or needs them no longer. `id` is the tab's own number for it. */
export type Ask = { say: "follow"; id: number; run: string; after: string } | { say: "leave"; id: number };

/** Why a run is not followed any more. `status` is 0 where no reply came. */
export interface Failure {
  status: number;
  code: string;
  message: string;
  hint: string | null;
  retryAfter: number | null;
}

export type Reply =
  /** An event as it came: its kind, its JSON, and its place in the run. */
  | { say: "event"; id: number; event: string; data: string; place: string }
  /** The server knows no such run, or does not show it to this user. */
  | { say: "gone"; id: number }
  | { say: "broken"; id: number; failure: Failure }
  /** The server has no stream for many runs. */
  | { say: "absent"; id: number };

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
