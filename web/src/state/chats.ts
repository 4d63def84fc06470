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

/** Told of each chat that the person or a run has changed, and of each that was deleted. Set by sync.ts. */
let onChange: (id: string, deleted: boolean) => void = () => undefined;
export function watchChanges(tell: typeof onChange): void {
  onChange = tell;
}

function touch(id: string, change: (chat: Chat) => Chat): void {
  chats.value = chats.value.map((chat) => (chat.id === id ? { ...change(chat), unsent: true } : chat));
  save(id);
  onChange(id, false);
}

const latestFirst = (a: Chat, b: Chat): number => b.updated - a.updated;

/** Puts a chat in the place of the one with its id, as the server knows it; null when it is not there any more. */
export function setChat(id: string, chat: Chat | null): void {
  const others = chats.value.filter((c) => c.id !== id);
  chats.value = chat ? [...others, chat].sort(latestFirst) : others;
  if (chat) save(id);
  else {
    unsaved.delete(id);
    storage.removeChat(id);
  }
}

/** Notes that the server has a chat as it was when it was sent. */
export function sent(before: Chat, version: number): void {
  chats.value = chats.value.map((chat) => {
    if (chat.id !== before.id) return chat;
    const { unsent, ...rest } = chat;
    const same = chat.exchanges === before.exchanges && chat.title === before.title;
    return { ...rest, version, ...(same || !unsent ? {} : { unsent }) };
  });
  save(before.id);
}

export const renameChat = (id: string, title: string): void => touch(id, (chat) => ({ ...chat, title }));

/** Adds an exchange to a chat, or to a new one, and tells which chat it is in. */
export function addExchange(chatId: string | null, exchange: Exchange): string {
  const id = chatId ?? newId();
  const old = chats.value.find((chat) => chat.id === id) ?? {
    id,
    title: label(exchange.text, 80),
    updated: 0,
    version: 0,
    exchanges: [],
  };
  const chat: Chat = { ...old, unsent: true, updated: Date.now(), exchanges: [...old.exchanges, exchange] };
  chats.value = [chat, ...chats.value.filter((c) => c.id !== id)];
  save(id);
  onChange(id, false);
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
  setChat(chat.id, null);
  onChange(chat.id, true);
  notify(said, () => {
    setChat(chat.id, { ...chat, version: 0, unsent: true });
    onChange(chat.id, false);
  });
}

/** Shows the chats of a user of this browser, and none of another's. */
export function showChatsOf(user: string): void {
  saveNow();
  storage.setOwner(user);
  chats.value = storage.readChats();
}

/** Takes the chats of this user out of this browser, but those that the server does not have. */
export function forgetChats(): void {
  saveNow();
  for (const chat of chats.value) if (!chat.unsent && chat.version > 0) storage.removeChat(chat.id);
}

/** Keeps chats when the page is left, and follows what other tabs write. `isOurs` tells the exchanges that this tab drives. */
export function startChats(isOurs: (exchangeId: string) => boolean, storageFull: () => void): void {
  onStorageFull = storageFull;
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
    chats.value = fresh ? [...others, fresh].sort(latestFirst) : others;
  });
}
