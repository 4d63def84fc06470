// Pictures, sounds and videos of an answer or a task, with the way to see one large. Only our own paths are ever loaded.
import { signal, useSignal } from "@preact/signals";
import { t } from "../i18n";
import { mediaKind } from "../model/outputs";
import { baseName } from "../model/text";
import { Dialog } from "./common";
import { Icon } from "./icons";

const shown = signal<{ url: string; caption: string; file: string } | null>(null);

/** `name` is what a person would call the file. */
export function Media({ url, caption, name }: { url: string; caption: string; name?: string }) {
  const file = name || baseName(url);
  const gone = useSignal(false);
  const kind = mediaKind(url);
  if (!kind) return null;
  const fail = () => (gone.value = true);
  return (
    <figure class={`media media-${kind}`}>
      {gone.value ? (
        <p class="media-gone">
          <Icon name="warn" /> {t("media_gone")}
        </p>
      ) : kind === "image" ? (
        <button
          type="button"
          class="media-open"
          aria-label={t("open_full", { name: caption })}
          onClick={() => (shown.value = { url, caption, file })}
        >
          <img src={url} alt={caption} decoding="async" onError={fail} />
        </button>
      ) : kind === "audio" ? (
        <audio src={url} controls preload="metadata" aria-label={caption} onError={fail} />
      ) : (
        <video src={url} controls preload="metadata" playsInline aria-label={caption} onError={fail} />
      )}
      <figcaption>
        <Icon name="clip" size={15} />
        <span>{caption}</span>
        <a href={url} download={file} aria-label={`${t("download")}: ${caption}`} title={t("download")}>
          <Icon name="download" size={16} />
        </a>
      </figcaption>
    </figure>
  );
}

/** The picture that was opened, over the page. */
export function Lightbox() {
  const at = shown.value;
  if (!at) return null;
  const close = () => (shown.value = null);
  return (
    <Dialog label={at.caption} class="lightbox" onClose={close}>
      <div class="lightbox-bar">
        <span>{at.caption}</span>
        <a class="quiet" href={at.url} download={at.file}>
          <Icon name="download" size={16} /> {t("download")}
        </a>
        <button type="button" class="icon-button" aria-label={t("close")} onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <img src={at.url} alt={at.caption} onClick={close} />
    </Dialog>
  );
}
