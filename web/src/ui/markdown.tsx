// Shows the tree of model/markdown.ts as elements. Text stays text: there is no HTML string anywhere on the way.
import { useSignal } from "@preact/signals";
import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo, useRef } from "preact/hooks";
import { baseName } from "../model/text";
import { tellsWhere, type Inline } from "../model/inline";
import { readOn, type Block, type Reading } from "../model/markdown";
import { mediaKind } from "../model/outputs";
import { t } from "../i18n";
import { CodeBlock, Formula } from "./code";
import { Icon } from "./icons";

/** A text as Markdown. While there is `more` of it to come, only what is new is read and drawn. */
export function Markdown({ text, more = false }: { text: string; more?: boolean }) {
  const reading = useRef<Reading | null>(null);
  reading.current = readOn(reading.current, text, more);
  const { blocks } = reading.current;
  // The page's own headings come first: those of an answer begin at the third level, and leave none out.
  const levels = [...new Set(blocks.flatMap((b) => (b.t === "heading" ? [b.level] : [])))].sort();
  return (
    <div class="prose">
      {blocks.map((b, i) => (
        <Settled key={i} b={b} level={b.t === "heading" ? levels.indexOf(b.level) + 3 : 0} />
      ))}
    </div>
  );
}

/** A block that is drawn again only when it has changed. */
function Settled({ b, level }: { b: Block; level: number }) {
  return useMemo(
    () => (b.t === "heading" && level ? <Heading level={level}>{b.children.map(inline)}</Heading> : <>{block(b, 0)}</>),
    [b, level],
  );
}

function Heading({ level, children }: { level: number; children: ComponentChildren }) {
  const Tag = level <= 3 ? "h3" : level === 4 ? "h4" : level === 5 ? "h5" : "h6";
  return <Tag>{children}</Tag>;
}

function block(b: Block, key: number): ComponentChildren {
  switch (b.t) {
    case "p":
      return <p key={key}>{b.children.map(inline)}</p>;
    case "heading":
      // Inside of a list or a quotation it is no part of the page's outline.
      return (
        <p key={key}>
          <strong>{b.children.map(inline)}</strong>
        </p>
      );
    case "code":
      return <CodeBlock key={key} text={b.text} language={b.language} />;
    case "math":
      return <Formula key={key} text={b.text} display={true} />;
    case "table":
      return <Table key={key} table={b} />;
    case "quote":
      return <blockquote key={key}>{b.children.map(block)}</blockquote>;
    case "list": {
      const items = b.items.map((item, i) => {
        const done = b.done?.[i] ?? null;
        return (
          <li key={i} class={done === null ? undefined : "task"}>
            {done !== null && (
              <input type="checkbox" checked={done} disabled aria-label={t(done ? "task_done" : "task_open")} />
            )}
            {tight(item) ?? item.map(block)}
          </li>
        );
      });
      return b.ordered ? (
        <ol key={key} start={b.start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "rule":
      return <hr key={key} />;
  }
}

/** An item of one paragraph needs no paragraph element. */
function tight(item: Block[]): ComponentChildren | null {
  const only = item.length === 1 ? item[0] : undefined;
  return only?.t === "p" ? only.children.map(inline) : null;
}

/** A table scrolls by itself when it is wider than the text. */
function Table({ table }: { table: Block & { t: "table" } }) {
  const look = (i: number) => (table.align[i] ? `align-${table.align[i]}` : undefined);
  return (
    <div class="table" tabIndex={0} role="group" aria-label={t("table")}>
      <table>
        <thead>
          <tr>
            {table.head.map((cell, i) => (
              <th key={i} scope="col" class={look(i)}>
                {cell.map(inline)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {table.head.map((_, i) => (
                <td key={i} class={look(i)}>
                  {row[i]?.map(inline)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(node: Inline, key: number): ComponentChildren {
  switch (node.t) {
    case "text":
      return node.text;
    case "code":
      return <code key={key}>{node.text}</code>;
    case "strong":
      return <strong key={key}>{node.children.map(inline)}</strong>;
    case "del":
      return <del key={key}>{node.children.map(inline)}</del>;
    case "math":
      return <Formula key={key} text={node.text} display={false} />;
    case "em":
      return <em key={key}>{node.children.map(inline)}</em>;
    case "br":
      return <br key={key} />;
    case "media":
      return <MediaChip key={key} path={node.path} />;
    case "link":
      // Where a link leads is always seen, whatever its words say.
      return (
        <a key={key} href={node.href} target="_blank" rel="noopener noreferrer">
          {node.children.map(inline)}
          {tellsWhere(node.children, node.href) ? null : <span class="link-host"> ({node.host})</span>}
        </a>
      );
  }
}

/** What the files of a run are called: what the person named them, or what made them. */
export const FileNames = createContext<ReadonlyMap<string, string>>(new Map());

/** The files that stand below the text anyway: inside it they are named, not shown a second time. */
export const ShownBelow = createContext<ReadonlySet<string>>(new Set());

/** A file of ours inside a text: a labelled link to it, with a small picture when it is one. */
export function MediaChip({ path }: { path: string }) {
  const kind = mediaKind(path);
  const known = useContext(FileNames).get(path);
  const below = useContext(ShownBelow).has(path);
  const gone = useSignal(false);
  if (!kind) return <>{path}</>;
  const file = baseName(path);
  return (
    <a class="chip" href={path} target="_blank" rel="noopener noreferrer">
      {kind === "image" && !gone.value && !below ? (
        <img src={path} alt="" loading="lazy" onError={() => (gone.value = true)} />
      ) : (
        <Icon name={kind} size={16} />
      )}
      <span title={file}>
        {known ?? (file.length > 20 ? `${file.slice(0, 8)}…${file.slice(file.lastIndexOf("."))}` : file)}
      </span>
    </a>
  );
}
