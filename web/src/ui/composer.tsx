// The message box: words, files, what to do with the plan, send and stop.
import { computed, signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { language, t } from "../i18n";
import { bytes, label } from "../model/text";
import { announce, notify } from "../state/announce";
import { currentChat, liveExchange } from "../state/chats";
import { route } from "../state/route";
import { send, sendInstead, stop } from "../state/runs";
import { chatModels, pipelines } from "../state/server";
import { chosenModel, chosenPipeline, mode, pipeline, requestModel } from "../state/settings";
import type { Exchange } from "../state/storage";
import {
  addFiles,
  bringBack,
  removeUpload,
  setAside,
  takeUploads,
  uploading,
  uploads,
  type Upload,
} from "../state/uploads";
import { Choice, IconButton } from "./common";
import { Icon } from "./icons";

/** What is written and not yet sent. */
export const draft = signal("");
/** Raised to put the cursor into the message box. */
export const focusComposer = signal(0);

/** The exchange whose request was taken into the message box, and what was written there before. */
const editing = signal<{ id: string; before: string } | null>(null);
/** The exchange being edited, while its chat is the one in sight. In another chat the words are a draft like any other. */
export const edited = computed<Exchange | null>(
  () => currentChat.value?.exchanges.find((e) => e.id === editing.value?.id) ?? null,
);

/** Takes an earlier request into the message box. The chat stays as it is until the box is sent. */
export function startEdit(exchange: Exchange): void {
  editing.value = { id: exchange.id, before: editing.value?.before ?? draft.value };
  setAside(exchange.attachments);
  if (exchange.cut) notify(t("cut_text"));
  draft.value = exchange.text;
  focusComposer.value++;
  announce(t("editing"));
}

/** Ends the editing; the message box is again as it was before. */
export function endEdit(): void {
  if (!editing.value) return;
  draft.value = editing.value.before;
  editing.value = null;
  bringBack();
}

export function Composer() {
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const live = liveExchange.value;
  const ready = draft.value.trim() !== "" && !uploading.value && !live;

  // Questions about a document are what the pipeline `react` reads, searches and quotes for.
  const offersDocument =
    mode.value === "run" &&
    pipelines.value.includes("react") &&
    (pipeline.value ?? pipelines.value[0]) !== "react" &&
    uploads.value.some((u) => u.attachment?.kind === "text" && isDocument(u.name));

  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 220)}px`;
  }, [draft.value]);
  useEffect(() => {
    // On a touch screen this would open the keyboard unasked.
    if (matchMedia("(hover: hover)").matches || focusComposer.value > 0) area.current?.focus();
  }, [route.value, focusComposer.value]);

  const submit = () => {
    if (!ready) return;
    const text = draft.value.trim();
    const chatId = currentChat.value?.id ?? null;
    const old = edited.value;
    const files = takeUploads();
    draft.value = "";
    endEdit();
    if (chatId !== null && old) sendInstead(chatId, old.id, text, files, mode.value);
    else send(chatId, text, files, mode.value);
  };
  const halt = () => {
    const chat = currentChat.value;
    if (chat && live) stop(chat.id, live.id);
  };
  const onKey = (e: KeyboardEvent) => {
    // While an input method composes, Enter belongs to it.
    if (e.key !== "Enter" || e.shiftKey || e.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    submit();
  };

  return (
    <form class="composer" onSubmit={(e) => (e.preventDefault(), submit())}>
      {edited.value && (
        <p class="editing">
          <Icon name="pencil" size={15} />
          <span>{t("editing")}</span>
          <button type="button" class="quiet" onClick={endEdit}>
            {t("cancel")}
          </button>
        </p>
      )}
      {uploads.value.length > 0 && (
        <ul class="uploads" aria-label={t("attachments")}>
          {uploads.value.map((u) => (
            <UploadChip key={u.id} upload={u} />
          ))}
        </ul>
      )}
      {offersDocument && (
        <p class="composer-hint">
          <Icon name="text" size={15} />
          <span>{t("document_hint")}</span>
          <button type="button" class="quiet" onClick={() => (chosenPipeline.value = "react")}>
            {t("document_use")}
          </button>
        </p>
      )}
      <textarea
        id="message"
        ref={area}
        rows={1}
        value={draft.value}
        aria-label={t("message")}
        aria-describedby="keys-hint"
        autocomplete="off"
        placeholder={t(currentChat.value?.exchanges.length ? "placeholder_next" : "placeholder")}
        enterkeyhint="send"
        onInput={(e) => (draft.value = e.currentTarget.value)}
        onKeyDown={onKey}
      />
      <div class="composer-bar">
        <input
          ref={picker}
          type="file"
          multiple
          class="visually-hidden"
          tabIndex={-1}
          aria-hidden="true"
          onChange={(e) => {
            void addFiles([...(e.currentTarget.files ?? [])]);
            e.currentTarget.value = "";
          }}
        />
        <IconButton icon="clip" label={t("attach")} onClick={() => picker.current?.click()} />
        <Choice
          label={t("mode")}
          class="choice-mode"
          value={mode.value}
          onChange={(v) => (mode.value = v)}
          options={[
            { value: "run", text: t("mode_run"), hint: t("mode_run_hint") },
            { value: "review", text: t("mode_review"), hint: t("mode_review_hint") },
            { value: "plan", text: t("mode_plan"), hint: t("mode_plan_hint") },
          ]}
        />
        <div class="composer-choices">
          {mode.value === "run" && (
            <Pick
              name={t("pipeline")}
              all={pipelines.value}
              chosen={pipeline.value}
              onChoose={(one) => (chosenPipeline.value = one)}
            />
          )}
          <Pick
            name={t("chat_model")}
            all={chatModels.value}
            chosen={requestModel.value}
            onChoose={(one) => (chosenModel.value = one)}
          />
        </div>
        <span class="visually-hidden" id="keys-hint">
          {t("keys_hint")}
        </span>
        {live ? (
          <button
            type="button"
            class="send send-stop"
            aria-label={t(live.run.stopping ? "phase_stopping" : "stop")}
            title={live.run.stopping ? t("phase_stopping") : `${t("stop")} (Esc)`}
            disabled={live.run.stopping}
            onClick={halt}
          >
            <Icon name="stop" size={20} />
          </button>
        ) : (
          <button type="submit" class="send" aria-label={t("send")} title={t("keys_hint")} disabled={!ready}>
            <Icon name="send" size={20} />
          </button>
        )}
      </div>
    </form>
  );
}

/** One of several that the server offers, the default first; nothing where there is no choice. */
function Pick(props: { name: string; all: string[]; chosen: string | null; onChoose: (one: string) => void }) {
  const [standard] = props.all;
  if (props.all.length < 2) return null;
  return (
    <select
      class="pick"
      aria-label={props.name}
      title={props.name}
      value={props.chosen ?? standard}
      onChange={(e) => props.onChoose(e.currentTarget.value)}
    >
      {props.all.map((name) => (
        <option key={name} value={name} selected={name === (props.chosen ?? standard)}>
          {name === "offline" ? t("planned_by_offline") : label(name, 40)}
        </option>
      ))}
    </select>
  );
}

const isDocument = (name: string): boolean => /\.(pdf|docx?|odt|rtf|pptx?|xlsx?|ods|csv|tsv|html?|md|txt)$/i.test(name);

function UploadChip({ upload }: { upload: Upload }) {
  const { id, name, kind, preview, progress, attachment, error } = upload;
  const state = error ? "failed" : attachment ? "ready" : "going";
  return (
    <li class={`upload upload-${state}`}>
      {preview ? <img src={preview} alt="" /> : <Icon name={kind} />}
      <span class="upload-text">
        <span>{name}</span>
        <span class="muted">
          {error
            ? label(error, 160)
            : attachment
              ? upload.bytes
                ? bytes(upload.bytes, language.value)
                : ""
              : `${Math.round(progress * 100)} %`}
        </span>
      </span>
      {state === "going" && <progress max={1} value={progress} aria-label={t("uploading", { name })} />}
      <IconButton icon="close" label={t("remove_file", { name })} onClick={() => removeUpload(id)} />
    </li>
  );
}
