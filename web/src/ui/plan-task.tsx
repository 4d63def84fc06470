// One task of the plan under review: its model, what it waits for, and its arguments, each by the type that it has.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Attachment, ConfigTask, ExecutionConfig, Model, Param } from "../api/types";
import { joined, t, taskName } from "../i18n";
import { fieldsOf, valueOf, type Field } from "../model/fields";
import { mediaKind } from "../model/outputs";
import * as plan from "../model/plan";
import { taskOfConfig } from "../model/run";
import { clean, label } from "../model/text";
import { chatModel, modelName, models, tools } from "../state/server";
import { IconButton } from "./common";
import { Icon } from "./icons";
import { ArgumentValue, hostName } from "./inspector";
import { MediaChip } from "./markdown";
import type { PlanEdit } from "./plan-edit";

export const title = (task: ConfigTask): string => `${task.task_id + 1}. ${label(taskName(task.task_type), 60)}`;
const titles = (tasks: ConfigTask[]): string => joined(tasks.map(title));

/** The tasks in the plan's order, which is that of their numbers. */
export const ordered = (config: ExecutionConfig): ConfigTask[] =>
  [...config.tasks].sort((a, b) => a.task_id - b.task_id);

/** The arguments that a task type or a tool has, as far as the server tells. */
export function paramsOf(type: string): Param[] {
  const known = models.value?.tasks.find((x) => x.name === type)?.params;
  if (known?.length) return known;
  const tool = tools.value?.tools.find((x) => x.name === type);
  const schemas = (tool?.inputs as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};
  return fieldsOf({}, tool?.inputs).map(({ name, required, description }) => ({
    name,
    kind: "text",
    required,
    schema: schemas[name],
    description,
  }));
}

const fieldOf = (param: Param): Field | undefined =>
  param.schema === undefined
    ? undefined
    : fieldsOf({}, { properties: { [param.name]: param.schema }, required: param.required ? [param.name] : [] })[0];

/** A choice as it stands in a plan, where all values are texts. */
const bare = (json: string): string => {
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : json;
};

export interface Fault {
  task: number;
  arg: string;
  text: string;
}

/** What would make the server refuse the plan: references that lead nowhere, arguments that are needed or of the wrong type. */
export function faultsOf(config: ExecutionConfig): Fault[] {
  const out: Fault[] = plan.problems(config).map((p) => ({
    task: p.task,
    arg: p.arg,
    text: "missing" in p ? t("problem_missing", { n: p.missing + 1 }) : t("problem_cycle"),
  }));
  for (const task of ordered(config))
    for (const param of paramsOf(task.task_type)) {
      const value = task.args[param.name] ?? "";
      const fault = { task: task.task_id, arg: param.name };
      const field = fieldOf(param);
      if (value.trim() === "") {
        if (param.required) out.push({ ...fault, text: t("field_missing") });
      } else if (field && (field.type === "number" || field.type === "integer") && !plan.referencesIn(value).length) {
        const read = valueOf(field, value);
        if ("problem" in read) out.push({ ...fault, text: t(`field_${read.problem}`) });
      }
    }
  return out;
}

interface TaskProps {
  task: ConfigTask;
  edit: PlanEdit;
  attachments: Attachment[];
  faults: Fault[];
  /** True while the person is asked whether to delete this task. */
  asking: boolean;
  onAsk: (on: boolean) => void;
  onDelete: () => void;
}

export function TaskForm({ task, edit, attachments, faults, asking, onAsk, onDelete }: TaskProps) {
  const { config } = edit;
  const id = task.task_id;
  const ask = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (asking) ask.current?.focus();
  }, [asking]);
  const params = paramsOf(task.task_type);
  const missing = params.filter((param) => !(param.name in task.args));
  const required = new Set(params.filter((param) => param.required).map((param) => param.name));
  return (
    <li class="plan-task" data-plan-task={id}>
      <TaskHead task={task} config={config}>
        <IconButton
          icon="trash"
          label={t("delete_task", { n: id + 1, task: taskName(task.task_type) })}
          expanded={asking}
          onClick={() => onAsk(!asking)}
        />
      </TaskHead>
      {asking && (
        <div class="delete-ask" role="group" aria-label={t("delete_ask", { n: id + 1 })}>
          <p>{consequences(config.tasks, id)}</p>
          <button type="button" class="danger" ref={ask} onClick={onDelete}>
            {t("delete")}
          </button>
          <button type="button" class="secondary" onClick={() => onAsk(false)}>
            {t("keep")}
          </button>
        </div>
      )}
      <ModelChoice
        task={task}
        onModel={(model, host) => edit.change(plan.setModel(config, id, model, host, t("chosen_by_person")))}
      />
      <Waits task={task} edit={edit} />
      {Object.entries(task.args).map(([name, value]) => (
        <ArgumentField
          key={name}
          id={`arg-${id}-${name}`}
          name={name}
          param={params.find((param) => param.name === name)}
          value={value}
          task={task}
          config={config}
          attachments={attachments}
          fault={faults.find((fault) => fault.arg === name)?.text}
          onInput={(v) => edit.change(plan.setArg(config, id, name, v), `${id} ${name}`)}
          onRemove={required.has(name) ? null : () => edit.change(plan.removeArg(config, id, name))}
        />
      ))}
      {missing.length > 0 && (
        <div class="field">
          <label for={`more-${id}`}>{t("argument_add")}</label>
          <select
            id={`more-${id}`}
            value=""
            onChange={(e) => {
              const name = e.currentTarget.value;
              e.currentTarget.value = "";
              if (name) edit.change(plan.setArg(config, id, name, ""));
            }}
          >
            <option value="">{t("argument_choose")}</option>
            {missing.map((param) => (
              <option key={param.name} value={param.name}>
                {label(param.name, 60)}
                {param.required ? " *" : ""}
              </option>
            ))}
          </select>
          <div class="field-note">
            {faults
              .filter((fault) => !(fault.arg in task.args))
              .map((fault) => (
                <span key={fault.arg} class="problem">
                  {label(fault.arg, 40)}: {fault.text}
                </span>
              ))}
          </div>
        </div>
      )}
    </li>
  );
}

/** The tasks that this one waits for: each can be taken away, unless an argument uses what it gives; others can be added. */
function Waits({ task, edit }: { task: ConfigTask; edit: PlanEdit }) {
  const { config } = edit;
  const id = task.task_id;
  const before = ordered(config).filter((x) => task.dependencies.includes(x.task_id));
  const others = ordered(config).filter((x) => plan.whyNoEdge(config, x.task_id, id) === null);
  if (!before.length && !others.length) return null;
  return (
    <div class="field">
      <label for={`waits-${id}`}>{t("waits_for")}</label>
      <select
        id={`waits-${id}`}
        value=""
        disabled={!others.length}
        onChange={(e) => {
          const from = e.currentTarget.value;
          e.currentTarget.value = "";
          if (from !== "") edit.change(plan.addEdge(config, Number(from), id));
        }}
      >
        <option value="">{t(others.length ? "waits_add" : "waits_none")}</option>
        {others.map((x) => (
          <option key={x.task_id} value={x.task_id}>
            {title(x)}
          </option>
        ))}
      </select>
      <div class="field-note">
        {before.map((x) => {
          const uses = plan.usedBy(config, x.task_id, id);
          return (
            <span key={x.task_id} class="wait">
              {title(x)}
              {uses.length ? (
                <span class="muted" title={t("wait_used", { args: joined(uses) })}>
                  {joined(uses.map((arg) => label(arg, 30)))}
                </span>
              ) : (
                <button
                  type="button"
                  aria-label={t("wait_remove", { task: title(x) })}
                  title={t("wait_remove", { task: title(x) })}
                  onClick={() => edit.change(plan.removeEdge(config, x.task_id, id))}
                >
                  <Icon name="close" size={13} />
                </button>
              )}
            </span>
          );
        })}
      </div>
    </div>
  );
}

export function TaskHead({
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
  param: Param | undefined;
  value: string;
  task: ConfigTask;
  config: ExecutionConfig;
  attachments: Attachment[];
  fault: string | undefined;
  onInput: (value: string) => void;
  /** Null for an argument that is needed. */
  onRemove: (() => void) | null;
}

function ArgumentField({ id, name, param, value, task, config, attachments, fault, onInput, onRemove }: FieldProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (!area.current) return;
    area.current.style.height = "auto";
    area.current.style.height = `${area.current.scrollHeight + 2}px`;
  }, [value]);
  const kind = param?.kind ?? name;
  const isFile = ["image", "audio", "video"].includes(kind);
  const refs = plan.splitReferences(value).filter((part) => typeof part !== "string");
  // A file is one of those attached, or what another task makes: offered as a list, while anything may be written.
  const files = attachments.flatMap((a) =>
    a.path && a.kind === kind ? [{ value: a.path, text: label(a.name ?? a.path, 60) }] : [],
  );
  const gives = (type: string) => models.value?.tasks.find((x) => x.name === type)?.outputs.includes(kind) ?? true;
  const made = config.tasks
    .filter((x) => gives(x.task_type) && !plan.reaches(config.tasks, x.task_id, task.task_id))
    .map((x) => ({ value: `<GENERATED>-${x.task_id}`, text: title(x) }));
  const tasks = config.tasks.map(taskOfConfig);
  const field = param && fieldOf(param);
  const choices = field && !refs.length ? (field.type === "boolean" ? ["true", "false"] : field.choices.map(bare)) : [];
  const offered = isFile || value === "" ? [...files, ...made] : [];
  return (
    <div class="field">
      <label for={id}>
        {label(name, 40)}
        {param?.required && <span aria-hidden="true"> *</span>}
      </label>
      <div class="field-line">
        {choices.length && (value === "" || choices.includes(value)) ? (
          <select
            id={id}
            value={value}
            aria-describedby={`${id}-note`}
            onChange={(e) => onInput(e.currentTarget.value)}
          >
            <option value="">{t("argument_choose")}</option>
            {choices.map((choice) => (
              <option key={choice} value={choice} selected={choice === value}>
                {field?.type === "boolean" ? t(choice === "true" ? "yes" : "no") : label(choice, 80)}
              </option>
            ))}
          </select>
        ) : (
          <textarea
            ref={area}
            id={id}
            rows={1}
            value={value}
            spellcheck={false}
            inputMode={field?.type === "integer" ? "numeric" : field?.type === "number" ? "decimal" : undefined}
            aria-invalid={fault !== undefined}
            aria-describedby={`${id}-note`}
            onInput={(e) => onInput(e.currentTarget.value)}
          />
        )}
        {onRemove && (
          <IconButton icon="close" label={t("argument_remove", { name: label(name, 40) })} onClick={onRemove} />
        )}
      </div>
      <div class="field-note" id={`${id}-note`}>
        {fault && <span class="problem">{fault}</span>}
        {mediaKind(value) && <MediaChip path={value} />}
        {refs.length > 0 && !fault && (
          <ArgumentValue value={refs.map((r) => `<GENERATED-${r.task}${r.path}>`).join(" ")} tasks={tasks} />
        )}
        {offered
          .filter((f) => f.value !== value)
          .map((f) => (
            <button type="button" key={f.value} class="suggestion" onClick={() => onInput(f.value)}>
              {f.text}
            </button>
          ))}
        {param?.description && !fault && <span>{label(param.description, 200)}</span>}
      </div>
    </div>
  );
}
