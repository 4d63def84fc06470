// A button that opens a short list of things to do. It lies over everything, so that no scrolling list cuts it off.
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icons";

export interface MenuItem {
  icon: IconName;
  text: string;
  danger?: boolean;
  onChoose: () => void;
}

export function Menu({ label, items }: { label: string; items: MenuItem[] }) {
  const open = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const close = (focus: boolean) => {
    open.value = false;
    if (focus) button.current?.focus();
  };
  useLayoutEffect(() => {
    const [from, to] = [button.current?.getBoundingClientRect(), list.current];
    if (!open.value || !from || !to) return;
    const { width, height } = to.getBoundingClientRect();
    const below = from.bottom + 4 + height <= innerHeight;
    to.style.top = `${below ? from.bottom + 4 : Math.max(8, from.top - 4 - height)}px`;
    to.style.left = `${Math.max(8, Math.min(from.right - width, innerWidth - width - 8))}px`;
    to.querySelector<HTMLElement>("button")?.focus();
  }, [open.value]);
  useEffect(() => {
    if (!open.value) return;
    const away = (e: Event) => {
      const inside =
        e.target instanceof Node && (list.current?.contains(e.target) || button.current?.contains(e.target));
      if (!inside) close(false);
    };
    addEventListener("pointerdown", away, true);
    addEventListener("scroll", away, true);
    return () => {
      removeEventListener("pointerdown", away, true);
      removeEventListener("scroll", away, true);
    };
  }, [open.value]);
  const onKey = (e: KeyboardEvent) => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[e.key];
    if (to !== undefined) all[(to + all.length) % all.length]?.focus();
    else if (e.key === "Escape") close(true);
    else if (e.key === "Tab") return close(false);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <Icon name="more" />
      </button>
      {open.value && (
        <div ref={list} class="menu" role="menu" aria-label={label} onKeyDown={onKey}>
          {items.map((item) => (
            <button
              key={item.text}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={item.danger ? "menu-danger" : undefined}
              onClick={() => (close(true), item.onChoose())}
            >
              <Icon name={item.icon} size={16} />
              {item.text}
            </button>
          ))}
        </div>
      )}
    </>
  );
}
