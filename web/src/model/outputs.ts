// What a task gave, read from its inference result into things that can be shown. Pure.
import { list, num, record } from "../api/decode";
import type { Kind } from "../api/types";

export type Output =
  | { type: "media"; kind: Kind; url: string }
  | { type: "text"; text: string }
  | { type: "scores"; rows: { label: string; score: number }[] }
  | { type: "json"; value: unknown };

const MEDIA = /^\/(images|audios|videos)\/[\w-][\w.-]{0,200}$/;
const FOLDERS: Record<string, Kind> = { images: "image", audios: "audio", videos: "video" };

/** The kind of a path of our own media, or null when it is anything else. The only paths the page loads media from. */
export function mediaKind(path: string): Kind | null {
  const folder = MEDIA.exec(path)?.[1];
  return folder === undefined || path.includes("..") ? null : (FOLDERS[folder] ?? null);
}

/** Whether a path is that of a table as a file. */
export function isTable(path: string): boolean {
  return /^\/tables\/[\w-]+\.csv$/.test(path);
}

const TEXT_KEYS = [
  "generated text",
  "response",
  "text",
  "answer",
  "generated_text",
  "summary_text",
  "translation_text",
];
const MEDIA_KEYS = ["generated image", "generated audio", "generated video"];

function scoreRow(v: unknown): { label: string; score: number } | null {
  const o = record(v);
  const label = typeof o.label === "string" ? o.label : typeof o.answer === "string" ? o.answer : null;
  return label !== null && typeof o.score === "number" ? { label, score: num(o.score) } : null;
}

/** The outputs of an inference result, best to show first. */
export function outputs(inference: unknown): Output[] {
  if (inference === null || inference === undefined) return [];
  if (typeof inference === "string") return [{ type: "text", text: inference }];
  if (Array.isArray(inference)) {
    const rows = inference.map(scoreRow);
    if (rows.length === 1 && rows[0] && "answer" in record(inference[0]))
      return [{ type: "text", text: rows[0].label }];
    if (rows.length && rows.every((r) => r !== null)) return [{ type: "scores", rows: rows.slice(0, 12) }];
    return inference.length ? [{ type: "json", value: inference }] : [];
  }
  const o = record(inference);
  const out: Output[] = [];
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(o)) {
    if (key === "error") continue;
    const kind = typeof value === "string" && MEDIA_KEYS.includes(key) ? mediaKind(value) : null;
    if (kind) out.push({ type: "media", kind, url: value as string });
    else if (typeof value === "string" && (TEXT_KEYS.includes(key) || key === "note"))
      out.push({ type: "text", text: value });
    else if (key === "predicted" && list(value).length && list(value).every((v) => scoreRow(v)))
      out.push({
        type: "scores",
        rows: list(value)
          .flatMap((v) => scoreRow(v) ?? [])
          .slice(0, 12),
      });
    else rest[key] = value;
  }
  if (Object.keys(rest).length) out.push({ type: "json", value: rest });
  return out;
}

/** The first picture a task gave, for its thumbnail in the graph. */
export function picture(inference: unknown): string | null {
  for (const o of outputs(inference)) if (o.type === "media" && o.kind === "image") return o.url;
  return null;
}
