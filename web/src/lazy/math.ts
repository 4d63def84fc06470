// Formulas: TeX to MathML by Temml. Its tree is read as data, and only elements, attributes and styles that are known get on.
// Loaded when the first formula is shown.
import temml from "temml";

/** An element of MathML, or a text in it. */
export type Piece =
  string | { tag: string; attributes: Record<string, string>; style: Record<string, string>; children: Piece[] };

const TAGS = new Set(
  "math mrow mi mo mn ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd semantics menclose".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "display displaystyle scriptlevel mathvariant mathsize mathcolor mathbackground stretchy symmetric fence separator largeop movablelimits accent accentunder lspace rspace minsize maxsize linethickness width height depth voffset form columnalign rowspan columnspan dir".split(
    " ",
  ),
);
const STYLES =
  /^(?:width|height|color|display|vertical-?align|text-?align|(?:padding|margin|border)(?:-?(?:left|right|top|bottom))?|background-?color)$/i;
const VALUE = /^[\w\s.,%#+-]{1,60}$/;
const CLASSES = /^(?:tml-[\w-]+|math(?:cal|scr|frak|bb)|special-fraction)$/;
const MAX_DEPTH = 100;

interface Node {
  type?: unknown;
  text?: unknown;
  attributes?: Record<string, unknown>;
  style?: Record<string, unknown>;
  classes?: unknown[];
  children?: unknown[];
}

function pieceOf(node: Node, depth: number): Piece[] {
  if (typeof node.text === "string") return [node.text];
  const tag = String(node.type ?? "");
  const children = depth < MAX_DEPTH ? (node.children ?? []).flatMap((child) => pieceOf(child as Node, depth + 1)) : [];
  // An element that is not known stands for what is in it.
  if (!TAGS.has(tag)) return tag === "annotation" ? [] : children;
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(node.attributes ?? {}))
    if (ATTRIBUTES.has(name) && VALUE.test(String(value))) attributes[name] = String(value);
  const classes = (node.classes ?? []).map(String).filter((name) => CLASSES.test(name));
  if (classes.length) attributes.class = classes.join(" ");
  const style: Record<string, string> = {};
  for (const [name, value] of Object.entries(node.style ?? {}))
    if (STYLES.test(name) && VALUE.test(String(value))) style[name] = String(value);
  return [{ tag, attributes, style, children }];
}

/** The formula as MathML, or null when it cannot be read. */
export function typeset(text: string, display: boolean): Piece | null {
  try {
    const tree: unknown = temml.__renderToMathMLTree(text, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      maxExpand: 500,
      maxSize: [20, 100],
    });
    return pieceOf(tree as Node, 0)[0] ?? null;
  } catch {
    return null;
  }
}
