// Code with colours, and formulas. What makes them is loaded when the first one is to be shown; until then, and when it fails,
// the source is shown.
import { signal } from "@preact/signals";
import { h, type ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type * as Code from "../lazy/code";
import type * as Maths from "../lazy/math";
import { CopyButton } from "./common";
import { useModule } from "./module";

const code = signal<typeof Code | null>(null);
const maths = signal<typeof Maths | null>(null);
/** Longer code stays plain, so that its colours hold nothing up. */
const MAX_COLOURED = 20_000;

export function CodeBlock({ text, language }: { text: string; language: string }) {
  const fits = language !== "" && text.length <= MAX_COLOURED;
  const module = useModule(code, fits, () => import("../lazy/code"));
  const pieces = useMemo(
    () => (module && fits ? module.colour(text, language.toLowerCase()) : null),
    [module, fits, text, language],
  );
  return (
    <div class="code">
      <CopyButton text={() => text} />
      <pre tabIndex={0}>
        <code>{pieces ? pieces.map(coloured) : text}</code>
      </pre>
    </div>
  );
}

const coloured = (piece: Code.Piece, key: number): ComponentChildren =>
  typeof piece === "string" ? (
    piece
  ) : (
    <span key={key} class={piece.kind}>
      {piece.children.map(coloured)}
    </span>
  );

export function Formula({ text, display }: { text: string; display: boolean }) {
  const module = useModule(maths, true, () => import("../lazy/math"));
  const piece = useMemo(() => module?.typeset(text, display) ?? null, [module, text, display]);
  if (piece === null) return display ? <pre class="formula">{text}</pre> : <code>{text}</code>;
  return display ? (
    <div class="formula" tabIndex={0} role="group" aria-label={text}>
      {element(piece)}
    </div>
  ) : (
    <>{element(piece)}</>
  );
}

const element = (piece: Maths.Piece): ComponentChildren =>
  typeof piece === "string"
    ? piece
    : h(piece.tag, { ...piece.attributes, style: piece.style }, piece.children.map(element));
