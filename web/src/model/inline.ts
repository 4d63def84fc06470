// The inline parts of Markdown: code, emphasis, formulas, links and our own media paths, in time proportional to the text. The
// result is plain data. Pure.
import { mediaKind } from "./outputs";

export type Inline =
  | { t: "text"; text: string }
  | { t: "code"; text: string }
  | { t: "math"; text: string }
  | { t: "strong" | "em" | "del"; children: Inline[] }
  | { t: "link"; href: string; host: string; children: Inline[] }
  | { t: "media"; path: string }
  | { t: "br" };

/** Nesting beyond this is shown as plain text, so that hostile input cannot exhaust the stack. */
export const MAX_DEPTH = 8;

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
const SPECIAL = /[`*_\n/\\$]|~~|!?\[|https?:\/\//g;
/** What a backslash takes its meaning from. */
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const TARGET = /\(\s*<?([^\s()<>]{1,2000})>?(?:\s+"[^"\n]*")?\s*\)/y;
const ADDRESS = /https?:\/\/[^\s<>"'`]{1,2000}/y;
const FILE = /(?<![\w/.])\/(?:images|audios|videos)\/[\w-][\w.-]*\w/y;
/** Where each mark may close: after something, and a single one not before a letter or digit. */
const CLOSERS: Record<string, RegExp> = {
  "**": /(?<=\S)(?=\*\*)/g,
  __: /(?<=\S)(?=__)/g,
  "*": /(?<=\S)(?=\*(?![\p{L}\p{N}]))/gu,
  _: /(?<=\S)(?=_(?![\p{L}\p{N}]))/gu,
  "~~": /(?<=\S)(?=~~)/g,
  // A closing sign has no space before and no digit behind: "from $5 to $10" speaks of money.
  $: /(?<=[^\s\\$])(?=\$(?![\d$]))/g,
  $$: /(?<=\S)(?=\$\$)/g,
};
const MAX_EMPHASIS = 1000;
const MAX_FORMULA = 1000;
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
      case "~~":
        return this.text.charAt(at + 2) === "~" ? null : this.emphasis(at, "~~", "del", Infinity);
      case "\\":
        return this.escaped(at);
      case "$":
        return this.dollars(at);
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

  /** A sign that stands for itself, or a formula in `\\(` and `\\)`. */
  private escaped(at: number): Part {
    const sign = this.text.charAt(at + 1);
    if (sign === "(") {
      const end = this.next("\\)", /\\\)/g, at + 2);
      if (end - at <= MAX_FORMULA) return { end: end + 2, node: { t: "math", text: this.text.slice(at + 2, end) } };
    }
    return PUNCTUATION.test(sign) ? { end: at + 2, node: { t: "text", text: sign } } : null;
  }

  /** A formula between dollar signs on one line. */
  private dollars(at: number): Part {
    const mark = this.text.startsWith("$$", at) ? "$$" : "$";
    const start = at + mark.length;
    if (!/[^\s$]/.test(this.text.charAt(start))) return { end: start, node: null };
    const end = this.next(mark, CLOSERS[mark] ?? /$^/g, start + 1);
    if (end > this.next("\n", /\n/g, at) || end - start > MAX_FORMULA) return null;
    return { end: end + mark.length, node: { t: "math", text: this.text.slice(start, end) } };
  }

  private emphasis(at: number, mark: string, t: "strong" | "em" | "del", before: number): Part {
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
  return node.t === "strong" || node.t === "em" || node.t === "del"
    ? { ...node, children: node.children.map(unlinked) }
    : node;
}
