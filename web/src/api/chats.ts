// The routes of the chats that the server keeps.
import * as decode from "./decode";
import { call, getJson } from "./http";
import type { ChatHead, Page } from "./types";

const path = (id: string): string => `/chats/${encodeURIComponent(id)}`;
const LIMIT = 50;

/** The chats whose title or body has the text, the latest first. */
export async function list(text: string, before: string | null): Promise<Page<ChatHead>> {
  const query = new URLSearchParams({ limit: String(LIMIT) });
  if (text) query.set("text", text);
  if (before !== null) query.set("before", before);
  return decode.page(await getJson(`/chats?${query}`), "chats", decode.chatHead);
}

export async function get(id: string): Promise<ChatHead & { body: unknown }> {
  const reply = await getJson(path(id));
  return { ...decode.chatHead(reply), body: decode.record(reply).body };
}

/** Keeps a chat that is based on a version, 0 for a new one; tells the version that it has now. */
export async function put(id: string, title: string, body: unknown, version: number): Promise<number> {
  const response = await call(path(id), {
    method: "PUT",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ title, body, version }),
  });
  return decode.num(decode.record(await response.json()).version);
}

export async function remove(id: string): Promise<void> {
  await call(path(id), { method: "DELETE" });
}
