// Parts of the page that are loaded when they are first needed.
import { signal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const asked = new Set<unknown>();

/** What could not be loaded: the server is away, or has another page by now. */
export const failed = signal<ReadonlySet<unknown>>(new Set());

/** A module that is loaded once, when it is first needed. Without a connection the next who needs it tries again. */
export function useModule<T>(kept: Signal<T | null>, needed: boolean, load: () => Promise<T>): T | null {
  useEffect(() => {
    if (!needed || kept.value || asked.has(kept)) return;
    asked.add(kept);
    load().then(
      (module) => (kept.value = module),
      () => {
        asked.delete(kept);
        failed.value = new Set(failed.value).add(kept);
      },
    );
  }, [needed]);
  return kept.value;
}
