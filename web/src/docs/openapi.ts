// The parts of an OpenAPI 3 document that the page shows, read from unknown JSON. Pure.
import { list, record, str } from "../api/decode";
import { resolve, sample } from "./schema";

export interface Parameter {
  name: string;
  where: string;
  required: boolean;
  description: string;
  schema: unknown;
}

export interface Body {
  type: string;
  schema: unknown;
  example: unknown;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  body: Body[];
  bodyRequired: boolean;
  responses: { status: string; description: string; content: Body[] }[];
}

export interface Api {
  title: string;
  version: string;
  description: string;
  tags: { name: string; description: string; operations: Operation[] }[];
  schemas: [name: string, schema: unknown][];
  document: unknown;
}

const METHODS = ["get", "post", "put", "patch", "delete"];

export function readApi(document: unknown): Api {
  const d = record(document);
  const deref = (v: unknown) =>
    typeof record(v).$ref === "string" ? resolve(document, str(record(v).$ref)) : record(v);
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(record(d.paths)))
    for (const method of METHODS) {
      const raw = record(item)[method];
      if (!raw) continue;
      const o = record(raw);
      const body = deref(o.requestBody);
      operations.push({
        id: `${method}-${path.replace(/\W+/g, "-")}`,
        method,
        path,
        tag: str(list(o.tags)[0], ""),
        summary: str(o.summary),
        description: str(o.description),
        parameters: [...list(record(item).parameters), ...list(o.parameters)].map((p) => {
          const x = deref(p);
          return {
            name: str(x.name),
            where: str(x.in),
            required: x.required === true,
            description: str(x.description),
            schema: x.schema,
          };
        }),
        body: content(document, body.content),
        bodyRequired: body.required === true,
        responses: Object.entries(record(o.responses)).map(([status, r]) => ({
          status,
          description: str(deref(r).description),
          content: content(document, deref(r).content),
        })),
      });
    }
  const named = list(d.tags).map((tag) => ({ name: str(record(tag).name), description: str(record(tag).description) }));
  for (const o of operations)
    if (!named.some((tag) => tag.name === o.tag)) named.push({ name: o.tag, description: "" });
  const info = record(d.info);
  return {
    title: str(info.title, "API"),
    version: str(info.version),
    description: str(info.description),
    tags: named
      .map((tag) => ({ ...tag, operations: operations.filter((o) => o.tag === tag.name) }))
      .filter((tag) => tag.operations.length),
    schemas: Object.entries(record(record(d.components).schemas)),
    document,
  };
}

function content(document: unknown, v: unknown): Body[] {
  return Object.entries(record(v)).map(([type, media]) => {
    const m = record(media);
    const named = Object.values(record(m.examples)).map((e) => record(e).value)[0];
    return {
      type,
      schema: m.schema,
      example: m.example ?? named ?? (m.schema ? sample(document, m.schema) : undefined),
    };
  });
}

/** The call as a line for a shell. */
export function curl(operation: Operation, origin: string): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
  const parts = [
    `curl${operation.method === "get" || (operation.method === "post" && operation.body.length) ? "" : ` -X ${operation.method.toUpperCase()}`} ${quote(origin + path)}`,
  ];
  const body = operation.body[0];
  if (body?.type.includes("multipart")) parts.push("-F file=@photo.jpg");
  else if (body) parts.push(`-H 'content-type: ${body.type}'`, `-d ${quote(JSON.stringify(body.example))}`);
  if (operation.responses.some((r) => r.content.some((c) => c.type === "text/event-stream"))) parts.push("-N");
  return parts.join(" \\\n  ");
}

/** A word in single quotes, as a POSIX shell reads it. */
const quote = (s: string): string => `'${s.replace(/'/g, "'\\''")}'`;
