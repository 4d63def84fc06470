// Colours for code: highlight.js through lowlight, which gives a tree and no markup. Loaded when the first code is shown.
import { common, createLowlight } from "lowlight";

/** A word of code with the classes of its kind, or words in such a kind. */
export type Piece = string | { kind: string; children: Piece[] };

const lowlight = createLowlight(common);

type Tree = ReturnType<typeof lowlight.highlight>["children"][number];

const pieceOf = (node: Tree): Piece[] => {
  if (node.type === "text") return [node.value];
  if (node.type !== "element") return [];
  const names = node.properties.className;
  const kind = Array.isArray(names) ? names.filter((name) => /^[\w-]+$/.test(String(name))).join(" ") : "";
  return [{ kind, children: node.children.flatMap(pieceOf) }];
};

/** The pieces of a text in a language; null when the language is not known. */
export const colour = (text: string, language: string): Piece[] | null =>
  lowlight.registered(language) ? lowlight.highlight(language, text).children.flatMap(pieceOf) : null;
