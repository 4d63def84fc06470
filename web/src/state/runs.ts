// Driving runs: start, follow, stop, try again, pick up after a reload. Every event goes through model/run.ts.
import * as client from "../api/client";
import { attachmentOut } from "../api/decode";
import { ApiError, asApiError, isAbort } from "../api/http";
import type { Attachment, ChatBody, ExecutionConfig, RunEvent } from "../api/types";
import { count, joined, t, taskName } from "../i18n";
import { conversation, type Past } from "../model/history";
import { rebuild } from "../model/plan";
import { apply, broken, isLive, newRun, taskOfConfig, type RunError, type RunView } from "../model/run";
import { follow } from "../live/follow";
import { placeOf } from "../live/protocol";
import { label } from "../model/text";
import { announce, notify } from "./announce";
import { addExchange, changeExchange, changeRun, chats, findExchange, newId, replaceFrom } from "./chats";
import { wordsOf } from "./errors";
import { chatLink, go } from "./route";
import { observeClock } from "./server";
import { tellOfEnd } from "./notifications";
import { pipeline, requestModel } from "./settings";
import { type Chat, cutFiles, type Exchange, type Mode } from "./storage";

const MAX_HISTORY = 20;
/** Waits between tries to rejoin a stream that broke, in milliseconds. */
const REJOIN = [300, 1000, 3000, 6000];
/** How long the server may take to name a run that is to be stopped, in milliseconds. */
const NAMING = 3000;

const controllers = new Map<string, AbortController>();
export const isDriven = (exchangeId: string): boolean => controllers.has(exchangeId);

/** Sends a request in a chat, or in a new one. */
export function send(chatId: string | null, text: string, attachments: Attachment[], mode: Mode): void {
  const exchange = newExchange(text, attachments, mode);
  const id = addExchange(chatId, exchange);
  if (chatId === null) go(chatLink(id));
  void start(id, exchange);
}

/** Why an exchange cannot be sent once more: the store of the browser kept it only in part. Null when it can. */
function lacks(exchange: Exchange, withText: boolean): string | null {
  const files = cutFiles(exchange.attachments).map((a) => label(a.name ?? a.kind, 60));
  if (files.length) return t("cut_files", { names: joined(files) });
  return withText && exchange.cut ? t("cut_text") : null;
}

const newExchange = (text: string, attachments: Attachment[], mode: Mode): Exchange => ({
  id: newId(),
  text,
  attachments,
  mode,
  // Only a run chooses: plans that are looked at first are HuggingGPT's.
  ...(mode === "run" && pipeline.value !== null ? { pipeline: pipeline.value } : {}),
  ...(requestModel.value !== null ? { model: requestModel.value } : {}),
  at: Date.now(),
  run: newRun(mode !== "run"),
  draft: null,
});

/** Sends an edited request in place of an exchange and of all after it, with a way back for a few seconds. */
export function sendInstead(chatId: string, old: string, text: string, attachments: Attachment[], mode: Mode): void {
  const stopFrom = (id: string) => {
    const all = chats.value.find((c) => c.id === chatId)?.exchanges ?? [];
    const at = all.findIndex((e) => e.id === id);
    if (at >= 0) for (const e of all.slice(at)) stop(chatId, e.id);
  };
  stopFrom(old);
  const exchange = newExchange(text, attachments, mode);
  const putBack = replaceFrom(chatId, old, exchange);
  notify(t("edited_done"), () => {
    stopFrom(exchange.id);
    putBack();
    resumeAll();
  });
  void start(chatId, exchange);
}

/** Does the request of an exchange anew, in its place. */
export function again(chatId: string, exchangeId: string): void {
  const old = findExchange(chatId, exchangeId);
  if (!old || isLive(old.run.phase)) return;
  const edited = old.run.config && old.mode !== "plan" && !old.run.plansOnly ? old.run.config : null;
  if (edited) return runPlan(chatId, exchangeId, edited);
  const refusal = lacks(old, true);
  if (refusal !== null) return notify(refusal);
  controllers.get(exchangeId)?.abort();
  changeExchange(chatId, exchangeId, (e) => ({ ...e, run: newRun(e.mode !== "run"), draft: null }));
  const fresh = findExchange(chatId, exchangeId);
  if (fresh) void start(chatId, fresh);
}

/** Runs a plan as the person left it. */
export function runPlan(chatId: string, exchangeId: string, config: ExecutionConfig): void {
  const exchange = findExchange(chatId, exchangeId);
  if (!exchange) return;
  // The plan holds the words of the request itself; only the files go along from here.
  const refusal = lacks(exchange, false);
  if (refusal !== null) return notify(refusal);
  controllers.get(exchangeId)?.abort();
  const plan = rebuild(config, config.tasks);
  const before = exchange.run;
  changeRun(chatId, exchangeId, () => ({
    ...newRun(),
    tasks: plan.tasks.map(taskOfConfig),
    config: plan,
    planId: before.planId,
    planner: before.planner,
    model: before.model,
  }));
  void drive(
    chatId,
    exchangeId,
    started(chatId, exchangeId, (signal) => client.runPlan(plan, exchange.attachments, before.planId, signal)),
  );
}

/** Does a run anew from a task on, in its place. What was done before that task is taken over by the server. */
export function retryFrom(chatId: string, exchangeId: string, task: number): void {
  const run = findExchange(chatId, exchangeId)?.run;
  if (!run?.runId || isLive(run.phase)) return;
  const { runId } = run;
  controllers.get(exchangeId)?.abort();
  changeRun(chatId, exchangeId, () => ({ ...newRun(), config: run.config, planId: run.planId }));
  void drive(
    chatId,
    exchangeId,
    started(chatId, exchangeId, () => client.retry(runId, task)),
    (error) => {
      // Nothing was begun: the run stays as it was.
      changeRun(chatId, exchangeId, () => run);
      notify(wordsOf(error).message);
    },
  );
}

/** Back from a plan that was refused or stopped to the plan itself. */
export function backToPlan(chatId: string, exchangeId: string): void {
  changeExchange(chatId, exchangeId, (e) => {
    const config = e.run.config;
    if (!config) return e;
    const run: RunView = {
      ...newRun(true),
      phase: "planned",
      config,
      planId: e.run.planId,
      tasks: config.tasks.map(taskOfConfig),
      planner: e.run.planner,
      model: e.run.model,
    };
    return { ...e, mode: "review", run };
  });
}

export function setDraft(chatId: string, exchangeId: string, draft: ExecutionConfig | null): void {
  changeExchange(chatId, exchangeId, (e) => ({
    ...e,
    draft,
    run: { ...e.run, tasks: (draft ?? e.run.config)?.tasks.map(taskOfConfig) ?? [] },
  }));
}

/**
 * Asks the server to stop a run. The run is stopping until its events tell how it ended: stopped, with what had been done until
 * then, or done, when it had ended before.
 */
export function stop(chatId: string, exchangeId: string): void {
  const exchange = findExchange(chatId, exchangeId);
  if (!exchange || !isLive(exchange.run.phase) || exchange.run.stopping) return;
  const { runId } = exchange.run;
  const controller = controllers.get(exchangeId);
  changeRun(chatId, exchangeId, (run) => ({ ...run, stopping: true }));
  announce(t("phase_stopping"));
  if (runId) void cancel(chatId, exchangeId, runId);
  // A run without a name is stopped when it gets one, see `started`; a server that gives none is not waited for.
  else
    setTimeout(() => {
      const run = findExchange(chatId, exchangeId)?.run;
      if (!run?.stopping || run.runId) return;
      controller?.abort();
      fail(chatId, exchangeId, { code: "not_confirmed", message: "" });
    }, NAMING);
}

async function cancel(chatId: string, exchangeId: string, runId: string): Promise<void> {
  try {
    await client.cancel(runId);
  } catch (e) {
    const failure = asApiError(e);
    // It had ended before: its events tell how.
    if (failure.status === 409) return;
    changeRun(chatId, exchangeId, (run) => ({ ...run, stopping: false }));
    notify(t("stop_failed", { text: wordsOf(errorOf(failure)).message }));
  }
}

/** Lets all runs go that this tab follows. They go on at the server. */
export function stopFollowing(): void {
  for (const controller of controllers.values()) controller.abort();
  controllers.clear();
}

/** Picks up what was running when the page was last left. */
export function resumeAll(): void {
  for (const chat of chats.value)
    for (const exchange of chat.exchanges) {
      if (!isLive(exchange.run.phase) || isDriven(exchange.id)) continue;
      const { runId, lastSeq, lastPiece } = exchange.run;
      if (runId) void drive(chat.id, exchange.id, (signal) => follow(runId, placeOf(lastSeq, lastPiece), signal));
      else changeRun(chat.id, exchange.id, (run) => broken(run, { code: "lost", message: "" }));
    }
}

function start(chatId: string, exchange: Exchange): Promise<void> {
  const chat = chats.value.find((c) => c.id === chatId);
  const body = bodyOf(chat, exchange);
  return drive(
    chatId,
    exchange.id,
    exchange.mode === "run"
      ? started(chatId, exchange.id, (signal) => client.run(body, exchange.pipeline ?? null, signal))
      : (signal) => client.decide(body, signal),
  );
}

type Source = (signal: AbortSignal) => AsyncGenerator<RunEvent>;

/** The events of a run that is started first. Its name is kept at once: from then on it can be stopped and found again. */
function started(chatId: string, exchangeId: string, start: (signal: AbortSignal) => Promise<string>): Source {
  return async function* (signal) {
    const runId = await start(signal);
    changeRun(chatId, exchangeId, (run) => ({ ...run, runId }));
    if (findExchange(chatId, exchangeId)?.run.stopping) void cancel(chatId, exchangeId, runId);
    yield* follow(runId, "", signal);
  };
}

/**
 * The request with the turns before it. Errors and stopped answers are not part of the conversation. Files of earlier turns
 * are named in their texts only: as attachments the planner would prefer them to what was made since. A turn that was kept
 * in part goes along as it is, with the sign of omission at its end: it is what was talked about, not what is asked.
 */
function bodyOf(chat: Chat | undefined, exchange: Exchange): ChatBody {
  const past: Past[] = [];
  for (const e of chat?.exchanges ?? []) {
    if (e.id === exchange.id) break;
    past.push({ text: e.text, attachments: e.attachments, answer: (e.run.phase === "done" && e.run.text) || null });
  }
  const body: ChatBody = { messages: conversation(past, exchange.text).slice(-MAX_HISTORY - 1) };
  if (exchange.model !== undefined) body.model = exchange.model;
  if (exchange.attachments.length) body.attachments = exchange.attachments.map(attachmentOut);
  return body;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** Follows a source of events to the end of the run, rejoining it when the connection breaks. */
async function drive(
  chatId: string,
  exchangeId: string,
  source: Source,
  refused?: (error: RunError) => void,
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  controllers.set(exchangeId, controller);
  const run = () => findExchange(chatId, exchangeId)?.run;
  let from = source;
  try {
    for (let tries = 0; ; tries++) {
      let failure: ApiError | null = null;
      let got = 0;
      try {
        for await (const event of from(signal)) {
          if (signal.aborted) return;
          got++;
          observeClock(event.atMs);
          changeRun(chatId, exchangeId, (r) => apply(r, event));
          tell(event, run());
        }
      } catch (e) {
        if (isAbort(e) || signal.aborted) return;
        failure = asApiError(e);
      }
      const now = run();
      if (!now || signal.aborted) return;
      if (!isLive(now.phase)) {
        tellOfEnd(findExchange(chatId, exchangeId), chatId);
        return ended(chatId, exchangeId);
      }
      if (failure && refused && !now.runId) return refused(errorOf(failure));
      // A refusal by the server is final; a broken line is not, as long as the run has a name to ask for.
      if (failure && failure.status > 0)
        return fail(
          chatId,
          exchangeId,
          tries === 0
            ? errorOf(failure)
            : { ...errorOf(failure), ...(failure.status === 404 ? { code: "interrupted" } : {}) },
        );
      // A run that waits for leave waits over a restart of the server too.
      const wait = REJOIN[got > 1 ? 0 : tries] ?? (now.asks?.length ? REJOIN.at(-1) : undefined);
      if (!now.runId || wait === undefined || now.plansOnly)
        return fail(chatId, exchangeId, failure ? errorOf(failure) : { code: "lost", message: "" });
      await pause(wait, signal);
      const { runId } = now;
      from = (s) => follow(runId, placeOf(run()?.lastSeq ?? -1, run()?.lastPiece), s);
      if (got > 1) tries = 0;
    }
  } finally {
    if (controllers.get(exchangeId) === controller) controllers.delete(exchangeId);
  }
}

/** The longest wait that is told in seconds: a longer one, as until the next day, is told by the server's hint. */
const MOST_SECONDS = 600;

const errorOf = (e: ApiError): RunError => {
  const soon = e.retryAfter !== null && e.retryAfter <= MOST_SECONDS ? t("err_retry_after", { n: e.retryAfter }) : null;
  const hint = [e.hint, soon].filter(Boolean).join(". ");
  return { code: e.code, message: e.message, ...(hint ? { hint } : {}) };
};

function fail(chatId: string, exchangeId: string, error: RunError): void {
  changeRun(chatId, exchangeId, (run) => broken(run, error));
  announce(t("said_failed", { text: wordsOf(error).message }));
}

/** A request with nothing to plan has nothing to review either: in review mode it is simply answered. */
function ended(chatId: string, exchangeId: string): void {
  const exchange = findExchange(chatId, exchangeId);
  if (!exchange || exchange.mode !== "review" || !exchange.run.plansOnly || exchange.run.phase !== "done") return;
  const refusal = lacks(exchange, true);
  if (refusal !== null) return fail(chatId, exchangeId, { code: "incomplete", message: refusal });
  changeExchange(chatId, exchangeId, (e) => ({ ...e, mode: "run", run: newRun() }));
  const fresh = findExchange(chatId, exchangeId);
  if (fresh) queueMicrotask(() => void start(chatId, fresh));
}

/** Tells a screen reader what matters of an event. */
function tell(event: RunEvent, run: RunView | undefined): void {
  if (event.event === "approval_needed") {
    const { tool, args, unknown } = event.approval;
    const question = typeof args.question === "string" ? args.question : "";
    announce(
      tool === "ask_person"
        ? t("said_question", { question: label(question, 300) })
        : t(unknown ? "said_unknown" : "said_approval", { tool: label(tool, 60) }),
    );
  }
  if (event.event === "plan" && event.tasks.length)
    announce(t("said_plan", { tasks: count("tasks", event.tasks.length) }));
  else if (event.event === "task_finished")
    announce(t("said_task", { task: taskName(event.outcome.task), state: t(`state_${event.outcome.status}`) }));
  else if (run?.phase === "cancelled") announce(t("said_stopped"));
  else if (event.event === "error") announce(t("said_failed", { text: wordsOf(event).message }));
  else if (event.event === "done" && run?.text) announce(t("said_answer", { text: label(run.text, 1000) }));
}
