// The live task graph: fitted or followed, zoomed and moved by hand, with the details of a task beneath.
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { joined, language, t } from "../i18n";
import * as plan from "../model/plan";
import { isLive, type RunView } from "../model/run";
import { duration } from "../model/text";
import { notify } from "../state/announce";
import { Elapsed, IconButton, StateMark } from "./common";
import { arrange, END, neighbour, START, type Layout, type Size } from "./graph-layout";
import { Edges, endState, Node, phaseState, Pill } from "./graph-parts";
import { useLinks } from "./graph-link";
import * as views from "./graph-view";
import type { View } from "./graph-view";
import { Inspector } from "./inspector";
import { Minimap } from "./minimap";
import { usePanZoom } from "./pan-zoom";
import type { PlanEdit } from "./plan-edit";

/** How the view is chosen: by itself, the whole graph, or as the reader has left it. */
type Mode = "follow" | "fit" | View;
const STEP = 1.3;
/** Fewer tasks than this are found without a map. */
const MAPPED = 8;
/** Room for the buttons beneath the graph, in pixels. */
const TOOLS = 40;

interface Props {
  run: RunView;
  wide: boolean;
  onWide: (wide: boolean) => void;
  /** The plan while it may be changed. */
  edit: PlanEdit | null;
}

export function Graph({ run, wide, onWide, edit }: Props) {
  const open = useSignal<number | null>(null);
  const room = useSignal<Size>({ width: 400, height: 300 });
  const mode = useSignal<Mode>("follow");
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width !== room.value.width || height !== room.value.height) room.value = { width, height };
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const shape = run.tasks
    .map((x) => `${x.id}<${x.dep.join()}<${Object.values(x.planned).join("\u0000")}`)
    .join("\u0001");
  const inner = room.value.width - 2 * views.PAD;
  const layout = useMemo(() => arrange(run.tasks, inner), [shape, inner]);
  const task = run.tasks.find((x) => x.id === open.value) ?? null;
  const done = run.tasks.filter((x) => x.state === "succeeded").length;
  const running = run.tasks.filter((x) => x.state === "running").map((x) => String(x.id));
  const view =
    mode.value === "fit"
      ? views.fit(layout, room.value)
      : mode.value === "follow"
        ? views.follow(layout, room.value, views.placed(layout, task ? [String(task.id)] : running))
        : mode.value;
  const isWhole = views.fitScale(layout, room.value) >= 1 && mode.value === "follow";
  const overflows = views.overflows(view, layout, room.value);
  const natural =
    Math.min(1, Math.max(views.READABLE, inner / layout.width)) * layout.height + 2 * views.PAD + (isWhole ? 0 : TOOLS);

  /** Brings a task into sight, unless it is there. */
  const reveal = (key: string) => {
    const node = layout.nodes.get(key);
    if (!node) return;
    const next = views.reveal(view, node, layout, room.value);
    if (next.x !== view.x || next.y !== view.y) mode.value = next;
  };
  // The room for the graph shrinks when details open; the task they are about stays in sight.
  useLayoutEffect(() => {
    if (open.value !== null && typeof mode.value === "object") reveal(String(open.value));
  }, [open.value, room.value]);
  const zoom = (factor: number, x = room.value.width / 2, y = room.value.height / 2) =>
    (mode.value = views.zoom(view, factor, x, y, layout, room.value));
  usePanZoom(box, {
    onPan: (dx, dy) => (mode.value = views.pan(current(mode.value, view), dx, dy, layout, room.value)),
    onZoom: (factor, x, y) => (mode.value = views.zoom(current(mode.value, view), factor, x, y, layout, room.value)),
    // Until the reader has taken hold of the graph, the wheel scrolls the page beneath it.
    takesWheel: () => !isWhole && (wide || (box.current?.contains(document.activeElement) ?? false)),
  });
  const link = (from: number, to: number) => {
    if (!edit) return;
    const why = plan.whyNoEdge(edit.config, from, to);
    if (why) notify(t(`no_edge_${why}`));
    else edit.change(plan.addEdge(edit.config, from, to));
  };
  const unlink = (from: number, to: number) => {
    if (!edit) return;
    const uses = plan.usedBy(edit.config, from, to);
    if (uses.length) notify(t("wait_used", { args: joined(uses) }));
    else edit.change(plan.removeEdge(edit.config, from, to));
  };
  const drawn = useLinks(box, { layout, view, onLink: edit && link }).value;
  const wasWide = useRef(wide);
  useLayoutEffect(() => {
    if (wasWide.current !== wide) {
      mode.value = "follow";
      box.current?.parentElement?.scrollIntoView({ block: "nearest" });
    }
    wasWide.current = wide;
  }, [wide]);
  const close = () => {
    const id = open.value;
    open.value = null;
    box.current?.querySelector<HTMLElement>(`[data-task="${id}"]`)?.focus({ preventScroll: true });
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "+" || e.key === "=") zoom(STEP);
    else if (e.key === "-") zoom(1 / STEP);
    else if (e.key === "0") mode.value = "fit";
    else return moveFocus(e, layout);
    e.preventDefault();
  };

  return (
    <section
      class="graph-card"
      aria-label={t("graph")}
      onKeyDown={(e) => e.key === "Escape" && task && (e.stopPropagation(), close())}
    >
      <header class="graph-head">
        <PhaseLabel run={run} />
        {run.tasks.length > 0 && (
          <span class={`graph-count ${run.tasks.some((x) => x.state === "failed") ? "graph-count-bad" : ""}`}>
            {done}/{run.tasks.length}
          </span>
        )}
        {(!isWhole || wide) && (
          <IconButton
            icon={wide ? "shrink" : "expand"}
            label={t("graph_wide")}
            pressed={wide}
            onClick={() => onWide(!wide)}
            class="graph-wide"
          />
        )}
      </header>
      <div
        class={`graph ${overflows || typeof mode.value === "object" ? "graph-moves" : ""}`}
        ref={box}
        role="group"
        tabIndex={-1}
        aria-label={`${t("graph_summary", { done, total: run.tasks.length })}. ${t("graph_help")}`}
        style={{ height: `${Math.ceil(natural)}px` }}
        onKeyDown={onKey}
        onFocusIn={(e) => {
          const key = (e.target as HTMLElement).closest<HTMLElement>("[data-key]")?.dataset.key;
          if (key !== undefined && (e.target as HTMLElement).matches(":focus-visible")) reveal(key);
        }}
      >
        <div
          class={`graph-scale ${typeof mode.value === "object" ? "" : "graph-glides"}`}
          style={{
            width: `${layout.width}px`,
            height: `${layout.height}px`,
            transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})`,
          }}
        >
          <Edges layout={layout} run={run} onRemove={edit && unlink} drawn={drawn} />
          <Pill at={layout.nodes.get(START)} text={t("request")} state="succeeded" />
          {run.tasks.map((x, i) => (
            <Node
              key={x.id}
              task={x}
              small={layout.small}
              at={layout.nodes.get(String(x.id))}
              open={open.value === x.id}
              links={edit !== null && run.tasks.length > 1}
              target={drawn?.over === String(x.id)}
              first={open.value === null ? i === 0 : open.value === x.id}
              onOpen={() => (open.value = open.value === x.id ? null : x.id)}
            />
          ))}
          <Pill at={layout.nodes.get(END)} text={t("answer")} state={endState(run)} />
        </div>
        {!isWhole && (
          <div class="graph-tools" role="group" aria-label={t("graph_view")}>
            <IconButton icon="minus" label={t("graph_smaller")} onClick={() => zoom(1 / STEP)} />
            <IconButton icon="plus" label={t("graph_larger")} onClick={() => zoom(STEP)} />
            <IconButton
              icon="fit"
              label={t("graph_fit")}
              pressed={mode.value === "fit"}
              onClick={() => (mode.value = "fit")}
            />
            <IconButton
              icon="target"
              label={t(isLive(run.phase) ? "graph_follow" : "graph_readable")}
              pressed={mode.value === "follow"}
              onClick={() => (mode.value = "follow")}
            />
          </div>
        )}
        {overflows && run.tasks.length >= MAPPED && (
          <Minimap
            layout={layout}
            view={view}
            room={room.value}
            tasks={run.tasks}
            onGo={(x, y) => (mode.value = views.reveal(view, { x, y, width: 0, height: 0 }, layout, room.value, true))}
          />
        )}
      </div>
      {task && <Inspector key={task.id} task={task} tasks={run.tasks} onClose={close} />}
    </section>
  );
}

/** The view that a gesture goes on from: several may come before the next drawing. */
const current = (mode: Mode, drawn: View): View => (typeof mode === "object" ? mode : drawn);

function PhaseLabel({ run }: { run: RunView }) {
  const state = phaseState(run);
  return (
    <span class={`phase phase-${state}`}>
      <StateMark state={state} />
      <span>{t(`phase_${run.phase === "done" && !run.ok ? "failed" : run.phase}`)}</span>
      {run.ms !== null && run.phase !== "planned" && <span class="muted">{duration(run.ms, language.value)}</span>}
      {isLive(run.phase) && run.startedAt !== null && (
        <span class="muted">
          <Elapsed since={run.startedAt} />
        </span>
      )}
    </span>
  );
}

function moveFocus(e: KeyboardEvent, layout: Layout): void {
  if (!e.key.startsWith("Arrow")) return;
  const here = (e.target as HTMLElement).closest<HTMLElement>("[data-key]")?.dataset.key;
  const from = here === undefined ? undefined : layout.nodes.get(here);
  const box = e.currentTarget as HTMLElement;
  if (!from) return;
  e.preventDefault();
  const tasks = [...layout.nodes.values()].filter((n) => n.key !== START && n.key !== END);
  const to = neighbour(tasks, from, e.key);
  box.querySelector<HTMLElement>(`[data-key="${to?.key ?? ""}"]`)?.focus({ preventScroll: true });
}
