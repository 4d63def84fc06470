// The whole of a large graph in small, with the part that is in sight; a press on it goes there.
import { useRef } from "preact/hooks";
import type { TaskState, TaskView } from "../model/run";
import { END, START, type Layout, type Size } from "./graph-layout";
import type { View } from "./graph-view";

const MOST: Size = { width: 116, height: 84 };

interface Props {
  layout: Layout;
  view: View;
  room: Size;
  tasks: TaskView[];
  /** The middle of what is to be in sight, in the graph's own pixels. */
  onGo: (x: number, y: number) => void;
}

export function Minimap({ layout, view, room, tasks, onGo }: Props) {
  const pressed = useRef(false);
  const scale = Math.min(MOST.width / layout.width, MOST.height / layout.height);
  const states = new Map<string, TaskState>(tasks.map((x) => [String(x.id), x.state]));
  const go = (e: PointerEvent) => {
    const box = (e.currentTarget as SVGElement).getBoundingClientRect();
    onGo((e.clientX - box.left) / scale, (e.clientY - box.top) / scale);
  };
  return (
    <svg
      class="minimap"
      width={layout.width * scale}
      height={layout.height * scale}
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      aria-hidden="true"
      focusable="false"
      onPointerDown={(e) => {
        pressed.current = true;
        (e.currentTarget as SVGElement).setPointerCapture(e.pointerId);
        go(e);
      }}
      onPointerMove={(e) => pressed.current && go(e)}
      onPointerUp={() => (pressed.current = false)}
    >
      {[...layout.nodes.values()].map((n) => (
        <rect
          key={n.key}
          class={n.key === START || n.key === END ? "minimap-end" : `minimap-node is-${states.get(n.key) ?? "waiting"}`}
          x={n.x}
          y={n.y}
          width={n.width}
          height={n.height}
          rx={10}
        />
      ))}
      <rect
        class="minimap-view"
        x={-view.x / view.scale}
        y={-view.y / view.scale}
        width={room.width / view.scale}
        height={room.height / view.scale}
      />
    </svg>
  );
}
