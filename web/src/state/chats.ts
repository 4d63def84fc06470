// The chats and their exchanges: in memory as a signal, on disk through storage.ts. Runs are driven by runs.ts.
import { computed, signal } from "@preact/signals";
import type { RunView } from "../model/run";
import { isLive } from "../model/run";
import { label } from "../model/text";
import { notify } from "./announce";
import { route } from "./route";
import * as storage from "./storage";
import type { Chat, Exchange } from "./storage";

export const chats = signal<Chat[]>([]);

export const currentChat = computed<Chat | null>(() => {
  const at = route.value;
  return at.page === "chat" ? (chats.value.find((chat) => chat.id === at.id) ?? null) : null;
});

/** The exchange of the current chat that is still running, if one is. */
export const liveExchange = computed<Exchange | null>(
  () => currentChat.value?.exchanges.findLast((e) => isLive(e.run.phase)) ?? null,
);

export const newId = (): string =>
  crypto.getRandomValues(new Uint32Array(3)).reduce((id, n) => id + n.toString(36), "");

const unsaved = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;
let warned = false;

function save(id: string): void {
  unsaved.add(id);
  timer ??= setTimeout(saveNow, 250);
}

/** Writes what has changed. Called by a timer, and when the page is left. */
export function saveNow(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const id of unsaved) {
    const chat = chats.value.find((c) => c.id === id);
    if (chat) storage.writeChat(chat);
  }
  unsaved.clear();
  if (storage.full && !warned) {
    warned = true;
    onStorageFull();
  }
}

/** Tells the person that nothing can be kept; set by the page, which knows the words. */
let onStorageFull: () => void = () => undefined;

function touch(id: string, change: (chat: Chat) => Chat): void {
  chats.value = chats.value.map((chat) => (chat.id === id ? change(chat) : chat));
  save(id);
}

/** Adds an exchange to a chat, or to a new one, and tells which chat it is in. */
export function addExchange(chatId: string | null, exchange: Exchange): string {
  const id = chatId ?? newId();
  const old = chats.value.find((chat) => chat.id === id) ?? {
    id,
    title: label(exchange.text, 80),
    updated: 0,
    exchanges: [],
  };
  const chat: Chat = { ...old, updated: Date.now(), exchanges: [...old.exchanges, exchange] };
  chats.value = [chat, ...chats.value.filter((c) => c.id !== id)];
  save(id);
  return id;
}

export function changeExchange(chatId: string, exchangeId: string, change: (exchange: Exchange) => Exchange): void {
  touch(chatId, (chat) => ({ ...chat, exchanges: chat.exchanges.map((e) => (e.id === exchangeId ? change(e) : e)) }));
}

export function changeRun(chatId: string, exchangeId: string, change: (run: RunView) => RunView): void {
  changeExchange(chatId, exchangeId, (e) => ({ ...e, run: change(e.run) }));
}

export function findExchange(chatId: string, exchangeId: string): Exchange | undefined {
  return chats.value.find((chat) => chat.id === chatId)?.exchanges.find((e) => e.id === exchangeId);
}

/** Puts an exchange in the place of another and of all after it. What it returns makes the chat as it was. */
export function replaceFrom(chatId: string, oldId: string, exchange: Exchange): () => void {
  const before = chats.value.find((chat) => chat.id === chatId);
  const at = before?.exchanges.findIndex((e) => e.id === oldId) ?? -1;
  touch(chatId, (chat) => ({
    ...chat,
    title: at === 0 ? label(exchange.text, 80) : chat.title,
    updated: Date.now(),
    exchanges: [...(at < 0 ? chat.exchanges : chat.exchanges.slice(0, at)), exchange],
  }));
  return () => before && touch(chatId, () => before);
}

/** Deletes a chat, with a way back for a few seconds. */
export function deleteChat(chat: Chat, said: string): void {
  chats.value = chats.value.filter((c) => c.id !== chat.id);
  unsaved.delete(chat.id);
  storage.removeChat(chat.id);
  notify(said, () => {
    chats.value = [...chats.value, chat].sort((a, b) => b.updated - a.updated);
    save(chat.id);
  });
}

/** Reads what is kept, and follows what other tabs write. `isOurs` tells the exchanges that this tab drives itself. */
export function startChats(isOurs: (exchangeId: string) => boolean, storageFull: () => void): void {
  onStorageFull = storageFull;
  chats.value = storage.readChats();
  addEventListener("pagehide", saveNow);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && saveNow());
  addEventListener("storage", (e) => {
    const id = storage.chatIdOfKey(e.key);
    if (id === null) return;
    const known = chats.value.find((chat) => chat.id === id);
    if (known?.exchanges.some((x) => isOurs(x.id))) return;
    const read = storage.readChat(id);
    const fresh = read && storage.withWhole(read, known);
    const others = chats.value.filter((chat) => chat.id !== id);
    chats.value = fresh ? [...others, fresh].sort((a, b) => b.updated - a.updated) : others;
  });
}
