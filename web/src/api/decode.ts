// From unknown JSON to the types of types.ts. Nothing the server says is trusted to have its shape: a missing or
// odd field becomes a harmless default, an event of an unknown kind becomes null.
import type {
  AnswerResource,
  Approval,
  Approved,
  Attachment,
  Attempt,
  Candidate,
  ChatHead,
  ConfigTask,
  ExecutionConfig,
  Health,
  Kept,
  Kind,
  Me,
  Model,
  Outcome,
  Page,
  Param,
  PlannedTask,
  RunEvent,
  RunStatus,
  RunSummary,
  Selection,
  Status,
  TaskError,
  TaskType,
  Tool,
  Tools,
  Usage,
} from "./types";

type Json = Record<string, unknown>;

export const record = (v: unknown): Json =>
  v !== null && typeof v === "object" && !Array.isArray(v) ? (v as Json) : {};
export const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
export const str = (v: unknown, or = ""): string => (typeof v === "string" ? v : or);
export const num = (v: unknown, or = 0): number => (typeof v === "number" && Number.isFinite(v) ? v : or);
export const orNull = (v: unknown): string | null => (typeof v === "string" ? v : null);
export const numOrNull = (v: unknown): number | null => (typeof v === "number" && Number.isFinite(v) ? v : null);
export const strings = (v: unknown): string[] =>
  list(v)
    .map(noteText)
    .filter((s) => s !== "");
const noteText = (v: unknown): string => (typeof v === "string" ? v : str(record(v).text, str(record(v).message)));

function oneOf<T extends string>(v: unknown, all: readonly T[], or: T): T {
  return all.includes(v as T) ? (v as T) : or;
}

export const kindOf = (v: unknown): Kind => oneOf(v, ["text", "image", "audio", "video", "json"], "json");

function args(v: unknown): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(record(v)))
    out[name] = typeof value === "string" ? value : JSON.stringify(value);
  return out;
}

/** An attachment in the API's own form, or in the form the journal keeps (`source: {public|url|inline}`). */
export function attachment(v: unknown): Attachment {
  const o = record(v);
  const source = record(o.source);
  const out: Attachment = { kind: kindOf(o.kind) };
  const path = orNull(o.path) ?? orNull(source.public);
  const text = orNull(o.text) ?? orNull(source.inline);
  const url = orNull(o.url) ?? orNull(source.url);
  if (path !== null) out.path = path;
  if (text !== null) out.text = text;
  if (url !== null) out.url = url;
  if (typeof o.name === "string") out.name = o.name;
  if (typeof o.bytes === "number") out.bytes = o.bytes;
  return out;
}

/** What goes back to the server of an attachment: its kind, its name, and exactly one of path, text and address. */
export function attachmentOut(a: Attachment): Attachment {
  const name = a.name === undefined ? {} : { name: a.name };
  if (a.path !== undefined) return { kind: a.kind, path: a.path, ...name };
  if (a.url !== undefined) return { kind: a.kind, url: a.url, ...name };
  return { kind: a.kind, text: a.text ?? "", ...name };
}

export function taskError(v: unknown): TaskError | null {
  if (v === null || v === undefined) return null;
  const o = record(v);
  const out: TaskError = { code: str(o.code, "error"), message: str(o.message, typeof v === "string" ? v : "") };
  if (typeof o.hint === "string" && o.hint !== "") out.hint = o.hint;
  return out;
}

const candidate = (v: unknown): Candidate => {
  const o = record(v);
  return { id: str(o.id), host: str(o.host), effectiveTask: str(o.effective_task) };
};

const selection = (v: unknown): Selection => {
  const o = record(v);
  return {
    task: num(o.task, -1),
    chosen: candidate(o.chosen),
    fallbacks: list(o.fallbacks).map(candidate),
    reason: str(o.reason),
    notes: strings(o.notes),
  };
};

const attempt = (v: unknown): Attempt => {
  const o = record(v);
  return { candidate: candidate(o.candidate), error: taskError(o.error), ms: num(o.ms) };
};

const STATUSES: readonly Status[] = ["succeeded", "failed", "skipped", "cancelled"];

export function outcome(v: unknown): Outcome {
  const o = record(v);
  return {
    id: num(o.id, -1),
    task: str(o.task),
    status: oneOf(o.status, STATUSES, "failed"),
    args: args(o.args),
    selection: o.selection ? selection(o.selection) : null,
    attempts: list(o.attempts).map(attempt),
    inference: o.inference ?? null,
    error: taskError(o.error),
    notes: strings(o.notes),
    ms: num(o.ms),
  };
}

export function plannedTask(v: unknown): PlannedTask {
  const o = record(v);
  return {
    id: num(o.id, -1),
    task: str(o.task, "unknown"),
    dep: list(o.dep)
      .map((d) => num(d, -1))
      .filter((d) => d >= 0),
    args: args(o.args),
    faults: list(o.faults).map((fault) => str(record(fault).message)),
  };
}

const resource = (v: unknown): AnswerResource => {
  const o = record(v);
  return { kind: kindOf(o.kind), url: str(o.url), from: num(o.from, -1), name: str(o.name) };
};

const usage = (v: unknown): Usage => {
  const o = record(v);
  const calls: Record<string, number> = {};
  for (const [stage, n] of Object.entries(record(o.calls))) calls[stage] = num(n);
  const cost = record(o.cost);
  const amount = num(cost.amount);
  const words = typeof cost.amount === "number" ? `${amount.toFixed(amount < 0.01 ? 6 : 4)} ${str(cost.currency)}` : "";
  return {
    calls,
    promptTokens: num(o.prompt_tokens),
    completionTokens: num(o.completion_tokens),
    cost: words,
  };
};

export const approval = (o: Json): Approval => ({
  task: num(o.task, -1),
  tool: str(o.tool),
  effect: oneOf(o.effect, ["writes", "destroys"], "writes"),
  args: record(o.arguments),
  sources: args(o.sources),
  here: typeof o.answer === "string",
  ...(o.unknown === true ? { unknown: true } : {}),
});

/** An event, or null when its kind is unknown. `kind` is the `event:` line, used when the JSON does not repeat it. */
export function event(v: unknown, kind?: string): RunEvent | null {
  const o = record(v);
  const piece = num(o.piece);
  const head = { runId: str(o.run_id), seq: num(o.seq, -1), atMs: num(o.at_ms), ...(piece ? { piece } : {}) };
  switch (str(o.event, kind)) {
    case "queued":
      return { ...head, event: "queued", ahead: num(o.ahead) };
    case "run_started": {
      const request = record(o.request);
      const text = typeof o.request === "string" ? o.request : str(request.text);
      const attachments = list(request.attachments).map(attachment);
      return { ...head, event: "run_started", text, attachments, planner: str(o.planner), model: str(o.model) };
    }
    case "model_call":
      return {
        ...head,
        event: "model_call",
        stage: str(o.stage),
        task: numOrNull(o.task),
        ms: num(o.ms),
        ok: o.ok !== false,
      };
    case "resumed":
      return { ...head, event: "resumed", from: orNull(o.from), steps: num(o.steps) };
    case "plan": {
      const plan = Array.isArray(o.plan) ? { tasks: o.plan } : record(o.plan ?? o);
      return { ...head, event: "plan", tasks: list(plan.tasks).map(plannedTask), notes: strings(plan.notes) };
    }
    case "plan_grew":
      return {
        ...head,
        event: "plan_grew",
        round: num(o.round),
        tasks: list(o.tasks).map(plannedTask),
        notes: strings(o.notes),
      };
    case "budget":
      return { ...head, event: "budget", used: str(o.used), most: str(o.most) };
    case "model_chosen":
      return { ...head, event: "model_chosen", selection: selection(o.selection ?? o) };
    case "task_started":
      return { ...head, event: "task_started", id: num(o.id, -1), task: str(o.task), model: str(o.model) };
    case "task_attempt":
      return { ...head, event: "task_attempt", id: num(o.id, -1), attempt: attempt(o.attempt) };
    case "task_finished":
      return { ...head, event: "task_finished", outcome: outcome(o.outcome) };
    case "approval_needed":
      return { ...head, event: "approval_needed", approval: approval(o) };
    case "approval_given":
      return { ...head, event: "approval_given", id: num(o.id, -1), approved: o.approved === true };
    case "token":
      return { ...head, event: "token", text: str(o.text) };
    case "note":
      return { ...head, event: "note", level: str(o.level, "info"), message: str(o.message) };
    case "answer": {
      const answer = record(o.answer);
      return {
        ...head,
        event: "answer",
        text: str(answer.text),
        resources: list(answer.resources).map(resource),
        notes: strings(answer.notes),
      };
    }
    case "execution_config":
      return {
        ...head,
        event: "execution_config",
        config: executionConfig(o.execution_config ?? o.value ?? o),
        planId: orNull(o.plan_id),
      };
    case "done":
      return {
        ...head,
        event: "done",
        ok: o.ok !== false,
        cancelled: o.cancelled === true,
        usage: usage(o.usage),
        ms: num(o.ms),
        planId: orNull(o.plan_id),
        message: orNull(o.message),
      };
    case "error": {
      const inner = record(o.error);
      const hint = orNull(o.hint) ?? orNull(inner.hint);
      return {
        ...head,
        event: "error",
        code: str(o.code, str(inner.code, "error")),
        message: str(o.message, str(inner.message)),
        ms: num(o.ms),
        ...(hint ? { hint } : {}),
      };
    }
    default:
      return null;
  }
}

const configTask = (v: unknown): ConfigTask => {
  const o = record(v);
  return {
    ...o,
    task_id: num(o.task_id, -1),
    task_type: str(o.task_type, "unknown"),
    model_id: str(o.model_id, "N/A"),
    model_reason: str(o.model_reason),
    args: args(o.args),
    dependencies: list(o.dependencies)
      .map((d) => num(d, -1))
      .filter((d) => d >= 0),
    execution_level: num(o.execution_level),
    ...(typeof o.hosted_on === "string" ? { hosted_on: o.hosted_on } : {}),
    alternatives: list(o.alternatives).map((a) => ({ id: str(record(a).id), hosted_on: str(record(a).hosted_on) })),
  };
};

/** Fields this page does not know are kept, so that an edited plan goes back whole. */
export function executionConfig(v: unknown): ExecutionConfig {
  const outer = record(v);
  const o = "execution_config" in outer ? record(outer.execution_config) : outer;
  const dag = record(o.dag);
  return {
    ...o,
    user_request: str(o.user_request),
    total_tasks: num(o.total_tasks),
    tasks: list(o.tasks).map(configTask),
    dag: {
      nodes: list(dag.nodes).map((n) => num(n, -1)),
      edges: list(dag.edges).map((e) => ({ from: num(record(e).from, -1), to: num(record(e).to, -1) })),
    },
    execution_order: list(o.execution_order).map((l) => ({
      level: num(record(l).level),
      parallel: record(l).parallel === true,
      tasks: list(record(l).tasks).map((n) => num(n, -1)),
    })),
  };
}

const RUN_STATUSES: readonly RunStatus[] = [
  "queued",
  "running",
  "waiting",
  "done",
  "failed",
  "cancelled",
  "interrupted",
];

export function runSummary(v: unknown): RunSummary {
  const o = record(v);
  const request = typeof o.request === "string" ? o.request : str(record(o.request).text);
  return {
    runId: str(o.run_id),
    request,
    status: oneOf(o.status, RUN_STATUSES, "unknown"),
    startedAtMs: num(o.started_at_ms),
    ms: numOrNull(o.ms),
    tasks: num(o.tasks),
    ok: num(o.ok),
    failed: num(o.failed),
    ...(o.resumable === true ? { resumable: true } : {}),
    ...(typeof o.user === "string" ? { user: o.user } : {}),
  };
}

export function me(v: unknown): Me {
  const o = record(v);
  const s = record(o.stored);
  const today = Object.entries(record(o.today)).flatMap(([what, one]) => {
    const { used, most } = record(one);
    return typeof used === "number" && typeof most === "number" ? [{ what, used, most }] : [];
  });
  return {
    user: str(o.user),
    stored: {
      runs: num(s.runs),
      runBytes: num(s.run_bytes),
      files: num(s.files),
      fileBytes: num(s.file_bytes),
      plans: num(s.plans),
      chats: num(s.chats),
    },
    oldestMs: numOrNull(o.oldest_ms),
    today,
  };
}

export const model = (v: unknown): Model => {
  const o = record(v);
  // A server that does not say so has what it lists.
  const configured = o.configured !== false;
  return { id: str(o.id), task: str(o.task), host: str(o.host), configured, description: str(o.description) };
};

export const taskType = (v: unknown): TaskType => {
  const o = record(v);
  return { name: str(o.name), outputs: strings(o.outputs), params: list(o.params).map(param) };
};

const param = (v: unknown): Param => {
  const o = record(v);
  return {
    name: str(o.name),
    kind: str(o.kind, "text"),
    required: o.required === true,
    schema: o.schema,
    description: str(o.description),
  };
};

const APPROVED: readonly Approved[] = ["not_needed", "approved", "new", "changed"];

function tool(v: unknown): Tool {
  const o = record(v);
  return {
    name: str(o.name),
    description: str(o.description),
    kind: str(o.kind),
    server: str(o.server),
    // What cannot be read is taken for the gravest.
    effect: oneOf(o.effect, ["reads", "writes", "destroys"], "destroys"),
    approval: oneOf(o.approval, APPROVED, "new"),
    inputs: o.inputs,
  };
}

export const tools = (v: unknown): Tools => ({
  tools: list(record(v).tools).map(tool),
  warnings: strings(record(v).warnings),
});

const names = (v: unknown): string[] =>
  list(v)
    .map((name) => str(name))
    .filter((name) => name !== "");

export function health(v: unknown): Health {
  const o = record(v);
  return {
    status: str(o.status, "healthy"),
    version: str(o.version),
    planner: str(o.planner),
    model: str(o.model),
    auth: o.auth === true,
    user: orNull(o.user),
    // A server that does not tell lets everybody.
    mayApprove: strings(o.may).length === 0 || strings(o.may).includes("approve"),
    chatModels: names(o.chat_models),
    pipelines: names(o.pipelines),
    checks: list(o.checks).map((c) => ({
      name: str(record(c).name),
      ok: record(c).ok === true,
      detail: orNull(record(c).detail),
    })),
    reach: list(o.reach).map((r) => ({ kind: str(record(r).kind), hosts: strings(record(r).hosts) })),
    kept: o.kept === undefined ? null : kept(record(o.kept)),
    warnings: strings(o.warnings),
  };
}

const kept = (o: Json): Kept => ({
  journal: o.journal === true,
  logs: o.logs === true,
  files: o.files === true,
  plans: num(o.plans),
  folder: orNull(o.folder),
  chats: o.chats === true,
  items: list(o.items).map((item) => ({
    what: str(record(item).what),
    where: str(record(item).where),
    until: str(record(item).until),
  })),
});

export const chatHead = (v: unknown): ChatHead => {
  const o = record(v);
  return { id: str(o.id), title: str(o.title), updated: num(o.updated_ms), version: num(o.version) };
};

/** A part of a list that the server calls by a name. */
export const page = <T>(v: unknown, name: string, item: (v: unknown) => T): Page<T> => ({
  items: list(record(v)[name]).map(item),
  next: orNull(record(v).next),
});
