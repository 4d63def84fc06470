// The arguments of a call as fields to be filled in by type: from values and, where there is one, a JSON Schema. Pure.
import { list, record, str } from "../api/decode";
import { clean } from "./text";

export type FieldType = "text" | "number" | "integer" | "boolean" | "choice" | "json";

export interface Field {
  name: string;
  type: FieldType;
  /** What may be chosen, as JSON. */
  choices: string[];
  required: boolean;
  description: string;
}

/** What is written in the fields, by name; nothing for an argument that is left out. */
export type Drafts = Record<string, string>;

/** The type of a field by its schema, else by the value that stands in it. */
function typeOf(schema: Record<string, unknown>, value: unknown): FieldType {
  if (Array.isArray(schema.enum) && schema.enum.length) return "choice";
  const named = list(schema.type)
    .concat(schema.type)
    .find((one) => typeof one === "string" && one !== "null");
  switch (named) {
    case "string":
      return value === undefined || typeof value === "string" ? "text" : "json";
    case "number":
    case "integer":
    case "boolean":
      return named;
    case "array":
    case "object":
      return "json";
  }
  return typeof value === "string"
    ? "text"
    : typeof value === "number"
      ? "number"
      : typeof value === "boolean"
        ? "boolean"
        : "json";
}

/** A field for each argument that is there or that the schema speaks of; required ones first, else in order. */
export function fieldsOf(values: Record<string, unknown>, schema: unknown): Field[] {
  const properties = record(record(schema).properties);
  const required = new Set(list(record(schema).required));
  const names = [...new Set([...Object.keys(values), ...Object.keys(properties)])];
  return names
    .map((name) => {
      const about = record(properties[name]);
      const type = typeOf(about, values[name]);
      const choices = type === "choice" ? list(about.enum).map((one) => JSON.stringify(one)) : [];
      return { name, type, choices, required: required.has(name), description: clean(str(about.description)) };
    })
    .sort((a, b) => Number(b.required) - Number(a.required));
}

/** What stands in the fields at first. */
export function draftsOf(values: Record<string, unknown>, fields: Field[]): Drafts {
  const out: Drafts = {};
  for (const { name, type } of fields) {
    const value = values[name];
    if (value === undefined) continue;
    out[name] = type === "text" ? String(value) : JSON.stringify(value, null, type === "json" ? 2 : undefined);
  }
  return out;
}

export type FieldProblem = "missing" | "number" | "integer" | "json";

/** The value of one field, or what is wrong with it. Undefined when it is left out. */
export function valueOf(field: Field, draft: string | undefined): { value: unknown } | { problem: FieldProblem } {
  const empty = draft === undefined || (draft.trim() === "" && field.type !== "text");
  if (empty) return field.required ? { problem: "missing" } : { value: undefined };
  switch (field.type) {
    case "text":
      return { value: draft };
    case "number":
    case "integer": {
      const value = Number(draft.replace(",", "."));
      if (!Number.isFinite(value)) return { problem: "number" };
      return field.type === "integer" && !Number.isInteger(value) ? { problem: "integer" } : { value };
    }
    case "boolean":
    case "choice":
    case "json":
      try {
        return { value: JSON.parse(draft) as unknown };
      } catch {
        return { problem: "json" };
      }
  }
}

/** All values, or the problems by name. */
export function valuesOf(
  fields: Field[],
  drafts: Drafts,
): { values: Record<string, unknown> } | { problems: Record<string, FieldProblem> } {
  const values: Record<string, unknown> = {};
  const problems: Record<string, FieldProblem> = {};
  for (const field of fields) {
    const read = valueOf(field, drafts[field.name]);
    if ("problem" in read) problems[field.name] = read.problem;
    else if (read.value !== undefined) values[field.name] = read.value;
  }
  return Object.keys(problems).length ? { problems } : { values };
}
