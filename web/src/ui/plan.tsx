// The plan before it runs: a form per task to change arguments and models and to delete tasks, or, in plan-only mode,
// the plan to read and to take away as JSON. The editing itself is in model/plan.ts.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Attachment, ConfigTask, ExecutionConfig, Model } from "../api/types";
import { joined, t, taskName } from "../i18n";
import * as plan from "../model/plan";
import { mediaKind } from "../model/outputs";
import { taskOfConfig } from "../model/run";
import { clean, label } from "../model/text";
import { chatModel, loadModels, modelName, models } from "../state/server";
import { CopyButton, IconButton, saveText } from "./common";
import { Icon } from "./icons";
import { ArgumentValue, hostName, ModelName } from "./inspector";
import { MediaChip } from "./markdown";

const title = (task: ConfigTask): string => `${task.task_id + 1}. ${label(taskName(task.task_type), 60)}`;
const titles = (tasks: ConfigTask[]): string => joined(tasks.map(title));

interface EditorProps {
  original: ExecutionConfig;
  config: ExecutionConfig;
  attachments: Attachment[];
  onChange: (draft: ExecutionConfig | null) => void;
  onRun: (config: ExecutionConfig) => void;
}

export function PlanEditor({ original, config, attachments, onChange, onRun }: EditorProps) {
  useEffect(() => void loadModels(), []);
  const wrong = plan.problems(config);
  const changed = config !== original;
  // The task whose deletion is asked about: to run meanwhile would decide it unseen.
  const asking = useSignal<number | null>(null);
  const open = config.tasks.find((x) => x.task_id === asking.value);
  const blocked = wrong.length > 0 || !config.tasks.length || open !== undefined;
  return (
    <form class="plan" aria-label={t("review_title")} onSubmit={(e) => (e.preventDefault(), blocked || onRun(config))}>
      <h3>{t("review_title")}</h3>
      <p class="muted">{t("review_sub")}</p>
      <ol class="plan-tasks">
        {ordered(config).map((task) => (
          <TaskForm
            key={task.task_id}
            task={task}
            config={config}
            attachments={attachments}
            problems={wrong.filter((p) => p.task === task.task_id)}
            onArg={(name, value) => onChange(plan.setArg(config, task.task_id, name, value))}
            onModel={(id, host) => onChange(plan.setModel(config, task.task_id, id, host, t("chosen_by_person")))}
            asking={open === task}
            onAsk={(on) => (asking.value = on ? task.task_id : null)}
            onDelete={() => {
              asking.value = null;
              onChange(plan.removeTasks(config, plan.withUsers(config.tasks, task.task_id)));
            }}
          />
        ))}
      </ol>
      {!config.tasks.length && <p class="problem">{t("plan_empty")}</p>}
      <PlanJson config={config} open={false} />
      <div class="plan-actions plan-bar">
        <button type="submit" class="primary" disabled={blocked}>
          {t("run_plan")}
        </button>
        {changed && (
          <button type="button" class="secondary" onClick={() => ((asking.value = null), onChange(null))}>
            {t("reset")}
          </button>
        )}
        {open && (
          <p class="muted" role="status">
            {t("delete_open", { n: open.task_id + 1 })}
          </p>
        )}
      </div>
    </form>
  );
}

/** The tasks in the plan's order, which is that of their numbers. */
const ordered = (config: ExecutionConfig): ConfigTask[] => [...config.tasks].sort((a, b) => a.task_id - b.task_id);

interface TaskProps {
  task: ConfigTask;
  config: ExecutionConfig;
  attachments: Attachment[];
  problems: plan.PlanProblem[];
  onArg: (name: string, value: string) => void;
  onModel: (id: string, host: string) => void;
  /** True while the person is asked whether to delete this task. */
  asking: boolean;
  onAsk: (on: boolean) => void;
  onDelete: () => void;
}

function TaskForm({ task, config, attachments, problems, asking, onArg, onModel, onAsk, onDelete }: TaskProps) {
  const ask = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (asking) ask.current?.focus();
  }, [asking]);
  return (
    <li class="plan-task" data-plan-task={task.task_id}>
      <TaskHead task={task} config={config}>
        <IconButton
          icon="trash"
          label={t("delete_task", { n: task.task_id + 1, task: taskName(task.task_type) })}
          expanded={asking}
          onClick={() => onAsk(!asking)}
        />
      </TaskHead>
      {asking && (
        <div class="delete-ask" role="group" aria-label={t("delete_ask", { n: task.task_id + 1 })}>
          <p>{consequences(config.tasks, task.task_id)}</p>
          <button type="button" class="danger" ref={ask} onClick={onDelete}>
            {t("delete")}
          </button>
          <button type="button" class="secondary" onClick={() => onAsk(false)}>
            {t("keep")}
          </button>
        </div>
      )}
      <ModelChoice task={task} onModel={onModel} />
      {Object.entries(task.args).map(([name, value]) => (
        <ArgumentField
          key={name}
          id={`arg-${task.task_id}-${name}`}
          name={name}
          value={value}
          task={task}
          config={config}
          attachments={attachments}
          problem={problems.find((p) => p.arg === name)}
          onInput={(v) => onArg(name, v)}
        />
      ))}
    </li>
  );
}

function TaskHead({
  task,
  config,
  children,
}: {
  task: ConfigTask;
  config: ExecutionConfig;
  children?: ComponentChildren;
}) {
  const after = config.tasks.filter((x) => task.dependencies.includes(x.task_id));
  return (
    <header class="plan-head">
      <span class="plan-number">{task.task_id + 1}</span>
      <div>
        <h4>{label(taskName(task.task_type), 60)}</h4>
        <p class="muted">
          {after.length ? t("after_tasks", { tasks: titles(after) }) : t("runs_first")} ·{" "}
          <code>{label(task.task_type, 60)}</code>
        </p>
      </div>
      {children}
    </header>
  );
}

/** What deleting a task does to the others, in words. */
function consequences(tasks: ConfigTask[], id: number): string {
  const gone = plan.withUsers(tasks, id);
  const users = tasks.filter((x) => x.task_id !== id && gone.has(x.task_id));
  const waiters = plan.waitersOf(tasks, id).filter((x) => !gone.has(x.task_id));
  const said: string[] = [];
  if (users.length) said.push(t("delete_users", { tasks: titles(users) }));
  if (waiters.length) said.push(t("delete_waits", { tasks: titles(waiters) }));
  return said.length ? said.join(" ") : t("delete_alone");
}

/** The models that may do a task: the chosen one, the ranked others, then all that the catalogue has for it. */
function choices(task: ConfigTask, all: Model[]): { id: string; host: string; configured: boolean }[] {
  const known = new Map(all.map((m) => [m.id, m.configured]));
  const isConfigured = (id: string, host: string): boolean =>
    host === "llm" ? chatModel.value !== "" : (known.get(id) ?? true);
  const out = [
    { id: task.model_id, host: task.hosted_on ?? "" },
    ...(task.alternatives ?? []).map((a) => ({ id: a.id, host: a.hosted_on })),
  ];
  for (const m of all) if (m.task === task.task_type) out.push({ id: m.id, host: m.host });
  const seen = new Set<string>();
  return out
    .filter((m) => m.id !== "" && !seen.has(m.id) && seen.add(m.id))
    .map((m) => ({ ...m, configured: isConfigured(m.id, m.host) }));
}

function ModelChoice({ task, onModel }: { task: ConfigTask; onModel: (id: string, host: string) => void }) {
  const all = choices(task, models.value?.models ?? []).sort((a, b) => a.id.localeCompare(b.id));
  const id = `model-${task.task_id}`;
  return (
    <div class="field">
      <label for={id}>{t("model")}</label>
      <select
        id={id}
        value={task.model_id}
        onChange={(e) => onModel(e.currentTarget.value, all.find((m) => m.id === e.currentTarget.value)?.host ?? "")}
      >
        {all.map((m) => (
          <option key={m.id} value={m.id} selected={m.id === task.model_id}>
            {label(modelName(m.id), 100)}
            {m.host ? ` — ${hostName(m.host)}` : ""}
            {m.configured ? "" : ` (${t("not_configured")})`}
          </option>
        ))}
      </select>
      {task.model_reason && <p class="field-note">{clean(task.model_reason)}</p>}
    </div>
  );
}

interface FieldProps {
  id: string;
  name: string;
  value: string;
  task: ConfigTask;
  config: ExecutionConfig;
  attachments: Attachment[];
  problem: plan.PlanProblem | undefined;
  onInput: (value: string) => void;
}

function ArgumentField({ id, name, value, task, config, attachments, problem, onInput }: FieldProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (!area.current) return;
    area.current.style.height = "auto";
    area.current.style.height = `${area.current.scrollHeight + 2}px`;
  }, [value]);
  const isFile = ["image", "audio", "video"].includes(name);
  const refs = plan.splitReferences(value).filter((part) => typeof part !== "string");
  // A file is one of those attached, or what another task makes: offered as a list, while anything may be written.
  const files = attachments.flatMap((a) =>
    a.path && a.kind === name ? [{ value: a.path, text: label(a.name ?? a.path, 60) }] : [],
  );
  const gives = (type: string) => models.value?.tasks.find((x) => x.name === type)?.outputs.includes(name) ?? true;
  const made = config.tasks
    .filter((x) => gives(x.task_type) && !plan.reaches(config.tasks, x.task_id, task.task_id))
    .map((x) => ({ value: `<GENERATED>-${x.task_id}`, text: title(x) }));
  const tasks = config.tasks.map(taskOfConfig);
  return (
    <div class="field">
      <label for={id}>{label(name, 40)}</label>
      <textarea
        ref={area}
        id={id}
        rows={1}
        value={value}
        spellcheck={false}
        aria-invalid={!!problem}
        aria-describedby={`${id}-note`}
        onInput={(e) => onInput(e.currentTarget.value)}
      />
      <div class="field-note" id={`${id}-note`}>
        {mediaKind(value) && <MediaChip path={value} />}
        {refs.length > 0 && !problem && (
          <ArgumentValue value={refs.map((r) => `<GENERATED-${r.task}${r.path}>`).join(" ")} tasks={tasks} />
        )}
        {isFile &&
          [...files, ...made]
            .filter((f) => f.value !== value)
            .map((f) => (
              <button type="button" key={f.value} class="suggestion" onClick={() => onInput(f.value)}>
                {f.text}
              </button>
            ))}
        {problem && (
          <span class="problem">
            {"missing" in problem ? t("problem_missing", { n: problem.missing + 1 }) : t("problem_cycle")}
          </span>
        )}
      </div>
    </div>
  );
}

export function PlanOnly({ config, onEdit }: { config: ExecutionConfig; onEdit: () => void }) {
  const tasks = config.tasks.map(taskOfConfig);
  return (
    <section class="plan" aria-label={t("planned_title")}>
      <h3>{t("planned_title")}</h3>
      <p class="muted">{t("planned_sub")}</p>
      <ol class="plan-tasks">
        {ordered(config).map((task) => (
          <li key={task.task_id} class="plan-task">
            <TaskHead task={task} config={config} />
            <dl>
              <div class="row">
                <dt>{t("model")}</dt>
                <dd>
                  <ModelName id={task.model_id} host={task.hosted_on ?? ""} />
                  {task.model_reason && <p class="muted">{clean(task.model_reason)}</p>}
                </dd>
              </div>
              {Object.entries(task.args).map(([name, value]) => (
                <div class="row" key={name}>
                  <dt>{label(name, 40)}</dt>
                  <dd>
                    <ArgumentValue value={value} tasks={tasks} />
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ol>
      <div class="plan-actions">
        <button type="button" class="primary" onClick={onEdit}>
          {t("edit_plan")}
        </button>
      </div>
      <PlanJson config={config} open={true} />
    </section>
  );
}

function PlanJson({ config, open }: { config: ExecutionConfig; open: boolean }) {
  const text = () => `${JSON.stringify({ execution_config: config }, null, 2)}\n`;
  return (
    <details class="plan-json" open={open}>
      <summary>
        <Icon name="braces" size={16} />
        {t("json")}
      </summary>
      <div class="plan-json-actions">
        <CopyButton text={text} />
        <button type="button" class="quiet" onClick={() => saveText("execution_config.json", text())}>
          <Icon name="download" size={16} />
          {t("download")}
        </button>
      </div>
      <pre tabIndex={0}>{text()}</pre>
    </details>
  );
}
