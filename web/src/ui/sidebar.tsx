// Chats, runs, and the settings that everyone looks for: language and appearance. A drawer on a narrow screen.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { logOut } from "../api/http";
import { language, LANGUAGES, t, type Language } from "../i18n";
import { label } from "../model/text";
import { announce } from "../state/announce";
import { forgetChats } from "../state/chats";
import { go, route } from "../state/route";
import { asksToken, keepsChats, loggedIn, user } from "../state/server";
import { chosenLanguage, theme, type Theme } from "../state/settings";
import { ChatList } from "./chat-list";
import { Choice, IconButton } from "./common";
import { focusComposer } from "./composer";
import { Icon, Logo } from "./icons";
import { enter } from "./login";

export const drawerOpen = signal(false);

export function newChat(): void {
  go("#/");
  drawerOpen.value = false;
  focusComposer.value++;
  announce(t("said_new_chat"));
}

const PAGES = [
  { page: "runs", icon: "list" },
  { page: "models", icon: "download" },
  { page: "tools", icon: "tool" },
  { page: "data", icon: "shield" },
] as const;

export function Sidebar() {
  const close = () => (drawerOpen.value = false);
  const nav = useRef<HTMLElement>(null);
  const open = drawerOpen.value;
  const wasOpen = useRef(open);
  useEffect(() => {
    // The focus goes into the drawer and, when it closes, back to the button that opened it.
    if (open) nav.current?.querySelector<HTMLElement>(".drawer-close")?.focus();
    else if (wasOpen.current && nav.current?.contains(document.activeElement))
      document.querySelector<HTMLElement>(".topbar button")?.focus();
    wasOpen.current = open;
  }, [open]);
  return (
    <>
      {drawerOpen.value && <div class="scrim" onClick={close} />}
      <nav
        ref={nav}
        class={`sidebar ${drawerOpen.value ? "sidebar-open" : ""}`}
        aria-label={t("menu")}
        onKeyDown={(e) => e.key === "Escape" && drawerOpen.value && (e.stopPropagation(), close())}
      >
        <div class="brand">
          <a href="#/" class="brand-link" onClick={(e) => (e.preventDefault(), newChat())}>
            <Logo />
            <span>jarvis</span>
          </a>
          <IconButton icon="close" label={t("close")} class="drawer-close" onClick={close} />
        </div>
        <button type="button" class="new-chat" onClick={newChat}>
          <Icon name="plus" />
          {t("new_chat")}
        </button>
        <div class="side-links">
          {PAGES.map(({ page, icon }) => (
            <a
              key={page}
              href={`#/${page}`}
              aria-current={route.value.page === page ? "page" : undefined}
              onClick={close}
            >
              <Icon name={icon} />
              {t(page)}
            </a>
          ))}
          <a href="/docs">
            <Icon name="braces" />
            {t("api")}
          </a>
        </div>
        <ChatList onOpen={close} />
        {asksToken.value && (
          <button type="button" class="quiet log-out" onClick={() => void (loggedIn.value ? leave() : enter())}>
            <Icon name="out" size={16} />
            {t(loggedIn.value ? "log_out" : "log_in")}
            {loggedIn.value && user.value && <span class="muted">{label(user.value, 40)}</span>}
          </button>
        )}
        <Settings />
      </nav>
    </>
  );
}

/** Logs out. The page opens anew, and so forgets what it showed; what the server keeps does not stay in this browser. */
const leave = (): Promise<void> =>
  logOut().then(
    () => {
      if (keepsChats.peek()) forgetChats();
      location.reload();
    },
    () => undefined,
  );

const SHORT: Record<Language, string> = { en: "EN", ru: "РУ", zh: "中" };

function Settings() {
  const themes: { value: Theme; text: ComponentChildren; name: string }[] = [
    { value: "auto", text: <Icon name="system" size={17} />, name: t("theme_auto") },
    { value: "light", text: <Icon name="sun" size={17} />, name: t("theme_light") },
    { value: "dark", text: <Icon name="moon" size={17} />, name: t("theme_dark") },
  ];
  const languages = (Object.keys(LANGUAGES) as Language[]).map((value) => ({
    value,
    text: <span lang={value}>{SHORT[value]}</span>,
    name: LANGUAGES[value].name,
  }));
  return (
    <div class="settings" role="group" aria-label={t("settings")}>
      <Choice
        label={t("language")}
        value={language.value}
        options={languages}
        onChange={(v) => (chosenLanguage.value = v)}
      />
      <Choice label={t("theme")} value={theme.value} options={themes} onChange={(v) => (theme.value = v)} />
    </div>
  );
}
