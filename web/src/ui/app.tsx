// The whole page: sidebar, the chat or the runs, the message box, and what lies over them.
import { ServerLine } from "./server-line";
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { t } from "../i18n";
import { label } from "../model/text";
import { announcement, dismissNotice, notice } from "../state/announce";
import { currentChat, liveExchange } from "../state/chats";
import { route } from "../state/route";
import { stop } from "../state/runs";
import { addFiles } from "../state/uploads";
import { ErrorBubble } from "./answer";
import { IconButton } from "./common";
import { Composer, edited, endEdit, focusComposer } from "./composer";
import { Icon, Logo } from "./icons";
import { Lightbox } from "./media";
import { failed, useModule } from "./module";
import type * as Pages from "./pages";
import { Login } from "./login";
import { drawerOpen, newChat, Sidebar } from "./sidebar";
import { Thread } from "./thread";

export function App() {
  const chat = currentChat.value;
  const { page } = route.value;
  const onChat = page === "chat";
  const here = page === "chat" ? "" : t(page);
  useEffect(() => {
    document.title = chat?.title ? `${label(chat.title, 60)} · jarvis` : onChat ? "jarvis" : `${here} · jarvis`;
  }, [chat?.title, onChat, here]);
  useShortcuts();
  return (
    <div class="app">
      {onChat && (
        <a class="skip" href="#message" onClick={(e) => (e.preventDefault(), focusComposer.value++)}>
          {t("skip_to_chat")}
        </a>
      )}
      <Sidebar />
      <div class="main" inert={drawerOpen.value}>
        <header class="topbar">
          <IconButton
            icon="menu"
            label={t("menu")}
            expanded={drawerOpen.value}
            onClick={() => (drawerOpen.value = true)}
          />
          <span class="topbar-title">
            {chat?.title ? (
              <span>{label(chat.title, 60)}</span>
            ) : onChat ? (
              <>
                <Logo size={20} /> jarvis
              </>
            ) : (
              here
            )}
          </span>
          <IconButton icon="plus" label={t("new_chat")} onClick={newChat} />
        </header>
        <main>
          {onChat ? (
            <>
              <Thread key={chat?.id ?? "new"} chat={chat} />
              <div class="dock">
                <Composer />
                <ServerLine />
              </div>
            </>
          ) : (
            <OtherPage />
          )}
        </main>
      </div>
      <DropZone />
      <Lightbox />
      <Login />
      <div class="visually-hidden" role="status" aria-live="polite">
        {announcement.value}
      </div>
      {notice.value && (
        <div class="notice" role="status">
          <span>{notice.value.text}</span>
          {notice.value.undo && (
            <button type="button" class="quiet" onClick={() => (notice.value?.undo?.(), dismissNotice())}>
              {t("undo")}
            </button>
          )}
          <IconButton icon="close" label={t("close")} onClick={dismissNotice} />
        </div>
      )}
    </div>
  );
}

const pages = signal<typeof Pages | null>(null);

function OtherPage() {
  const loaded = useModule(pages, true, () => import("./pages"));
  if (loaded) return <loaded.Page />;
  return failed.value.has(pages) ? (
    <div class="page">
      <section>
        <ErrorBubble error={{ code: "unreachable", message: "" }} onAgain={() => location.reload()} />
      </section>
    </div>
  ) : (
    <p class="muted empty" role="status">
      {t("loading")}
    </p>
  );
}

function useShortcuts(): void {
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const chat = currentChat.peek();
      const live = liveExchange.peek();
      // Esc ends the editing or stops, unless something else was there to be closed by it.
      if (e.key !== "Escape" || e.defaultPrevented || e.isComposing || document.querySelector("dialog[open]")) return;
      if (edited.peek()) endEdit();
      else if (chat && live) stop(chat.id, live.id);
    };
    const onPaste = (e: ClipboardEvent) => {
      const files = [...(e.clipboardData?.files ?? [])];
      if (!files.length || route.peek().page !== "chat") return;
      e.preventDefault();
      void addFiles(files);
    };
    addEventListener("keydown", onKey);
    addEventListener("paste", onPaste);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("paste", onPaste);
    };
  }, []);
}

/** Files may be dropped anywhere on the chat page. */
function DropZone() {
  const over = useSignal(false);
  useEffect(() => {
    let depth = 0;
    const hasFiles = (e: DragEvent) =>
      route.peek().page === "chat" && [...(e.dataTransfer?.types ?? [])].includes("Files");
    const enter = (e: DragEvent) => {
      if (!hasFiles(e)) return;
      e.preventDefault();
      depth++;
      over.value = true;
    };
    const move = (e: DragEvent) => hasFiles(e) && e.preventDefault();
    const leave = (e: DragEvent) => {
      if (hasFiles(e) && --depth <= 0) over.value = false;
    };
    const drop = (e: DragEvent) => {
      depth = 0;
      over.value = false;
      if (!hasFiles(e)) return;
      e.preventDefault();
      void addFiles([...(e.dataTransfer?.files ?? [])]);
      focusComposer.value++;
    };
    const on = { dragenter: enter, dragover: move, dragleave: leave, drop } as const;
    for (const [name, f] of Object.entries(on)) addEventListener(name, f as EventListener);
    return () => {
      for (const [name, f] of Object.entries(on)) removeEventListener(name, f as EventListener);
    };
  }, []);
  if (!over.value) return null;
  return (
    <div class="drop-zone" aria-hidden="true">
      <div>
        <Icon name="clip" size={32} />
        <b>{t("drop_here")}</b>
        <span>{t("drop_sub")}</span>
      </div>
    </div>
  );
}
