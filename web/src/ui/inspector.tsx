// What there is to know of one task: state, model and why, other candidates, time, inputs, outputs, error, attempts.
// It opens beneath the graph rather than over it, so that the graph stays in sight and works the same on a phone.
import { useContext, useEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { language, t, taskName } from "../i18n";
import { mediaKind, outputs, type Output } from "../model/outputs";
import { referencesIn, splitReferences } from "../model/plan";
import type { TaskView } from "../model/run";
import { clean, duration, label } from "../model/text";
import { modelName } from "../state/server";
import { Elapsed, IconButton, StateMark } from "./common";
import { Icon } from "./icons";
import { MediaChip } from "./markdown";
import { Media } from "./media";
import { RetryFrom } from "./retry";

export function Inspector({ task, tasks, onClose }: { task: TaskView; tasks: TaskView[]; onClose: () => void }) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => ref.current?.scrollIntoView({ block: "nearest" }), []);
  const name = taskName(task.task);
  const retry = useContext(RetryFrom);
  return (
    <section class="inspector" ref={ref} aria-label={`${t("details")}: ${name}`}>
      <header>
        <StateMark state={task.state} size={20} />
        <h3>
          {task.id + 1}. {label(name, 80)}
        </h3>
        <IconButton icon="close" label={t("close")} onClick={onClose} />
      </header>
      <p class="inspector-state">
        {t(`state_${task.state}`)}
        {task.ms !== null && <> · {duration(task.ms, language.value)}</>}
        {task.state === "running" && task.startedAt !== null && (
          <>
            {" "}
            · <Elapsed since={task.startedAt} />
          </>
        )}
        {name !== task.task && (
          <>
            {" "}
            · <code>{label(task.task, 80)}</code>
          </>
        )}
      </p>
      {task.error && (
        <div class="task-error">
          <p>{clean(task.error.message)}</p>
          {task.error.hint && (
            <p class="hint">
              <b>{t("hint")}</b> {clean(task.error.hint)}
            </p>
          )}
          <code>{label(task.error.code, 60)}</code>
        </div>
      )}
      {retry && (
        <p class="inspector-actions">
          <button type="button" class="secondary" title={t("run_from_hint")} onClick={() => retry(task.id)}>
            <Icon name="again" size={16} />
            {t(task.state === "failed" ? "retry_task" : "run_from")}
          </button>
        </p>
      )}
      <dl>
        <Row name={t("outputs")}>
          {outputs(task.inference).map((o, i) => (
            <OutputView key={i} output={o} caption={name} />
          ))}
          {!outputs(task.inference).length && (
            <span class="muted">
              {t(task.state === "waiting" || task.state === "running" ? "no_outputs" : "no_arguments")}
            </span>
          )}
        </Row>
        <Row name={t("arguments")}>
          <Arguments task={task} tasks={tasks} />
        </Row>
        <Row name={t("model")}>
          {task.selection ? (
            <ModelName id={task.selection.chosen.id} host={task.selection.chosen.host} />
          ) : (
            <span class="muted">{t("not_chosen")}</span>
          )}
        </Row>
        {task.selection?.reason && <Row name={t("reason")}>{clean(task.selection.reason)}</Row>}
        {task.selection && task.selection.notes.length > 0 && (
          <Row name={t("notes")}>
            {task.selection.notes.map((n) => (
              <p key={n}>{clean(n)}</p>
            ))}
          </Row>
        )}
        {task.selection && (
          <Row name={t("candidates")}>
            {task.selection.fallbacks.length ? (
              <ul>
                {task.selection.fallbacks.map((c) => (
                  <li key={c.id + c.host}>
                    <ModelName id={c.id} host={c.host} />
                  </li>
                ))}
              </ul>
            ) : (
              <span class="muted">{t("no_candidates")}</span>
            )}
          </Row>
        )}
        {(task.attempts.length > 1 || task.attempts.some((a) => a.error)) && (
          <Row name={t("attempts")}>
            <ol class="attempts">
              {task.attempts.map((a, i) => (
                <li key={i}>
                  <StateMark state={a.error ? "failed" : "succeeded"} size={16} />
                  <div>
                    <ModelName id={a.candidate.id} host="" />{" "}
                    <span class="muted">{duration(a.ms, language.value)}</span>
                    {a.error && <p>{clean(a.error.message)}</p>}
                  </div>
                </li>
              ))}
            </ol>
          </Row>
        )}
        {task.notes.length > 0 && (
          <Row name={t("notes")}>
            {task.notes.map((n) => (
              <p key={n}>{clean(n)}</p>
            ))}
          </Row>
        )}
      </dl>
    </section>
  );
}

function Row({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="row">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const HOSTS = ["native", "local", "huggingface", "llm", "tool"] as const;

/** Where a model runs, in words. */
export function hostName(host: string): string {
  const known = HOSTS.find((h) => h === host);
  return known ? t(`host_${known}`) : label(host, 40);
}

export function ModelName({ id, host }: { id: string; host: string }) {
  return (
    <span class="model-name">
      <code>{label(modelName(id), 140)}</code>
      {host && <span class="muted"> {hostName(host)}</span>}
    </span>
  );
}

/** Each argument as it was given to the model; where it came from another task, that is said. */
function Arguments({ task, tasks }: { task: TaskView; tasks: TaskView[] }) {
  const names = [...new Set([...Object.keys(task.planned), ...Object.keys(task.resolved ?? {})])];
  if (!names.length) return <span class="muted">{t("no_arguments")}</span>;
  return (
    <ul class="arguments">
      {names.map((name) => {
        const planned = task.planned[name] ?? "";
        const value = task.resolved?.[name] ?? planned;
        const sources = referencesIn(planned);
        return (
          <li key={name}>
            <span class="argument-name">{label(name, 40)}</span>
            <ArgumentValue value={value} tasks={tasks} />
            {task.resolved && sources.length > 0 && (
              <span class="muted argument-source">
                {t("planned_as", { task: sources.map((s) => s + 1).join(", ") })}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

export function ArgumentValue({ value, tasks }: { value: string; tasks: TaskView[] }) {
  if (mediaKind(value)) return <MediaChip path={value} />;
  return (
    <span class="argument-value">
      {splitReferences(clean(value)).map((part, i) =>
        typeof part === "string" ? (
          part
        ) : (
          <span key={i} class="reference">
            {part.task + 1}. {taskName(tasks.find((x) => x.id === part.task)?.task ?? "?")}
            {part.path && <code>{label(part.path, 60)}</code>}
          </span>
        ),
      )}
    </span>
  );
}

export function OutputView({ output, caption }: { output: Output; caption: string }) {
  switch (output.type) {
    case "media":
      return <Media url={output.url} caption={caption} />;
    case "text":
      return <p class="output-text">{clean(output.text)}</p>;
    case "scores":
      return <Scores rows={output.rows} />;
    case "json":
      return (
        <details>
          <summary>{t("data")}</summary>
          <pre tabIndex={0}>{JSON.stringify(output.value, null, 2).slice(0, 20_000)}</pre>
        </details>
      );
  }
}

function Scores({ rows }: { rows: { label: string; score: number }[] }) {
  const percent = new Intl.NumberFormat(language.value, { style: "percent", maximumFractionDigits: 1 });
  return (
    <ul class="scores">
      {rows.map((r) => (
        <li key={r.label}>
          <span>{label(r.label, 60)}</span>
          <span class="score-bar">
            <span style={{ width: `${Math.max(0, Math.min(1, r.score)) * 100}%` }} />
          </span>
          <span class="muted">{percent.format(r.score)}</span>
        </li>
      ))}
    </ul>
  );
}
