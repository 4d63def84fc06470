// One run rebuilt from its journal, and followed while it is live.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as client from "../api/client";
import { asApiError, isAbort } from "../api/http";
import type { Attachment } from "../api/types";
import { count, moment, t } from "../i18n";
import { follow } from "../live/follow";
import { placeOf } from "../live/protocol";
import { apply, broken, isLive, replay, stopped, type RunError, type RunView } from "../model/run";
import { label } from "../model/text";
import { notify } from "../state/announce";
import { failure } from "../state/errors";
import { go, runLink } from "../state/route";
import { observeClock } from "../state/server";
import { Answer, ErrorBubble } from "./answer";
import { Confirm } from "./common";
import { Named, RequestView } from "./exchange";
import { Graph } from "./graph";
import { Icon } from "./icons";

interface Opened {
  run: RunView;
  text: string;
  attachments: Attachment[];
  at: number;
}

/** How often, and after how many milliseconds, a line that broke is taken up again. */
const REJOINS = 5;
const REJOIN = 1000;

export function OneRun({ id }: { id: string }) {
  const opened = useSignal<Opened | null>(null);
  const error = useSignal<RunError | null>(null);
  const wide = useSignal(false);
  const deleting = useSignal(false);
  useEffect(() => {
    const controller = new AbortController();
    void (async () => {
      try {
        const { summary, events } = await client.runEvents(id);
        const whole = replay(events);
        opened.value = { ...whole, text: whole.text || summary.request, at: summary.startedAtMs };
        const ended = !["running", "queued", "waiting"].includes(summary.status);
        if (summary.status === "cancelled") opened.value = { ...opened.value, run: stopped(whole.run) };
        else if (ended && isLive(whole.run.phase))
          opened.value = { ...opened.value, run: broken(whole.run, { code: "interrupted", message: "" }) };
        if (ended || !isLive(whole.run.phase)) return;
        const { signal } = controller;
        // A line that breaks is taken up again, until the server says that there is nothing to follow.
        for (let tries = 0; tries < REJOINS; tries++) {
          const { lastSeq, lastPiece, phase }: RunView = opened.value.run;
          if (!isLive(phase) || signal.aborted) return;
          try {
            for await (const event of follow(id, placeOf(lastSeq, lastPiece), signal)) {
              observeClock(event.atMs);
              tries = 0;
              if (opened.value) opened.value = { ...opened.value, run: apply(opened.value.run, event) };
            }
          } catch (e) {
            if (asApiError(e).status > 0 || tries + 1 === REJOINS) throw e;
          }
          await new Promise((go) => setTimeout(go, REJOIN));
        }
      } catch (e) {
        if (!isAbort(e)) error.value = failure(e);
      }
    })();
    return () => controller.abort();
  }, []);
  const setStopping = (stopping: boolean) => {
    const now = opened.value;
    if (now && isLive(now.run.phase)) opened.value = { ...now, run: { ...now.run, stopping } };
  };
  const halt = async () => {
    setStopping(true);
    try {
      await client.cancel(id);
    } catch (e) {
      // It had ended before: its events tell how.
      if (asApiError(e).status === 409) return;
      setStopping(false);
      error.value = failure(e);
    }
  };
  const retry = async (task: number) => {
    try {
      go(runLink(await client.retry(id, task)));
    } catch (e) {
      error.value = failure(e);
    }
  };
  const at = opened.value;
  return (
    <section>
      <div class="page-head">
        <a class="quiet" href="#/runs">
          <Icon name="back" size={16} />
          {t("back_runs")}
        </a>
        <span class="muted run-id">
          {at && at.at > 0 && <>{moment(at.at)} · </>}
          <code>{id}</code>
        </span>
        {at && !isLive(at.run.phase) && (
          <button type="button" class="quiet" onClick={() => (deleting.value = true)}>
            <Icon name="trash" size={16} />
            {t("delete")}
          </button>
        )}
        {at && isLive(at.run.phase) && (
          <button type="button" class="secondary" disabled={at.run.stopping} onClick={() => void halt()}>
            <Icon name="stop" size={16} />
            {t(at.run.stopping ? "phase_stopping" : "cancel_run")}
          </button>
        )}
      </div>
      {deleting.value && (
        <Confirm
          title={t("run_delete_ask")}
          text={t("run_delete_text", { request: label(at?.text ?? "", 120) || t("untitled") })}
          action={t("delete")}
          onClose={() => (deleting.value = false)}
          onYes={async () => {
            const { media } = await client.deleteRun(id);
            notify(t("run_deleted", { files: count("files", media) }));
            go("#/runs", true);
          }}
        />
      )}
      <h1 class="visually-hidden">{label(at?.text ?? "", 80) || t("runs")}</h1>
      {error.value && <ErrorBubble error={error.value} onAgain={null} />}
      {at && (
        <Named run={at.run} attachments={at.attachments} onRetry={(task) => void retry(task)}>
          <article
            class={`exchange ${wide.value ? "exchange-wide" : ""} ${at.run.tasks.length > 1 ? "" : "exchange-plain"}`}
            data-phase={at.run.phase}
            data-run={id}
          >
            <RequestView text={at.text} attachments={at.attachments} onEdit={null} />
            {at.run.tasks.length > 1 && (
              <div class="beside">
                <Graph run={at.run} wide={wide.value} onWide={(on) => (wide.value = on)} edit={null} />
              </div>
            )}
            <div class="reply">
              <Answer run={at.run} onAgain={null} />
            </div>
          </article>
        </Named>
      )}
    </section>
  );
}
