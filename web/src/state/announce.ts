// What a screen reader is told, and short notices with a way back. Both are shown once, at the foot of the page.
import { signal } from "@preact/signals";

export const announcement = signal("");

/** Says it politely. The same words twice are said twice. */
export function announce(text: string): void {
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}

export interface Notice {
  text: string;
  undo: (() => void) | null;
}

export const notice = signal<Notice | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string, undo: (() => void) | null = null): void {
  clearTimeout(timer);
  notice.value = { text, undo };
  timer = setTimeout(() => (notice.value = null), 7000);
}

export function dismissNotice(): void {
  clearTimeout(timer);
  notice.value = null;
}
