// The parts of the task graph: nodes that are buttons, the request and the answer, and the edges behind them.
import { language, t, taskName } from "../i18n";
import { picture } from "../model/outputs";
import { isLive, type RunView, type TaskState, type TaskView } from "../model/run";
import { baseName, duration, label } from "../model/text";
import { Elapsed, StateMark } from "./common";
import type { Drawn } from "./graph-link";
import { END, START, type Layout, type Placed } from "./graph-layout";

/** The state of the whole run in the colours of a task's. */
export function phaseState(run: RunView): TaskState {
  if (isLive(run.phase)) return "running";
  if (run.phase === "planned") return "waiting";
  if (run.phase === "cancelled") return "cancelled";
  return run.phase === "done" && run.ok ? "succeeded" : "failed";
}

export function endState(run: RunView): TaskState {
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

export function Pill({ at, text, state }: { at: Placed | undefined; text: string; state: TaskState }) {
  if (!at) return null;
  return (
    <div class={`pill is-${state}`} style={place(at)}>
      {text}
    </div>
  );
}

export function Node(props: {
  task: TaskView;
  small: boolean;
  at: Placed | undefined;
  open: boolean;
  first: boolean;
  /** Whether edges may be drawn from it. */
  links: boolean;
  /** Whether an edge that is being drawn ends here now. */
  target: boolean;
  onOpen: () => void;
}) {
  const { task, at } = props;
  if (!at) return null;
  const name = taskName(task.task);
  const thumb = props.small ? null : picture(task.inference);
  const retried = task.attempts.some((a) => a.error !== null) && task.state !== "failed";
  return (
    <button
      type="button"
      class={`node is-${task.state} ${retried ? "is-retried" : ""} ${props.small ? "node-small" : ""} ${props.target ? "node-target" : ""}`}
      style={place(at)}
      data-task={task.id}
      data-key={at.key}
      data-state={task.state}
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
      <span class="visually-hidden">
        , {t(`state_${task.state}`)}
        {task.model && `, ${label(task.model)}`}
      </span>
      {thumb && <img class="node-thumb" src={thumb} alt="" />}
      {props.links && <span class="node-link" data-link title={t("edge_draw")} />}
    </button>
  );
}

interface EdgesProps {
  layout: Layout;
  run: RunView;
  /** Takes an edge away; null where the plan is not changed. */
  onRemove: ((from: number, to: number) => void) | null;
  drawn: Drawn | null;
}

export function Edges({ layout, run, onRemove, drawn }: EdgesProps) {
  const start = drawn && layout.nodes.get(drawn.from);
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
            {onRemove && r.from !== START && r.to !== END && (
              <path class="edge-grip" d={r.path} onClick={() => onRemove(Number(r.from), Number(r.to))}>
                <title>{t("edge_remove")}</title>
              </path>
            )}
          </g>
        );
      })}
      {drawn && start && (
        <path class="edge-drawn" d={`M${start.x + start.width / 2} ${start.y + start.height}L${drawn.x} ${drawn.y}`} />
      )}
    </svg>
  );
}
