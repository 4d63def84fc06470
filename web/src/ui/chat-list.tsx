// The chats: to be found, opened, renamed, exported and deleted. Those of the server that are not here are fetched when opened.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { asApiError } from "../api/http";
import { moment, t } from "../i18n";
import { asJson, asMarkdown, fileName } from "../model/export";
import { isLive } from "../model/run";
import { label } from "../model/text";
import { notify } from "../state/announce";
import { chats, deleteChat, renameChat } from "../state/chats";
import { wordsOf } from "../state/errors";
import { chatLink, go, route } from "../state/route";
import { hasMore, listed, listMore, search, type Listed } from "../state/sync";
import type { Chat } from "../state/storage";
import { IconButton, saveText, StateMark } from "./common";
import { Menu } from "./menu";
import { SearchField } from "./search-field";
import { keptWords } from "./server-line";

/** With fewer chats than this nobody needs a search. */
const FEW = 6;
const PAUSE = 250;

export function ChatList({ onOpen }: { onOpen: () => void }) {
  const words = useSignal("");
  const found = useSignal<Listed[] | null>(null);
  const wanted = words.value.trim();
  useEffect(() => {
    found.value = null;
    if (!wanted) return;
    let current = true;
    const timer = setTimeout(() => {
      search(wanted).then(
        (all) => current && (found.value = all),
        (e: unknown) => {
          const { code, message } = asApiError(e);
          notify(wordsOf({ code, message }).message);
        },
      );
    }, PAUSE);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [wanted]);
  const all = listed.value;
  const shown = wanted ? (found.value ?? []) : all;
  return (
    <>
      <h2 class="side-title">{t("chats")}</h2>
      {(all.length >= FEW || wanted !== "" || hasMore.value) && (
        <SearchField class="side-search" placeholder={t("chats_search")} label={t("chats_search")} words={words} />
      )}
      {shown.length ? (
        <ul class="chat-list">
          {shown.map((chat) => (
            <ChatItem key={chat.id} item={chat} onOpen={onOpen} />
          ))}
          {!wanted && hasMore.value && (
            <li>
              <button type="button" class="quiet" onClick={() => void listMore()}>
                {t("more")}
              </button>
            </li>
          )}
        </ul>
      ) : (
        <p class="side-empty" role={wanted ? "status" : undefined}>
          {wanted ? (found.value ? t("chats_none_found") : t("searching")) : `${t("no_chats")} ${keptWords()}`}
        </p>
      )}
    </>
  );
}

function ChatItem({ item, onOpen }: { item: Listed; onOpen: () => void }) {
  const renaming = useSignal<string | null>(null);
  const title = label(item.title, 80) || t("untitled");
  const here = route.value.page === "chat" && route.value.id === item.id;
  const chat = item.chat;
  const live = chat?.exchanges.some((e) => isLive(e.run.phase)) ?? false;
  const remove = () => {
    if (!chat) return;
    if (here) go("#/", true);
    deleteChat(chat, t("delete_chat_done"));
  };
  const rename = () => {
    const to = label(renaming.value ?? "", 80);
    renaming.value = null;
    if (to && to !== item.title) renameChat(item.id, to);
  };
  if (renaming.value !== null)
    return (
      <li class="here">
        <form class="rename" onSubmit={(e) => (e.preventDefault(), rename())}>
          <input
            aria-label={t("chat_rename")}
            value={renaming.value}
            maxLength={80}
            ref={(input) => void (renaming.value === item.title && input?.select())}
            onInput={(e) => (renaming.value = e.currentTarget.value)}
            onBlur={rename}
            onKeyDown={(e) => e.key === "Escape" && (e.stopPropagation(), (renaming.value = null))}
          />
          <IconButton icon="check" label={t("chat_rename")} onClick={rename} />
        </form>
      </li>
    );
  return (
    <li class={here ? "here" : ""}>
      <a href={chatLink(item.id)} aria-current={here ? "page" : undefined} title={title} onClick={onOpen}>
        {live && <StateMark state="running" size={14} />}
        <span>{title}</span>
      </a>
      {chat && (
        <Menu
          label={t("chat_menu", { title })}
          items={[
            { icon: "pencil", text: t("chat_rename"), onChoose: () => (renaming.value = item.title) },
            { icon: "text", text: t("chat_markdown"), onChoose: () => save(chat, "md") },
            { icon: "braces", text: t("chat_json"), onChoose: () => save(chat, "json") },
            { icon: "trash", text: t("delete_chat"), danger: true, onChoose: remove },
          ]}
        />
      )}
    </li>
  );
}

/** Hands a chat out as a file, as it is now. */
function save({ id }: Chat, extension: "md" | "json"): void {
  const chat = chats.peek().find((c) => c.id === id);
  if (!chat) return;
  const words = {
    you: t("you"),
    jarvis: t("jarvis"),
    untitled: t("untitled"),
    files: t("attachments"),
    when: (ms: number) => moment(ms),
  };
  const name = fileName(chat.title, t("untitled"), extension);
  if (extension === "md") saveText(name, asMarkdown(chat, words), "text/markdown");
  else saveText(name, asJson(chat));
}
