// A small, safe subset of Markdown: paragraphs, headings, lists, code, quotes, emphasis, links and our own media paths.
// The result is a tree of plain data; whoever shows it makes elements of it, so no text is ever read as HTML. Pure.
import { mediaKind } from "./outputs";
import { clean } from "./text";

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
const HEADING = /^ {0,3}(#{1,6})\s+(\S.*)?$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])(?:\s+|$)/;
const QUOTE = /^ {0,3}> ?/;

/** The blocks of a text. */
export const parse = (source: string): readonly Block[] => readOn(null, source).blocks;

/** A text as far as it has been read, while it grows. */
export interface Reading {
  source: string;
  blocks: readonly Block[];
  /** So many blocks can no longer change, whatever follows. They end at this place in the source. */
  settled: number;
  end: number;
}

/** An open block longer than this, in characters, is not read anew for every few characters that come to it. */
const LONG = 8000;
const PART = 32;

/**
 * Reads a text that has grown since it was last read. Settled blocks are kept as they are, the same objects; only the rest
 * is read. With `more` to come, a very long block waits until enough has come, so that all reading together stays
 * proportional to the length of the text.
 */
export function readOn(old: Reading | null, source: string, more = false): Reading {
  const text = source.slice(0, MAX_LENGTH);
  if (!old || !text.startsWith(old.source)) old = { source: "", blocks: [], settled: 0, end: 0 };
  else if (text.length === old.source.length) return old;
  const open = old.source.length - old.end;
  if (more && open > LONG && text.length - old.source.length < open / PART) return old;
  const lines: string[] = [];
  const starts: number[] = [];
  let start = old.end;
  for (const m of text.slice(old.end).matchAll(/\r\n?|\n|$/g)) {
    const end = old.end + m.index;
    starts.push(start);
    lines.push(clean(text.slice(start, end)).replace(/\t/g, "    "));
    start = end + m[0].length;
  }
  const begins: number[] = [];
  const fresh = blocks(lines, 0, begins);
  // A block is settled when the next one begins with a line that has ended: only then is it sure to be another block.
  let settled = fresh.length - 1;
  while (settled > 0 && (begins[settled] ?? 0) >= lines.length - 1) settled--;
  settled = Math.max(0, settled);
  return {
    source: text,
    blocks: [...old.blocks.slice(0, old.settled), ...fresh],
    settled: old.settled + settled,
    end: settled > 0 ? (starts[begins[settled] ?? 0] ?? old.end) : old.end,
  };
}

/** The words of a heading without the marks that may close it. */
function unclosed(words: string): string {
  const text = words.trimEnd();
  let end = text.length;
  while (text[end - 1] === "#") end--;
  return text.slice(0, end).trimEnd();
}

/** The blocks that lines make. `begins`, when given, is told the line that each one begins with. */
function blocks(lines: string[], depth: number, begins?: number[]): Block[] {
  const out: Block[] = [];
  let at = 0;
  work.read += lines.reduce((sum, line) => sum + line.length + 1, 0);
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at++;
      continue;
    }
    begins?.push(at);
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
      out.push({
        t: "heading",
        level: (heading[1] ?? "#").length,
        children: inline(unclosed(heading[2] ?? ""), depth),
      });
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

/** What may begin an inline part. */
const SPECIAL = /[`*_\n/]|!?\[|https?:\/\//g;
const TARGET = /\(\s*<?([^\s()<>]{1,2000})>?(?:\s+"[^"\n]*")?\s*\)/y;
const ADDRESS = /https?:\/\/[^\s<>"'`]{1,2000}/y;
const FILE = /(?<![\w/.])\/(?:images|audios|videos)\/[\w-][\w.-]*\w/y;
/** Where each mark may close: after something, and a single one not before a letter or digit. */
const CLOSERS: Record<string, RegExp> = {
  "**": /(?<=\S)(?=\*\*)/g,
  __: /(?<=\S)(?=__)/g,
  "*": /(?<=\S)(?=\*(?![\p{L}\p{N}]))/gu,
  _: /(?<=\S)(?=_(?![\p{L}\p{N}]))/gu,
};
const MAX_EMPHASIS = 1000;
const MAX_LINK_TEXT = 500;

/** Characters read so far, once for each time they are read. For the tests, which bound the work by it. */
export const work = { read: 0 };

/** Places in a text, asked for from left to right, so that all questions together take one walk. */
class Places {
  private at = 0;
  private readonly places: number[];
  constructor(text: string, what: RegExp) {
    this.places = Array.from(text.matchAll(what), (m) => m.index);
  }
  /** The first place at or after `from`; infinite when there is none. */
  next(from: number): number {
    for (; (this.places[this.at] ?? Infinity) < from; this.at++) work.read++;
    return this.places[this.at] ?? Infinity;
  }
}

/** A part that was recognised: it ends at `end`; a null node stays text. */
type Part = { end: number; node: Inline | null } | null;

/** Reads the inline parts of one text from left to right. What is ahead is looked up, so that nothing is searched twice. */
class Reader {
  private readonly places = new Map<string, Places>();
  private ticks: Map<number, { length: number; closer: number }> | null = null;
  private target: { at: number; found: RegExpExecArray | null } = { at: -1, found: null };

  constructor(
    private readonly text: string,
    private readonly depth: number,
  ) {}

  private next(name: string, what: RegExp, from: number): number {
    let places = this.places.get(name);
    if (!places) this.places.set(name, (places = new Places(this.text, what)));
    return places.next(from);
  }

  /** The part that begins with the special characters at `at`. */
  part(at: number, special: string): Part {
    switch (special) {
      case "\n":
        return { end: at + 1, node: { t: "br" } };
      case "`":
        return this.code(at);
      case "*":
      case "_":
        return this.strong(at, special + special) ?? this.em(at, special);
      case "/":
        return this.media(at);
      case "[":
      case "![":
        return this.link(at + special.length);
      default:
        return this.address(at);
    }
  }

  private code(at: number): Part {
    if (!this.ticks) {
      this.ticks = new Map();
      const open = new Map<number, { length: number; closer: number }>();
      for (const m of this.text.matchAll(/`+/g)) {
        const { length } = m[0];
        const before = open.get(length);
        if (before) before.closer = m.index;
        const run = { length, closer: -1 };
        open.set(length, run);
        this.ticks.set(m.index, run);
      }
    }
    const run = this.ticks.get(at);
    if (!run) return null;
    const start = at + run.length;
    if (run.closer < 0) return { end: start, node: null };
    const text = this.text.slice(start, run.closer).trim();
    return { end: run.closer + run.length, node: { t: "code", text } };
  }

  private strong(at: number, mark: string): Part {
    return this.text.startsWith(mark, at) ? this.emphasis(at, mark, "strong", Infinity) : null;
  }

  private em(at: number, mark: string): Part {
    // snake_case words are not emphasis
    if (mark === "_" && /[\p{L}\p{N}]$/u.test(this.text.slice(Math.max(0, at - 2), at))) return null;
    return this.emphasis(at, mark, "em", this.next("\n", /\n/g, at));
  }

  private emphasis(at: number, mark: string, t: "strong" | "em", before: number): Part {
    const start = at + mark.length;
    if (!/\S/.test(this.text.charAt(start))) return null;
    const end = this.next(mark, CLOSERS[mark] ?? /$^/g, start + 1);
    if (end > before || end - start > MAX_EMPHASIS) return null;
    return { end: end + mark.length, node: { t, children: inline(this.text.slice(start, end), this.depth + 1) } };
  }

  /** A link whose words begin at `start`. */
  private link(start: number): Part {
    const end = this.next("]", /[\]\n]/g, start);
    if (end - start > MAX_LINK_TEXT || !this.text.startsWith("](", end)) return null;
    // Many brackets may open before one closes; what follows it is read once.
    if (this.target.at !== end) {
      TARGET.lastIndex = end + 1;
      this.target = { at: end, found: TARGET.exec(this.text) };
      work.read += this.target.found?.[0].length ?? 0;
    }
    const { found } = this.target;
    if (!found) return null;
    const node = link(found[1] ?? "", this.text.slice(start, end), this.depth);
    return { end: end + 1 + found[0].length, node };
  }

  private address(at: number): Part {
    ADDRESS.lastIndex = at;
    const found = ADDRESS.exec(this.text)?.[0];
    if (found === undefined) return null;
    let { length } = found;
    while (".,;:!?)]".includes(found.charAt(length - 1))) length--;
    const node = link(found.slice(0, length), "", this.depth);
    return { end: at + (node ? length : found.length), node };
  }

  private media(at: number): Part {
    FILE.lastIndex = at;
    const path = FILE.exec(this.text)?.[0];
    if (path === undefined) return null;
    return { end: at + path.length, node: mediaKind(path) ? { t: "media", path } : null };
  }
}

/** The inline parts of a text, in time that grows with its length and no faster. */
export function inline(text: string, depth = 0): Inline[] {
  if (depth > MAX_DEPTH) return text === "" ? [] : [{ t: "text", text }];
  work.read += text.length;
  const reader = new Reader(text, depth);
  const special = new RegExp(SPECIAL);
  const out: Inline[] = [];
  let plain = 0;
  for (let m = special.exec(text); m; m = special.exec(text)) {
    const part = reader.part(m.index, m[0]);
    special.lastIndex = part?.end ?? m.index + 1;
    if (!part?.node) continue;
    if (m.index > plain) out.push({ t: "text", text: text.slice(plain, m.index) });
    out.push(part.node);
    plain = part.end;
  }
  if (text.length > plain) out.push({ t: "text", text: text.slice(plain) });
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
