// The live task graph: nodes are buttons coloured by state, edges are drawn behind them, details open beneath.
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { language, t, taskName } from "../i18n";
import { picture } from "../model/outputs";
import { isLive, type RunView, type TaskState, type TaskView } from "../model/run";
import { baseName, duration, label } from "../model/text";
import { Elapsed, IconButton, StateMark } from "./common";
import { arrange, END, neighbour, START, type Layout, type Placed } from "./graph-layout";
import { Inspector } from "./inspector";

/** Smaller than this and the words can no longer be read; then the graph scrolls instead. */
const MIN_SCALE = 0.8;

export function Graph({ run, wide, onWide }: { run: RunView; wide: boolean; onWide: (wide: boolean) => void }) {
  const open = useSignal<number | null>(null);
  const room = useSignal(376);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => (room.value = element.clientWidth - 24);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const shape = run.tasks
    .map((x) => `${x.id}<${x.dep.join()}<${Object.values(x.planned).join("\u0000")}`)
    .join("\u0001");
  const layout = useMemo(() => arrange(run.tasks, room.value), [shape, room.value]);
  const scale = Math.max(MIN_SCALE, Math.min(1, room.value / layout.width));
  const task = run.tasks.find((x) => x.id === open.value) ?? null;
  const done = run.tasks.filter((x) => x.state === "succeeded").length;
  // The room for the graph shrinks when details open; the task they are about stays in sight.
  useLayoutEffect(() => {
    const node = box.current?.querySelector<HTMLElement>(`[data-task="${open.value}"]`);
    if (!node || !box.current) return;
    const [inner, outer] = [node.getBoundingClientRect(), box.current.getBoundingClientRect()];
    if (inner.bottom > outer.bottom) box.current.scrollTop += inner.bottom - outer.bottom + 12;
    else if (inner.top < outer.top) box.current.scrollTop -= outer.top - inner.top + 12;
  }, [open.value]);
  const wasWide = useRef(wide);
  useLayoutEffect(() => {
    if (wasWide.current !== wide) box.current?.parentElement?.scrollIntoView({ block: "nearest" });
    wasWide.current = wide;
  }, [wide]);
  const close = () => {
    const id = open.value;
    open.value = null;
    box.current?.querySelector<HTMLElement>(`[data-task="${id}"]`)?.focus();
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
        {(layout.width * scale > room.value + 2 || wide) && (
          <IconButton
            icon={wide ? "shrink" : "expand"}
            label={t("graph")}
            pressed={wide}
            onClick={() => onWide(!wide)}
            class="graph-wide"
          />
        )}
      </header>
      <div
        class="graph"
        ref={box}
        role="group"
        tabIndex={-1}
        aria-label={`${t("graph_summary", { done, total: run.tasks.length })}. ${t("graph_help")}`}
        onKeyDown={(e) => moveFocus(e, layout)}
      >
        <div class="graph-canvas" style={{ width: `${layout.width * scale}px`, height: `${layout.height * scale}px` }}>
          <div
            class="graph-scale"
            style={{
              width: `${layout.width}px`,
              height: `${layout.height}px`,
              transform: scale < 1 ? `scale(${scale})` : "none",
            }}
          >
            <Edges layout={layout} run={run} />
            <Pill at={layout.nodes.get(START)} text={t("request")} state="succeeded" />
            {run.tasks.map((x, i) => (
              <Node
                key={x.id}
                task={x}
                small={layout.small}
                at={layout.nodes.get(String(x.id))}
                open={open.value === x.id}
                first={open.value === null ? i === 0 : open.value === x.id}
                onOpen={() => (open.value = open.value === x.id ? null : x.id)}
              />
            ))}
            <Pill at={layout.nodes.get(END)} text={t("answer")} state={endState(run)} />
          </div>
        </div>
      </div>
      {task && <Inspector key={task.id} task={task} tasks={run.tasks} onClose={close} />}
    </section>
  );
}

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

/** The state of the whole run in the colours of a task's. */
function phaseState(run: RunView): TaskState {
  if (isLive(run.phase)) return "running";
  if (run.phase === "planned") return "waiting";
  if (run.phase === "cancelled") return "cancelled";
  return run.phase === "done" && run.ok ? "succeeded" : "failed";
}

function endState(run: RunView): TaskState {
  if (run.phase === "answering" || (!run.tasks.length && isLive(run.phase))) return "running";
  if (run.phase === "done") return "succeeded";
  return run.phase === "failed" ? "failed" : run.phase === "cancelled" ? "cancelled" : "waiting";
}

/** Left and top are set from script, which the content policy allows; a style attribute in HTML it would not. */
const place = (at: Placed) => ({
  left: `${at.x}px`,
  top: `${at.y}px`,
  width: `${at.width}px`,
  height: `${at.height}px`,
});

function Pill({ at, text, state }: { at: Placed | undefined; text: string; state: TaskState }) {
  if (!at) return null;
  return (
    <div class={`pill is-${state}`} style={place(at)}>
      {text}
    </div>
  );
}

function Node(props: {
  task: TaskView;
  small: boolean;
  at: Placed | undefined;
  open: boolean;
  first: boolean;
  onOpen: () => void;
}) {
  const { task, at } = props;
  if (!at) return null;
  const name = taskName(task.task);
  const thumb = props.small ? null : picture(task.inference);
  const retried = task.attempts.some((a) => a.error !== null) && task.state !== "failed";
  const said = [
    `${task.id + 1}. ${name}`,
    t(`state_${task.state}`),
    task.model && label(task.model),
    task.ms !== null && duration(task.ms, language.value),
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <button
      type="button"
      class={`node is-${task.state} ${retried ? "is-retried" : ""} ${props.small ? "node-small" : ""}`}
      style={place(at)}
      data-task={task.id}
      data-key={at.key}
      data-state={task.state}
      aria-label={said}
      aria-expanded={props.open}
      tabIndex={props.first ? 0 : -1}
      onClick={props.onOpen}
    >
      <StateMark state={task.state} />
      <span class="node-text">
        <span class="node-name">
          <span class="node-number">{task.id + 1}</span> {label(name, 60)}
        </span>
        <span class="node-model">
          <span>{task.model ? label(baseName(task.model), 60) : t(`state_${task.state}`)}</span>
          {task.ms !== null && task.state !== "skipped" && (
            <span class="node-time">{duration(task.ms, language.value)}</span>
          )}
          {task.state === "running" && task.startedAt !== null && (
            <span class="node-time">
              <Elapsed since={task.startedAt} />
            </span>
          )}
        </span>
      </span>
      {thumb && <img class="node-thumb" src={thumb} alt="" />}
    </button>
  );
}

function Edges({ layout, run }: { layout: Layout; run: RunView }) {
  const state = new Map<string, TaskState>(run.tasks.map((x) => [String(x.id), x.state]));
  state.set(START, "succeeded");
  state.set(END, endState(run));
  return (
    <svg class="edges" width={layout.width} height={layout.height} aria-hidden="true" focusable="false">
      {layout.routes.map((r) => {
        const flow =
          state.get(r.to) === "running"
            ? "flows"
            : state.get(r.from) === "succeeded" && state.get(r.to) === "succeeded"
              ? "flowed"
              : "";
        return (
          <g key={`${r.from}-${r.to}`} class={`edge ${flow} ${r.orderOnly ? "order-only" : ""}`}>
            <path d={r.path} />
            <path class="edge-tip" d={r.tip} />
          </g>
        );
      })}
    </svg>
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
  box.querySelector<HTMLElement>(`[data-key="${to?.key ?? ""}"]`)?.focus();
}
