// localStorage, versioned and bounded. Each chat has its own key, so that two tabs do not overwrite each other's.
// Whatever is found there is treated as foreign: what cannot be read is dropped, never thrown.
import { list, num, record, str } from "../api/decode";
import * as decode from "../api/decode";
import type { Approval, Attachment, ExecutionConfig } from "../api/types";
import { newRun, type RunView, type TaskView } from "../model/run";

/** Raised when the stored shape changes; older data is left alone and not read. */
export const VERSION = 1;
const PREFIX = `jarvis.${VERSION}.`;
/** How the keys of the chats begin: each user of this browser has their own. */
let CHAT = `${PREFIX}chat.`;
const MAX_CHATS = 50;
const MAX_EXCHANGES = 60;
/** Bounds in characters: of one stored text, of one chat, and of all chats. Browsers allow about 5 million. */
const MAX_TEXT = 20_000;
const MAX_CHAT = 600_000;
const MAX_ALL = 3_000_000;

export type Mode = "run" | "review" | "plan";

/** One request and what came of it. */
export interface Exchange {
  id: string;
  text: string;
  /** Only the beginning of the text is here, because the store does not keep longer ones. */
  cut?: true;
  attachments: Attachment[];
  mode: Mode;
  /** The pipeline that runs it, unless that is the server's default. */
  pipeline?: string;
  /** The chat model, unless that is the server's default. */
  model?: string;
  at: number;
  run: RunView;
  /** The plan as the person has changed it so far; null while it is as it came. */
  draft: ExecutionConfig | null;
}

export interface Chat {
  id: string;
  title: string;
  updated: number;
  /** The version on the server that this is based on; 0 when it is not there. */
  version: number;
  /** It has changed since, and the server does not know. */
  unsent?: true;
  exchanges: Exchange[];
}

/** From now on the chats are those of this user; without a name, those of a server that has one user alone. */
export function setOwner(user: string): void {
  CHAT = user ? `${PREFIX}user.${encodeURIComponent(user)}.chat.` : `${PREFIX}chat.`;
  if (user === lastOwner()) return;
  if (user) write(`${PREFIX}owner`, user);
  else drop(`${PREFIX}owner`);
}

/** Whose chats were shown last. */
export const lastOwner = (): string => str(read(`${PREFIX}owner`));

/** True when the last write failed, so that the page can say so. */
export let full = false;

function read(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

function write(key: string, value: unknown): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    full = false;
    return true;
  } catch {
    full = true;
    return false;
  }
}

function drop(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Storage is switched off: nothing is kept either.
  }
}

function keys(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(CHAT));
  } catch {
    return [];
  }
}

export const readSettings = (): Record<string, unknown> => record(read(`${PREFIX}settings`));
export const writeSettings = (settings: Record<string, unknown>): boolean => write(`${PREFIX}settings`, settings);

/** All readable chats, newest first. Unreadable ones are removed. */
export function readChats(): Chat[] {
  const out: Chat[] = [];
  for (const key of keys()) {
    const chat = chatOf(read(key));
    if (chat && CHAT + chat.id === key) out.push(chat);
    else drop(key);
  }
  return out.sort((a, b) => b.updated - a.updated);
}

export const chatIdOfKey = (key: string | null): string | null =>
  key?.startsWith(CHAT) ? key.slice(CHAT.length) : null;
export const readChat = (id: string): Chat | null => chatOf(read(CHAT + id));
export const removeChat = (id: string): void => drop(CHAT + id);

/** Keeps a chat within the bounds; the oldest others make room when there is none. */
export function writeChat(chat: Chat): void {
  const kept = bounded(chat);
  if (keys().length < MAX_CHATS && used() < MAX_ALL && write(CHAT + chat.id, kept)) return;
  // There is no room, which is rare: only now are the others read, to tell which are the oldest.
  const others = readChats().filter((c) => c.id !== chat.id);
  while (others.length >= MAX_CHATS || (others.length && used() > MAX_ALL)) forget(others.pop());
  while (!write(CHAT + chat.id, kept) && others.length) forget(others.pop());
}

/** A chat as it is kept: within the bounds. */
export function bounded(chat: Chat): Chat {
  const kept = { ...chat, exchanges: chat.exchanges.slice(-MAX_EXCHANGES).map(slim) };
  while (JSON.stringify(kept).length > MAX_CHAT && kept.exchanges.length > 1) kept.exchanges.shift();
  return kept;
}

const forget = (chat: Chat | undefined): void => (chat ? drop(CHAT + chat.id) : undefined);

/** What all chats take now, in characters. */
function used(): number {
  try {
    return keys().reduce((sum, key) => sum + (localStorage.getItem(key)?.length ?? 0), 0);
  } catch {
    return 0;
  }
}

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

const tooLong = (text: string | undefined): boolean => (text?.length ?? 0) > MAX_TEXT;
const marked = (cut: boolean): { cut?: true } => (cut ? { cut: true } : {});

/**
 * An exchange as it is kept: without what is large and can be had again from the server's journal. A request and attached
 * texts that had to be cut are marked, because they must not be sent as if they were whole.
 */
export function slim(e: Exchange): Exchange {
  const tasks = e.run.tasks.map((t) => ({
    ...t,
    inference: JSON.stringify(t.inference ?? null).length > MAX_TEXT ? null : t.inference,
    resolved: t.resolved && Object.fromEntries(Object.entries(t.resolved).map(([k, v]) => [k, cut(v)])),
  }));
  const attachments = e.attachments.map((a) =>
    a.text === undefined ? a : { ...a, text: cut(a.text), ...marked(tooLong(a.text)) },
  );
  const run = { ...e.run, text: cut(e.run.text), tasks };
  return { ...e, text: cut(e.text), ...marked(tooLong(e.text)), attachments, run };
}

/** The attachments that would be sent in part. Those with a path or an address are sent by it, and are never cut. */
export const cutFiles = (attachments: Attachment[]): Attachment[] =>
  attachments.filter((a) => a.cut && decode.attachmentOut(a).text !== undefined);

/** What the store gives back, with the words and files that this tab still has whole. They never change. */
export function withWhole(fresh: Chat, known: Chat | undefined): Chat {
  const exchanges = fresh.exchanges.map((e) => {
    const mine = known?.exchanges.find((x) => x.id === e.id);
    if (!mine) return e;
    const { cut: _, ...rest } = e;
    return { ...rest, text: mine.text, attachments: mine.attachments, ...marked(mine.cut === true) };
  });
  return { ...fresh, exchanges };
}

export function chatOf(v: unknown): Chat | null {
  const o = record(v);
  const id = str(o.id);
  if (!/^[\w-]{1,64}$/.test(id) || !Array.isArray(o.exchanges)) return null;
  const exchanges = o.exchanges.map(exchangeOf).filter((e) => e !== null);
  const unsent = o.unsent === true ? { unsent: true as const } : {};
  return { id, title: str(o.title), updated: num(o.updated), version: num(o.version), ...unsent, exchanges };
}

const PHASES = ["sending", "queued", "planning", "running", "answering", "done", "failed", "cancelled", "planned"];
const MODES = ["run", "review", "plan"];
const STATES = ["waiting", "running", "succeeded", "failed", "skipped", "cancelled"];

export function exchangeOf(v: unknown): Exchange | null {
  const o = record(v);
  const r = record(o.run);
  if (typeof o.id !== "string" || !PHASES.includes(str(r.phase)) || !MODES.includes(str(o.mode))) return null;
  const base = newRun(r.plansOnly === true);
  const run: RunView = {
    ...base,
    stopping: r.stopping === true,
    runId: typeof r.runId === "string" ? r.runId : null,
    phase: str(r.phase) as RunView["phase"],
    lastSeq: num(r.lastSeq, -1),
    planner: str(r.planner),
    model: str(r.model),
    startedAt: typeof r.startedAt === "number" ? r.startedAt : null,
    tasks: list(r.tasks).map(taskOf),
    notes: list(r.notes).map((n) => str(n)),
    text: str(r.text),
    resources: list(r.resources).map((x) => ({
      kind: decode.kindOf(record(x).kind),
      url: str(record(x).url),
      from: num(record(x).from, -1),
      name: str(record(x).name),
    })),
    error: decode.taskError(r.error),
    ok: r.ok === true,
    usage: null,
    ms: typeof r.ms === "number" ? r.ms : null,
    config: r.config ? decode.executionConfig(r.config) : null,
    planId: typeof r.planId === "string" ? r.planId : null,
    // The stream goes on behind what was seen: what is still asked is not told again, and pieces of the answer are.
    asks: list(r.asks).map(askOf),
    lastPiece: num(r.lastPiece),
    ...(typeof r.takenOver === "number" ? { takenOver: r.takenOver } : {}),
    takenFrom: typeof r.takenFrom === "string" ? r.takenFrom : null,
  };
  const draft = o.draft ? decode.executionConfig(o.draft) : null;
  return {
    id: o.id,
    text: str(o.text),
    ...marked(o.cut === true),
    attachments: list(o.attachments).map((a) => ({ ...decode.attachment(a), ...marked(record(a).cut === true) })),
    mode: str(o.mode) as Mode,
    ...(typeof o.pipeline === "string" ? { pipeline: o.pipeline } : {}),
    ...(typeof o.model === "string" ? { model: o.model } : {}),
    at: num(o.at),
    run,
    draft,
  };
}

/** A call that waited for leave when the page was left. */
function askOf(v: unknown): Approval {
  const o = record(v);
  return { ...decode.approval({ ...o, arguments: o.args }), here: o.here === true };
}

/** A stored task goes through the decoders of the wire, so that both have the same defences. */
function taskOf(v: unknown): TaskView {
  const o = record(v);
  const planned = decode.plannedTask({ id: o.id, task: o.task, dep: o.dep, args: o.planned });
  const rest = decode.outcome({ ...o, args: o.resolved, selection: null, error: o.error });
  const s = record(o.selection);
  const who = (c: unknown) => ({
    id: str(record(c).id),
    host: str(record(c).host),
    effectiveTask: str(record(c).effectiveTask),
  });
  return {
    id: planned.id,
    task: planned.task,
    dep: planned.dep,
    planned: planned.args,
    state: (STATES.includes(str(o.state)) ? str(o.state) : "cancelled") as TaskView["state"],
    resolved: o.resolved ? rest.args : null,
    selection: o.selection
      ? {
          task: planned.id,
          chosen: who(s.chosen),
          fallbacks: list(s.fallbacks).map(who),
          reason: str(s.reason),
          notes: list(s.notes).map((n) => str(n)),
        }
      : null,
    model: str(o.model),
    attempts: list(o.attempts).map((a) => ({
      candidate: who(record(a).candidate),
      error: decode.taskError(record(a).error),
      ms: num(record(a).ms),
    })),
    inference: o.inference ?? null,
    error: rest.error,
    notes: rest.notes,
    startedAt: typeof o.startedAt === "number" ? o.startedAt : null,
    ms: typeof o.ms === "number" ? o.ms : null,
  };
}
