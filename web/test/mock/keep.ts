// What the mock server keeps for its users beside runs: chats with versions.

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
