// Runs of the mock server: a scripted graph is played as events, step by step, at a pace or held until a test lets it go on.
import { randomUUID } from "node:crypto";
import type { Script, Step } from "./scripts";
import { outlines, regions, tone } from "./media";

export interface MockEvent {
  run_id: string;
  seq: number;
  at_ms: number;
  event: string;
  [field: string]: unknown;
}

export interface MockRun {
  id: string;
  request: string;
  started: number;
  status: "queued" | "running" | "done" | "failed" | "cancelled" | "interrupted";
  events: MockEvent[];
  listeners: Set<() => void>;
  cancelled: boolean;
  /** Answers the call that waits for leave. */
  leave?: (decision: string) => void;
  /** Does it anew from a task on, as another run. */
  again?: (from: number) => MockRun;
  /** Ends the process that carries it out; another one goes on with it. */
  die?: () => void;
  ms?: number;
  user?: string;
  tasks: number;
  ok: number;
  failed: number;
}

/** When true the next step waits for `release`. */
export class Pace {
  held = false;
  /** When not null, cancelled runs end only when these are called. */
  cancels: (() => void)[] | null = null;
  #waiting: (() => void)[] = [];
  #wanted: (() => void)[] = [];
  constructor(public ms: number) {}

  async step(run: MockRun): Promise<void> {
    if (this.held) {
      await new Promise<void>((go) => {
        this.#waiting.push(go);
        for (const tell of this.#wanted.splice(0)) tell();
        run.listeners.add(() => {
          if (!run.cancelled) return;
          this.#waiting = this.#waiting.filter((other) => other !== go);
          go();
        });
      });
    } else if (this.ms > 0) await new Promise((go) => setTimeout(go, this.ms));
  }

  /** Lets exactly one step go on, as soon as one waits. */
  async next(): Promise<void> {
    if (!this.#waiting.length) await new Promise<void>((tell) => this.#wanted.push(tell));
    this.#waiting.shift()?.();
  }

  /** Lets the steps that wait now go on, and holds the next ones. */
  release(): void {
    const now = this.#waiting;
    this.#waiting = [];
    for (const go of now) go();
  }

  /** Lets everything go on from here. */
  free(): void {
    this.held = false;
    this.release();
  }
}

export type Media = Map<string, { type: string; bytes: Buffer }>;

export function store(media: Media, folder: string, extension: string, type: string, bytes: Buffer): string {
  const path = `/${folder}/${randomUUID().replaceAll("-", "")}.${extension}`;
  media.set(path, { type, bytes });
  return path;
}

export function newRun(request: string): MockRun {
  return {
    id: randomUUID(),
    request,
    started: Date.now(),
    status: "running",
    events: [],
    listeners: new Set(),
    cancelled: false,
    tasks: 0,
    ok: 0,
    failed: 0,
  };
}

export function emit(run: MockRun, event: string, fields: Record<string, unknown>): void {
  if (run.status !== "running" && run.status !== "queued") return;
  run.events.push({ run_id: run.id, seq: run.events.length, at_ms: Date.now(), event, ...fields });
  for (const tell of [...run.listeners]) tell();
}

export function cancelRun(run: MockRun): void {
  if (run.status !== "running") return;
  run.cancelled = true;
  emit(run, "answer", {
    answer: { text: `The run was cancelled; ${run.ok} of ${run.tasks} tasks had been done.`, resources: [] },
  });
  emit(run, "done", {
    ok: false,
    cancelled: true,
    usage: { calls: {}, prompt_tokens: 0, completion_tokens: 0 },
    ms: Date.now() - run.started,
  });
  run.status = "cancelled";
  for (const tell of [...run.listeners]) tell();
}

const selection = (step: Step, id: number) => ({
  task: id,
  chosen: { id: step.model, host: step.host ?? "native", effective_task: step.task },
  fallbacks: (step.others ?? []).map((o) => ({ id: o.id, host: o.host, effective_task: step.task })),
  reason: step.reason ?? "the only one for this task",
});

/** Plays a script to its end. */
export async function play(
  run: MockRun,
  script: Script,
  attachments: unknown[],
  planner: string,
  pace: Pace,
  media: Media,
  taken?: { from: string; steps: number },
): Promise<void> {
  const begun = Date.now();
  run.tasks = script.steps.length;
  emit(run, "run_started", {
    request: { text: run.request, attachments, history: [] },
    planner,
    model: planner === "llm" ? "gpt-4o-mini" : "offline",
  });
  if (taken) emit(run, "resumed", { ...taken, ran_ms: 0 });
  await pace.step(run);
  if (script.ends) {
    emit(run, "error", { ...script.ends, ms: 5 });
    run.status = "failed";
    for (const tell of [...run.listeners]) tell();
    return;
  }
  const plan = script.steps.map((s, id) => ({ task: s.task, id, dep: s.dep ?? [-1], args: s.args }));
  emit(run, "plan", { plan: { tasks: plan, notes: script.notes ?? [] } });
  script.steps.forEach((s, id) => emit(run, "model_chosen", { selection: selection(s, id) }));
  emit(run, "something_new", { text: "a kind of event that this page does not know" });
  const made: (string | null)[] = script.steps.map(() => null);
  const ended = script.steps.map(() => false);
  while (!run.cancelled && ended.includes(false)) {
    const ready = script.steps.flatMap((s, id) =>
      !ended[id] && (s.dep ?? []).every((d) => d < 0 || ended[d]) ? [id] : [],
    );
    if (!ready.length) break;
    for (const id of ready) {
      const s = script.steps[id];
      if (s && s.error?.code !== "no_output") emit(run, "task_started", { id, task: s.task, model: s.model });
    }
    for (const id of ready) {
      await pace.step(run);
      if (run.cancelled) break;
      const s = script.steps[id];
      const asks = s?.asks;
      if (s && asks) {
        const decide = async (more: object): Promise<string> => {
          emit(run, "approval_needed", {
            task: id,
            tool: s.task,
            ...asks,
            answer: `/runs/${run.id}/approvals/${id}`,
            resumes: true,
            ...more,
          });
          const decision = await new Promise<string>((answer) => {
            run.leave = answer;
            run.listeners.add(() => run.cancelled && answer("refuse"));
          });
          delete run.leave;
          const refused = decision === "refuse" || decision === "skip";
          const done = decision === "done" ? { done: true } : {};
          if (!run.cancelled) emit(run, "approval_given", { id, tool: s.task, approved: !refused, ...done });
          return decision;
        };
        let decision = await decide({});
        if (s.lost && decision !== "refuse") {
          await new Promise<void>((die) => (run.die = die));
          emit(run, "resumed", { steps: 1 + run.ok, ran_ms: Date.now() - begun });
          decision = await decide({ unknown: true });
        }
        if (run.cancelled) break;
        if (decision === "refuse")
          s.error = { code: "not_approved", message: `${s.task} was not called: it was refused` };
        if (decision === "skip")
          s.error = { code: "not_approved", message: `${s.task} is not called again: it was skipped` };
        if (decision === "done") s.inference = "done, as somebody said who looked";
      }
      if (s) made[id] = finish(run, s, id, made, media);
      ended[id] = true;
    }
  }
  if (run.cancelled) return;
  await pace.step(run);
  const answer = script.answer.replace(/\{(\d+)\}/g, (_, n: string) => made[Number(n)] ?? "");
  if (script.streamed)
    for (const piece of answer.match(/\S+\s*/g) ?? []) {
      emit(run, "token", { text: piece });
      if (!pace.held && pace.ms > 0) await new Promise((go) => setTimeout(go, 20));
    }
  const resources = made.flatMap((url, from) =>
    url?.startsWith("/") ? [{ kind: url.startsWith("/images") ? "image" : "audio", url, from }] : [],
  );
  for (const { kind, make, name } of script.extra ?? []) {
    const rows = ["city,people", ...Array.from({ length: 30 }, (_, i) => `"City ${i}, north",${i * 1000}`)].join("\n");
    const url =
      make === "table"
        ? store(media, "tables", "csv", "text/csv", Buffer.from(rows))
        : store(media, "images", "png", "image/png", outlines());
    resources.push({ kind, url, from: -1, name } as (typeof resources)[number]);
  }
  emit(run, "answer", { answer: { text: answer, resources } });
  const ok = script.steps.length === 0 || run.ok > 0;
  run.ms = Date.now() - begun;
  const spent = { prompt_tokens: 1830, completion_tokens: 412, cost: { amount: 0.0123, currency: "USD" } };
  emit(run, "done", {
    ok,
    usage: { calls: {}, ...(planner === "llm" ? spent : { prompt_tokens: 0, completion_tokens: 0 }) },
    ms: run.ms,
  });
  run.status = ok ? "done" : "failed";
  for (const tell of [...run.listeners]) tell();
}

function finish(run: MockRun, s: Step, id: number, made: (string | null)[], media: Media): string | null {
  const files = {
    outlines: () => store(media, "images", "png", "image/png", outlines()),
    regions: () => store(media, "images", "png", "image/png", regions()),
    tone: () => store(media, "audios", "wav", "audio/wav", tone()),
  };
  const url = s.gives ? files[s.gives]() : null;
  const inference = url ? { [s.gives === "tone" ? "generated audio" : "generated image"]: url } : (s.inference ?? null);
  const skipped = s.error?.code === "no_output";
  const chosen = selection(s, id);
  const attempts = [
    ...(s.firstTry
      ? [
          {
            candidate: { id: s.firstTry.id, host: "huggingface", effective_task: s.task },
            error: { code: "unavailable", message: s.firstTry.message },
            ms: 240,
          },
        ]
      : []),
    ...(skipped ? [] : [{ candidate: chosen.chosen, error: s.error ?? null, ms: 120 }]),
  ];
  const text =
    inference && typeof inference === "object" ? Object.values(inference).find((v) => typeof v === "string") : null;
  const args = Object.fromEntries(
    Object.entries(s.args).map(([k, v]) => [
      k,
      v.replace(/<GENERATED>-(\d+)/g, (whole, n: string) => made[Number(n)] ?? whole),
    ]),
  );
  if (s.error) run.failed++;
  else run.ok++;
  emit(run, "task_finished", {
    outcome: {
      id,
      task: s.task,
      status: skipped ? "skipped" : s.error ? "failed" : "succeeded",
      args,
      selection: chosen,
      attempts,
      inference: s.error ? null : inference,
      error: s.error ?? null,
      ms: skipped ? 0 : 120 + id * 90,
    },
  });
  return url ?? (typeof text === "string" ? text : null);
}

/** The plan of a script as it is handed out for editing. */
export function configOf(request: string, script: Script): Record<string, unknown> {
  const level = (id: number): number => {
    const dep = (script.steps[id]?.dep ?? []).filter((d) => d >= 0);
    return dep.length ? 1 + Math.max(...dep.map(level)) : 0;
  };
  const tasks = script.steps.map((s, id) => ({
    task_id: id,
    task_type: s.task,
    model_id: s.model,
    model_reason: s.reason ?? "",
    args: s.args,
    dependencies: (s.dep ?? []).filter((d) => d >= 0),
    execution_level: level(id),
    hosted_on: s.host ?? "native",
    alternatives: (s.others ?? []).map((o) => ({ id: o.id, hosted_on: o.host })),
  }));
  const levels = [...new Set(tasks.map((x) => x.execution_level))].sort((a, b) => a - b);
  return {
    user_request: request,
    total_tasks: tasks.length,
    tasks,
    version: 1,
    dag: {
      nodes: tasks.map((x) => x.task_id),
      edges: tasks.flatMap((x) => x.dependencies.map((from) => ({ from, to: x.task_id }))),
    },
    execution_order: levels.map((l) => ({
      level: l,
      parallel: tasks.filter((x) => x.execution_level === l).length > 1,
      tasks: tasks.filter((x) => x.execution_level === l).map((x) => x.task_id),
    })),
  };
}
