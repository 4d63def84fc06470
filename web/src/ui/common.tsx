// Small parts used all over: state marks, buttons that copy and download, dialogs, elapsed time.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { language, t } from "../i18n";
import type { TaskState } from "../model/run";
import { duration } from "../model/text";
import { announce } from "../state/announce";
import { failure, wordsOf } from "../state/errors";
import { serverNow } from "../state/server";
import { Icon, type IconName } from "./icons";

/** A state as a shape and a colour, so that neither is needed alone. */
export function StateMark({ state, size = 18 }: { state: TaskState; size?: number }) {
  const inner = {
    waiting: null,
    running: <path class="mark-turn" d="M10 3a7 7 0 0 1 7 7" />,
    succeeded: <path d="m6.6 10.3 2.4 2.4 4.4-5" />,
    failed: <path d="m7.2 7.2 5.6 5.6M12.8 7.2l-5.6 5.6" />,
    skipped: <path d="M6.5 10h7" />,
    cancelled: <rect x="7.3" y="7.3" width="5.4" height="5.4" rx=".8" fill="currentColor" stroke="none" />,
  }[state];
  return (
    <svg
      class={`mark mark-${state}`}
      viewBox="0 0 20 20"
      width={size}
      height={size}
      aria-hidden="true"
      focusable="false"
    >
      <circle cx="10" cy="10" r="7" />
      {inner}
    </svg>
  );
}

export function IconButton(props: {
  icon: IconName;
  label: string;
  onClick: () => void;
  class?: string;
  pressed?: boolean;
  expanded?: boolean;
  disabled?: boolean;
}) {
  return (
    <button
      type="button"
      class={`icon-button ${props.class ?? ""}`}
      aria-label={props.label}
      title={props.label}
      onClick={props.onClick}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
      disabled={props.disabled ?? false}
    >
      <Icon name={props.icon} />
    </button>
  );
}

/** Copies a text and says so. Without the clipboard API (plain http on another host) it selects through a text area. */
export function CopyButton({ text, label }: { text: () => string; label?: string }) {
  const done = useSignal(false);
  const copy = async () => {
    if (!(await copyText(text()))) return;
    done.value = true;
    announce(t("copied"));
    setTimeout(() => (done.value = false), 1600);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      <Icon name={done.value ? "check" : "copy"} size={16} />
      {done.value ? t("copied") : (label ?? t("copy"))}
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    document.body.append(area);
    area.select();
    const ok = document.execCommand("copy");
    area.remove();
    return ok;
  }
}

/** Hands the person a text as a file. */
export function saveText(name: string, text: string, type = "application/json"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A modal dialog: the browser's own, which keeps the focus inside and closes with Esc. */
export function Dialog(props: { label: string; class?: string; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={`dialog ${props.class ?? ""}`}
      aria-label={props.label}
      onCancel={props.onClose}
      onClick={(e) => e.target === ref.current && props.onClose()}
    >
      {props.children}
    </dialog>
  );
}

/** Asks before something that cannot be taken back. What the server refuses is said here. */
export function Confirm(props: {
  title: string;
  text: string;
  action: string;
  onYes: () => Promise<void>;
  onClose: () => void;
  children?: ComponentChildren;
}) {
  const busy = useSignal(false);
  const problem = useSignal("");
  const yes = async () => {
    busy.value = true;
    problem.value = "";
    try {
      await props.onYes();
      props.onClose();
    } catch (e) {
      problem.value = wordsOf(failure(e)).message;
      busy.value = false;
    }
  };
  return (
    <Dialog label={props.title} class="confirm" onClose={props.onClose}>
      <form onSubmit={(e) => (e.preventDefault(), void yes())}>
        <h2>{props.title}</h2>
        <p>{props.text}</p>
        {props.children}
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <div class="confirm-buttons">
          <button type="submit" class="danger" disabled={busy.value}>
            {props.action}
          </button>
          <button type="button" class="secondary" autofocus onClick={props.onClose}>
            {t("cancel")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The time a task has been running, counted on while it runs. */
export function Elapsed({ since }: { since: number }) {
  const now = useSignal(serverNow());
  useEffect(() => {
    const timer = setInterval(() => (now.value = serverNow()), 500);
    return () => clearInterval(timer);
  }, []);
  const ms = Math.max(0, now.value - since);
  return <>{ms < 1000 ? "…" : duration(Math.floor(ms / 1000) * 1000, language.value)}</>;
}

/** One choice out of few, as a row of buttons; a radio group to the keyboard and to a screen reader. */
export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: { value: T; text: ComponentChildren; name?: string; hint?: string }[];
  onChange: (value: T) => void;
  class?: string;
}) {
  const name = useRef(`choice-${Math.random().toString(36).slice(2)}`);
  return (
    <div class={`choice ${props.class ?? ""}`} role="radiogroup" aria-label={props.label}>
      {props.options.map((o) => (
        <label key={o.value} title={o.hint ?? o.name}>
          <input
            type="radio"
            name={name.current}
            value={o.value}
            checked={o.value === props.value}
            aria-label={o.name}
            onChange={() => props.onChange(o.value)}
          />
          <span>{o.text}</span>
        </label>
      ))}
    </div>
  );
}
