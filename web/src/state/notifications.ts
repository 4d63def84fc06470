// Messages of the system when a long run ends while the person looks elsewhere. The browser is asked for leave on a click only.
import { computed, signal } from "@preact/signals";
import { t } from "../i18n";
import { label } from "../model/text";
import { chatLink } from "./route";
import { notifies } from "./settings";
import type { Exchange } from "./storage";

/** A run that took less than this is not told of, in milliseconds. */
export const LONG = 10_000;

const permission = signal<NotificationPermission | "absent">(
  typeof Notification === "undefined" || !isSecureContext ? "absent" : Notification.permission,
);
/** Whether the person may still be asked, and whether they are told. */
export const canNotify = computed(() => permission.value !== "absent" && permission.value !== "denied");
export const isNotified = computed(() => notifies.value && permission.value === "granted");

/** Turns the messages on, asking the browser for leave, or off. */
export async function toggleNotifications(): Promise<void> {
  if (isNotified.peek()) {
    notifies.value = false;
    return;
  }
  permission.value = await Notification.requestPermission();
  notifies.value = permission.value === "granted";
}

/** Tells of a run that has ended, when it took long and nobody sees the page. */
export function tellOfEnd(exchange: Exchange | undefined, chatId: string): void {
  if (!exchange || !isNotified.peek() || document.visibilityState === "visible") return;
  const { run } = exchange;
  if (Date.now() - exchange.at < LONG || run.phase === "cancelled") return;
  const message = new Notification(t(run.phase === "done" && run.ok ? "notify_done" : "notify_failed"), {
    body: label(exchange.text, 140),
    tag: exchange.id,
    icon: "/icon.svg",
  });
  message.onclick = () => {
    window.focus();
    location.hash = chatLink(chatId);
    message.close();
  };
}
