// One request and what came of it: the request, then the plan under review or the answer, with the task graph beside.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { t, taskName } from "../i18n";
import type { Attachment } from "../api/types";
import { mediaKind, outputs } from "../model/outputs";
import { isLive, type RunView } from "../model/run";
import { baseName, clean, label } from "../model/text";
import type { Exchange } from "../state/storage";
import { again, backToPlan, runPlan, setDraft } from "../state/runs";
import { Answer, ErrorBubble } from "./answer";
import { Graph } from "./graph";
import { Icon } from "./icons";
import { FileNames } from "./markdown";
import { PlanEditor, PlanOnly } from "./plan";

/** Names the files of a run to everything inside. */
export function Named({
  run,
  attachments,
  children,
}: {
  run: RunView;
  attachments: Attachment[];
  children: ComponentChildren;
}) {
  const names = new Map<string, string>();
  for (const task of run.tasks)
    for (const o of outputs(task.inference))
      if (o.type === "media") names.set(o.url, `${task.id + 1}. ${label(taskName(task.task), 60)}`);
  for (const r of run.resources) if (r.name) names.set(r.url, label(r.name, 60));
  for (const a of attachments) if (a.path && a.name) names.set(a.path, label(baseName(a.name), 60));
  return <FileNames.Provider value={names}>{children}</FileNames.Provider>;
}

export function ExchangeView({ chatId, exchange, onEdit }: { chatId: string; exchange: Exchange; onEdit: () => void }) {
  const { run } = exchange;
  const wide = useSignal(false);
  const redo = () => again(chatId, exchange.id);
  // Plain talk has no tasks and needs no graph; until the plan is known there may be some.
  const hasGraph = run.tasks.length > 0 || isLive(run.phase);
  const refused =
    run.phase === "failed" && !run.plansOnly && run.config !== null && run.tasks.every((x) => x.ms === null);
  return (
    <Named run={run} attachments={exchange.attachments}>
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
            <Graph run={run} wide={wide.value} onWide={(on) => (wide.value = on)} />
          </div>
        )}
        <div class="reply">
          {run.phase === "planned" && run.config ? (
            exchange.mode === "review" ? (
              <PlanEditor
                original={run.config}
                config={exchange.draft ?? run.config}
                attachments={exchange.attachments}
                onChange={(draft) => setDraft(chatId, exchange.id, draft)}
                onRun={(config) => runPlan(chatId, exchange.id, config)}
              />
            ) : (
              <PlanOnly config={run.config} onEdit={() => backToPlan(chatId, exchange.id)} />
            )
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
