// A small, safe subset of Markdown: paragraphs, headings, lists, code, quotes, emphasis, links and our own media paths.
// The result is a tree of plain data; whoever shows it makes elements of it, so no text is ever read as HTML. Pure.
import { mediaKind } from "./outputs";

export type Inline =
  | { t: "text"; text: string }
  | { t: "code"; text: string }
  | { t: "strong" | "em"; children: Inline[] }
  | { t: "link"; href: string; host: string; children: Inline[] }
  | { t: "media"; path: string }
  | { t: "br" };

export type Block =
  | { t: "p"; children: Inline[] }
  | { t: "heading"; level: number; children: Inline[] }
  | { t: "code"; text: string; language: string }
  | { t: "quote"; children: Block[] }
  | { t: "list"; ordered: boolean; start: number; items: Block[][] }
  | { t: "rule" };

/** Nesting beyond this is shown as plain text, so that hostile input cannot exhaust the stack. */
const MAX_DEPTH = 8;
const MAX_LENGTH = 100_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])(?:\s+|$)/;
const QUOTE = /^ {0,3}> ?/;

export function parse(source: string): Block[] {
  return blocks(source.slice(0, MAX_LENGTH).replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0);
}

function blocks(lines: string[], depth: number): Block[] {
  const out: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at++;
      continue;
    }
    const fence = FENCE.exec(line);
    if (fence) {
      const mark = fence[1] ?? "```";
      let end = at + 1;
      while (end < lines.length && !(lines[end] ?? "").trim().startsWith(mark)) end++;
      out.push({ t: "code", language: fence[2] ?? "", text: lines.slice(at + 1, end).join("\n") });
      at = end + 1;
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading) {
      out.push({ t: "heading", level: (heading[1] ?? "#").length, children: inline(heading[2] ?? "", depth) });
      at++;
      continue;
    }
    if (RULE.test(line)) {
      out.push({ t: "rule" });
      at++;
      continue;
    }
    if (depth < MAX_DEPTH && QUOTE.test(line)) {
      let end = at;
      while (end < lines.length && QUOTE.test(lines[end] ?? "")) end++;
      out.push({
        t: "quote",
        children: blocks(
          lines.slice(at, end).map((l) => l.replace(QUOTE, "")),
          depth + 1,
        ),
      });
      at = end;
      continue;
    }
    const item = ITEM.exec(line);
    if (depth < MAX_DEPTH && item) {
      const list = takeList(lines, at, item, depth);
      out.push(list.block);
      at = list.next;
      continue;
    }
    let end = at + 1;
    while (end < lines.length && !startsBlock(lines[end] ?? "", depth)) end++;
    out.push({
      t: "p",
      children: inline(
        lines
          .slice(at, end)
          .map((l) => l.trim())
          .join("\n"),
        depth,
      ),
    });
    at = end;
  }
  return out;
}

function startsBlock(line: string, depth: number): boolean {
  return (
    line.trim() === "" ||
    FENCE.test(line) ||
    HEADING.test(line) ||
    RULE.test(line) ||
    (depth < MAX_DEPTH && (QUOTE.test(line) || ITEM.test(line)))
  );
}

function takeList(
  lines: string[],
  from: number,
  first: RegExpExecArray,
  depth: number,
): { block: Block; next: number } {
  const ordered = first[2] === undefined;
  const items: Block[][] = [];
  let at = from;
  for (;;) {
    const match = ITEM.exec(lines[at] ?? "");
    if (!match || (match[2] === undefined) !== ordered) break;
    const indent = match[0].length;
    const body = [(lines[at] ?? "").slice(indent)];
    at++;
    while (at < lines.length) {
      const line = lines[at] ?? "";
      const lead = line.length - line.trimStart().length;
      if (line.trim() === "") {
        // A blank line belongs to the item when something indented follows it.
        const after = lines[at + 1] ?? "";
        if (after.trim() === "" || after.length - after.trimStart().length < 2) break;
        body.push("");
      } else if (lead >= 2) body.push(line.slice(Math.min(lead, indent)));
      else if (startsBlock(line, depth)) break;
      else body.push(line);
      at++;
    }
    items.push(blocks(body, depth + 1));
    // Items with a blank line between them are still one list.
    if ((lines[at] ?? "").trim() === "" && sameKind(lines[at + 1] ?? "", ordered)) at++;
  }
  return { block: { t: "list", ordered, start: ordered ? Number(first[3]) : 1, items }, next: at };
}

function sameKind(line: string, ordered: boolean): boolean {
  const match = ITEM.exec(line);
  return match !== null && (match[2] === undefined) === ordered;
}

/** An address a link may have: absolute, http or https. Null for everything else. */
export function webAddress(href: string): URL | null {
  if (!/^https?:\/\//i.test(href)) return null;
  try {
    const url = new URL(href);
    return url.username === "" && url.password === "" ? url : null;
  } catch {
    return null;
  }
}

/** The words of inline parts, without their marks. */
const wordsOf = (nodes: Inline[]): string =>
  nodes.map((n) => ("text" in n ? n.text : "children" in n ? wordsOf(n.children) : " ")).join("");

/** True when the words of a link are themselves its host or its whole address, so that they say where it leads. */
export function tellsWhere(children: Inline[], href: string): boolean {
  const url = webAddress(href);
  const said = wordsOf(children).trim();
  if (!url) return false;
  // The host must stand there letter by letter: what a browser would take for the same host may look like another.
  const bare = said.replace(/^https?:\/\//i, "");
  if (!bare.toLowerCase().startsWith(url.host)) return false;
  const rest = bare.slice(url.host.length);
  if (rest === "" || rest === "/") return true;
  const same = (a: string, b: string) => a.replace(/\/$/, "") === b.replace(/\/$/, "");
  const full = bare === said ? `${url.protocol}//${said}` : said;
  return /^[/?#]/.test(rest) && same(webAddress(full)?.href ?? "", url.href);
}

const TOKEN =
  /(`+)([\s\S]*?[^`])\1(?!`)|!?\[([^\]\n]{0,500})\]\(\s*<?([^\s()<>]{1,2000})>?(?:\s+"[^"\n]*")?\s*\)|(\*\*|__)(?=\S)([\s\S]{0,1000}?\S)\5|(\*|_)(?=\S)([^\n]{0,1000}?\S)\7(?![\p{L}\p{N}])|(https?:\/\/[^\s<>"'`]{1,2000})|(?<![\w/.])(\/(?:images|audios|videos)\/[\w-][\w.-]*\w)|\n/gu;

/** The inline parts of a text. */
export function inline(text: string, depth = 0): Inline[] {
  if (depth > MAX_DEPTH) return text === "" ? [] : [{ t: "text", text }];
  const out: Inline[] = [];
  let at = 0;
  const plain = (end: number) => {
    if (end > at) out.push({ t: "text", text: text.slice(at, end) });
  };
  for (const m of text.matchAll(TOKEN)) {
    const [whole, , code, linkText, linkTarget, , strong, emMark, em, bare, media] = m;
    if (m.index < at) continue;
    let node: Inline | null = null;
    let length = whole.length;
    if (code !== undefined) node = { t: "code", text: code.trim() };
    else if (linkTarget !== undefined) node = link(linkTarget, linkText ?? "", depth);
    else if (strong !== undefined) node = { t: "strong", children: inline(strong, depth + 1) };
    else if (em !== undefined) {
      // snake_case words are not emphasis
      const inWord = emMark === "_" && /[\p{L}\p{N}]$/u.test(text.slice(0, m.index));
      node = inWord ? null : { t: "em", children: inline(em, depth + 1) };
    } else if (bare !== undefined) {
      const trimmed = bare.replace(/[.,;:!?)\]]+$/, "");
      length = trimmed.length;
      node = link(trimmed, "", depth);
    } else if (media !== undefined) node = mediaKind(media) ? { t: "media", path: media } : null;
    else node = { t: "br" };
    if (!node) continue;
    plain(m.index);
    out.push(node);
    at = m.index + length;
  }
  plain(text.length);
  return out;
}

function link(target: string, text: string, depth: number): Inline | null {
  if (mediaKind(target)) return { t: "media", path: target };
  const url = webAddress(target);
  if (!url) return null;
  const children: Inline[] =
    text === "" ? [{ t: "text", text: target }] : inline(text, MAX_DEPTH - 1 > depth ? depth + 1 : MAX_DEPTH + 1);
  return { t: "link", href: url.href, host: url.host, children: children.map(unlinked) };
}

/** A link inside a link makes no sense in HTML: of the inner one the words stay. */
function unlinked(node: Inline): Inline {
  if (node.t === "link") return { t: "text", text: wordsOf(node.children) };
  return node.t === "strong" || node.t === "em" ? { ...node, children: node.children.map(unlinked) } : node;
}
