// The models on the server's machine: which are kept and in memory, what would help, and, for administrators, pulling it.
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as client from "../api/client";
import { isAbort } from "../api/http";
import type { KeptModel, LocalModels, PlannedPull, SuggestedModel } from "../api/types";
import { joined, language, t, taskName } from "../i18n";
import type { RunError } from "../model/run";
import { bytes, label } from "../model/text";
import { notify } from "../state/announce";
import { failure } from "../state/errors";
import { ErrorBubble } from "./answer";
import { CopyButton, Dialog, IconButton, StateMark } from "./common";
import { Icon } from "./icons";

/** The administrator's token, while the page is open; kept nowhere else. */
const token = signal("");

const size = (n: number): string => bytes(n, language.value);
const tasksOf = (tasks: string[]): string => joined(tasks.map((task) => label(taskName(task), 60)));

export function Models() {
  const all = useSignal<LocalModels | null>(null);
  const error = useSignal<RunError | null>(null);
  const wanted = useSignal<string | null>(null);
  const other = useSignal("");
  const load = async () => {
    try {
      all.value = await client.localModels();
      error.value = null;
    } catch (e) {
      error.value = failure(e);
    }
  };
  useEffect(() => void load(), []);
  const { kept, suggested, pulls } = all.value ?? { kept: [], suggested: [], pulls: false };
  const submit = (e: Event) => {
    e.preventDefault();
    if (other.value.trim()) wanted.value = other.value.trim();
  };
  return (
    <div class="page">
      <section aria-labelledby="models-title">
        <div class="page-head">
          <div>
            <h1 id="models-title">{t("models_title")}</h1>
            <p class="muted">{t("models_sub")}</p>
          </div>
          <IconButton icon="again" label={t("refresh")} onClick={() => void load()} />
        </div>
        {error.value && <ErrorBubble error={error.value} onAgain={() => void load()} />}
        {all.value && !kept.length && <p class="muted empty">{t("models_empty")}</p>}
        {kept.length > 0 && (
          <ul class="models" aria-label={t("models_title")}>
            {kept.map((model) => (
              <Kept key={model.id} model={model} />
            ))}
          </ul>
        )}
        {suggested.length > 0 && (
          <>
            <h2>{t("models_suggested")}</h2>
            <p class="muted">{t(pulls ? "models_pull_sub" : "models_pull_off")}</p>
            <ul class="models" aria-label={t("models_suggested")}>
              {suggested.map((model) => (
                <Suggested key={model.name} model={model} onPull={pulls ? () => (wanted.value = model.name) : null} />
              ))}
            </ul>
          </>
        )}
        {all.value && pulls && (
          <form class="models-other" onSubmit={submit}>
            <label for="models-name">{t("models_other")}</label>
            <input
              id="models-name"
              value={other.value}
              placeholder="org/repo"
              autocomplete="off"
              spellcheck={false}
              onInput={(e) => (other.value = e.currentTarget.value)}
            />
            <button type="submit" class="secondary" disabled={!other.value.trim()}>
              {t("models_pull")}
            </button>
          </form>
        )}
      </section>
      {wanted.value !== null && (
        <Pull
          name={wanted.value}
          onClose={() => {
            wanted.value = null;
            void load();
          }}
        />
      )}
    </div>
  );
}

function Kept({ model }: { model: KeptModel }) {
  const { loaded } = model;
  return (
    <li data-model={model.id}>
      <div class="models-what">
        <b>{label(model.name, 80)}</b>
        <span>{tasksOf(model.tasks)}</span>
        {model.id !== model.name && <code>{label(model.id, 120)}</code>}
      </div>
      <span class="models-size">
        {size(model.bytes)}
        {model.license && <> · {label(model.license, 40)}</>}
      </span>
      <span class={`status status-${loaded ? "running" : "waiting"}`}>
        <StateMark state={loaded ? "succeeded" : "waiting"} />
        {loaded ? t("models_loaded", { memory: size(loaded.memory) }) : t("models_not_loaded")}
      </span>
    </li>
  );
}

function Suggested({ model, onPull }: { model: SuggestedModel; onPull: (() => void) | null }) {
  const command = `jarvis models pull ${model.name}`;
  const about = model.isEstimate ? "≈ " : "";
  return (
    <li data-model={model.name}>
      <div class="models-what">
        <b>{tasksOf(model.tasks)}</b>
        <span>{label(model.about, 160)}</span>
        <code>{label(model.repo, 120)}</code>
      </div>
      <span class="models-size">
        {model.bytes === null ? t("models_size_unknown") : about + size(model.bytes)}
        {model.license && <> · {label(model.license, 40)}</>}
        {!model.fits && <> · {t("models_too_large")}</>}
      </span>
      {onPull ? (
        <button
          type="button"
          class="secondary"
          aria-label={`${t("models_pull")}: ${model.name}`}
          disabled={!model.fits}
          onClick={onPull}
        >
          <Icon name="download" size={16} />
          {t("models_pull")}
        </button>
      ) : (
        <CopyButton text={() => command} label={command} />
      )}
    </li>
  );
}

interface Progress {
  /** Bytes of each content: here, and in all. */
  done: Map<string, [number, number]>;
  /** Whether the hashes are being compared. */
  checking: boolean;
}

/** One pull: the token, what it would fetch, the download. */
function Pull({ name, onClose }: { name: string; onClose: () => void }) {
  const plan = useSignal<PlannedPull | null>(null);
  const typed = useSignal("");
  const error = useSignal<RunError | null>(null);
  const busy = useSignal(false);
  const progress = useSignal<Progress | null>(null);
  const controller = useSignal<AbortController | null>(null);
  const ask = async () => {
    busy.value = true;
    error.value = null;
    try {
      plan.value = await client.planPull(name, token.value);
    } catch (e) {
      const failed = failure(e);
      if (failed.code === "not_administrator" || failed.code === "unauthorized") token.value = "";
      error.value = failed.code === "not_administrator" ? { code: failed.code, message: t("token_wrong") } : failed;
    } finally {
      busy.value = false;
    }
  };
  useEffect(() => {
    if (token.value) void ask();
    return () => controller.value?.abort();
  }, []);
  const login = (e: Event) => {
    e.preventDefault();
    if (!typed.value || busy.value) return;
    token.value = typed.value;
    void ask();
  };
  const pull = async () => {
    const agreed = plan.value;
    if (!agreed) return;
    const abort = new AbortController();
    controller.value = abort;
    error.value = null;
    progress.value = { done: new Map(), checking: false };
    try {
      for await (const line of client.pull(name, agreed.commit, token.value, abort.signal)) {
        const before: Progress = progress.value ?? { done: new Map(), checking: false };
        if (line.digest) before.done.set(line.digest, [line.completed, line.total]);
        progress.value = { done: before.done, checking: line.status === "verifying sha256 digest" };
      }
      notify(t("models_pulled", { name: agreed.name }));
      onClose();
    } catch (e) {
      if (!isAbort(e)) error.value = failure(e);
      progress.value = null;
      if (isAbort(e)) void ask();
    }
  };
  const at = plan.value;
  const running = progress.value;
  const here = at ? at.total - at.missing : 0;
  const done = running
    ? Math.max(
        here,
        [...running.done.values()].reduce((sum, [n]) => sum + n, 0),
      )
    : 0;
  return (
    <Dialog label={t("models_pull_title", { name })} class="pull" onClose={onClose}>
      <h2>{t("models_pull_title", { name: label(name, 80) })}</h2>
      {!token.value && (
        <form onSubmit={login}>
          <label for="admin-token">{t("models_admin")}</label>
          <p class="muted">{t("models_admin_sub")}</p>
          <input
            id="admin-token"
            type="password"
            autocomplete="off"
            autofocus
            value={typed.value}
            onInput={(e) => (typed.value = e.currentTarget.value)}
          />
          <button type="submit" class="primary" disabled={busy.value || !typed.value}>
            {t("models_look")}
          </button>
        </form>
      )}
      {busy.value && <p class="muted">{t("models_asking")}</p>}
      {error.value && <ErrorBubble error={error.value} onAgain={token.value ? () => void ask() : null} />}
      {at && (
        <>
          <dl class="pull-plan">
            <dt>{t("models_license")}</dt>
            <dd>{at.license ? label(at.license, 80) : t("models_license_unknown")}</dd>
            <dt>{t("models_revision")}</dt>
            <dd>
              <code>{at.commit.slice(0, 12)}</code> {t(at.isPinned ? "models_pinned" : "models_not_pinned")}
            </dd>
            <dt>{t("models_size")}</dt>
            <dd>
              {size(at.total)}
              {here > 0 && <> · {t("models_missing", { size: size(at.missing) })}</>}
              {at.free !== null && <> · {t("models_free", { size: size(at.free) })}</>}
            </dd>
            <dt>{t("column_tasks")}</dt>
            <dd>{tasksOf(at.tasks)}</dd>
          </dl>
          {running ? (
            <>
              <progress max={at.total} value={done} aria-label={t("models_pull_title", { name })} />
              <p class="muted">
                {running.checking
                  ? t("models_checking")
                  : t("models_progress", { done: size(done), total: size(at.total) })}
              </p>
              <button type="button" class="secondary" onClick={() => controller.value?.abort()}>
                <Icon name="stop" size={16} />
                {t("stop")}
              </button>
            </>
          ) : (
            <div class="pull-buttons">
              <button type="button" class="primary" onClick={() => void pull()}>
                <Icon name="download" size={16} />
                {t("models_pull")}
              </button>
              <button type="button" class="secondary" onClick={onClose}>
                {t("cancel")}
              </button>
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}
