// What the tasks of a run have given: files, each shown once, and while there is no answer yet also texts and figures, as the
// tasks finish. Tasks that failed say so here too.
import { useSignal } from "@preact/signals";
import { useContext } from "preact/hooks";
import { language, t, taskName } from "../i18n";
import { isTable, mediaKind, outputs, type Output } from "../model/outputs";
import { isLive, type RunView, type TaskView } from "../model/run";
import { baseName, clean, duration, label } from "../model/text";
import { StateMark } from "./common";
import { Icon } from "./icons";
import { Inspector, OutputView } from "./inspector";
import { Media } from "./media";
import { RetryFrom } from "./retry";
import { TableFile } from "./table-file";

export interface Shown {
  url: string;
  /** The task that made it; negative when it is the answer's own. */
  from: number;
  name: string;
}

/** The files of a run, once each: those of the answer, and until it is there those of the tasks that have finished. */
export function filesOf(run: RunView): Shown[] {
  const made = run.tasks.flatMap((task) =>
    outputs(task.inference).flatMap((o) => (o.type === "media" ? [{ url: o.url, from: task.id, name: "" }] : [])),
  );
  const all = run.resources.length || !isLive(run.phase) ? run.resources : made;
  const seen = new Set<string>();
  return all.filter((r) => mediaKind(r.url) && !seen.has(r.url) && seen.add(r.url));
}

export function Gallery({ run }: { run: RunView }) {
  const items = filesOf(run);
  if (!items.length) return null;
  const caption = ({ from, name }: Shown): string => {
    const task = run.tasks.find((x) => x.id === from);
    return task ? t("from_task", { n: from + 1, task: taskName(task.task) }) : label(name, 60) || t("answer");
  };
  return (
    <div class={`gallery gallery-${items.length > 4 ? "many" : items.length}`}>
      {items.map((r) => (
        <Media key={r.url} url={r.url} caption={caption(r)} name={r.name} />
      ))}
    </div>
  );
}

/** The tables of the answer. */
export function Tables({ run }: { run: RunView }) {
  return run.resources.filter((r) => isTable(r.url)).map((r) => <TableFile key={r.url} url={r.url} name={r.name} />);
}

type Words = Exclude<Output, { type: "media" } | { type: "json" }>;

const wordsOf = (task: TaskView): Words[] =>
  task.state === "succeeded"
    ? outputs(task.inference).filter((o): o is Words => o.type === "text" || o.type === "scores")
    : [];

/** Texts and figures of the tasks that have finished: open until the answer begins, which tells of them in its own words. */
export function Results({ run }: { run: RunView }) {
  const told = run.tasks.flatMap((task) => {
    const words = wordsOf(task);
    return words.length ? [{ task, words }] : [];
  });
  if (!told.length || run.tasks.length < 2) return null;
  const list = (
    <ol class="results">
      {told.map(({ task, words }) => (
        <li key={task.id} class="result">
          <p class="result-title">
            <StateMark state={task.state} size={15} />
            {t("from_task", { n: task.id + 1, task: label(taskName(task.task), 60) })}
          </p>
          {words.map((o, i) => (
            <OutputView key={i} output={o} caption="" />
          ))}
        </li>
      ))}
    </ol>
  );
  if (isLive(run.phase) && !run.text) return list;
  return (
    <details class="notes">
      <summary>{t("results_of_tasks")}</summary>
      {list}
    </details>
  );
}

/** The tasks that failed, with the way to do each again once the run has ended. */
export function Failures({ run }: { run: RunView }) {
  const retry = useContext(RetryFrom);
  const failed = run.tasks.filter((task) => task.state === "failed" && task.error);
  if (!failed.length || run.tasks.length < 2) return null;
  return (
    <ul class="failures">
      {failed.map((task) => (
        <li key={task.id}>
          <StateMark state="failed" size={16} />
          <div>
            <b>{t("from_task", { n: task.id + 1, task: label(taskName(task.task), 60) })}</b>{" "}
            <span class="muted">{clean(task.error?.message ?? "").slice(0, 300)}</span>
          </div>
          {retry && (
            <button type="button" class="quiet" onClick={() => retry(task.id)}>
              <Icon name="again" size={15} />
              {t("retry_task")}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The only task of a run, in one line that opens its details: a graph would say no more. */
export function OneTask({ task }: { task: TaskView }) {
  const open = useSignal(false);
  return (
    <div class="one-task">
      <button
        type="button"
        class={`one-task-line is-${task.state}`}
        data-task={task.id}
        data-state={task.state}
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <StateMark state={task.state} />
        <span>{label(taskName(task.task), 60)}</span>
        <span class="muted">
          {task.model ? label(baseName(task.model), 60) : t(`state_${task.state}`)}
          {task.ms !== null && ` · ${duration(task.ms, language.value)}`}
        </span>
        <Icon name="chevron" size={15} />
      </button>
      {open.value && <Inspector task={task} tasks={[task]} onClose={() => (open.value = false)} />}
    </div>
  );
}
