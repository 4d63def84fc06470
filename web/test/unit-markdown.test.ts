// Reading Markdown: its blocks and inline parts, the work it takes, and what must not come through.
import assert from "node:assert/strict";
import test from "node:test";
import { type Inline, inline, tellsWhere, webAddress, work } from "../src/model/inline";
import { parse, readOn, type Reading } from "../src/model/markdown";

/** The tree as text with its marks, to compare by eye. */
function said(nodes: Inline[]): string {
  return nodes
    .map((n) => {
      switch (n.t) {
        case "text":
          return n.text;
        case "code":
          return `‹${n.text}›`;
        case "math":
          return `∑${n.text}∑`;
        case "br":
          return "⏎";
        case "media":
          return `{${n.path}}`;
        case "link":
          return `[${said(n.children)}→${n.href}]`;
        default:
          return `${n.t}(${said(n.children)})`;
      }
    })
    .join("");
}

test("inline Markdown", () => {
  const cases: [string, string][] = [
    ["a **b** c", "a strong(b) c"],
    ["*a* and _b_", "em(a) and em(b)"],
    ["snake_case_word", "snake_case_word"],
    ["слово_и_слово _да_", "слово_и_слово em(да)"],
    ["\u{1d400}_b_ c", "\u{1d400}_b_ c"],
    ["**a *b* c** **", "strong(a em(b) c) **"],
    ["***a***", "strong(*a)*"],
    ["a * b* c", "a * b* c"],
    ["*a\nb*", "*a⏎b*"],
    ["``a ` b`` `c", "‹a ` b› `c"],
    ["`` a", "`` a"],
    ["[[a](https://e.org) ]", "[[a→https://e.org/] ]"],
    ['[a](https://e.org "title")', "[a→https://e.org/]"],
    ["(https://e.org/a).", "([https://e.org/a→https://e.org/a])."],
    ["2 * 3 * 4", "2 * 3 * 4"],
    ["`<b>`", "‹<b>›"],
    ["see https://example.org/a_b.", "see [https://example.org/a_b→https://example.org/a_b]."],
    ["[x](https://e.org)", "[x→https://e.org/]"],
    ["[x](javascript:alert(1))", "[x](javascript:alert(1))"],
    ["[x](data:text/html,1)", "[x](data:text/html,1)"],
    ["[x](//e.org)", "[x](//e.org)"],
    ["[x](https://user:pw@e.org)", "[x](https://user:pw@e.org)"],
    ["at /images/ab12.png now", "at {/images/ab12.png} now"],
    ["/images/../etc/passwd", "/images/../etc/passwd"],
    ["https://e.org/images/a.png", "[https://e.org/images/a.png→https://e.org/images/a.png]"],
    ["![x](https://evil.example/p.png)", "[x→https://evil.example/p.png]"],
    ["<img src=x>", "<img src=x>"],
    ["a\nb", "a⏎b"],
  ];
  for (const [source, expected] of cases) {
    const [first] = parse(source);
    assert.equal(first?.t === "p" ? said(first.children) : JSON.stringify(first), expected, source);
  }
});

test("blocks of Markdown", () => {
  const shape = (source: string) =>
    parse(source)
      .map((b) => (b.t === "list" ? `${b.ordered ? `ol${b.start}` : "ul"}:${b.items.length}` : b.t))
      .join(" ");
  assert.equal(
    shape("# a\n\ntext\nmore\n\n- x\n- y\n\n3. z\n\n> q\n\n---\n```js\n- no\n```"),
    "heading p ul:2 ol3:1 quote rule code",
  );
  assert.deepEqual(parse("## a #b ##  "), [{ t: "heading", level: 2, children: [{ t: "text", text: "a #b" }] }]);
  assert.equal(shape("1. a\n   /images/b.png\n2. c"), "ol1:2");
  assert.equal(shape("```\nnever closed"), "code");
});

test("tables, tasks and formulas", () => {
  const cells = (row: Inline[][]) => row.map(said).join("|");
  for (const [source, wanted] of [
    ["| a | b |\n|---|--:|\n| 1 | **2** |\n| 3 |\n\nx", "a|b  -r  1|strong(2)  3;p"],
    ["a | b\n:-:|:--\n1 | 2 | 3", "a|b  cl  1|2"],
    ["words\n| a |\n| - |", "p;a  -"],
    ["| `a\\|b` |\n|---|", "‹a|b›  -"],
    ["| a | b |\n|---|", "p"],
    ["a - b\n---", "p;rule"],
    ["- [ ] open\n- [x] done\n- plain", "tasks false,true,"],
    ["- [y] no task", "list"],
    ["$$\nx^2\n$$\nafter", "∑x^2;p"],
    ["before\n\\[ x + y \\]", "p;∑x + y"],
    ["$$ never ended\n\nafter", "p;p"],
  ] as const)
    assert.equal(
      parse(source)
        .map((b) =>
          b.t === "table"
            ? [cells(b.head), b.align.map((a) => a?.charAt(0) ?? "-").join(""), ...b.rows.map(cells)].join("  ")
            : b.t === "math"
              ? `∑${b.text}`
              : b.t === "list" && b.done
                ? `tasks ${b.done.join()}`
                : b.t,
        )
        .join(";"),
      wanted,
      source,
    );
  for (const [source, wanted] of [
    ["~~gone~~ and ~~ not ~~", "del(gone) and ~~ not ~~"],
    ["$x_1$ is \\(y\\), $$z$$", "∑x_1∑ is ∑y∑, ∑z∑"],
    ["from $5 to $10, or $5-$10", "from $5 to $10, or $5-$10"],
    ["\\*no emphasis\\* in C:\\dir", "*no emphasis* in C:\\dir"],
    ["\\$5 and $x$", "$5 and ∑x∑"],
    ["`$x$`", "‹$x$›"],
  ] as const)
    assert.equal(said(inline(source)), wanted, source);
});

/** Texts of `n` characters that made earlier readers, or would make careless ones, go over the same place again and again. */
const hostile = (n: number): string[] =>
  [
    "*",
    "**a ",
    "*a ",
    "x_b_ ",
    "_a",
    "__a",
    "[",
    "[a](",
    "](x ",
    '![a](x "',
    "`",
    "` ``",
    "> ",
    "- ",
    "# ",
    "#",
    "1. ",
    "https://",
    "https://a.))))",
    "/images/-",
    "  - a\n",
    "> *a*\n",
    "a_b [c](https://e.org/) `d` **e**\n",
    "a\n\n",
    "\n",
    "- a\n\n  b\n",
    "```\n",
    "~~",
    "~~a ",
    "$",
    "$a ",
    "$a$ ",
    "$$",
    "\\",
    "\\(",
    "\\[\n",
    "$$a\n",
    "|",
    "|-",
    "| a |\n|---|\n",
    "|a|\n",
    "- [ ] a\n",
  ].flatMap((unit) => {
    const text = unit.repeat(Math.ceil(n / unit.length)).slice(0, n - 1);
    return [`${text}x`, `a${text}`, `# ${text}x`];
  });

/** How many characters are read, with repetitions, when a text comes in pieces. */
function reads(text: string, piece: number): number {
  work.read = 0;
  let reading: Reading | null = null;
  for (let end = piece; end < text.length + piece; end += piece)
    reading = readOn(reading, text.slice(0, end), end < text.length);
  const { read } = work;
  assert.equal(JSON.stringify(reading?.blocks), JSON.stringify(parse(text)), text.slice(0, 40));
  return read;
}

test("the work of reading Markdown grows with its length and no faster", () => {
  // A backtick run of each length once: none closes.
  const runs = (n: number) => Array.from({ length: n }, (_, i) => "`".repeat(i + 1)).join(" ");
  const small = [...hostile(20_000), runs(198)];
  const large = [...hostile(40_000), runs(280)];
  small.forEach((text, i) => {
    const name = JSON.stringify(text.slice(0, 12));
    work.read = 0;
    parse(text);
    assert.ok(work.read <= 25 * text.length, `${name}: ${work.read} for ${text.length}`);
    if (i % 3) return; // one of each kind in pieces
    const [a, b] = [reads(text, 250), reads(large[i] ?? "", 250)];
    assert.ok(b <= 3 * a, `${name}: ${a}, twice as long ${b}`);
  });
});

test("hostile Markdown ends, and soon", () => {
  // What a pattern does inside cannot be counted. A pattern that goes back and forth takes minutes here, not seconds.
  const begun = performance.now();
  for (const bad of [...hostile(100_000), `# ${" ".repeat(99_000)}a\u2028`, `[a](x${" ".repeat(99_000)}y`]) parse(bad);
  assert.ok(performance.now() - begun < 20_000);
});

test("a text that comes in pieces is read as one that comes at once", () => {
  const text =
    "# a\r\n\r\nwords *and\nmore* [x](https://e.org)\n- x\n\n  y\n\n- z\n3. q\n> a\n> - b\n\n---\n```js\n- no\n\n```\nw\n| a | b |\n|--|--|\n| 1 | ~~2~~ |\n\nfoo\n$$\nx\n$$a\n$$\nbar $a$\n\n- [x] t\nend\u{e0041}\n1\n1. x\n-\n-x\n";
  for (let size = 1; size <= 9; size++) {
    let reading: Reading | null = null;
    for (let end = 0; end <= text.length + size; end += size) {
      const before: Reading | null = reading;
      reading = readOn(reading, text.slice(0, end), true);
      assert.deepEqual(reading.blocks, parse(text.slice(0, end)), JSON.stringify(text.slice(0, end)));
      const kept = before?.blocks.slice(0, before.settled) ?? [];
      assert.ok(
        kept.every((b, i) => b === reading?.blocks[i]),
        "what is settled stays",
      );
    }
    assert.ok((reading?.settled ?? 0) > 5);
  }
  // Another text begins anew, and what a long block held back comes with its end.
  assert.deepEqual(readOn(readOn(null, "# a\n\nb\n\nc"), "# b").blocks, parse("# b"));
  const long = "a b ".repeat(5000);
  const held = readOn(readOn(null, long, true), `${long}end`, true);
  assert.deepEqual(readOn(held, `${long}end`).blocks, parse(`${long}end`));
});

test("addresses of links", () => {
  for (const bad of [
    "javascript:1",
    "JAVASCRIPT:1",
    " https://a",
    "ftp://a",
    "https://",
    "http://a:b@c",
    "/x",
    "data:,",
  ])
    assert.equal(webAddress(bad), null, bad);
  assert.equal(webAddress("HTTPS://E.org/x")?.host, "e.org");
});

test("a link is shown without its host only when its words are the host or the address", () => {
  const cases: [string, boolean][] = [
    ["https://e.org/a_b", true],
    ["https://e.org:81/x?y#z", true],
    ["[e.org](https://e.org)", true],
    ["[E.org](https://e.org/deep/down)", true],
    ["[https://e.org/](https://e.org/a)", true],
    ["[e.org/a](https://e.org/a/)", true],
    ["[**e.org**](https://e.org)", true],
    ["https://e.org/путь", true],
    ["[paypal.com](https://l.com/)", false],
    ["[l.com.paypal.com](https://l.com/)", false],
    ["[l.com**.paypal.com**](https://l.com/)", false],
    ["[l.com/ at paypal.com](https://l.com/)", false],
    ["[e.org/a](https://e.org/b)", false],
    ["[e.org:81](https://e.org/)", false],
    ["[the site e.org](https://e.org/)", false],
    ["[here](https://e.org/)", false],
    ["[еxample.org](https://еxample.org/)", false], // its first letter is Cyrillic
  ];
  for (const [source, expected] of cases) {
    const [first] = parse(source);
    const link = first?.t === "p" ? first.children[0] : undefined;
    assert.ok(link?.t === "link", source);
    assert.equal(tellsWhere(link.children, link.href), expected, source);
  }
  const [nested] = parse("[*https://a.org/x*](https://b.org/)");
  assert.equal(nested?.t === "p" ? said(nested.children) : "", "[em(https://a.org/x)→https://b.org/]");
});
