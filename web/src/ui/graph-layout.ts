// Where the nodes of a task graph go. dagre does the layered layout (ranks, crossings, long edges); this file chooses the
// direction that shows the graph largest in the room there is, and turns the routes into curves. No DOM here.
import { Graph, layout } from "@dagrejs/dagre";
import type { TaskView } from "../model/run";
import { referencesIn } from "../model/plan";

export interface Size {
  width: number;
  height: number;
}
/** A task with its thumbnail and figures, and one for crowded graphs. */
export const NODE: Size = { width: 178, height: 58 };
export const SMALL_NODE: Size = { width: 118, height: 58 };
export const PILL = { width: 80, height: 30 };
export const START = "start";
export const END = "end";

export interface Placed {
  key: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Route {
  from: string;
  to: string;
  path: string;
  tip: string;
  /** True when the target only waits for the source, without using its output. */
  orderOnly: boolean;
}

export interface Layout {
  width: number;
  height: number;
  small: boolean;
  nodes: Map<string, Placed>;
  routes: Route[];
}

interface Link {
  from: string;
  to: string;
  orderOnly: boolean;
}

/** The links of a graph: the request before what waits for nothing, the answer after what nothing waits for. */
export function links(tasks: TaskView[]): Link[] {
  const ids = new Set(tasks.map((t) => t.id));
  const out: Link[] = [];
  const used = new Set<number>();
  for (const t of tasks) {
    const refs = new Set(Object.values(t.planned).flatMap(referencesIn));
    const deps = t.dep.filter((d) => ids.has(d) && d !== t.id);
    for (const d of deps) {
      used.add(d);
      out.push({ from: String(d), to: String(t.id), orderOnly: !refs.has(d) });
    }
    if (!deps.length) out.push({ from: START, to: String(t.id), orderOnly: false });
  }
  for (const t of tasks) if (!used.has(t.id)) out.push({ from: String(t.id), to: END, orderOnly: false });
  if (!tasks.length) out.push({ from: START, to: END, orderOnly: false });
  return out;
}

/** The graph laid out for a given width, in its own pixels. */
export function arrange(tasks: TaskView[], room: number): Layout {
  let least: Layout | null = null;
  for (const [down, size] of [
    [true, NODE],
    [false, NODE],
    [true, SMALL_NODE],
    [false, SMALL_NODE],
  ] as const) {
    const layout = lay(tasks, down, size);
    if (layout.width <= room) return layout;
    if (!least || layout.width < least.width) least = layout;
  }
  return least ?? lay(tasks, true, NODE);
}

function lay(tasks: TaskView[], down: boolean, size: Size): Layout {
  const graph = new Graph();
  graph.setGraph({
    rankdir: down ? "TB" : "LR",
    nodesep: 14,
    ranksep: down ? 34 : 24,
    edgesep: 12,
    marginx: 2,
    marginy: 2,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  graph.setNode(START, { ...PILL });
  for (const t of tasks) graph.setNode(String(t.id), { ...size });
  graph.setNode(END, { ...PILL });
  const all = links(tasks);
  // A task that waits for nothing stands at the top, where it starts: its edge is the one to keep short.
  for (const { from, to } of all) graph.setEdge(from, to, { weight: from === START ? 8 : 1 });
  layout(graph);
  const whole = graph.graph() as Partial<Size>;
  const width = Math.ceil(whole.width ?? 0);
  const height = Math.ceil(whole.height ?? 0);
  const nodes = new Map<string, Placed>();
  for (const key of graph.nodes()) {
    const at = { x: 0, y: 0, width: 0, height: 0, ...(graph.node(key) as Partial<Placed>) };
    nodes.set(key, { key, x: at.x - at.width / 2, y: at.y - at.height / 2, width: at.width, height: at.height });
  }
  // dagre does not care which way round a layer is; readers expect the first task first.
  const turn = inversions([...nodes.values()], down) > 0;
  const mirror = (p: Point): Point => (!turn ? p : down ? { x: width - p.x, y: p.y } : { x: p.x, y: height - p.y });
  if (turn)
    for (const n of nodes.values()) {
      if (down) n.x = width - n.x - n.width;
      else n.y = height - n.y - n.height;
    }
  const routes = all.flatMap((link) => {
    const a = nodes.get(link.from);
    const b = nodes.get(link.to);
    const points = (graph.edge(link.from, link.to) as { points?: Point[] } | undefined)?.points ?? [];
    return a && b ? [{ ...link, ...curve(a, b, points.map(mirror), down) }] : [];
  });
  return { width, height, small: size === SMALL_NODE, nodes, routes };
}

/** How many pairs of tasks in one layer are the wrong way round, less those that are the right way round. */
function inversions(nodes: Placed[], down: boolean): number {
  let sum = 0;
  for (const a of nodes)
    for (const b of nodes) {
      const sameLayer = down ? a.y === b.y : a.x + a.width / 2 === b.x + b.width / 2;
      if (!sameLayer || !(Number(a.key) < Number(b.key))) continue;
      sum += (down ? a.x > b.x : a.y > b.y) ? 1 : -1;
    }
  return sum;
}

interface Point {
  x: number;
  y: number;
}

/** A curve from the middle of one side to the middle of the other, through dagre's way points when the edge is long. */
function curve(a: Placed, b: Placed, points: Point[], down: boolean): { path: string; tip: string } {
  const start = down ? { x: a.x + a.width / 2, y: a.y + a.height } : { x: a.x + a.width, y: a.y + a.height / 2 };
  const end = down ? { x: b.x + b.width / 2, y: b.y - 5 } : { x: b.x - 5, y: b.y + b.height / 2 };
  const way = [start, ...(points.length > 3 ? points.slice(1, -1) : []), end];
  let path = `M${xy(start)}`;
  for (let i = 1; i < way.length; i++) {
    const p = way[i - 1] ?? start;
    const q = way[i] ?? end;
    const half = down ? (q.y - p.y) / 2 : (q.x - p.x) / 2;
    path += down
      ? `C${xy({ x: p.x, y: p.y + half })} ${xy({ x: q.x, y: q.y - half })} ${xy(q)}`
      : `C${xy({ x: p.x + half, y: p.y })} ${xy({ x: q.x - half, y: q.y })} ${xy(q)}`;
  }
  const tip = down ? `M${end.x - 4} ${end.y - 1}h8l-4 5.5z` : `M${end.x - 1} ${end.y - 4}v8l5.5-4z`;
  return { path, tip };
}

const xy = (p: Point): string => `${Math.round(p.x * 10) / 10} ${Math.round(p.y * 10) / 10}`;

/** The node that an arrow key leads to from another: the nearest one that way. */
export function neighbour(nodes: Placed[], from: Placed, key: string): Placed | null {
  const across = key === "ArrowLeft" || key === "ArrowRight";
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  let best: Placed | null = null;
  let least = Infinity;
  for (const n of nodes) {
    const dx = n.x + n.width / 2 - from.x - from.width / 2;
    const dy = n.y + n.height / 2 - from.y - from.height / 2;
    const along = (across ? dx : dy) * sign;
    if (n.key === from.key || along < 8) continue;
    const cost = along + Math.abs(across ? dy : dx) * 2;
    if (cost < least) {
      least = cost;
      best = n;
    }
  }
  return best;
}
