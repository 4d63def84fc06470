// The message box: words, files, what to do with the plan, send and stop.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { language, t } from "../i18n";
import { bytes, label } from "../model/text";
import { currentChat, liveExchange } from "../state/chats";
import { route } from "../state/route";
import { send, stop } from "../state/runs";
import { mode } from "../state/settings";
import { addFiles, removeUpload, takeUploads, uploading, uploads, type Upload } from "../state/uploads";
import { Choice, IconButton } from "./common";
import { Icon } from "./icons";

/** What is written and not yet sent. */
export const draft = signal("");
/** Raised to put the cursor into the message box. */
export const focusComposer = signal(0);

export function Composer() {
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const live = liveExchange.value;
  const ready = draft.value.trim() !== "" && !uploading.value && !live;

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
    draft.value = "";
    send(currentChat.value?.id ?? null, text, takeUploads(), mode.value);
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
      {uploads.value.length > 0 && (
        <ul class="uploads" aria-label={t("attachments")}>
          {uploads.value.map((u) => (
            <UploadChip key={u.id} upload={u} />
          ))}
        </ul>
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
        <span class="visually-hidden" id="keys-hint">
          {t("keys_hint")}
        </span>
        {live ? (
          <button
            type="button"
            class="send send-stop"
            aria-label={t("stop")}
            title={`${t("stop")} (Esc)`}
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
