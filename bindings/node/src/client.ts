// The client of `jarvis serve`. Types are those of the server's own description (api.ts).

import { readFile } from "node:fs/promises";
import { basename } from "node:path";

import createClient, { type Client as Api } from "openapi-fetch";

import type { components, paths } from "./api.js";
import { ApiError, ApprovalNeededError, JarvisError } from "./errors.js";
import type { Plan, RunDocument } from "./run.js";
import { type Event, events, hasSeenEnd, place, type RunsEvent } from "./stream.js";

type Schemas = components["schemas"];

export interface ClientOptions {
  /** The token of the user, where the server wants one. */
  token?: string;
  /** Another `fetch`, such as one with a proxy or without time limits. */
  fetch?: (request: Request) => Promise<Response>;
}

export interface AskOptions {
  /** Earlier turns. */
  history?: readonly Schemas["Message"][];
  /** What goes with the request: what `upload` gave. */
  attachments?: readonly Schemas["Attachment"][];
  /** `hugginggpt` unless given. */
  pipeline?: string;
  /** One of the `chat_models` of `health`. */
  model?: string;
  budget?: Schemas["BudgetAsk"];
  experience?: boolean;
  signal?: AbortSignal;
}

/** A file to upload: its path, or its name and content. */
export type Upload = string | { name: string; data: Uint8Array | string };

/** A page of runs: `before` is `next` of the page before. */
export type Page = Omit<NonNullable<paths["/runs"]["get"]["parameters"]["query"]>, "status"> & {
  status?: readonly string[];
};

interface Result<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Talks to a server. */
export class Client {
  /** Every route of the server, typed: `client.api.GET("/runs/{id}", …)`. */
  readonly api: Api<paths>;
  readonly #baseUrl: string;

  constructor(baseUrl = "http://127.0.0.1:8004", { token, fetch = globalThis.fetch }: ClientOptions = {}) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.api = createClient<paths>({
      baseUrl: this.#baseUrl,
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      fetch: async (request) => {
        try {
          return await fetch(request);
        } catch (cause) {
          if (request.signal.aborted) throw cause;
          throw new ApiError(`the server at ${this.#baseUrl} cannot be reached: ${reason(cause)}`, {
            code: "unreachable",
            hint: "start one with `jarvis serve`, or check the address",
            cause,
          });
        }
      },
    });
  }

  /**
   * Carries a request out and waits for its result.
   *
   * @throws {ApprovalNeededError} where the run comes to a call that somebody must allow
   */
  async run(request: string, options: AskOptions = {}): Promise<RunDocument> {
    const { pipeline = "hugginggpt", signal } = options;
    const params = { path: { name: pipeline } };
    return result(
      await this.api.POST("/pipelines/{name}/runs", { params, body: ask(request, options), ...abort(signal) }),
    );
  }

  /** Starts a run that goes on by itself, and does not wait for it. */
  async start(request: string, options: AskOptions = {}): Promise<Schemas["StartedReply"]> {
    const { pipeline = "hugginggpt", signal } = options;
    const body = { ...ask(request, options), detached: true };
    const reply = await this.api.POST("/pipelines/{name}/runs", {
      params: { path: { name: pipeline } },
      body,
      ...abort(signal),
    });
    return read(reply) as Schemas["StartedReply"];
  }

  /** Carries a request out and gives its events while they happen. Leaving the loop cancels the run, unless it is `detached`. */
  async *stream(request: string, options: AskOptions & { detached?: boolean } = {}): AsyncGenerator<Event, void, void> {
    const { pipeline = "hugginggpt", detached, signal } = options;
    const body = { ...ask(request, options), ...(detached ? { detached } : {}) };
    const params = { path: { name: pipeline } };
    yield* events<Event>(signal, (signal) =>
      this.api.POST("/pipelines/{name}/runs/stream", { params, body, signal, parseAs: "stream" }).then(read),
    );
  }

  /** The events of a run, from the beginning or behind a place in it, and up to its end; leaving cancels nothing. */
  async *follow(
    runId: string,
    { lastEventId, signal }: { lastEventId?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<Event, void, void> {
    const params = { path: { id: runId }, ...place(lastEventId) };
    yield* events<Event>(
      signal,
      (signal) => this.api.GET("/runs/{id}/events", { params, signal, parseAs: "stream" }).then(read),
      "done",
      // Nothing follows the end of a run.
      async () => lastEventId !== undefined && hasSeenEnd((await this.getRun(runId)).events, lastEventId),
    );
  }

  /** The events of up to 100 runs in one stream; of a run that is not there, only its `run_id`. */
  async *followAll(
    runIds: string | readonly string[],
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<RunsEvent, void, void> {
    const params = { query: { run: typeof runIds === "string" ? [runIds] : [...runIds] } };
    yield* events<RunsEvent>(
      signal,
      (signal) => this.api.GET("/events", { params, signal, parseAs: "stream" }).then(read),
      "all",
    );
  }

  /** Follows a run to its end; the run with everything that happened in it. */
  async wait(runId: string, options: { signal?: AbortSignal } = {}): Promise<Schemas["RunReply"]> {
    for await (const _ of this.follow(runId, options));
    return this.getRun(runId);
  }

  /** A page of runs, newest first. */
  async runs({ status, ...page }: Page = {}): Promise<Schemas["RunsReply"]> {
    const query = { ...page, ...(status ? { status: status.join(",") } : {}) };
    return read(await this.api.GET("/runs", { params: { query } }));
  }

  async getRun(runId: string): Promise<Schemas["RunReply"]> {
    return read(await this.api.GET("/runs/{id}", { params: { path: { id: runId } } }));
  }

  /** Ends a run before its time. */
  async cancel(runId: string): Promise<Schemas["CancelReply"]> {
    return read(await this.api.POST("/runs/{id}/cancel", { params: { path: { id: runId } } }));
  }

  /** Goes on with a run that was cut off. */
  async resume(runId: string): Promise<Schemas["ResumeReply"]> {
    return read(await this.api.POST("/runs/{id}/resume", { params: { path: { id: runId } } }));
  }

  /** Tries again what did not succeed, or from a task on, in a new run. */
  async retry(runId: string, task?: number): Promise<Schemas["ResumeReply"]> {
    const body = task === undefined ? {} : { body: { from: task } };
    return read(await this.api.POST("/runs/{id}/retry", { params: { path: { id: runId } }, ...body }));
  }

  /** Removes a run with the files that nothing else speaks of. */
  async removeRun(runId: string): Promise<Schemas["RemovedReply"]> {
    return read(await this.api.DELETE("/runs/{id}", { params: { path: { id: runId } } }));
  }

  /** Says whether a run's plan was good, by which later ones are made. */
  async rate(runId: string, rating: Schemas["Rating"]): Promise<Schemas["RatingReply"]> {
    return read(await this.api.POST("/runs/{id}/rating", { params: { path: { id: runId } }, body: { rating } }));
  }

  /** Allows a call that waits; `arguments` are all of them, in the place of the planned ones. */
  async approve(
    runId: string,
    task: number,
    answer: { decision?: "approve" | "approve_always"; arguments?: Record<string, unknown> } = {},
  ): Promise<Schemas["ApprovalReply"]> {
    return this.#answer(runId, task, { decision: "approve", ...answer });
  }

  /** Refuses a call that waits. */
  async refuse(runId: string, task: number, reason?: string): Promise<Schemas["ApprovalReply"]> {
    return this.#answer(runId, task, { decision: "refuse", ...(reason === undefined ? {} : { reason }) });
  }

  /** Decides which tasks and models a request takes, and carries nothing out. The server keeps it as `plan_id`. */
  async plan(
    request: string,
    options: Omit<AskOptions, "pipeline" | "budget"> = {},
  ): Promise<Schemas["ConfigDecision"]> {
    const reply = await this.api.POST("/decisions", { body: ask(request, options), ...abort(options.signal) });
    return read(reply) as Schemas["ConfigDecision"];
  }

  async getPlan(planId: string): Promise<Schemas["SavedPlan"]> {
    return read(await this.api.GET("/plans/{id}", { params: { path: { id: planId } } }));
  }

  /** Carries a plan out, one that the server keeps or one's own, and waits for its result. */
  async runPlan(
    plan: string | Plan,
    { attachments, signal }: Pick<AskOptions, "attachments" | "signal"> = {},
  ): Promise<RunDocument> {
    const files = attachments ? { attachments: [...attachments] } : {};
    if (typeof plan === "string")
      return result(
        await this.api.POST("/plans/{id}/run", { params: { path: { id: plan } }, body: files, ...abort(signal) }),
      );
    const body = { ...files, execution_config: plan.execution_config };
    return result(await this.api.POST("/plans/run", { body, ...abort(signal) }));
  }

  /** Carries a plan out and gives its events while they happen. */
  async *streamPlan(
    plan: string | Plan,
    { attachments, signal }: Pick<AskOptions, "attachments" | "signal"> = {},
  ): AsyncGenerator<Event, void, void> {
    const files = attachments ? { attachments: [...attachments] } : {};
    yield* events<Event>(signal, (signal) =>
      typeof plan === "string"
        ? this.api
            .POST("/plans/{id}/run/stream", { params: { path: { id: plan } }, body: files, signal, parseAs: "stream" })
            .then(read)
        : this.api
            .POST("/plans/run/stream", {
              body: { ...files, execution_config: plan.execution_config },
              signal,
              parseAs: "stream",
            })
            .then(read),
    );
  }

  /** Sends files; what stands for them in a request. */
  async upload(...files: readonly Upload[]): Promise<Schemas["Attachment"][]> {
    const form = new FormData();
    for (const file of files) {
      const { name, data } = typeof file === "string" ? { name: basename(file), data: await readFile(file) } : file;
      form.append("file", new Blob([typeof data === "string" ? data : new Uint8Array(data)]), name);
    }
    const reply = read(await this.api.POST("/upload", { body: { file: [] }, bodySerializer: () => form }));
    return reply.files.map(({ bytes: _, ...attachment }) => attachment);
  }

  /** A file of the server's, by the `url` of an output, such as `/images/….png`. */
  async download(url: string): Promise<Uint8Array> {
    // No other host is asked, which would be sent the token.
    if (!url.startsWith("/") || url.startsWith("//"))
      throw new JarvisError(`\`${url}\` is no file of the server`, {
        code: "usage",
        exitCode: 2,
        hint: "give the `url` of an output, such as /images/….png",
      });
    const reply = await this.api.GET(url as "/images/{name}", {
      params: { path: { name: "" } },
      parseAs: "arrayBuffer",
    });
    return new Uint8Array(read(reply as Result<ArrayBuffer>));
  }

  /** How the server is, which pipelines and chat models it has. */
  async health(): Promise<Schemas["HealthReply"]> {
    return read(await this.api.GET("/health"));
  }

  /** The models, and the task types that something serves. */
  async models(): Promise<Schemas["ModelsReply"]> {
    return read(await this.api.GET("/models"));
  }

  /** The models on the server's machine, and what would help. */
  async localModels(): Promise<Schemas["LocalModels"]> {
    return read(await this.api.GET("/local-models"));
  }

  /** The tools with their inputs. */
  async tools(): Promise<Schemas["ToolsReply"]> {
    return read(await this.api.GET("/tools"));
  }

  /** The pipelines that work as the server is configured. */
  async pipelines(): Promise<string[]> {
    return (await this.health()).pipelines;
  }

  async #answer(runId: string, task: number, body: Schemas["ApprovalAsk"]): Promise<Schemas["ApprovalReply"]> {
    const params = { path: { id: runId, task } };
    return read(await this.api.POST("/runs/{id}/approvals/{task}", { params, body }));
  }
}

function ask(request: string, { history = [], attachments, model, budget, experience }: AskOptions): Schemas["Ask"] {
  return {
    messages: [...history, { role: "user", content: request }],
    ...(attachments ? { attachments: [...attachments] } : {}),
    ...(model === undefined ? {} : { model }),
    ...(budget ? { budget } : {}),
    ...(experience === undefined ? {} : { experience }),
  };
}

function abort(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}

/** What a reply holds, or the error that it tells. */
function read<T>({ data, error, response }: Result<T>): T {
  if (response.ok && data !== undefined) return data;
  const told = (error as Partial<Schemas["ErrorBody"]> | undefined)?.error;
  const { status, statusText } = response;
  if (typeof told?.message === "string")
    throw new ApiError(told.message, { status, code: told.code, hint: told.hint ?? undefined, details: told.details });
  throw new ApiError(`the server answered ${status} ${statusText}`.trim(), {
    status,
    hint: "check that the address is that of `jarvis serve`",
  });
}

/** The result of a run that was waited for. */
function result(reply: Result<Schemas["AnswerReply"] | Schemas["GoingOnReply"]>): RunDocument {
  const data = read(reply);
  if ("run" in data) return data.run;
  throw new ApprovalNeededError(data.run_id, "waiting" in data ? data.waiting : []);
}

/** The innermost reason of a failed `fetch`, whose own message says nothing. */
function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? reason(cause) : error instanceof Error ? error.message : String(error);
}
