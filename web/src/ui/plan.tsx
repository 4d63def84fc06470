// The plan before it runs: a form per task, more tasks, steps back and forth; or, in plan-only mode, the plan to read and to take
// away as JSON. The editing itself is in model/plan.ts.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Attachment, ExecutionConfig } from "../api/types";
import { t } from "../i18n";
import * as plan from "../model/plan";
import { taskOfConfig } from "../model/run";
import { clean, label } from "../model/text";
import { loadModels, loadTools } from "../state/server";
import { CopyButton, IconButton, saveText } from "./common";
import { Icon } from "./icons";
import { ArgumentValue, ModelName } from "./inspector";
import { AddTask } from "./plan-add";
import type { PlanEdit } from "./plan-edit";
import { faultsOf, ordered, TaskForm, TaskHead, title } from "./plan-task";

interface EditorProps {
  edit: PlanEdit;
  attachments: Attachment[];
  onRun: (config: ExecutionConfig) => void;
}

export function PlanEditor({ edit, attachments, onRun }: EditorProps) {
  const { config } = edit;
  useEffect(() => void (loadModels(), loadTools()), []);
  const faults = faultsOf(config);
  // The task whose deletion is asked about: to run meanwhile would decide it unseen.
  const asking = useSignal<number | null>(null);
  const open = config.tasks.find((x) => x.task_id === asking.value);
  const first = faults[0];
  const faulty = first && config.tasks.find((x) => x.task_id === first.task);
  // Why the plan cannot run, in words beside the button.
  const why = open
    ? t("delete_open", { n: open.task_id + 1 })
    : !config.tasks.length
      ? t("plan_empty")
      : first && faulty
        ? `${title(faulty)}: ${label(first.arg, 40)}. ${first.text}`
        : null;
  const onKey = (e: KeyboardEvent) => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey) return;
    const key = e.key.toLowerCase();
    const step = key === "z" ? (e.shiftKey ? edit.redo : edit.undo) : key === "y" ? edit.redo : undefined;
    if (step === undefined) return;
    e.preventDefault();
    step?.();
  };
  return (
    <form
      class="plan"
      aria-label={t("review_title")}
      onKeyDown={onKey}
      onSubmit={(e) => (e.preventDefault(), why !== null || onRun(config))}
    >
      <header class="plan-title">
        <div>
          <h3>{t("review_title")}</h3>
          <p class="muted">{t("review_sub")}</p>
        </div>
        <IconButton
          icon="undo"
          label={t("undo_step")}
          disabled={!edit.undo}
          onClick={() => ((asking.value = null), edit.undo?.())}
        />
        <IconButton
          icon="redo"
          label={t("redo_step")}
          disabled={!edit.redo}
          onClick={() => ((asking.value = null), edit.redo?.())}
        />
      </header>
      <ol class="plan-tasks">
        {ordered(config).map((task) => (
          <TaskForm
            key={task.task_id}
            task={task}
            edit={edit}
            attachments={attachments}
            faults={faults.filter((fault) => fault.task === task.task_id)}
            asking={open === task}
            onAsk={(on) => (asking.value = on ? task.task_id : null)}
            onDelete={() => {
              asking.value = null;
              edit.change(plan.removeTasks(config, plan.withUsers(config.tasks, task.task_id)));
            }}
          />
        ))}
      </ol>
      <AddTask edit={edit} />
      <PlanJson config={config} open={false} />
      <div class="plan-actions plan-bar">
        <button type="submit" class="primary" disabled={why !== null} aria-describedby="plan-why">
          {t("run_plan")}
        </button>
        {edit.isChanged && (
          <button type="button" class="secondary" onClick={() => ((asking.value = null), edit.reset())}>
            {t("reset")}
          </button>
        )}
        <p class="muted" role="status" id="plan-why">
          {why}
        </p>
      </div>
    </form>
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
