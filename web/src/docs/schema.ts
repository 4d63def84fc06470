// JSON Schema as a short notation that people read, in the manner of TypeScript types. Pure.
import { list, num, record, str } from "../api/decode";

type Json = Record<string, unknown>;

/** A word of the notation: plain text, or the name of another schema to link to. */
export type Word = string | { ref: string };

export const refName = (ref: string): string => decodeURIComponent(ref.split("/").at(-1) ?? ref);

/** What a JSON pointer such as `#/components/schemas/Turn` leads to in a document. */
export function resolve(document: unknown, ref: string): Json {
  if (!ref.startsWith("#/")) return {};
  let at: unknown = document;
  for (const part of ref.slice(2).split("/"))
    at = record(at)[decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~")];
  return record(at);
}

/** A schema in notation. Deeper than `depth` an object is only named as one. */
export function notation(schema: unknown, depth = 3, indent = ""): Word[] {
  const s = record(schema);
  if (typeof s.$ref === "string") return [{ ref: refName(s.$ref) }];
  if (Array.isArray(s.enum)) return [s.enum.map((v) => JSON.stringify(v)).join(" | ")];
  if ("const" in s) return [JSON.stringify(s.const)];
  const some = [...list(s.oneOf), ...list(s.anyOf)];
  if (some.length)
    return join(
      some.map((x) => notation(x, depth, indent)),
      " | ",
    );
  if (list(s.allOf).length)
    return join(
      list(s.allOf).map((x) => notation(x, depth, indent)),
      " & ",
    );
  const types = Array.isArray(s.type)
    ? s.type.map((x) => str(x))
    : [str(s.type, s.properties ? "object" : s.items ? "array" : "any")];
  return join(
    types.map((type) => ofType(type, s, depth, indent)),
    " | ",
  );
}

function ofType(type: string, s: Json, depth: number, indent: string): Word[] {
  if (type === "array") {
    const inner = notation(s.items ?? {}, depth, indent);
    return inner.length === 1 && typeof inner[0] !== "string" ? [...inner, "[]"] : ["array of ", ...inner];
  }
  if (type === "object") return object(s, depth, indent);
  if (s.contentSchema) return ["JSON text of ", ...notation(s.contentSchema, depth, indent)];
  return [str(s.format) ? `${type} (${str(s.format)})` : type];
}

function object(s: Json, depth: number, indent: string): Word[] {
  const properties = Object.entries(record(s.properties));
  if (!properties.length)
    return s.additionalProperties && typeof s.additionalProperties === "object"
      ? ["map of ", ...notation(s.additionalProperties, depth - 1, indent)]
      : ["object"];
  if (depth <= 0) return ["object"];
  const required = new Set(list(s.required).map((x) => str(x)));
  const out: Word[] = ["{\n"];
  for (const [name, value] of properties) {
    const says = str(record(value).description).split("\n")[0] ?? "";
    out.push(
      `${indent}  ${name}${required.has(name) ? "" : "?"}: `,
      ...notation(value, depth - 1, `${indent}  `),
      says ? `  // ${says}\n` : "\n",
    );
  }
  out.push(`${indent}}`);
  return out;
}

const join = (parts: Word[][], by: string): Word[] => parts.flatMap((words, i) => (i ? [by, ...words] : words));

/** A value that fits a schema, for the example of a call. */
export function sample(document: unknown, schema: unknown, depth = 6): unknown {
  const s = record(schema);
  if (depth < 0) return null;
  if ("example" in s) return s.example;
  if (list(s.examples).length) return list(s.examples)[0];
  if ("default" in s) return s.default;
  if ("const" in s) return s.const;
  if (typeof s.$ref === "string") return sample(document, resolve(document, s.$ref), depth - 1);
  if (Array.isArray(s.enum)) return s.enum[0];
  const first = list(s.oneOf)[0] ?? list(s.anyOf)[0];
  if (first) return sample(document, first, depth - 1);
  if (list(s.allOf).length) return Object.assign({}, ...list(s.allOf).map((x) => sample(document, x, depth - 1)));
  const type = Array.isArray(s.type) ? s.type.find((x) => x !== "null") : s.type;
  if (type === "object" || s.properties) {
    const required = new Set(list(s.required).map((x) => str(x)));
    const all = Object.entries(record(s.properties));
    const wanted = required.size ? all.filter(([name]) => required.has(name)) : all.slice(0, 4);
    return Object.fromEntries(wanted.map(([name, value]) => [name, sample(document, value, depth - 1)]));
  }
  if (type === "array") return [sample(document, s.items ?? {}, depth - 1)];
  if (type === "integer" || type === "number") return num(s.minimum, 1);
  if (type === "boolean") return false;
  return "…";
}
