// A run as the page shows it, and how each event changes it. Pure: no network, no DOM, no clock.
import type {
  AnswerResource,
  Approval,
  Attachment,
  Attempt,
  ConfigTask,
  ExecutionConfig,
  PlannedTask,
  RunEvent,
  Selection,
  TaskError,
  Usage,
} from "../api/types";

export type TaskState = "waiting" | "running" | "succeeded" | "failed" | "skipped" | "cancelled";
export type Phase =
  "sending" | "queued" | "planning" | "running" | "answering" | "done" | "failed" | "cancelled" | "planned";

export interface TaskView {
  id: number;
  task: string;
  dep: number[];
  state: TaskState;
  /** Arguments as planned, references included. */
  planned: Record<string, string>;
  /** Arguments as they were given to the model; null until known. */
  resolved: Record<string, string> | null;
  selection: Selection | null;
  model: string;
  attempts: Attempt[];
  inference: unknown;
  error: TaskError | null;
  notes: string[];
  startedAt: number | null;
  ms: number | null;
}

export interface RunError {
  code: string;
  message: string;
  hint?: string;
}

export interface RunView {
  /** True when nothing is to be executed: the plan itself is the answer. */
  plansOnly: boolean;
  /** True from the person's stop until the server says how the run ended. */
  stopping: boolean;
  runId: string | null;
  phase: Phase;
  lastSeq: number;
  ahead: number;
  planner: string;
  model: string;
  startedAt: number | null;
  tasks: TaskView[];
  notes: string[];
  /** The answer: pieces while it is written, the whole when it stands. */
  text: string;
  resources: AnswerResource[];
  error: RunError | null;
  ok: boolean;
  usage: Usage | null;
  ms: number | null;
  config: ExecutionConfig | null;
  planId: string | null;
  /** The calls that wait for leave. */
  asks?: Approval[];
  /** How often it was looked at and planned on. */
  rounds?: number;
  /** Which piece of the answer came last. */
  lastPiece?: number;
  /** How many steps it took over when it went on, and from which other run. */
  takenOver?: number;
  takenFrom?: string | null;
}

export const newRun = (plansOnly = false): RunView => ({
  plansOnly,
  stopping: false,
  runId: null,
  phase: "sending",
  lastSeq: -1,
  ahead: 0,
  planner: "",
  model: "",
  startedAt: null,
  tasks: [],
  notes: [],
  text: "",
  resources: [],
  error: null,
  ok: false,
  usage: null,
  ms: null,
  config: null,
  planId: null,
});

/** True while more events are expected. */
export function isLive(phase: Phase): boolean {
  switch (phase) {
    case "sending":
    case "queued":
    case "planning":
    case "running":
    case "answering":
      return true;
    case "done":
    case "failed":
    case "cancelled":
    case "planned":
      return false;
  }
}

const newTask = (p: PlannedTask): TaskView => ({
  id: p.id,
  task: p.task,
  dep: p.dep,
  state: "waiting",
  planned: p.args,
  resolved: null,
  selection: null,
  model: "",
  attempts: [],
  inference: null,
  error: null,
  notes: p.faults,
  startedAt: null,
  ms: null,
});

/** The task as a plan under review shows it in the graph. */
export function taskOfConfig(c: ConfigTask): TaskView {
  const chosen = { id: c.model_id, host: c.hosted_on ?? "", effectiveTask: c.task_type };
  const fallbacks = (c.alternatives ?? []).map((a) => ({ id: a.id, host: a.hosted_on, effectiveTask: c.task_type }));
  return {
    ...newTask({ id: c.task_id, task: c.task_type, dep: c.dependencies, args: c.args, faults: [] }),
    selection: { task: c.task_id, chosen, fallbacks, reason: c.model_reason, notes: [] },
    model: c.model_id,
  };
}

function withTask(run: RunView, id: number, change: (task: TaskView) => TaskView): RunView {
  return { ...run, tasks: run.tasks.map((task) => (task.id === id ? change(task) : task)) };
}

const isOpen = (task: TaskView): boolean => task.state === "waiting" || task.state === "running";

/** Ends what was still open when the run ended, so that nothing spins for ever. */
function closeTasks(tasks: TaskView[]): TaskView[] {
  return tasks.map((t) => (isOpen(t) ? { ...t, state: "cancelled" } : t));
}

/** The run after an event. An event seen before (by its number) changes nothing, so streams may be joined again. */
export function apply(run: RunView, e: RunEvent): RunView {
  const piece = e.piece ?? 0;
  const old = e.seq < run.lastSeq || (e.seq === run.lastSeq && piece <= (run.lastPiece ?? 0));
  if (e.seq >= 0 && old) return run;
  const next = advance(run, e);
  return isLive(next.phase) ? next : { ...next, stopping: false };
}

function advance(run: RunView, e: RunEvent): RunView {
  const next = { ...run, lastSeq: Math.max(run.lastSeq, e.seq), lastPiece: e.piece ?? 0, runId: e.runId || run.runId };
  switch (e.event) {
    case "queued":
      return { ...next, phase: "queued", ahead: e.ahead };
    case "run_started":
      return { ...next, phase: "planning", planner: e.planner, model: e.model, startedAt: e.atMs || null };
    case "resumed":
      // What was written of an answer that broke off is written anew.
      return { ...next, text: "", takenOver: e.steps, takenFrom: e.from };
    case "plan": {
      const old = new Map(run.tasks.map((task) => [task.id, task]));
      const tasks = e.tasks.map((p) => ({ ...newTask(p), ...pick(p, old.get(p.id)) }));
      return {
        ...next,
        tasks,
        notes: e.notes,
        phase: run.plansOnly ? "planning" : tasks.some(isOpen) ? "running" : "answering",
      };
    }
    case "plan_grew": {
      const known = new Set(run.tasks.map((task) => task.id));
      const fresh = e.tasks.filter((task) => !known.has(task.id)).map(newTask);
      const notes = e.round > 0 ? [...run.notes, ...e.notes] : run.notes;
      return { ...next, phase: "running", tasks: [...run.tasks, ...fresh], notes, rounds: e.round };
    }
    case "budget":
      return { ...next, notes: [...run.notes, `${e.used} / ${e.most}`] };
    case "model_chosen":
      return withTask(next, e.selection.task, (t) => ({
        ...t,
        selection: e.selection,
        model: t.model || e.selection.chosen.id,
      }));
    case "task_started":
      return withTask(next, e.id, (t) => ({
        ...t,
        state: "running",
        model: e.model || t.model,
        startedAt: e.atMs || null,
      }));
    case "task_attempt":
      return withTask(next, e.id, (t) => ({ ...t, attempts: [...t.attempts, e.attempt] }));
    case "task_finished": {
      const o = e.outcome;
      const ended = withTask(next, o.id, (t) => ({
        ...t,
        state: o.status,
        resolved: o.args,
        selection: o.selection ?? t.selection,
        attempts: o.attempts.length ? o.attempts : t.attempts,
        inference: o.inference,
        error: o.error,
        notes: [...t.notes, ...o.notes],
        ms: o.ms,
        model: o.attempts.find((a) => a.error === null)?.candidate.id ?? o.selection?.chosen.id ?? t.model,
      }));
      return { ...ended, phase: ended.tasks.some(isOpen) ? "running" : "answering" };
    }
    case "approval_needed": {
      const others = (run.asks ?? []).filter((ask) => ask.task !== e.approval.task);
      return { ...next, phase: "running", asks: [...others, e.approval] };
    }
    case "approval_given":
      return { ...next, asks: (run.asks ?? []).filter((ask) => ask.task !== e.id) };
    case "token":
      return { ...next, phase: "answering", text: run.text + e.text };
    case "note":
      return { ...next, notes: e.message ? [...run.notes, e.message] : run.notes };
    case "answer":
      return { ...next, text: e.text, resources: e.resources, notes: [...run.notes, ...e.notes] };
    case "execution_config": {
      const chosen = e.config.tasks.map(taskOfConfig);
      return { ...next, config: e.config, planId: e.planId ?? run.planId, tasks: chosen };
    }
    case "model_call":
      return next;
    case "done": {
      const phase = e.cancelled ? "cancelled" : run.plansOnly && run.config?.tasks.length ? "planned" : "done";
      return {
        ...next,
        phase,
        ok: e.ok,
        usage: e.usage,
        ms: e.ms,
        planId: e.planId ?? run.planId,
        text: phase === "planned" ? "" : run.text || (e.message ?? ""),
        tasks: phase === "planned" ? run.tasks : closeTasks(run.tasks),
        asks: [],
      };
    }
    case "error": {
      const phase = e.code === "cancelled" ? "cancelled" : "failed";
      const error = { code: e.code, message: e.message, ...(e.hint ? { hint: e.hint } : {}) };
      return { ...next, phase, error, ms: e.ms, tasks: closeTasks(run.tasks), asks: [] };
    }
  }
}

/** What a task has already learnt when the plan comes after it: tasks start while the plan is being written. */
function pick(planned: PlannedTask, task: TaskView | undefined): Partial<TaskView> {
  if (!task || task.task !== planned.task) return {};
  const { id: _id, dep: _dep, task: _task, planned: _planned, notes, ...learnt } = task;
  return { ...learnt, notes: [...new Set([...planned.faults, ...notes])] };
}

/** The run as the server lists it when it was cancelled, whatever its events tell. */
export const stopped = (run: RunView): RunView => ({
  ...run,
  stopping: false,
  phase: "cancelled",
  tasks: closeTasks(run.tasks),
  asks: [],
});

/** The run as an error outside the stream (no connection, refused request) leaves it. */
export const broken = (run: RunView, error: RunError): RunView => ({
  ...run,
  stopping: false,
  phase: "failed",
  error,
  tasks: closeTasks(run.tasks),
});

/** A run and its request rebuilt from a list of events. */
export function replay(events: RunEvent[]): { run: RunView; text: string; attachments: Attachment[] } {
  let run = newRun();
  let text = "";
  let attachments: Attachment[] = [];
  for (const e of events) {
    run = apply(run, e);
    if (e.event === "run_started") ({ text, attachments } = e);
  }
  return { run, text, attachments };
}
