// A chat as a text to be kept elsewhere. Pure.
import type { Chat } from "../state/storage";
import { clean } from "./text";

/** The words around what was said, in the reader's language. */
export interface ExportWords {
  you: string;
  jarvis: string;
  untitled: string;
  files: string;
  when: (ms: number) => string;
}

/** A chat as Markdown: each request and its answer, with the names of the files. */
export function asMarkdown(chat: Chat, words: ExportWords): string {
  const out = [`# ${clean(chat.title) || words.untitled}`];
  for (const e of chat.exchanges) {
    out.push(`## ${words.you} · ${words.when(e.at)}`, clean(e.text));
    const files = [...e.attachments.map((a) => a.name ?? a.path ?? a.url ?? a.kind)];
    if (files.length) out.push(`${words.files}: ${files.map((name) => clean(name)).join(", ")}`);
    out.push(`## ${words.jarvis}`, clean(e.run.text || e.run.error?.message || "–"));
    if (e.run.resources.length)
      out.push(e.run.resources.map((r) => `- ${clean(r.name || r.url)}: ${r.url}`).join("\n"));
  }
  return `${out.join("\n\n")}\n`;
}

/** A chat as JSON, with all that is known of its runs. */
export const asJson = ({ id, title, updated, exchanges }: Chat): string =>
  `${JSON.stringify({ id, title, updated, exchanges }, null, 2)}\n`;

/** A name for the file of a chat: its title without what a file system may refuse. */
export const fileName = (title: string, untitled: string, extension: string): string =>
  `${
    clean(title)
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || untitled
  }.${extension}`;
