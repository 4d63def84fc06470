// The server's runs: found by words, state, time and user, part by part; stopped, gone on with, deleted.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import * as client from "../api/client";
import type { RunStatus, RunSummary } from "../api/types";
import { count, language, moment, t } from "../i18n";
import type { RunError, TaskState } from "../model/run";
import { duration, label } from "../model/text";
import { notify } from "../state/announce";
import { failure } from "../state/errors";
import { route, runLink } from "../state/route";
import { ErrorBubble } from "./answer";
import { Confirm, IconButton, StateMark } from "./common";
import { Icon } from "./icons";
import { OneRun } from "./one-run";
import { SearchField } from "./search-field";

export function Runs() {
  const id = route.value.page === "runs" ? route.value.id : null;
  return <div class="page">{id ? <OneRun key={id} id={id} /> : <RunList />}</div>;
}

const LIMIT = 50;
const PAUSE = 300;
const DAY = 86_400_000;
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
/** The states that are looked for together. */
const STATES = {
  all: [],
  live: ["queued", "running", "waiting"],
  done: ["done"],
  failed: ["failed", "interrupted"],
  cancelled: ["cancelled"],
} satisfies Record<string, RunStatus[]>;
type Wanted = keyof typeof STATES;
/** How far back is looked, in days. */
const PERIODS = [0, 1, 7, 30] as const;
/** Of which age runs are deleted together, in days. */
const AGES = [0, 7, 30, 90] as const;

function RunList() {
  const runs = useSignal<RunSummary[] | null>(null);
  const next = useSignal<string | null>(null);
  const error = useSignal<RunError | null>(null);
  const text = useSignal("");
  const state = useSignal<Wanted>("all");
  const days = useSignal(0);
  const user = useSignal("");
  const deleting = useSignal<RunSummary | "old" | null>(null);
  const asked = useRef(0);
  const load = async (before: string | null = null) => {
    const mine = ++asked.current;
    try {
      const wanted = {
        status: STATES[state.value],
        sinceMs: days.value ? Date.now() - days.value * DAY : null,
        untilMs: null,
        text: text.value.trim(),
        user: user.value,
      };
      const page = await client.runs(LIMIT, wanted, before);
      // An answer to an earlier question is not shown in the place of a later one.
      if (mine !== asked.current) return;
      runs.value = before === null ? page.items : [...(runs.value ?? []), ...page.items];
      next.value = page.next;
      error.value = null;
    } catch (e) {
      if (mine === asked.current) error.value = failure(e);
    }
  };
  const first = useRef(true);
  useEffect(() => {
    const timer = setTimeout(() => void load(), first.current ? 0 : PAUSE);
    first.current = false;
    return () => clearTimeout(timer);
  }, [text.value, state.value, days.value, user.value]);
  const act = async (what: Promise<unknown>) => {
    await what.catch((e: unknown) => (error.value = failure(e)));
    await load();
  };
  const users = [...new Set((runs.value ?? []).flatMap((r) => r.user ?? []).concat(user.value || []))].sort();
  const filtered = text.value.trim() !== "" || state.value !== "all" || days.value !== 0 || user.value !== "";
  return (
    <section aria-labelledby="runs-title">
      <div class="page-head">
        <div>
          <h1 id="runs-title">{t("runs_title")}</h1>
          <p class="muted">{t("runs_sub")}</p>
        </div>
        <button type="button" class="quiet" onClick={() => (deleting.value = "old")}>
          <Icon name="trash" size={16} />
          {t("runs_delete_old")}
        </button>
        <IconButton icon="again" label={t("refresh")} onClick={() => void load()} />
      </div>
      <div class="filters" role="search">
        <SearchField placeholder={t("runs_filter")} label={t("runs_filter")} words={text} />
        <select
          aria-label={t("column_state")}
          value={state.value}
          onChange={(e) => (state.value = e.currentTarget.value as Wanted)}
        >
          {(Object.keys(STATES) as Wanted[]).map((one) => (
            <option key={one} value={one}>
              {t(`runs_state_${one}`)}
            </option>
          ))}
        </select>
        <select
          aria-label={t("column_time")}
          value={String(days.value)}
          onChange={(e) => (days.value = Number(e.currentTarget.value))}
        >
          {PERIODS.map((n) => (
            <option key={n} value={String(n)}>
              {n === 0 ? t("runs_any_time") : count("last_days", n)}
            </option>
          ))}
        </select>
        {users.length > 0 && (
          <select aria-label={t("user")} value={user.value} onChange={(e) => (user.value = e.currentTarget.value)}>
            <option value="">{t("runs_any_user")}</option>
            {users.map((name) => (
              <option key={name} value={name}>
                {label(name, 40)}
              </option>
            ))}
          </select>
        )}
      </div>
      {error.value && <ErrorBubble error={error.value} onAgain={() => void load()} />}
      {runs.value && !runs.value.length && <p class="muted empty">{t(filtered ? "runs_no_match" : "runs_empty")}</p>}
      {runs.value && runs.value.length > 0 && (
        <table class="runs">
          <thead>
            <tr>
              <th scope="col">{t("column_state")}</th>
              <th scope="col">{t("column_request")}</th>
              <th scope="col">{t("column_tasks")}</th>
              <th scope="col">{t("column_time")}</th>
              <th scope="col">{t("column_took")}</th>
              <th scope="col">
                <span class="visually-hidden">{t("column_actions")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {runs.value.map((r) => (
              <RunRow
                key={r.runId}
                run={r}
                onCancel={() => void act(client.cancel(r.runId))}
                onResume={() => void act(client.resume(r.runId))}
                onDelete={() => (deleting.value = r)}
              />
            ))}
          </tbody>
        </table>
      )}
      {next.value !== null && (
        <p class="runs-more">
          <button type="button" class="secondary" onClick={() => void load(next.value)}>
            {t("more")}
          </button>
        </p>
      )}
      {deleting.value === "old" ? (
        <DeleteOld onClose={() => (deleting.value = null)} onDone={() => void load()} />
      ) : deleting.value ? (
        <DeleteRun run={deleting.value} onClose={() => (deleting.value = null)} onDone={() => void load()} />
      ) : null}
    </section>
  );
}

interface Closing {
  onClose: () => void;
  onDone: () => void;
}

function DeleteRun({ run, onClose, onDone }: Closing & { run: RunSummary }) {
  return (
    <Confirm
      title={t("run_delete_ask")}
      text={t("run_delete_text", { request: label(run.request, 120) || t("untitled") })}
      action={t("delete")}
      onClose={onClose}
      onYes={async () => {
        const { media } = await client.deleteRun(run.runId);
        notify(t("run_deleted", { files: count("files", media) }));
        onDone();
      }}
    />
  );
}

function DeleteOld({ onClose, onDone }: Closing) {
  const age = useSignal<number>(30);
  return (
    <Confirm
      title={t("runs_delete_old")}
      text={t("runs_delete_text")}
      action={t("delete")}
      onClose={onClose}
      onYes={async () => {
        const gone = await client.deleteRuns(Date.now() - age.value * DAY);
        notify(t("runs_deleted", { runs: count("runs_n", gone.runs), files: count("files", gone.media) }));
        onDone();
      }}
    >
      <select
        aria-label={t("runs_delete_age")}
        value={String(age.value)}
        onChange={(e) => (age.value = Number(e.currentTarget.value))}
      >
        {AGES.map((n) => (
          <option key={n} value={String(n)}>
            {n === 0 ? t("runs_all_ended") : count("older_days", n)}
          </option>
        ))}
      </select>
    </Confirm>
  );
}

interface RowProps {
  run: RunSummary;
  onCancel: () => void;
  onResume: () => void;
  onDelete: () => void;
}

function RunRow({ run, onCancel, onResume, onDelete }: RowProps) {
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
        {run.user && <span class="muted runs-user">{label(run.user, 40)}</span>}
      </td>
      <td class="runs-tasks">{run.tasks ? t("run_tasks", { ok: run.ok, n: run.tasks }) : "–"}</td>
      <td class="runs-time">
        <time dateTime={new Date(run.startedAtMs).toISOString()}>{moment(run.startedAtMs)}</time>
      </td>
      <td class="runs-took">{run.ms === null ? "–" : duration(run.ms, language.value)}</td>
      <td class="runs-actions">
        {live ? (
          <button type="button" class="quiet" onClick={onCancel}>
            <Icon name="stop" size={15} />
            {t("cancel_run")}
          </button>
        ) : (
          <>
            {run.resumable && (
              <button type="button" class="quiet" onClick={onResume}>
                <Icon name="again" size={15} />
                {t("resume_run")}
              </button>
            )}
            <IconButton icon="trash" label={t("run_delete", { request })} onClick={onDelete} />
          </>
        )}
      </td>
    </tr>
  );
}
