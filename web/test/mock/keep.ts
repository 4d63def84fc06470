// What the mock server keeps for its users: chats with versions, and the ways to list, count and delete runs and all the rest.
import type { MockRun } from "./runs";

export interface KeptChat {
  id: string;
  title: string;
  updated_ms: number;
  version: number;
  body: unknown;
}

interface Reply {
  status: number;
  body: unknown;
}

const error = (status: number, code: string, message: string, details?: unknown): Reply => ({
  status,
  body: { error: { code, message, details } },
});

/** Answers a call to `/chats` or below it. */
export function chatRoutes(
  chats: Map<string, KeptChat>,
  method: string,
  url: URL,
  body: Record<string, unknown>,
): Reply {
  const id = url.pathname.split("/")[2] ?? "";
  if (!id) {
    const text = (url.searchParams.get("text") ?? "").toLowerCase();
    const limit = Number(url.searchParams.get("limit") ?? 50);
    const from = Number(url.searchParams.get("before") ?? 0);
    const all = [...chats.values()]
      .filter((chat) => JSON.stringify([chat.title, chat.body]).toLowerCase().includes(text))
      .sort((a, b) => b.updated_ms - a.updated_ms);
    const part = all.slice(from, from + limit).map(({ body: _, ...head }) => head);
    const next = from + limit < all.length ? { next: String(from + limit) } : {};
    return { status: 200, body: { chats: part, ...next } };
  }
  const chat = chats.get(id);
  if (method === "PUT") {
    if ((chat?.version ?? 0) !== body.version)
      return error(409, "changed", "the chat was changed elsewhere", { version: chat?.version ?? 0 });
    const kept = {
      id,
      title: String(body.title),
      body: body.body,
      version: (chat?.version ?? 0) + 1,
      updated_ms: Date.now(),
    };
    chats.set(id, kept);
    return { status: 200, body: { id, version: kept.version, updated_ms: kept.updated_ms } };
  }
  if (!chat) return error(404, "not_found", "there is no such chat");
  if (method === "DELETE") {
    chats.delete(id);
    return { status: 200, body: { id, deleted: true } };
  }
  return { status: 200, body: chat };
}

export const summary = (r: MockRun) => ({
  run_id: r.id,
  request: r.request,
  status: r.status,
  started_at_ms: r.started,
  ms: r.ms,
  tasks: r.tasks,
  ok: r.ok,
  failed: r.failed,
  ...(r.user ? { user: r.user } : {}),
});

const goesOn = (run: MockRun): boolean => run.status === "running" || run.status === "queued";

/** Lists and deletes runs, and answers `/me`; null for another call. */
export function runRoutes(
  runs: MockRun[],
  chats: Map<string, KeptChat>,
  method: string,
  url: URL,
): Reply | { zip: Buffer } | null {
  const { pathname: path, searchParams: query } = url;
  if (method === "GET" && path === "/runs") {
    const states = query.get("status")?.split(",");
    const [text, user, since] = [
      query.get("text")?.toLowerCase(),
      query.get("user"),
      Number(query.get("since_ms") ?? 0),
    ];
    const all = runs.filter(
      (r) =>
        (!states || states.includes(r.status)) &&
        (!text || r.request.toLowerCase().includes(text)) &&
        (!user || r.user === user) &&
        r.started >= since,
    );
    const from = Number(query.get("before") ?? 0);
    const limit = Number(query.get("limit") ?? 50);
    const next = from + limit < all.length ? { next: String(from + limit) } : {};
    return { status: 200, body: { runs: all.slice(from, from + limit).map(summary), ...next } };
  }
  const drop = (gone: MockRun[]) => {
    for (const run of gone) runs.splice(runs.indexOf(run), 1);
    return gone.reduce((sum, run) => sum + run.ok, 0);
  };
  if (method === "DELETE" && path === "/runs") {
    const before = Number(query.get("before_ms"));
    const gone = runs.filter((r) => !goesOn(r) && r.started + (r.ms ?? 0) < before);
    return { status: 200, body: { deleted: gone.length, media: drop(gone) } };
  }
  const one = /^\/runs\/([\w-]+)$/.exec(path)?.[1];
  if (method === "DELETE" && one) {
    const run = runs.find((r) => r.id === one);
    if (!run) return error(404, "not_found", "there is no such run");
    if (goesOn(run)) return error(409, "goes_on", "the run goes on");
    return { status: 200, body: { run_id: one, deleted: true, media: drop([run]) } };
  }
  const stored = () => ({
    runs: runs.length,
    run_bytes: runs.length * 12_000,
    files: runs.reduce((sum, run) => sum + run.ok, 0),
    file_bytes: 2_400_000 * runs.length,
    plans: 0,
    chats: chats.size,
  });
  if (method === "GET" && path === "/me")
    return {
      status: 200,
      body: {
        may: ["run", "approve"],
        stored: stored(),
        today: { tokens: { used: 2400, most: 10_000 }, ends_in_s: 3600 },
        ...(runs.length ? { oldest_ms: runs.at(-1)?.started } : {}),
      },
    };
  if (method === "GET" && path === "/me/data") return { zip: Buffer.from("PK\u0005\u0006".padEnd(22, "\0")) };
  if (method === "DELETE" && path === "/me/data") {
    const gone = runs.filter((run) => !goesOn(run));
    const reply = { runs: gone.length, media: drop(gone), plans: 0, chats: chats.size, going_on: runs.length };
    chats.clear();
    return { status: 200, body: reply };
  }
  return null;
}
