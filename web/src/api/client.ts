// One function per route of the API that the page uses. Types in, types out.
import * as decode from "./decode";
import * as decodeModels from "./decode-models";
import { ApiError, call, getJson, postInit, upload as sendFile } from "./http";
import { events, lines } from "./sse";
import type {
  Attachment,
  ChatBody,
  ExecutionConfig,
  Health,
  LocalModels,
  Me,
  Model,
  Page,
  PlannedPull,
  PullLine,
  RunEvent,
  RunSummary,
  RunsWanted,
  TaskType,
  Tools,
} from "./types";

/** Reads a stream of run events; kinds and data that cannot be read are passed over. */
async function* stream(response: Response): AsyncGenerator<RunEvent> {
  if (!response.body || !(response.headers.get("content-type") ?? "").startsWith("text/event-stream"))
    throw new ApiError("bad_reply", "The server did not answer with an event stream");
  for await (const raw of events(response.body)) {
    let json: unknown;
    try {
      json = JSON.parse(raw.data);
    } catch {
      continue;
    }
    const event = decode.event(json, raw.event);
    if (event) yield event.seq < 0 && raw.id && /^\d+$/.test(raw.id) ? { ...event, seq: Number(raw.id) } : event;
  }
}

const SSE = "text/event-stream";

/** Starts a run that goes on by itself, and tells its id. */
async function start(path: string, body: unknown, signal: AbortSignal): Promise<string> {
  const reply = decode.record(await (await call(path, postInit(body, "application/json", signal))).json());
  // A server that knows no other way answers when the run has ended, with the whole of it.
  const id = decode.str(reply.run_id, decode.str(decode.record(reply.run).run_id));
  if (id === "") throw new ApiError("bad_reply", "The server did not say which run it started");
  return id;
}

/** Starts a run of a pipeline, or of the server's default. */
export const run = (body: ChatBody, pipeline: string | null, signal: AbortSignal): Promise<string> =>
  start(
    pipeline === null ? "/hugginggpt" : `/pipelines/${encodeURIComponent(pipeline)}/runs`,
    { ...body, detached: true },
    signal,
  );

/** Plans and chooses models without executing. */
export async function* decide(body: ChatBody, signal: AbortSignal): AsyncGenerator<RunEvent> {
  yield* stream(await call("/decisions/stream", postInit(body, SSE, signal)));
}

/** Starts a plan as the person left it. */
export const runPlan = (
  config: ExecutionConfig,
  attachments: Attachment[],
  planId: string | null,
  signal: AbortSignal,
): Promise<string> =>
  start(
    planId === null ? "/plans/run" : `/plans/${encodeURIComponent(planId)}/run`,
    {
      execution_config: config,
      detached: true,
      ...(attachments.length ? { attachments: attachments.map(decode.attachmentOut) } : {}),
    },
    signal,
  );

/** Follows a run by itself from behind a place, where the server has no stream for many. */
export async function* follow(runId: string, place: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  const headers: Record<string, string> = { accept: SSE };
  if (place !== "") headers["last-event-id"] = place;
  yield* stream(await call(`/runs/${encodeURIComponent(runId)}/events`, { headers, signal }));
}

export async function cancel(runId: string): Promise<void> {
  await call(`/runs/${encodeURIComponent(runId)}/cancel`, postInit({}, "application/json"));
}

/** Answers a call that waits for leave. */
export async function approve(
  runId: string,
  task: number,
  decision: "approve" | "approve_always" | "refuse" | "retry" | "done" | "skip",
  more: { arguments?: Record<string, unknown>; reason?: string } = {},
): Promise<void> {
  const body = { decision, ...more };
  await call(`/runs/${encodeURIComponent(runId)}/approvals/${task}`, postInit(body, "application/json"));
}

/** Goes on with a run that was cut off. */
export async function resume(runId: string): Promise<void> {
  await call(`/runs/${encodeURIComponent(runId)}/resume`, postInit({}, "application/json"));
}

/** Tries a run anew as another one, from a task on with all that need it; returns its id. */
export async function retry(runId: string, from: number): Promise<string> {
  const reply = await call(`/runs/${encodeURIComponent(runId)}/retry`, postInit({ from }, "application/json"));
  return decode.str(decode.record(await reply.json()).run_id);
}

export async function runs(
  limit: number,
  wanted?: RunsWanted,
  before: string | null = null,
): Promise<Page<RunSummary>> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (before !== null) query.set("before", before);
  if (wanted?.status.length) query.set("status", wanted.status.join());
  if (wanted?.text) query.set("text", wanted.text);
  if (wanted?.user) query.set("user", wanted.user);
  if (wanted?.sinceMs != null) query.set("since_ms", String(wanted.sinceMs));
  if (wanted?.untilMs != null) query.set("until_ms", String(wanted.untilMs));
  return decode.page(await getJson(`/runs?${query}`), "runs", decode.runSummary);
}

/** Deletes a run and the files that no other run speaks of; tells how many these were. */
export async function deleteRun(runId: string): Promise<{ media: number }> {
  const reply = await (await call(`/runs/${encodeURIComponent(runId)}`, { method: "DELETE" })).json();
  return { media: decode.num(decode.record(reply).media) };
}

/** Deletes the person's runs that ended before a time. */
export async function deleteRuns(beforeMs: number): Promise<{ runs: number; media: number }> {
  const reply = decode.record(await (await call(`/runs?before_ms=${beforeMs}`, { method: "DELETE" })).json());
  return { runs: decode.num(reply.deleted), media: decode.num(reply.media) };
}

export const me = async (): Promise<Me> => decode.me(await getJson("/me"));

/** All that the server keeps of the person, as a file. */
export const MY_DATA = "/me/data";

/** Deletes all of it but runs that go on. */
export async function deleteMyData(): Promise<Me["stored"] & { goingOn: number; media: number }> {
  const reply = decode.record(await (await call(MY_DATA, { method: "DELETE" })).json());
  const stored = decode.me({ stored: reply }).stored;
  return { ...stored, media: decode.num(reply.media), goingOn: decode.num(reply.going_on) };
}

export async function runEvents(runId: string): Promise<{ summary: RunSummary; events: RunEvent[] }> {
  const reply = await getJson(`/runs/${encodeURIComponent(runId)}`);
  const all = decode.list(decode.record(reply).events).map((e) => decode.event(e));
  return { summary: decode.runSummary(reply), events: all.filter((e) => e !== null) };
}

export async function models(): Promise<{ models: Model[]; tasks: TaskType[] }> {
  const reply = await getJson("/models");
  const o = decode.record(reply);
  return {
    models: (Array.isArray(reply) ? reply : decode.list(o.models)).map(decode.model),
    tasks: decode.list(o.tasks).map(decode.taskType),
  };
}

export const tools = async (): Promise<Tools> => decode.tools(await getJson("/tools"));

export async function localModels(): Promise<LocalModels> {
  return decodeModels.localModels(await getJson("/local-models"));
}

/** What a pull would fetch; needs the administrator's token. */
export async function planPull(name: string, token: string): Promise<PlannedPull> {
  const response = await call("/admin/models/plan", asAdministrator(postInit({ name }, "application/json"), token));
  return decodeModels.plannedPull(await response.json());
}

/** Pulls a model, and tells of it line by line. Aborting stops the pull; what has come is kept. */
export async function* pull(
  name: string,
  commit: string,
  token: string,
  signal: AbortSignal,
): AsyncGenerator<PullLine> {
  const init = postInit({ name, commit }, "application/x-ndjson", signal);
  const response = await call("/admin/models/pull", asAdministrator(init, token));
  if (!response.body) throw new ApiError("bad_reply", "The server did not answer with lines");
  let ended = false;
  for await (const line of lines(response.body)) {
    const told = decodeModels.pullLine(JSON.parse(line));
    if (told.error) throw new ApiError("pull_failed", told.error.message, told.error.hint);
    ended ||= told.status === "success";
    yield told;
  }
  if (!ended) throw new ApiError("unreachable", "");
}

const asAdministrator = (init: RequestInit, token: string): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` },
});

export async function health(): Promise<Health> {
  return decode.health(await getJson("/health"));
}

export async function upload(
  file: Blob,
  name: string,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<Attachment> {
  const reply = decode.record(await sendFile(file, name, onProgress, signal));
  const first = decode.list(reply.files)[0] ?? reply;
  return { name, ...decode.attachment(first) };
}
