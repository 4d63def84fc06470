// A stand-in for `jarvis serve`: the same routes and content policy, with scripted runs. It records what it is asked.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { cancelRun, configOf, newRun, Pace, play, store, type Media, type MockEvent, type MockRun } from "./runs";
import { ITEMS, KEPT, MODELS, OPENAPI, SUGGESTED, TASKS, TOOLS } from "./fixtures";
import { chatRoutes, runRoutes, summary, type KeptChat } from "./keep";
import { shapes } from "./media";
import { scriptFor, type Script } from "./scripts";

export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

export interface Options {
  dist: string;
  port?: number;
  /** Milliseconds between steps. */
  pace?: number;
  /** When set, calls need a log-in with it. */
  token?: string;
  planner?: "offline" | "llm";
  /** The pipelines that a run may choose. */
  reach?: { kind: string; hosts: string[] }[];
  warnings?: string[];
  pipelines?: string[];
  /** The chat models that a request may name. */
  models?: string[];
  /** The administrator's token; without one nobody pulls. */
  admin?: string;
  /** Whether it keeps chats. */
  chats?: boolean;
  /** Who is logged in; may be changed by the test. */
  user?: string;
  /** A server of the time before: one stream for each run alone. */
  old?: boolean;
}

export interface Mock {
  url: string;
  pace: Pace;
  runs: MockRun[];
  chats: Map<string, KeptChat>;
  /** What it was started with; may be changed. */
  options: Options;
  /** Each call but static files: method, path, parsed body. */
  calls: { method: string; path: string; search: string; body: unknown }[];
  /** Answers the next call to a path with this status and body. */
  failNext(path: string, status: number, body: unknown, headers?: Record<string, string>): void;
  /** Lets a pull go on that waits because the pace is held. */
  releasePull(): void;
  /** How many streams of events are open now. */
  openStreams(): number;
  /** Breaks the connections of streams that are open now, without ending their runs. */
  cutStreams(): void;
  /** As if the server died while a run called something, and another one went on with the run. */
  restart(): void;
  close(): Promise<void>;
}

export async function startMock(options: Options): Promise<Mock> {
  const pace = new Pace(options.pace ?? 0);
  const media: Media = new Map();
  const runs: MockRun[] = [];
  /** Stands for the picture when a request has none. */
  const anyPicture = store(media, "images", "png", "image/png", shapes());
  const calls: Mock["calls"] = [];
  const chats: Mock["chats"] = new Map();
  const failures = new Map<string, { status: number; body: unknown; headers: Record<string, string> }>();
  const streams = new Set<ServerResponse>();
  const plans = new Map<string, Script>();
  const planner = options.planner ?? "offline";
  const kept: Record<string, unknown>[] = [KEPT];
  const pulled = (name: string) => kept.some((model) => model.name === name);
  /** Pulls that go on. */
  const wanted = new Set<string>();
  const held = () => (pace.held ? new Promise<void>((go) => (releasePull = go)) : Promise.resolve());
  let releasePull = () => {};

  const json = (res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
    res.writeHead(status, { "content-type": "application/json", ...headers });
    res.end(JSON.stringify(body));
  };
  const error = (res: ServerResponse, status: number, code: string, message: string, hint?: string) =>
    json(res, status, { error: { code, message, hint } });

  const stream = (res: ServerResponse, run: MockRun, after: number) => {
    res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    res.write(": hello\n\n");
    streams.add(res);
    let at = after + 1;
    const send = () => {
      for (; at < run.events.length; at++) {
        const e = run.events[at] as MockEvent;
        res.write(`event: ${e.event}\nid: ${e.seq}\ndata: ${JSON.stringify(e)}\n\n`);
      }
      if (run.status !== "running" && run.status !== "queued") res.end();
    };
    run.listeners.add(send);
    res.on("close", () => {
      streams.delete(res);
      run.listeners.delete(send);
    });
    send();
  };

  /** All the runs of one browser, each from behind its place. */
  const streamMany = (res: ServerResponse, wanted: string[]) => {
    res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    res.write(": hello\n\n");
    streams.add(res);
    const open: { run: MockRun; at: number }[] = [];
    for (const word of wanted) {
      const [id = "", place] = word.split("@");
      const run = runs.find((r) => r.id === id);
      if (run) open.push({ run, at: place === undefined ? 0 : Math.trunc(Number(place)) + 1 });
      else res.write(`event: gone\ndata: ${JSON.stringify({ run_id: id })}\n\n`);
    }
    const send = () => {
      for (const one of open)
        for (; one.at < one.run.events.length; one.at++) {
          const e = one.run.events[one.at] as MockEvent;
          res.write(`event: ${e.event}\nid: ${e.run_id}@${e.seq}\ndata: ${JSON.stringify(e)}\n\n`);
        }
      if (open.every(({ run }) => run.status !== "running" && run.status !== "queued")) res.end();
    };
    for (const { run } of open) run.listeners.add(send);
    res.on("close", () => {
      streams.delete(res);
      for (const { run } of open) run.listeners.delete(send);
    });
    send();
  };

  const begin = (
    request: string,
    script: Script,
    attachments: unknown[],
    taken?: { from: string; steps: number },
  ): MockRun => {
    const run = newRun(request);
    runs.unshift(run);
    run.again = (from) => begin(request, mended(script, from), attachments, { from: run.id, steps: 1 + from });
    void play(run, script, attachments, planner, pace, media, taken);
    return run;
  };

  const accepted = (res: ServerResponse, run: MockRun) =>
    json(res, 202, { run_id: run.id, status: run.status, events: `/runs/${run.id}/events` });

  const routes = async (req: IncomingMessage, res: ServerResponse, url: URL, raw: Buffer): Promise<void> => {
    const { pathname: path, searchParams: query } = url;
    const body = parse(raw) as {
      messages?: { content: string }[];
      attachments?: { kind: string; path?: string }[];
      token?: string;
      execution_config?: { user_request: string; tasks: ConfigTask[] };
    };
    const request = body.messages?.at(-1)?.content ?? body.execution_config?.user_request ?? "";
    const attachments = body.attachments ?? [];
    const image = attachments.find((a) => a.kind === "image")?.path ?? anyPicture;
    const key = `${req.method} ${path}`;
    if (key === "GET /health" || key === "GET /ready")
      return json(res, 200, {
        status: "healthy",
        version: "0.1.0",
        planner,
        model: planner === "llm" ? "gpt-4o-mini" : "offline",
        tasks_loaded: 37,
        auth: !!options.token,
        ...(options.user ? { user: options.user } : {}),
        pipelines: options.pipelines ?? ["hugginggpt"],
        ...(options.models ? { chat_models: options.models } : {}),
        checks: [{ name: "catalogue", ok: true }],
        reach: options.reach ?? [
          { kind: "planning", hosts: ["this machine"] },
          { kind: "inputs", hosts: ["hosts that the request names"] },
        ],
        kept: {
          journal: true,
          logs: true,
          files: true,
          plans: 0,
          chats: options.chats ?? false,
          until: "deleted",
          folder: "/srv/jarvis",
          items: options.old ? [] : ITEMS,
        },
        warnings: options.warnings ?? [],
      });
    if (key === "POST /session") {
      if (body.token !== options.token) return error(res, 401, "unauthorized", "The token is not right");
      res.writeHead(204, { "set-cookie": "session=yes; HttpOnly; SameSite=Strict; Path=/" });
      return void res.end();
    }
    if (key === "DELETE /session") {
      res.writeHead(204, { "set-cookie": "session=; Max-Age=0; Path=/" });
      return void res.end();
    }
    if (key === "GET /openapi.json") return json(res, 200, OPENAPI);
    if (options.token && !req.headers.cookie?.includes("session=yes"))
      return error(res, 401, "unauthorized", "This server needs a token");
    if (key === "POST /upload") return uploaded(req, res, raw);
    const named = /^POST \/pipelines\/([\w-]+)\/runs$/.exec(key)?.[1];
    if (key === "POST /hugginggpt" || (named && options.pipelines?.includes(named)))
      return accepted(res, begin(request, scriptFor(request, image), attachments));
    if (key === "GET /events" && !options.old) return streamMany(res, query.getAll("run"));
    if (key === "POST /decisions/stream") return decide(res, request, scriptFor(request, image));
    if (/^POST \/plans\/(?:[\w-]+\/)?run$/.test(key)) {
      const config = body.execution_config;
      if (!config) return error(res, 422, "bad_plan", "There is no plan in the request");
      const script = edited(config.tasks, scriptFor(request, image));
      if (typeof script === "string")
        return error(res, 422, "bad_plan", script, "Put the task back, or change the argument");
      return accepted(res, begin(request, script, attachments));
    }
    if (key === "GET /models")
      return json(res, 200, {
        models: MODELS,
        tasks: TASKS,
      });
    if (key === "GET /tools" && !options.old) return json(res, 200, { tools: TOOLS, warnings: [] });
    if (path === "/chats" || path.startsWith("/chats/")) {
      if (!options.chats) return error(res, 501, "no_journal", "This server keeps no chats");
      const reply = chatRoutes(chats, req.method ?? "", url, parse(raw));
      return json(res, reply.status, reply.body);
    }
    if (key === "GET /local-models")
      return json(res, 200, { kept, suggested: SUGGESTED.filter((s) => !pulled(s.name)), pulls: !!options.admin });
    if (key === "POST /admin/models/plan" || key === "POST /admin/models/pull") {
      if (!options.admin || req.headers.authorization !== `Bearer ${options.admin}`)
        return error(res, 403, "not_administrator", "Only an administrator may do this");
      const { name = "" } = parse(raw) as { name?: string };
      if (name !== "caption") return error(res, 400, "unknown_model", `unknown model \`${name}\``);
      const plan = { name, repo: "org/caption", commit: "c0ffee".repeat(6) + "c0ff", is_pinned: true, license: "mit" };
      if (key.endsWith("plan"))
        return json(res, 200, {
          ...plan,
          is_gated: false,
          tasks: ["image-to-text"],
          total: 250e6,
          missing: 250e6,
          free: 50e9,
        });
      res.writeHead(200, { "content-type": "application/x-ndjson" });
      const line = (told: unknown) => res.write(`${JSON.stringify(told)}\n`);
      line({ status: "pulling manifest" });
      line({ status: "pulling abc", digest: "sha256:abc", total: 250e6, completed: 100e6 });
      res.on("close", () => (wanted.delete(name), undefined));
      wanted.add(name);
      return void held().then(() => {
        if (!wanted.has(name)) return;
        line({ status: "pulling abc", digest: "sha256:abc", total: 250e6, completed: 250e6 });
        line({ status: "success" });
        kept.push({ ...KEPT, id: "org/caption", name, tasks: ["image-to-text"], bytes: 250e6, loaded: null });
        res.end();
      });
    }
    const known = options.old ? null : runRoutes(runs, chats, req.method ?? "", url);
    if (known && "zip" in known) return void res.writeHead(200, { "content-type": "application/zip" }).end(known.zip);
    if (known) return json(res, known.status, known.body);
    if (key === "GET /runs") return json(res, 200, { runs: runs.map(summary) });
    const leave = /^POST \/runs\/([\w-]+)\/approvals\/(\d+)$/.exec(key);
    if (leave) {
      const answer = runs.find((r) => r.id === leave[1])?.leave;
      if (!answer) return error(res, 409, "not_waiting", "the run waits for nothing");
      const { decision } = parse(raw) as { decision: string };
      answer(decision);
      const approved = decision !== "refuse" && decision !== "skip";
      return json(res, 200, { run_id: leave[1], task: Number(leave[2]), approved });
    }
    const anew = /^POST \/runs\/([\w-]+)\/retry$/.exec(key)?.[1];
    if (anew) {
      const old = runs.find((r) => r.id === anew);
      const run = old?.again?.((parse(raw) as { from?: number }).from ?? 0);
      return run ? json(res, 200, { run_id: run.id, from: anew }) : error(res, 409, "goes_on", "The run goes on");
    }
    const one = /^(GET|POST) \/runs\/([\w-]+)(\/events|\/cancel)?$/.exec(key);
    if (one) {
      const run = runs.find((r) => r.id === one[2]);
      if (!run) return error(res, 404, "not_found", "There is no such run");
      if (one[3] === "/events") return stream(res, run, Number(req.headers["last-event-id"] ?? -1));
      if (one[3] === "/cancel") {
        if (run.status !== "running") return error(res, 409, "ended", "The run has ended");
        if (pace.cancels) pace.cancels.push(() => cancelRun(run));
        else cancelRun(run);
        return json(res, 200, { run_id: run.id, cancelled: true });
      }
      return json(res, 200, { ...summary(run), events: run.events.filter((e) => e.event !== "token") });
    }
    return error(res, 404, "not_found", "There is nothing here");
  };

  const uploaded = (req: IncomingMessage, res: ServerResponse, raw: Buffer): void => {
    const boundary = /boundary=(.+)$/.exec(req.headers["content-type"] ?? "")?.[1] ?? "";
    const head = raw.subarray(0, raw.indexOf("\r\n\r\n")).toString();
    const content = raw.subarray(raw.indexOf("\r\n\r\n") + 4, raw.lastIndexOf(`\r\n--${boundary}`));
    const name = decodeURIComponent(/filename="(.*)"/.exec(head)?.[1] ?? "file");
    const type = /content-type: (\S+)/i.exec(head)?.[1] ?? "";
    if (name.includes("too-large")) return error(res, 413, "too_large", "The file is larger than 32 MB");
    const isDocument = /\.(pdf|docx|xlsx|csv|md)$/.test(name);
    const file =
      type.startsWith("text/") || isDocument
        ? {
            kind: "text",
            text: isDocument ? "Its head office is in Bergen." : content.toString(),
            name,
            bytes: content.length,
          }
        : {
            kind: type.split("/")[0],
            path: store(media, `${type.split("/")[0]}s`, "png", type, Buffer.from(content)),
            name,
            bytes: content.length,
          };
    json(res, 200, { files: [file], ...file });
  };

  const decide = (res: ServerResponse, request: string, script: Script): void => {
    const config = configOf(request, script);
    const planId = `plan-${plans.size + 1}`;
    plans.set(planId, script);
    res.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event: string, data: Record<string, unknown>) =>
      res.write(`event: ${event}\ndata: ${JSON.stringify({ event, ...data })}\n\n`);
    send("plan", {
      plan: { tasks: script.steps.map((s, id) => ({ task: s.task, id, dep: s.dep ?? [-1], args: s.args })), notes: [] },
    });
    send("execution_config", { value: config, plan_id: planId });
    send("done", { ok: true, ms: 12 });
    res.end();
  };

  const server = createServer(async (req, res) => {
    res.setHeader("content-security-policy", POLICY);
    res.setHeader("x-content-type-options", "nosniff");
    const url = new URL(req.url ?? "/", "http://x");
    const path = url.pathname;
    try {
      const parts: Buffer[] = [];
      for await (const part of req) parts.push(part as Buffer);
      const raw = Buffer.concat(parts);
      const failure = failures.get(path);
      if (failure) {
        failures.delete(path);
        calls.push({ method: req.method ?? "", path, search: url.search, body: parse(raw) });
        return json(res, failure.status, failure.body, failure.headers);
      }
      const medium = media.get(path);
      if (medium) {
        res.writeHead(200, {
          "content-type": medium.type,
          "accept-ranges": "none",
          "content-length": medium.bytes.length,
        });
        return void res.end(medium.bytes);
      }
      const file = path === "/" ? "index.html" : path === "/docs" ? "docs.html" : path.slice(1);
      if (req.method === "GET" && /^[\w.-]+$/.test(file) && TYPES[extname(file)]) {
        const bytes = await readFile(join(options.dist, file)).catch(() => null);
        if (bytes) {
          res.writeHead(200, { "content-type": TYPES[extname(file)] ?? "" });
          return void res.end(bytes);
        }
      }
      calls.push({ method: req.method ?? "", path, search: url.search, body: parse(raw) });
      await routes(req, res, url, raw);
    } catch (e) {
      if (!res.headersSent) error(res, 500, "internal", String(e));
      else res.destroy();
    }
  });
  const cutStreams = () => {
    for (const res of streams) res.destroy();
  };
  await new Promise<void>((ready) => server.listen(options.port ?? 0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pace,
    runs,
    chats,
    options,
    calls,
    failNext: (path, status, body, headers = {}) => void failures.set(path, { status, body, headers }),
    releasePull: () => releasePull(),
    openStreams: () => streams.size,
    cutStreams,
    restart: () => {
      cutStreams();
      for (const run of runs) run.die?.();
    },
    close: () =>
      new Promise((done) => {
        pace.free();
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

/** The script without the faults of the tasks that are done anew. */
const mended = (script: Script, from: number): Script => ({
  ...script,
  steps: script.steps.map((step, id) => {
    if (id < from) return step;
    const { error: _, ...rest } = step;
    return { ...rest, inference: rest.inference ?? { "generated text": "done at the second try" } };
  }),
});

interface ConfigTask {
  task_id: number;
  task_type: string;
  model_id: string;
  args: Record<string, string>;
  dependencies: number[];
}

/** The script of an edited plan, or what is wrong with it. Ids are made dense again, as the server does. */
function edited(tasks: ConfigTask[], base: Script): Script | string {
  const place = new Map(tasks.map((x, i) => [x.task_id, i]));
  for (const x of tasks)
    for (const value of Object.values(x.args))
      for (const m of value.matchAll(/<GENERATED>-(\d+)/g))
        if (!place.has(Number(m[1])))
          return `Task ${x.task_id} uses the output of task ${m[1]}, which is not in the plan`;
  const steps = tasks.map((x) => {
    const like = base.steps.find((s) => s.task === x.task_type);
    const args = Object.fromEntries(
      Object.entries(x.args).map(([k, v]) => [
        k,
        v.replace(/<GENERATED>-(\d+)/g, (_, n: string) => `<GENERATED>-${place.get(Number(n))}`),
      ]),
    );
    return {
      ...(like ?? { task: x.task_type }),
      args,
      model: x.model_id,
      dep: x.dependencies.map((d) => place.get(d) ?? -1),
    };
  });
  return { ...base, steps, answer: `Done as edited: ${steps.map((s) => `${s.task} with ${s.model}`).join(", ")}.` };
}

function parse(raw: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(raw.toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}
