// Moving a graph by pointer, wheel, pinch and keys. What the gestures do to the view is in graph-view.ts.
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Gestures {
  onPan: (dx: number, dy: number) => void;
  /** Larger by a factor around a point of the box. */
  onZoom: (factor: number, x: number, y: number) => void;
  /** Whether the wheel zooms, or scrolls the page. */
  takesWheel: () => boolean;
}

/** A pointer that moves less than this has clicked. */
const CLICK = 4;

export function usePanZoom(box: RefObject<HTMLElement | null>, gestures: Gestures): void {
  const now = useRef(gestures);
  now.current = gestures;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const down = new Map<number, { x: number; y: number }>();
    let moved = false;
    let start = { x: 0, y: 0 };
    const point = (e: { clientX: number; clientY: number }) => {
      const { left, top } = element.getBoundingClientRect();
      return { x: e.clientX - left, y: e.clientY - top };
    };
    const onDown = (e: PointerEvent) => {
      if (e.button !== 0 || (e.target as Element).closest(".graph-tools, .minimap, [data-link]")) return;
      if (!down.size) moved = false;
      down.set(e.pointerId, point(e));
      start = point(e);
    };
    const onMove = (e: PointerEvent) => {
      const before = down.get(e.pointerId);
      if (!before) return;
      const here = point(e);
      const others = [...down].filter(([id]) => id !== e.pointerId).map(([, at]) => at);
      const other = others[0];
      if (!moved && !other && Math.hypot(here.x - start.x, here.y - start.y) < CLICK) return;
      if (!moved) element.setPointerCapture(e.pointerId);
      moved = true;
      down.set(e.pointerId, here);
      if (!other) return now.current.onPan(here.x - before.x, here.y - before.y);
      // Two fingers: their distance is the size, their middle the place.
      const middle = { x: (here.x + other.x) / 2, y: (here.y + other.y) / 2 };
      now.current.onPan((here.x - before.x) / 2, (here.y - before.y) / 2);
      const apart = Math.hypot(before.x - other.x, before.y - other.y);
      if (apart > 0) now.current.onZoom(Math.hypot(here.x - other.x, here.y - other.y) / apart, middle.x, middle.y);
    };
    const onUp = (e: PointerEvent) => void down.delete(e.pointerId);
    const onClick = (e: MouseEvent) => {
      if (!moved) return;
      moved = false;
      e.preventDefault();
      e.stopPropagation();
    };
    const onWheel = (e: WheelEvent) => {
      if (!e.ctrlKey && !e.metaKey && !now.current.takesWheel()) return;
      e.preventDefault();
      const { x, y } = point(e);
      const lines = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      // A trackpad that pinches tells small steps.
      now.current.onZoom(Math.exp(-e.deltaY * lines * (e.ctrlKey ? 0.008 : 0.0016)), x, y);
    };
    // The browser scrolls to what gets the focus; here the view does that.
    const onScroll = () => element.scrollTo(0, 0);
    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    for (const end of ["pointerup", "pointercancel"] as const) element.addEventListener(end, onUp);
    element.addEventListener("click", onClick, true);
    element.addEventListener("wheel", onWheel, { passive: false });
    element.addEventListener("scroll", onScroll);
    return () => {
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      for (const end of ["pointerup", "pointercancel"] as const) element.removeEventListener(end, onUp);
      element.removeEventListener("click", onClick, true);
      element.removeEventListener("wheel", onWheel);
      element.removeEventListener("scroll", onScroll);
    };
  }, []);
}
