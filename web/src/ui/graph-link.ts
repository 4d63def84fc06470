// Drawing an edge of a plan: from the handle of one task to another task.
import { useSignal, type Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Layout } from "./graph-layout";
import type { View } from "./graph-view";

/** An edge that is being drawn: from the middle of a task to the pointer, in the graph's own pixels. */
export interface Drawn {
  from: string;
  x: number;
  y: number;
  /** The task under the pointer. */
  over: string | null;
}

/** The edge that is being drawn, if one is. `onLink` is told when the pointer is let go over a task. */
export function useLinks(
  box: RefObject<HTMLElement | null>,
  now: { layout: Layout; view: View; onLink: ((from: number, to: number) => void) | null },
): Signal<Drawn | null> {
  const drawn = useSignal<Drawn | null>(null);
  const latest = useRef(now);
  latest.current = now;
  const can = now.onLink !== null;
  useEffect(() => {
    const element = box.current;
    if (!element || !can) return;
    const keyOf = (target: Element | null): string | null => target?.closest<HTMLElement>(".node")?.dataset.key ?? null;
    const onDown = (e: PointerEvent) => {
      const handle = (e.target as Element).closest("[data-link]");
      const from = keyOf(handle);
      if (!handle || from === null || e.button !== 0) return;
      e.preventDefault();
      element.setPointerCapture(e.pointerId);
      drawn.value = { from, ...place(e), over: null };
    };
    const place = (e: PointerEvent) => {
      const { left, top } = element.getBoundingClientRect();
      const { view } = latest.current;
      return { x: (e.clientX - left - view.x) / view.scale, y: (e.clientY - top - view.y) / view.scale };
    };
    const onMove = (e: PointerEvent) => {
      const at = drawn.value;
      if (!at) return;
      const over = keyOf(document.elementFromPoint(e.clientX, e.clientY));
      drawn.value = { ...at, ...place(e), over: over === at.from ? null : over };
    };
    const onUp = () => {
      const at = drawn.value;
      drawn.value = null;
      if (at?.over != null) latest.current.onLink?.(Number(at.from), Number(at.over));
    };
    const onCancel = () => void (drawn.value = null);
    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    element.addEventListener("pointercancel", onCancel);
    return () => {
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onUp);
      element.removeEventListener("pointercancel", onCancel);
    };
  }, [can]);
  return drawn;
}
