// What part of a graph is in sight, and how large: fit, zoom, pan, and keeping something in sight. Pure.
import type { Layout, Placed, Size } from "./graph-layout";

/** Where the graph's corner is in the room, and how large it is drawn. */
export interface View {
  scale: number;
  x: number;
  y: number;
}

/** Free room around the graph, in pixels. */
export const PAD = 14;
/** Smaller than this and the words can no longer be read. */
export const READABLE = 0.8;
export const MOST = 2;
/** So much of the graph stays in sight however far it is moved. */
const GRIP = 48;

/** The scale at which the whole graph is in sight, never above its own size. */
export const fitScale = (layout: Size, room: Size): number =>
  Math.max(0.05, Math.min(1, (room.width - 2 * PAD) / layout.width, (room.height - 2 * PAD) / layout.height));

/** Along one side: in the middle where there is room, else from the beginning. */
const along = (size: number, room: number): number => (size + 2 * PAD <= room ? (room - size) / 2 : PAD);

/** The graph at a scale, from its top. */
const at = (scale: number, layout: Size, room: Size): View => ({
  scale,
  x: along(layout.width * scale, room.width),
  y: along(layout.height * scale, room.height),
});

export const fit = (layout: Size, room: Size): View => at(fitScale(layout, room), layout, room);

/** The view as it is until the reader moves it: whole if it can be read so, else readable, around what matters now. */
export function follow(layout: Size, room: Size, matters: Placed[]): View {
  const scale = fitScale(layout, room);
  if (scale >= READABLE) return fit(layout, room);
  const view = at(READABLE, layout, room);
  // Of what is too far apart to be seen together, the first.
  const box = matters
    .map((_, i) => around(matters.slice(0, matters.length - i)))
    .find((b, i) => b && (fits(b, room) || i === matters.length - 1));
  return box ? reveal(view, box, layout, room, true) : view;
}

const fits = (box: Size, room: Size): boolean =>
  box.width * READABLE + 2 * PAD <= room.width && box.height * READABLE + 2 * PAD <= room.height;

/** The rectangle around several nodes. */
export function around(nodes: Placed[]): Omit<Placed, "key"> | null {
  if (!nodes.length) return null;
  const x = Math.min(...nodes.map((n) => n.x));
  const y = Math.min(...nodes.map((n) => n.y));
  const width = Math.max(...nodes.map((n) => n.x + n.width)) - x;
  const height = Math.max(...nodes.map((n) => n.y + n.height)) - y;
  return { x, y, width, height };
}

/** The view moved so far that a rectangle is in sight: as little as can be, or to its middle. */
export function reveal(view: View, box: Omit<Placed, "key">, layout: Size, room: Size, centre = false): View {
  const move = (from: number, start: number, size: number, length: number, whole: number): number => {
    const [a, b] = [start * view.scale, (start + size) * view.scale];
    if (whole * view.scale + 2 * PAD <= length) return from;
    const to = centre ? length / 2 - (a + b) / 2 : Math.max(PAD - a, Math.min(from, length - PAD - b));
    // Not beyond the ends of the graph.
    return Math.min(PAD, Math.max(length - PAD - whole * view.scale, to));
  };
  return {
    scale: view.scale,
    x: move(view.x, box.x, box.width, room.width, layout.width),
    y: move(view.y, box.y, box.height, room.height, layout.height),
  };
}

/** Larger or smaller by a factor; what is at this point of the room stays there. */
export function zoom(view: View, factor: number, x: number, y: number, layout: Size, room: Size): View {
  const least = Math.min(fitScale(layout, room), READABLE) * 0.9;
  const scale = Math.max(least, Math.min(MOST, view.scale * factor));
  const by = scale / view.scale;
  return held({ scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by }, layout, room);
}

export const pan = (view: View, dx: number, dy: number, layout: Size, room: Size): View =>
  held({ ...view, x: view.x + dx, y: view.y + dy }, layout, room);

/** The view moved back so far that some of the graph is in sight. */
const held = (view: View, layout: Size, room: Size): View => ({
  scale: view.scale,
  x: Math.min(room.width - GRIP, Math.max(GRIP - layout.width * view.scale, view.x)),
  y: Math.min(room.height - GRIP, Math.max(GRIP - layout.height * view.scale, view.y)),
});

/** Whether some of the graph is out of sight. */
export const overflows = (view: View, layout: Size, room: Size): boolean =>
  view.x < -1 ||
  view.y < -1 ||
  view.x + layout.width * view.scale > room.width + 1 ||
  view.y + layout.height * view.scale > room.height + 1;

/** The nodes by their keys, those that are placed. */
export const placed = (layout: Layout, keys: string[]): Placed[] => keys.flatMap((key) => layout.nodes.get(key) ?? []);
