// Files on their way into the next message: chosen, dropped or pasted, uploaded at once, with progress.
import { computed, signal } from "@preact/signals";
import * as client from "../api/client";
import { asApiError, isAbort } from "../api/http";
import type { Attachment, Kind } from "../api/types";
import { t } from "../i18n";
import { label } from "../model/text";
import { announce, notify } from "./announce";
import { newId } from "./chats";
import { cutFiles } from "./storage";

export const MAX_FILES = 16;

export interface Upload {
  id: string;
  name: string;
  kind: Kind;
  bytes: number;
  /** A local address of a picture, for its thumbnail. */
  preview: string | null;
  progress: number;
  attachment: Attachment | null;
  error: string | null;
}

export const uploads = signal<Upload[]>([]);
export const uploading = computed(() => uploads.value.some((u) => !u.attachment && !u.error));
const controllers = new Map<string, AbortController>();

function guess(type: string): Kind {
  const main = type.split("/")[0];
  return main === "image" || main === "audio" || main === "video" || main === "text" ? main : "json";
}

/** The files of an unsent message, while an earlier message is edited in its place. They go on arriving. */
let aside: Upload[] | null = null;

const change = (id: string, with_: Partial<Upload>): void => {
  const changed = (all: Upload[]) => all.map((u) => (u.id === id ? { ...u, ...with_ } : u));
  uploads.value = changed(uploads.value);
  aside &&= changed(aside);
};

/** Starts to upload files. Resolves when the last of them has arrived or failed. */
export async function addFiles(files: Iterable<File>): Promise<void> {
  const room = MAX_FILES - uploads.value.length;
  const all = [...files];
  if (all.length > room) notify(t("too_many_files", { n: MAX_FILES }));
  await Promise.all(all.slice(0, Math.max(0, room)).map(addFile));
}

async function addFile(file: File): Promise<void> {
  const id = newId();
  const name = label(file.name || "file", 120);
  const kind = guess(file.type);
  const preview = /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(file.type) ? URL.createObjectURL(file) : null;
  uploads.value = [
    ...uploads.value,
    { id, name, kind, bytes: file.size, preview, progress: 0, attachment: null, error: null },
  ];
  const controller = new AbortController();
  controllers.set(id, controller);
  announce(t("uploading", { name }));
  try {
    const attachment = await client.upload(file, name, (progress) => change(id, { progress }), controller.signal);
    change(id, { attachment, kind: attachment.kind, progress: 1 });
  } catch (e) {
    if (isAbort(e)) return;
    const error = asApiError(e);
    const message = error.code === "unreachable" ? t("err_unreachable") : error.message;
    change(id, { error: message });
    announce(t("upload_failed", { name, message }));
  } finally {
    controllers.delete(id);
  }
}

export function removeUpload(id: string): void {
  controllers.get(id)?.abort();
  const gone = uploads.value.find((u) => u.id === id);
  if (gone?.preview) URL.revokeObjectURL(gone.preview);
  uploads.value = uploads.value.filter((u) => u.id !== id);
}

/** The files that have arrived, taken out of the message box. */
export function takeUploads(): Attachment[] {
  const out = uploads.value.flatMap((u) => (u.attachment ? [u.attachment] : []));
  for (const u of uploads.value) removeUpload(u.id);
  return out;
}

/**
 * Shows the files of an earlier message instead of those that wait, which `bringBack` shows again. What was kept only in
 * part cannot be sent and says so.
 */
export function setAside(attachments: Attachment[]): void {
  const cut = cutFiles(attachments);
  if (aside) for (const u of uploads.value) removeUpload(u.id);
  aside ??= uploads.value;
  uploads.value = attachments.map((a) => ({
    id: newId(),
    name: label(a.name ?? a.path ?? a.kind),
    kind: a.kind,
    bytes: a.bytes ?? 0,
    preview: a.kind === "image" ? (a.path ?? null) : null,
    progress: 1,
    attachment: cut.includes(a) ? null : a,
    error: cut.includes(a) ? t("cut_file") : null,
  }));
}

/** The files set aside, in the message box again. */
export function bringBack(): void {
  for (const u of uploads.value) removeUpload(u.id);
  uploads.value = aside ?? [];
  aside = null;
}
