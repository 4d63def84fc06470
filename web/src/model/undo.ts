// Steps that can be taken back and done again. Pure.

export interface Steps<T> {
  past: readonly T[];
  future: readonly T[];
  /** What the last change was about: the next one about the same is part of it. */
  about: string;
}

/** So many steps are kept. */
const MOST = 100;

export const noSteps = <T>(): Steps<T> => ({ past: [], future: [], about: "" });

/** The steps after a change of `before`. Letters typed one after the other into one field are one step. */
export function changed<T>(steps: Steps<T>, before: T, about = ""): Steps<T> {
  const goesOn = about !== "" && about === steps.about;
  return { past: goesOn ? steps.past : [...steps.past, before].slice(-MOST), future: [], about };
}

export function undone<T>({ past, future }: Steps<T>, now: T): { steps: Steps<T>; to: T } | null {
  const to = past.at(-1);
  return to === undefined ? null : { steps: { past: past.slice(0, -1), future: [...future, now], about: "" }, to };
}

export function redone<T>({ past, future }: Steps<T>, now: T): { steps: Steps<T>; to: T } | null {
  const to = future.at(-1);
  return to === undefined ? null : { steps: { past: [...past, now], future: future.slice(0, -1), about: "" }, to };
}
