// What is loaded later: colours of code and formulas, as data and nothing but known elements.
import assert from "node:assert/strict";
import test from "node:test";
import * as code from "../src/lazy/code";
import * as maths from "../src/lazy/math";

const text = (piece: code.Piece | maths.Piece): string =>
  typeof piece === "string" ? piece : piece.children.map(text).join("");

test("code keeps each of its characters, whatever colours it gets", () => {
  for (const [language, source] of [
    ["js", 'const a = "<b>";\n// c & d'],
    ["python", "def f(x):\n    return f'{x!r}' # ok"],
    ["html", "<script>alert(1)</script>"],
    ["rust", 'fn main() { println!("{}", 1u8); }'],
  ] as const) {
    const pieces = code.colour(source, language);
    assert.equal(pieces?.map(text).join(""), source, language);
    assert.ok(pieces?.some((p) => typeof p !== "string" && /^hljs-/.test(p.kind)));
  }
  assert.equal(code.colour("x", "no such language"), null);
});

test("formulas are MathML of known elements, attributes and styles", () => {
  const tags = new Set<string>();
  const walk = (piece: maths.Piece): void => {
    if (typeof piece === "string") return;
    tags.add(piece.tag);
    for (const [name, value] of [...Object.entries(piece.attributes), ...Object.entries(piece.style)]) {
      assert.ok(!/^on|href|src|^style$/i.test(name), name);
      assert.ok(!/[:;<>"'\\]|url/i.test(value), `${name}=${value}`);
    }
    piece.children.forEach(walk);
  };
  for (const [source, wanted] of [
    ["\\frac{a}{b} + \\sqrt{x^2}", "mfrac"],
    ["\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "mtable"],
    ["\\sum_{i=0}^{n} i", "munderover"],
    ["\\color{red} x", "mi"],
  ] as const) {
    tags.clear();
    const piece = maths.typeset(source, true);
    assert.ok(piece, source);
    walk(piece);
    assert.ok(tags.has(wanted), `${source}: ${[...tags].join()}`);
  }
  for (const bad of [
    "\\frac{",
    "\\href{javascript:alert(1)}{x}",
    "\\includegraphics{https://evil.example/x.png}",
    "\\notacommand",
  ]) {
    const piece = maths.typeset(bad, false);
    if (piece) walk(piece);
    assert.ok(!piece || !JSON.stringify(piece).includes("evil"), bad);
  }
  assert.equal(maths.typeset("\\frac{", false), null);
});
