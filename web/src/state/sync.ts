// Chats that the server keeps: what is changed here is sent, what was changed elsewhere is fetched, and what was changed on both
// sides is made one. Without a server that keeps chats they stay in this browser alone.
import { computed, effect, signal } from "@preact/signals";
import * as api from "../api/chats";
import { asApiError } from "../api/http";
import type { ChatHead } from "../api/types";
import { t } from "../i18n";
import { merge } from "../model/merge";
import { isLive } from "../model/run";
import { notify } from "./announce";
import { chats, sent, setChat, showChatsOf, watchChanges } from "./chats";
import { route } from "./route";
import { resumeAll, stopFollowing } from "./runs";
import { health, keepsChats, user } from "./server";
import { bounded, type Chat, chatOf, lastOwner, withWhole } from "./storage";

/** How long a change waits for others, in milliseconds: at rest, and while a run goes on. */
const REST = 600;
const BUSY = 4000;

/** The chats of the server, as far as they have been listed; null before the first list. */
const heads = signal<ChatHead[] | null>(null);
/** Where the list goes on. */
const next = signal<string | null>(null);
/** The chat that is being fetched to be opened. */
export const fetching = signal<string | null>(null);

export interface Listed {
  id: string;
  title: string;
  updated: number;
  /** The chat itself, when it is here. */
  chat: Chat | null;
}

/** The chats of this browser and of the server, the latest first. */
export const listed = computed<Listed[]>(() => {
  const here = new Map(chats.value.map((chat) => [chat.id, chat]));
  const away = (heads.value ?? []).filter((head) => !here.has(head.id));
  return [
    ...chats.value.map(({ id, title, updated }) => ({ id, title, updated, chat: here.get(id) ?? null })),
    ...away.map(({ id, title, updated }) => ({ id, title, updated, chat: null })),
  ].sort((a, b) => b.updated - a.updated);
});
export const hasMore = computed(() => next.value !== null);

/** Lists what the server has, from the latest on. */
async function refresh(): Promise<void> {
  if (!keepsChats.value) return;
  try {
    const page = await api.list("", null);
    heads.value = page.items;
    next.value = page.next;
    for (const chat of chats.value) {
      const head = page.items.find((h) => h.id === chat.id);
      // What a whole list does not have was deleted elsewhere, unless it was never there.
      if (!head && page.next === null && chat.version > 0 && !chat.unsent) setChat(chat.id, null);
      else if (chat.unsent || chat.version === 0) later(chat.id, 0);
      else if (head && head.version > chat.version && chat.id === openId()) void open(chat.id);
    }
  } catch {
    // The next time that the page is looked at it is tried again.
  }
}

export async function listMore(): Promise<void> {
  if (next.value === null) return;
  try {
    const page = await api.list("", next.value);
    const known = new Set(heads.value?.map((h) => h.id));
    heads.value = [...(heads.value ?? []), ...page.items.filter((h) => !known.has(h.id))];
    next.value = page.next;
  } catch (e) {
    notify(asApiError(e).message || t("err_unreachable"));
  }
}

/** The chats that have the words: those here by what is here, and those of the server by what it has. */
export async function search(text: string): Promise<Listed[]> {
  const words = text.toLowerCase();
  const found = new Map<string, Listed>();
  for (const one of listed.value) {
    const said = one.chat?.exchanges.flatMap((e) => [e.text, e.run.text]) ?? [];
    if ([one.title, ...said].some((x) => x.toLowerCase().includes(words))) found.set(one.id, one);
  }
  if (keepsChats.value)
    for (const head of (await api.list(text, null)).items)
      if (!found.has(head.id)) found.set(head.id, { ...head, chat: chats.value.find((c) => c.id === head.id) ?? null });
  return [...found.values()].sort((a, b) => b.updated - a.updated);
}

const openId = (): string | null => (route.value.page === "chat" ? route.value.id : null);

/** Fetches a chat to be shown, and makes it one with what is here. */
async function open(id: string): Promise<void> {
  if (fetching.value === id) return;
  fetching.value = id;
  try {
    const theirs = await fetched(id);
    const ours = chats.value.find((chat) => chat.id === id);
    if (theirs) setChat(id, ours ? merge(ours, withWhole(theirs, ours)) : theirs);
    resumeAll();
  } catch {
    // It may be opened again; what is here stays.
  } finally {
    if (fetching.value === id) fetching.value = null;
  }
}

/** A chat as the server has it; null when it has none. */
async function fetched(id: string): Promise<Chat | null> {
  try {
    const { title, updated, version, body } = await api.get(id);
    return chatOf({ ...(body as object | null), id, title, updated, version });
  } catch (e) {
    if (asApiError(e).status === 404) return null;
    throw e;
  }
}

const timers = new Map<string, ReturnType<typeof setTimeout>>();
const sending = new Set<string>();
let told = false;

function later(id: string, wait: number): void {
  clearTimeout(timers.get(id));
  timers.set(
    id,
    setTimeout(() => void send(id), wait),
  );
}

function changed(id: string, deleted: boolean): void {
  if (!keepsChats.value) return;
  if (deleted) {
    clearTimeout(timers.get(id));
    heads.value = heads.value?.filter((h) => h.id !== id) ?? null;
    void api.remove(id).catch((e: unknown) => asApiError(e).status !== 404 && notify(t("chat_not_deleted")));
    return;
  }
  const live = chats.value.find((c) => c.id === id)?.exchanges.some((e) => isLive(e.run.phase)) ?? false;
  if (live && timers.has(id)) return;
  later(id, live ? BUSY : REST);
}

/** Sends a chat. Where the server has another version, both are made one and sent again. */
async function send(id: string): Promise<void> {
  timers.delete(id);
  if (!keepsChats.value) return;
  if (sending.has(id)) return later(id, REST);
  sending.add(id);
  try {
    for (let tries = 0; tries < 4; tries++) {
      const chat = chats.value.find((c) => c.id === id);
      if (!chat) return;
      try {
        // What has no name yet cannot be followed elsewhere.
        const exchanges = bounded(chat).exchanges.filter((e) => e.run.runId !== null || !isLive(e.run.phase));
        sent(chat, await api.put(id, chat.title, { exchanges }, chat.version));
        return;
      } catch (e) {
        const { code, status } = asApiError(e);
        if (code === "changed") {
          const theirs = await fetched(id);
          const ours = chats.value.find((c) => c.id === id);
          if (ours) setChat(id, theirs ? merge(ours, withWhole(theirs, ours)) : { ...ours, version: 0 });
          continue;
        }
        // What the server does not take stays here, and is sent with the next change.
        if (status >= 400 && status !== 401 && !told) {
          told = true;
          notify(t(code === "too_many_chats" ? "chat_over" : "chat_not_sent"));
        }
        return;
      }
    }
  } catch {
    // The line broke while the other version was fetched: the next change tries again.
  } finally {
    sending.delete(id);
  }
}

/** After all was deleted at the server: nothing of it is left here either. */
export function forgetAll(): void {
  stopFollowing();
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  heads.value = keepsChats.value ? [] : null;
  next.value = null;
  for (const chat of chats.value) setChat(chat.id, null);
}

/** Takes the chats out of this browser. What the server keeps of them stays there. */
export function forgetHere(): void {
  for (const chat of chats.value) setChat(chat.id, null);
  void refresh();
}

/** Shows the chats of whoever is logged in, and keeps them in step with the server. */
export function startSync(): void {
  watchChanges(changed);
  let owner: string | null = null;
  effect(() => {
    if (health.value === null) return;
    // Without the server, whoever was here last.
    const now = health.value === "unreachable" ? (owner ?? lastOwner()) : user.value;
    if (now === owner) return;
    if (owner !== null) stopFollowing();
    owner = now;
    heads.value = next.value = null;
    queueMicrotask(() => {
      showChatsOf(now);
      resumeAll();
    });
  });
  effect(() => {
    if (health.value !== null && health.value !== "unreachable" && keepsChats.value)
      queueMicrotask(() => void refresh());
  });
  effect(() => {
    const id = openId();
    if (id === null || !keepsChats.value) return;
    const head = heads.value?.find((h) => h.id === id);
    const here = chats.peek().find((c) => c.id === id);
    if (heads.value !== null && (here ? head && head.version > here.version : true))
      queueMicrotask(() => void open(id));
  });
}
