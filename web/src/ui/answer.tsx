// The answer of a run: its text while it is written and when it stands, its media, what made it, and what went wrong.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { language, t, count } from "../i18n";
import { isLive, type RunError, type RunView } from "../model/run";
import { clean, duration, label } from "../model/text";
import { mayHelpAgain, wordsOf } from "../state/errors";
import { canNotify, isNotified, LONG, toggleNotifications } from "../state/notifications";
import { asksToken, loggedIn, serverNow } from "../state/server";
import { CopyButton } from "./common";
import { Icon } from "./icons";
import { Leave } from "./leave";
import { Markdown } from "./markdown";
import { Failures, Gallery, OneTask, Results, Tables } from "./results";

export function Answer({ run, onAgain }: { run: RunView; onAgain: (() => void) | null }) {
  const live = isLive(run.phase);
  const only = run.tasks.length === 1 ? run.tasks[0] : undefined;
  return (
    <div class="answer">
      <TakenOver run={run} />
      {run.text ? <Markdown text={run.text} more={live} /> : null}
      {live && <Progress run={run} />}
      {live && run.asks?.map((ask) => <Leave key={ask.task} runId={run.runId} ask={ask} />)}
      {!live && !run.text && !run.error && run.phase === "done" && <p class="muted">{t("empty_answer")}</p>}
      {run.phase === "cancelled" && <p class="muted stopped">{t("phase_cancelled")}</p>}
      <Gallery run={run} />
      <Tables run={run} />
      <Results run={run} />
      <Failures run={run} />
      {only && <OneTask task={only} />}
      {run.error && run.phase !== "cancelled" && <ErrorBubble error={run.error} onAgain={onAgain} />}
      {run.notes.length > 0 && !live && (
        <details class="notes">
          <summary>{t("notes")}</summary>
          <ul>
            {[...new Set(run.notes)].map((n) => (
              <li key={n}>{clean(n)}</li>
            ))}
          </ul>
        </details>
      )}
      {!live && (
        <footer class="answer-foot">
          <Provenance run={run} />
          <span class="answer-actions">
            {run.text && <CopyButton text={() => run.text} />}
            {onAgain && !run.error && (
              <button type="button" class="quiet" onClick={onAgain}>
                <Icon name="again" size={16} />
                {t("again")}
              </button>
            )}
          </span>
        </footer>
      )}
    </div>
  );
}

/** That a run was cut off and went on, or is another try, and how much of it did not have to be done again. */
function TakenOver({ run }: { run: RunView }) {
  if (run.takenOver === undefined) return null;
  return (
    <p class="muted taken-over">
      {run.takenFrom
        ? t("run_took_over", { n: run.takenOver, run: label(run.takenFrom, 60) })
        : t("run_went_on", { n: run.takenOver })}
    </p>
  );
}

/** What is going on, before there are words to show. */
function Progress({ run }: { run: RunView }) {
  if (!run.stopping && ((run.phase === "answering" && run.text) || run.asks?.length)) return null;
  const done = run.tasks.filter((x) => x.state !== "waiting" && x.state !== "running").length;
  return (
    <p class="progress">
      <span class="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {run.stopping ? t("phase_stopping") : t(`phase_${run.phase}`)}
      <NotifyMe run={run} />
      {run.phase === "queued" && run.ahead > 0 && <span class="muted">{count("queued_ahead", run.ahead)}</span>}
      {run.phase === "running" && (
        <span class="muted">
          {done}/{run.tasks.length}
        </span>
      )}
    </p>
  );
}

/** Offers to be told of the end of a run that takes long. */
function NotifyMe({ run }: { run: RunView }) {
  const long = useSignal(false);
  useEffect(() => {
    const wait = LONG - (serverNow() - (run.startedAt ?? serverNow()));
    const timer = setTimeout(() => (long.value = true), Math.max(0, wait));
    return () => clearTimeout(timer);
  }, [run.startedAt]);
  if (!long.value || !canNotify.value || run.stopping) return null;
  return (
    <button
      type="button"
      class="quiet notify-me"
      aria-pressed={isNotified.value}
      onClick={() => void toggleNotifications()}
    >
      <Icon name={isNotified.value ? "check" : "bell"} size={15} />
      {t(isNotified.value ? "notify_on" : "notify_me")}
    </button>
  );
}

function Provenance({ run }: { run: RunView }) {
  const models = [...new Set(run.tasks.filter((x) => x.state === "succeeded").map((x) => x.model))].filter(Boolean);
  const planner =
    run.planner === "plan"
      ? t("plan_ran")
      : run.planner === "offline"
        ? t("planned_by_offline")
        : run.model
          ? t("planned_by_llm", { model: label(run.model, 60) })
          : "";
  const tokens = (run.usage?.promptTokens ?? 0) + (run.usage?.completionTokens ?? 0);
  const shown = models.length > 4 ? [...models.slice(0, 3), `+${models.length - 3}`] : models;
  const parts = [
    planner,
    ...shown.map((m) => label(m, 60)),
    run.ms === null ? "" : duration(run.ms, language.value),
    run.rounds ? t("planned_on", { n: run.rounds }) : "",
    tokens ? t("tokens", { n: tokens }) : "",
    run.usage?.cost ?? "",
  ];
  return <span class="provenance">{parts.filter(Boolean).join(" · ")}</span>;
}

/** An error as a message of the system: what happened, what to try, and the button to try it. */
export function ErrorBubble({ error, onAgain }: { error: RunError; onAgain: (() => void) | null }) {
  const { message, own, hint } = wordsOf(error);
  return (
    <div class="error-bubble" role="alert">
      <Icon name="warn" />
      <div>
        <p>
          <b class="visually-hidden">{t("system")}: </b>
          {message}
        </p>
        {own && <p class="hint error-own">{own}</p>}
        {hint && <p class="hint">{hint}</p>}
        <p class="error-code">
          <code>{label(error.code, 60)}</code>
        </p>
      </div>
      {onAgain && error.code === "unauthorized" && asksToken.value && !loggedIn.value && (
        <button type="button" class="secondary" onClick={onAgain}>
          {t("log_in")}
        </button>
      )}
      {onAgain && mayHelpAgain(error.code) && (
        <button type="button" class="secondary" onClick={onAgain}>
          <Icon name="again" size={16} />
          {t("again")}
        </button>
      )}
    </div>
  );
}
