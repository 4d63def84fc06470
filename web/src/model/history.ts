// A conversation as the planner is to read it: files by their paths on the server, not by the names they
// had on the person's disk, which a planner would take for files of its own. Pure.
import type { Attachment, Turn } from "../api/types";

/** A turn that has been answered, or one that was not (`answer` is then null) but whose files may be spoken of later. */
export interface Past {
  text: string;
  attachments: Attachment[];
  answer: string | null;
}

/** The name under which the file may be spoken of; a name without an extension could be any word and is left alone. */
const spoken = (a: Attachment): string | null =>
  a.path !== undefined && a.name !== undefined && /[^.\s]\.\w{1,8}$/.test(a.name) ? a.name : null;

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** A letter or digit that would make a name part of a longer one. Han is written without spaces and does not. */
const LETTER = "(?:(?!\\p{Script=Han})[\\p{L}\\p{N}_])";

/** The text with whole names replaced by paths. */
function withPaths(text: string, paths: Map<string, string>): string {
  if (!paths.size) return text;
  const names = [...paths.keys()].sort((a, b) => b.length - a.length).map(literal);
  const whole = new RegExp(`(?<!${LETTER}|[/.\\\\-])(?:${names.join("|")})(?!${LETTER}|[/\\\\-]|\\.${LETTER})`, "gu");
  return text.replace(whole, (name) => paths.get(name) ?? name);
}

/** The messages of the turns before, and the request after them. Of two files with one name the later is meant. */
export function conversation(past: Past[], asked: string): Turn[] {
  const paths = new Map<string, string>();
  const out: Turn[] = [];
  for (const { text, attachments, answer } of past) {
    for (const a of attachments) {
      const name = spoken(a);
      if (name !== null && a.path !== undefined) paths.set(name, a.path);
    }
    if (answer === null) continue;
    let content = withPaths(text, paths);
    for (const { kind, path } of attachments)
      if (path !== undefined && (kind === "image" || kind === "audio" || kind === "video") && !content.includes(path))
        content += `\n\nAttached ${kind}: ${path}`;
    out.push({ role: "user", content }, { role: "assistant", content: withPaths(answer, paths) });
  }
  out.push({ role: "user", content: withPaths(asked, paths) });
  return out;
}
