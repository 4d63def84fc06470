// The server's runs: a list to look through, and one run rebuilt from its journal, followed while it is live.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as client from "../api/client";
import { asApiError, isAbort } from "../api/http";
import type { Attachment, RunStatus, RunSummary } from "../api/types";
import { language, moment, t } from "../i18n";
import { follow } from "../live/follow";
import { placeOf } from "../live/protocol";
import { apply, broken, isLive, replay, stopped, type RunError, type RunView, type TaskState } from "../model/run";
import { duration, label } from "../model/text";
import { go, route, runLink } from "../state/route";
import { observeClock } from "../state/server";
import { Answer, ErrorBubble } from "./answer";
import { IconButton, StateMark } from "./common";
import { Named, RequestView } from "./exchange";
import { Graph } from "./graph";
import { Icon } from "./icons";

export function Runs() {
  const id = route.value.page === "runs" ? route.value.id : null;
  return <div class="page">{id ? <OneRun key={id} id={id} /> : <RunList />}</div>;
}

const LIMIT = 200;
const MARKS: Record<RunStatus, TaskState> = {
  queued: "waiting",
  waiting: "waiting",
  running: "running",
  done: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  interrupted: "cancelled",
  unknown: "skipped",
};
const failure = (e: unknown): RunError => {
  const { code, message, hint } = asApiError(e);
  return { code, message, ...(hint ? { hint } : {}) };
};

function RunList() {
  const runs = useSignal<RunSummary[] | null>(null);
  const error = useSignal<RunError | null>(null);
  const filter = useSignal("");
  const load = async () => {
    try {
      runs.value = await client.runs(LIMIT);
      error.value = null;
    } catch (e) {
      error.value = failure(e);
    }
  };
  useEffect(() => void load(), []);
  const cancel = async (id: string) => {
    await client.cancel(id).catch((e: unknown) => (error.value = failure(e)));
    await load();
  };
  const resume = async (id: string) => {
    await client.resume(id).catch((e: unknown) => (error.value = failure(e)));
    await load();
  };
  const wanted = filter.value.trim().toLowerCase();
  const shown = (runs.value ?? []).filter(
    (r) => !wanted || r.request.toLowerCase().includes(wanted) || r.runId.includes(wanted),
  );
  return (
    <section aria-labelledby="runs-title">
      <div class="page-head">
        <div>
          <h1 id="runs-title">{t("runs_title")}</h1>
          <p class="muted">{t("runs_sub")}</p>
        </div>
        <label class="search">
          <Icon name="search" size={16} />
          <input
            type="search"
            placeholder={t("runs_filter")}
            aria-label={t("runs_filter")}
            value={filter.value}
            onInput={(e) => (filter.value = e.currentTarget.value)}
          />
        </label>
        <IconButton icon="again" label={t("refresh")} onClick={() => void load()} />
      </div>
      {error.value && <ErrorBubble error={error.value} onAgain={() => void load()} />}
      {runs.value && !runs.value.length && <p class="muted empty">{t("runs_empty")}</p>}
      {runs.value && runs.value.length > 0 && !shown.length && <p class="muted empty">{t("runs_no_match")}</p>}
      {shown.length > 0 && (
        <table class="runs">
          <thead>
            <tr>
              <th scope="col">{t("column_state")}</th>
              <th scope="col">{t("column_request")}</th>
              <th scope="col">{t("column_tasks")}</th>
              <th scope="col">{t("column_time")}</th>
              <th scope="col">{t("column_took")}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((r) => (
              <RunRow
                key={r.runId}
                run={r}
                onCancel={() => void cancel(r.runId)}
                onResume={() => void resume(r.runId)}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface RowProps {
  run: RunSummary;
  onCancel: () => void;
  onResume: () => void;
}

function RunRow({ run, onCancel, onResume }: RowProps) {
  const request = label(run.request, 160) || t("untitled");
  const live = run.status === "running" || run.status === "queued" || run.status === "waiting";
  return (
    <tr data-run={run.runId}>
      <td class="runs-state">
        <span class={`status status-${MARKS[run.status]}`}>
          <StateMark state={MARKS[run.status]} />
          {t(`status_${run.status}`)}
        </span>
      </td>
      <td class="runs-request">
        <a href={runLink(run.runId)} aria-label={t("open_run", { request })}>
          {request}
        </a>
      </td>
      <td class="runs-tasks">{run.tasks ? t("run_tasks", { ok: run.ok, n: run.tasks }) : "–"}</td>
      <td class="runs-time">
        <time dateTime={new Date(run.startedAtMs).toISOString()}>{moment(run.startedAtMs)}</time>
      </td>
      <td class="runs-took">
        {live ? (
          <button type="button" class="quiet" onClick={onCancel}>
            <Icon name="stop" size={15} />
            {t("cancel_run")}
          </button>
        ) : run.resumable ? (
          <button type="button" class="quiet" onClick={onResume}>
            <Icon name="again" size={15} />
            {t("resume_run")}
          </button>
        ) : run.ms === null ? (
          "–"
        ) : (
          duration(run.ms, language.value)
        )}
      </td>
    </tr>
  );
}

interface Opened {
  run: RunView;
  text: string;
  attachments: Attachment[];
  at: number;
}

function OneRun({ id }: { id: string }) {
  const opened = useSignal<Opened | null>(null);
  const error = useSignal<RunError | null>(null);
  const wide = useSignal(false);
  useEffect(() => {
    const controller = new AbortController();
    void (async () => {
      try {
        const { summary, events } = await client.runEvents(id);
        const whole = replay(events);
        opened.value = { ...whole, text: whole.text || summary.request, at: summary.startedAtMs };
        const ended = !["running", "queued", "waiting"].includes(summary.status);
        if (summary.status === "cancelled") opened.value = { ...opened.value, run: stopped(whole.run) };
        else if (ended && isLive(whole.run.phase))
          opened.value = { ...opened.value, run: broken(whole.run, { code: "interrupted", message: "" }) };
        if (ended || !isLive(whole.run.phase)) return;
        for await (const event of follow(id, placeOf(whole.run.lastSeq, whole.run.lastPiece), controller.signal)) {
          observeClock(event.atMs);
          if (opened.value) opened.value = { ...opened.value, run: apply(opened.value.run, event) };
        }
      } catch (e) {
        if (!isAbort(e)) error.value = failure(e);
      }
    })();
    return () => controller.abort();
  }, []);
  const setStopping = (stopping: boolean) => {
    const now = opened.value;
    if (now && isLive(now.run.phase)) opened.value = { ...now, run: { ...now.run, stopping } };
  };
  const halt = async () => {
    setStopping(true);
    try {
      await client.cancel(id);
    } catch (e) {
      // It had ended before: its events tell how.
      if (asApiError(e).status === 409) return;
      setStopping(false);
      error.value = failure(e);
    }
  };
  const retry = async (task: number) => {
    try {
      go(runLink(await client.retry(id, task)));
    } catch (e) {
      error.value = failure(e);
    }
  };
  const at = opened.value;
  return (
    <section>
      <div class="page-head">
        <a class="quiet" href="#/runs">
          <Icon name="back" size={16} />
          {t("back_runs")}
        </a>
        <span class="muted run-id">
          {at && at.at > 0 && <>{moment(at.at)} · </>}
          <code>{id}</code>
        </span>
        {at && isLive(at.run.phase) && (
          <button type="button" class="secondary" disabled={at.run.stopping} onClick={() => void halt()}>
            <Icon name="stop" size={16} />
            {t(at.run.stopping ? "phase_stopping" : "cancel_run")}
          </button>
        )}
      </div>
      <h1 class="visually-hidden">{label(at?.text ?? "", 80) || t("runs")}</h1>
      {error.value && <ErrorBubble error={error.value} onAgain={null} />}
      {at && (
        <Named run={at.run} attachments={at.attachments} onRetry={(task) => void retry(task)}>
          <article
            class={`exchange ${wide.value ? "exchange-wide" : ""} ${at.run.tasks.length > 1 ? "" : "exchange-plain"}`}
            data-phase={at.run.phase}
            data-run={id}
          >
            <RequestView text={at.text} attachments={at.attachments} onEdit={null} />
            {at.run.tasks.length > 1 && (
              <div class="beside">
                <Graph run={at.run} wide={wide.value} onWide={(on) => (wide.value = on)} edit={null} />
              </div>
            )}
            <div class="reply">
              <Answer run={at.run} onAgain={null} />
            </div>
          </article>
        </Named>
      )}
    </section>
  );
}
