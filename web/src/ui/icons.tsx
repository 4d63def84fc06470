// The page's own icons: strokes on a 20 by 20 grid, coloured by the text around them. Decorative: labels are elsewhere.
import type { ComponentChildren } from "preact";

const ICONS = {
  plus: <path d="M10 4v12M4 10h12" />,
  undo: <path d="M7 5 3.5 8.5 7 12M3.5 8.5h8a4 4 0 0 1 0 8H8" />,
  redo: <path d="m13 5 3.5 3.5L13 12M16.5 8.5h-8a4 4 0 0 0 0 8H12" />,
  more: <path d="M5 10h.01M10 10h.01M15 10h.01" stroke-width="2.4" />,
  tool: (
    <path d="M12.5 3.5a4 4 0 0 0-4.8 5.2L3.5 13a2.1 2.1 0 0 0 3 3l4.2-4.2a4 4 0 0 0 5.3-4.7l-2.4 2.3-2.4-.6-.6-2.4z" />
  ),
  shield: <path d="M10 3 4 5v5c0 3.6 2.5 5.9 6 7 3.5-1.1 6-3.4 6-7V5zM7.5 10l1.8 1.8L12.8 8" />,
  bell: <path d="M6 9a4 4 0 0 1 8 0c0 3 1.5 4.5 1.5 4.5h-11S6 12 6 9M8.5 16.2a1.7 1.7 0 0 0 3 0M10 3.2V5" />,
  minus: <path d="M4 10h12" />,
  fit: <path d="M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4" />,
  target: <path d="M10 5a5 5 0 1 1 0 10 5 5 0 0 1 0-10M10 2v4M10 14v4M2 10h4M14 10h4" />,
  menu: <path d="M3 6h14M3 10h14M3 14h9" />,
  close: <path d="m5 5 10 10M15 5 5 15" />,
  send: <path d="M10 16V4M4.5 9.5 10 4l5.5 5.5" />,
  stop: <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" fill="currentColor" stroke="none" />,
  clip: (
    <path d="m15.5 9.5-5.7 5.7a3.5 3.5 0 0 1-5-5l6.4-6.3a2.3 2.3 0 0 1 3.3 3.3l-6.3 6.3a1.2 1.2 0 0 1-1.7-1.7l5.2-5.1" />
  ),
  trash: <path d="M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10M8.5 9v4.5M11.5 9v4.5" />,
  copy: <path d="M7 7V4.5h8.5V13H13M4.5 7H13v8.5H4.5z" />,
  check: <path d="m4.5 10.5 3.7 3.7 7.3-8" />,
  download: <path d="M10 3.5v9M6 9l4 4 4-4M4 16.5h12" />,
  again: <path d="M15.8 8A6 6 0 1 0 16 11.5M16 4v4.2h-4.2" />,
  pencil: <path d="m4 16 .8-3.6L13 4.2l2.8 2.8-8.2 8.2zM11.3 6l2.7 2.7" />,
  down: <path d="M10 4v12M4.5 10.5 10 16l5.5-5.5" />,
  chevron: <path d="m7 4.5 5.5 5.5L7 15.5" />,
  back: <path d="M16 10H4M9.5 4.5 4 10l5.5 5.5" />,
  list: <path d="M7.5 5H17M7.5 10H17M7.5 15H17M3.5 5h.01M3.5 10h.01M3.5 15h.01" />,
  braces: <path d="M7.5 3.5C5 3.5 6.5 9 4 10c2.5 1 1 6.5 3.5 6.5M12.5 3.5C15 3.5 13.5 9 16 10c-2.5 1-1 6.5-3.5 6.5" />,
  sun: (
    <path d="M10 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6M10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M4.7 15.3l1-1M14.3 5.7l1-1" />
  ),
  moon: <path d="M16 11.8A6.5 6.5 0 1 1 8.2 4a5.2 5.2 0 0 0 7.8 7.8Z" />,
  system: <path d="M3 4.5h14v9H3zM7 16.5h6M10 13.5v3" />,
  expand: <path d="M11.5 4H16v4.5M8.5 16H4v-4.5M16 4l-5 5M4 16l5-5" />,
  shrink: <path d="M15.5 9H11V4.5M4.5 11H9v4.5M11 9l5-5M9 11l-5 5" />,
  image: <path d="M3 4h14v12H3zM3 13.5l4-4 3.5 3.5 2-2 4.5 4M12.5 7.5h.01" />,
  audio: <path d="M4 8v4M7 5.5v9M10 3.5v13M13 6.5v7M16 8.5v3" />,
  video: <path d="M3 5h10v10H3zM13 9l4-2.5v7L13 11" />,
  text: <path d="M4 5h12M4 8.5h12M4 12h12M4 15.5h7" />,
  json: <path d="M7.5 4C5.5 4 7 9 4.5 10 7 11 5.5 16 7.5 16M12.5 4c2 0 .5 5 3 6-2.5 1-1 6-3 6" />,
  warn: <path d="M10 3 2.5 16.5h15zM10 8v4M10 14.3v.01" />,
  search: <path d="M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M13 13l4 4" />,
  out: <path d="M8 4H4v12h4M8.5 10H17M13.5 6.5 17 10l-3.5 3.5" />,
} satisfies Record<string, ComponentChildren>;

export type IconName = keyof typeof ICONS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width={size} height={size} aria-hidden="true" focusable="false">
      {ICONS[name]}
    </svg>
  );
}

/** The mark of jarvis: one request that becomes two tasks. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg class="logo" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true" focusable="false">
      <path d="M6 6v12M6 6c0 6 12 2.5 12 8.5" />
      <circle cx="6" cy="5.5" r="3" />
      <circle class="logo-run" cx="18" cy="15.5" r="3" />
      <circle class="logo-done" cx="6" cy="18.5" r="3" />
    </svg>
  );
}
