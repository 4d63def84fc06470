// A safe subset of Markdown: paragraphs, headings, lists, tasks, tables, code, formulas and quotes; inline.ts has what is inside.
// The result is a tree of plain data; whoever shows it makes elements of it, so no text is ever read as HTML. Pure.
import { inline, MAX_DEPTH, work, type Inline } from "./inline";
import { clean } from "./text";

export type Block =
  | { t: "p"; children: Inline[] }
  | { t: "heading"; level: number; children: Inline[] }
  | { t: "code"; text: string; language: string }
  | { t: "math"; text: string }
  | { t: "table"; align: Align[]; head: Inline[][]; rows: Inline[][][] }
  | { t: "quote"; children: Block[] }
  /** `done` is there for a list of tasks: whether each is done; null for an item that is no task. */
  | { t: "list"; ordered: boolean; start: number; items: Block[][]; done?: (boolean | null)[] }
  | { t: "rule" };

export type Align = "left" | "right" | "center" | null;

const MAX_LENGTH = 100_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(\S.*)?$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])(?:\s+|$)/;
const QUOTE = /^ {0,3}> ?/;
const TASK = /^\[([ xX])\]\s+/;
const DELIMITER = /^ {0,3}\|?(?: *:?-+:? *\|)* *:?-+:? *\|? *$/;
const FORMULA = /^ {0,3}(\$\$|\\\[)/;
/** So far is looked for the end of a formula, in lines. */
const MAX_FORMULA_LINES = 60;
const MAX_COLUMNS = 60;

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
  // Whether a table or a formula begins there is told by later lines, so that it must have ended itself.
  let settled = fresh.length - 1;
  if (fresh[settled]?.t === "table" || fresh[settled]?.t === "math") settled--;
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
    const formula = takeFormula(lines, at);
    if (formula) {
      out.push(formula.block);
      at = formula.next;
      continue;
    }
    if (beginsTable(lines, at)) {
      const table = takeTable(lines, at, depth);
      out.push(table.block);
      at = table.next;
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
    while (end < lines.length && !startsBlock(lines[end] ?? "", depth) && !interrupts(lines, end)) end++;
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

/** A table or a formula also begins in the middle of a paragraph. */
const interrupts = (lines: string[], at: number): boolean => beginsTable(lines, at) || takeFormula(lines, at) !== null;

/** The formula that begins in a line, when it ends before the next empty line. */
function takeFormula(lines: string[], at: number): { block: Block; next: number } | null {
  const first = lines[at] ?? "";
  const mark = FORMULA.exec(first);
  if (!mark) return null;
  const close = mark[1] === "$$" ? "$$" : "\\]";
  const rest = first.slice(mark[0].length);
  const text: string[] = [];
  for (let end = at; end < lines.length && end < at + MAX_FORMULA_LINES; end++) {
    const line = (end === at ? rest : (lines[end] ?? "")).trimEnd();
    if (line === "" && end > at) return null;
    if (line.endsWith(close)) {
      text.push(line.slice(0, -close.length));
      return { block: { t: "math", text: text.join("\n").trim() }, next: end + 1 };
    }
    text.push(line);
  }
  return null;
}

/** The cells of a row. A bar in a cell is written with a backslash before it. */
function cellsOf(line: string): string[] {
  const bare = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return bare.split(/(?<!\\)\|/, MAX_COLUMNS).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function beginsTable(lines: string[], at: number): boolean {
  const [head = "", below = ""] = [lines[at], lines[at + 1]];
  return (
    head.includes("|") && below.includes("-") && DELIMITER.test(below) && cellsOf(head).length === cellsOf(below).length
  );
}

function takeTable(lines: string[], at: number, depth: number): { block: Block; next: number } {
  const row = (line: string): Inline[][] => cellsOf(line).map((cell) => inline(cell, depth));
  const head = row(lines[at] ?? "");
  const align = cellsOf(lines[at + 1] ?? "").map((cell): Align => {
    const [left, right] = [cell.startsWith(":"), cell.endsWith(":")];
    return left && right ? "center" : right ? "right" : left ? "left" : null;
  });
  const rows: Inline[][][] = [];
  let end = at + 2;
  for (; end < lines.length && !startsBlock(lines[end] ?? "", depth); end++)
    rows.push(row(lines[end] ?? "").slice(0, head.length));
  return { block: { t: "table", align, head, rows }, next: end };
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
  const done: (boolean | null)[] = [];
  let at = from;
  for (;;) {
    const match = ITEM.exec(lines[at] ?? "");
    if (!match || (match[2] === undefined) !== ordered) break;
    const indent = match[0].length;
    const words = (lines[at] ?? "").slice(indent);
    const task = TASK.exec(words);
    done.push(task ? task[1] !== " " : null);
    const body = [task ? words.slice(task[0].length) : words];
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
  const tasks = done.some((one) => one !== null) ? { done } : {};
  return { block: { t: "list", ordered, start: ordered ? Number(first[3]) : 1, items, ...tasks }, next: at };
}

function sameKind(line: string, ordered: boolean): boolean {
  const match = ITEM.exec(line);
  return match !== null && (match[2] === undefined) === ordered;
}
