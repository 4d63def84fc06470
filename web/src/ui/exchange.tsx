// One request and what came of it: the request, then the plan under review or the answer, with the task graph beside.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { t, taskName } from "../i18n";
import type { Attachment } from "../api/types";
import { mediaKind, outputs } from "../model/outputs";
import { isLive, type RunView } from "../model/run";
import { baseName, clean, label } from "../model/text";
import type { Exchange } from "../state/storage";
import { again, backToPlan, retryFrom, runPlan } from "../state/runs";
import { Answer, ErrorBubble } from "./answer";
import { Graph } from "./graph";
import { Icon } from "./icons";
import { FileNames, ShownBelow } from "./markdown";
import { PlanEditor, PlanOnly } from "./plan";
import { planEdit } from "./plan-edit";
import { filesOf } from "./results";
import { RetryFrom } from "./retry";

/** Names the files of a run to everything inside, and how to do it anew from a task on. */
export function Named({
  run,
  attachments,
  onRetry,
  children,
}: {
  run: RunView;
  attachments: Attachment[];
  onRetry: ((task: number) => void) | null;
  children: ComponentChildren;
}) {
  const names = new Map<string, string>();
  for (const task of run.tasks)
    for (const o of outputs(task.inference))
      if (o.type === "media") names.set(o.url, `${task.id + 1}. ${label(taskName(task.task), 60)}`);
  for (const r of run.resources) if (r.name) names.set(r.url, label(r.name, 60));
  for (const a of attachments) if (a.path && a.name) names.set(a.path, label(baseName(a.name), 60));
  const below = new Set(filesOf(run).map((file) => file.url));
  const canRetry = run.runId !== null && !isLive(run.phase) && run.phase !== "planned";
  return (
    <FileNames.Provider value={names}>
      <ShownBelow.Provider value={below}>
        <RetryFrom.Provider value={canRetry ? onRetry : null}>{children}</RetryFrom.Provider>
      </ShownBelow.Provider>
    </FileNames.Provider>
  );
}

export function ExchangeView({ chatId, exchange, onEdit }: { chatId: string; exchange: Exchange; onEdit: () => void }) {
  const { run } = exchange;
  const wide = useSignal(false);
  const redo = () => again(chatId, exchange.id);
  // One task is told in a line; a graph is for how several hang together, and for a plan that is being put together.
  const edit = planEdit(chatId, exchange);
  const hasGraph = run.tasks.length > (edit ? 0 : 1);
  const refused =
    run.phase === "failed" && !run.plansOnly && run.config !== null && run.tasks.every((x) => x.ms === null);
  return (
    <Named run={run} attachments={exchange.attachments} onRetry={(task) => retryFrom(chatId, exchange.id, task)}>
      <article
        class={`exchange ${wide.value ? "exchange-wide" : ""} ${hasGraph ? "" : "exchange-plain"}`}
        data-phase={run.phase}
        data-run={run.runId ?? ""}
      >
        <RequestView
          text={exchange.text}
          attachments={exchange.attachments}
          onEdit={isLive(run.phase) ? null : onEdit}
        />
        {hasGraph && (
          <div class="beside">
            <Graph run={run} wide={wide.value} onWide={(on) => (wide.value = on)} edit={edit} />
          </div>
        )}
        <div class="reply">
          {edit ? (
            <PlanEditor
              edit={edit}
              attachments={exchange.attachments}
              onRun={(config) => runPlan(chatId, exchange.id, config)}
            />
          ) : run.phase === "planned" && run.config ? (
            <PlanOnly config={run.config} onEdit={() => backToPlan(chatId, exchange.id)} />
          ) : refused ? (
            <>
              {run.error && <ErrorBubble error={run.error} onAgain={null} />}
              <button type="button" class="secondary" onClick={() => backToPlan(chatId, exchange.id)}>
                <Icon name="back" size={16} />
                {t("review_title")}
              </button>
            </>
          ) : run.plansOnly && run.phase === "done" ? (
            <>
              <p class="muted">{t("plan_none")}</p>
              <Answer run={run} onAgain={redo} />
            </>
          ) : (
            <Answer run={run} onAgain={redo} />
          )}
        </div>
      </article>
    </Named>
  );
}

export function RequestView({
  text,
  attachments,
  onEdit,
}: {
  text: string;
  attachments: Attachment[];
  onEdit: (() => void) | null;
}) {
  return (
    <div class="request">
      <h2 class="visually-hidden">{t("request")}</h2>
      {attachments.length > 0 && (
        <ul class="request-files" aria-label={t("attachments")}>
          {attachments.map((a, i) => (
            <li key={i}>
              <FileChip file={a} />
            </li>
          ))}
        </ul>
      )}
      <div class="bubble">
        <span class="bubble-text">{clean(text)}</span>
      </div>
      {onEdit && (
        <button
          type="button"
          class="quiet request-edit"
          aria-label={t("edit_request")}
          title={t("edit_request")}
          onClick={onEdit}
        >
          <Icon name="pencil" size={15} />
          <span>{t("edit_request")}</span>
        </button>
      )}
    </div>
  );
}

function FileChip({ file }: { file: Attachment }) {
  const name = label(baseName(file.name ?? file.path ?? file.url ?? file.kind), 60);
  const path = file.path && mediaKind(file.path) ? file.path : null;
  if (path && file.kind === "image")
    return (
      <a class="file-picture" href={path} target="_blank" rel="noopener noreferrer" title={name}>
        <img src={path} alt={name} />
      </a>
    );
  const inner = (
    <>
      <Icon name={file.kind} size={16} />
      <span>{name}</span>
    </>
  );
  return path ? (
    <a class="chip" href={path} target="_blank" rel="noopener noreferrer">
      {inner}
    </a>
  ) : (
    <span class="chip">{inner}</span>
  );
}
