// The words of the HTTP API as TypeScript types: what the server sends and takes. No behaviour here.

export type Kind = "text" | "image" | "audio" | "video" | "json";
export type Status = "succeeded" | "failed" | "skipped" | "cancelled";
/** `unknown` stands for what this page has no word for. */
export type RunStatus = "queued" | "running" | "waiting" | "done" | "failed" | "cancelled" | "interrupted" | "unknown";

/** What a request is about, besides its words: a stored file, an inline text, or a web address. */
export interface Attachment {
  kind: Kind;
  path?: string;
  text?: string;
  url?: string;
  name?: string;
  bytes?: number;
  /** Only the beginning of the text is here: the page could not keep all of it. Never on the wire. */
  cut?: true;
}

export interface Turn {
  role: "user" | "assistant" | "system";
  content: string;
}

export interface ChatBody {
  messages: Turn[];
  attachments?: Attachment[];
  /** The chat model, unless it is the server's default. */
  model?: string;
}

export interface Candidate {
  id: string;
  host: string;
  effectiveTask: string;
}

export interface Selection {
  task: number;
  chosen: Candidate;
  fallbacks: Candidate[];
  reason: string;
  notes: string[];
}

export interface TaskError {
  code: string;
  message: string;
  hint?: string;
}

export interface Attempt {
  candidate: Candidate;
  error: TaskError | null;
  ms: number;
}

export interface PlannedTask {
  id: number;
  task: string;
  dep: number[];
  args: Record<string, string>;
  /** Why the task cannot run; empty when it can. */
  faults: string[];
}

export interface Outcome {
  id: number;
  task: string;
  status: Status;
  args: Record<string, string>;
  selection: Selection | null;
  attempts: Attempt[];
  inference: unknown;
  error: TaskError | null;
  notes: string[];
  ms: number;
}

export interface AnswerResource {
  kind: Kind;
  url: string;
  from: number;
  /** What a person would call the file. */
  name: string;
}

/** A call that changes something and waits until somebody allows it. */
export interface Approval {
  task: number;
  tool: string;
  effect: "writes" | "destroys";
  args: Record<string, unknown>;
  /** Where each argument came from, in words. */
  sources: Record<string, string>;
  /** Whether it can be answered here. */
  here: boolean;
  /** Whether it was begun before the run was cut off, and may have been done. */
  unknown?: boolean;
}

/** Calls per stage, and tokens. */
export interface Usage {
  calls: Record<string, number>;
  promptTokens: number;
  completionTokens: number;
  /** What it cost, in words; empty without prices. */
  cost: string;
}

/** What the server tells of a run. Kinds this page does not know are dropped by the decoder. */
/** Pieces of the answer have the number of the event before them, and count up in `piece`. */
export type RunEvent = { runId: string; seq: number; piece?: number; atMs: number } & (
  | { event: "queued"; ahead: number }
  | { event: "run_started"; text: string; attachments: Attachment[]; planner: string; model: string }
  | { event: "model_call"; stage: string; task: number | null; ms: number; ok: boolean }
  /** The run goes on in another process, or takes over what another run did. */
  | { event: "resumed"; from: string | null; steps: number }
  | { event: "plan"; tasks: PlannedTask[]; notes: string[] }
  /** More tasks: the plan is still being written (round 0), or was planned on. */
  | { event: "plan_grew"; round: number; tasks: PlannedTask[]; notes: string[] }
  | { event: "budget"; used: string; most: string }
  | { event: "model_chosen"; selection: Selection }
  | { event: "task_started"; id: number; task: string; model: string }
  | { event: "task_attempt"; id: number; attempt: Attempt }
  | { event: "task_finished"; outcome: Outcome }
  | { event: "approval_needed"; approval: Approval }
  | { event: "approval_given"; id: number; approved: boolean }
  | { event: "token"; text: string }
  | { event: "note"; level: string; message: string }
  | { event: "answer"; text: string; resources: AnswerResource[]; notes: string[] }
  | { event: "execution_config"; config: ExecutionConfig; planId: string | null }
  | {
      event: "done";
      ok: boolean;
      cancelled: boolean;
      usage: Usage;
      ms: number;
      planId: string | null;
      message: string | null;
    }
  | { event: "error"; code: string; message: string; hint?: string; ms: number }
);

/** One task of a plan that can be edited and run. Field names are those of the file format. */
export interface ConfigTask {
  task_id: number;
  task_type: string;
  model_id: string;
  model_reason: string;
  args: Record<string, string>;
  dependencies: number[];
  execution_level: number;
  hosted_on?: string;
  alternatives?: { id: string; hosted_on: string }[];
}

export interface ExecutionConfig {
  user_request: string;
  total_tasks: number;
  tasks: ConfigTask[];
  dag: { nodes: number[]; edges: { from: number; to: number }[] };
  execution_order: { level: number; parallel: boolean; tasks: number[] }[];
  [extra: string]: unknown;
}

export interface RunSummary {
  runId: string;
  request: string;
  status: RunStatus;
  startedAtMs: number;
  ms: number | null;
  tasks: number;
  ok: number;
  failed: number;
  /** Whether it was cut off and can go on. */
  resumable?: boolean;
  /** Whose it is; told to administrators. */
  user?: string;
}

/** Which runs to list. */
export interface RunsWanted {
  status: RunStatus[];
  sinceMs: number | null;
  untilMs: number | null;
  text: string;
  user: string;
}

/** What the server keeps of the person who asks, and what was taken today of what may be. */
export interface Me {
  user: string;
  stored: { runs: number; runBytes: number; files: number; fileBytes: number; plans: number; chats: number };
  oldestMs: number | null;
  today: { what: string; used: number; most: number }[];
}

export interface Model {
  id: string;
  task: string;
  host: string;
  /** Whether the server can call it as configured. */
  configured: boolean;
  description: string;
}

/** An argument of a task type or a tool. */
export interface Param {
  name: string;
  kind: string;
  required: boolean;
  /** A JSON Schema of its value, where there is one. */
  schema: unknown;
  description: string;
}

export interface TaskType {
  name: string;
  outputs: string[];
  params: Param[];
}

/** Whether a tool that must be approved is: `new` and `changed` wait for it. */
export type Approved = "not_needed" | "approved" | "new" | "changed";

export interface Tool {
  name: string;
  description: string;
  /** How it is called: `native`, `grpc`, `openapi`, `mcp`, … */
  kind: string;
  server: string;
  effect: "reads" | "writes" | "destroys";
  approval: Approved;
  /** A JSON Schema of its arguments. */
  inputs: unknown;
}

export interface Tools {
  tools: Tool[];
  warnings: string[];
}

export interface Health {
  status: string;
  version: string;
  planner: string;
  model: string;
  auth: boolean;
  /** Who is logged in, where the server has several users. */
  user: string | null;
  /** Whether this user may answer what runs wait for. */
  mayApprove: boolean;
  /** The chat models that a request may name, the default first. */
  chatModels: string[];
  /** The pipelines that a run may choose, the default first; empty from a server that has no choice. */
  pipelines: string[];
  checks: { name: string; ok: boolean; detail: string | null }[];
  /** Where each kind of work may send what it is given; empty from a server that does not tell. */
  reach: Reach[];
  kept: Kept | null;
  /** What is wrong with the tools. */
  warnings: string[];
}

export interface Reach {
  kind: string;
  hosts: string[];
}

/** What the server keeps until somebody deletes it. */
export interface Kept {
  journal: boolean;
  logs: boolean;
  files: boolean;
  plans: number;
  folder: string | null;
  /** Whether chats are kept for their users. */
  chats: boolean;
  /** What is kept, where and for how long, in the server's words. */
  items: { what: string; where: string; until: string }[];
}

/** A chat on the server, without what was said in it. */
export interface ChatHead {
  id: string;
  title: string;
  updated: number;
  version: number;
}

/** A part of a list, and where the next one begins. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

/** A model on the server's machine. */
export interface KeptModel {
  id: string;
  name: string;
  tasks: string[];
  bytes: number;
  license: string | null;
  loaded: { memory: number } | null;
}

/** A model that would serve what nothing serves yet. */
export interface SuggestedModel {
  name: string;
  about: string;
  repo: string;
  license: string | null;
  tasks: string[];
  bytes: number | null;
  isEstimate: boolean;
  fits: boolean;
}

export interface LocalModels {
  kept: KeptModel[];
  suggested: SuggestedModel[];
  /** Whether an administrator may pull. */
  pulls: boolean;
}

/** What a pull would fetch. */
export interface PlannedPull {
  name: string;
  commit: string;
  isPinned: boolean;
  license: string | null;
  tasks: string[];
  total: number;
  missing: number;
  free: number | null;
}

/** A line about a pull that goes on. */
export interface PullLine {
  status: string;
  digest: string;
  total: number;
  completed: number;
  error: { message: string; hint: string | null } | null;
}
