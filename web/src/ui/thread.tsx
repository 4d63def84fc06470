// The conversation: its exchanges, and scrolling that follows what is new until the reader scrolls up.
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { t } from "../i18n";
import { label } from "../model/text";
import type { Chat, Exchange } from "../state/storage";
import { fetching } from "../state/sync";
import { startEdit } from "./composer";
import { ExchangeView } from "./exchange";
import { Icon } from "./icons";
import { Welcome } from "./welcome";

/** An exchange that is drawn again only when it has changed: a long chat must not slow the one that is running. */
function Kept({
  chatId,
  exchange,
  onEdit,
}: {
  chatId: string;
  exchange: Exchange;
  onEdit: (exchange: Exchange) => void;
}) {
  return useMemo(
    () => <ExchangeView chatId={chatId} exchange={exchange} onEdit={() => onEdit(exchange)} />,
    [chatId, exchange],
  );
}

/** Nearer to the end than this counts as being there, in pixels. */
const NEAR = 90;
/** So long after a movement of the hand a scroll is taken for the reader's, in milliseconds. */
const BY_HAND = 1000;
/** So much room stays above the beginning of an answer. */
const MARGIN = 16;

export function Thread({ chat }: { chat: Chat | null }) {
  const box = useRef<HTMLDivElement>(null);
  const pinned = useRef(false);
  const top = useRef(0);
  const hand = useRef(-Infinity);
  const away = useSignal(false);
  const amount = chat?.exchanges.length ?? 0;

  const toEnd = (smooth = false) =>
    box.current?.scrollTo({
      top: box.current.scrollHeight,
      behavior: smooth && !matchMedia("(prefers-reduced-motion: reduce)").matches ? "smooth" : "instant",
    });
  /** To the end, but no further than to the beginning of the last answer: it is read from there. */
  const follow = () => {
    const e = box.current;
    if (!e) return;
    const answer = e.querySelector(".exchange:last-of-type .answer > .prose");
    const start = answer
      ? answer.getBoundingClientRect().top - e.getBoundingClientRect().top + e.scrollTop - MARGIN
      : Infinity;
    const end = e.scrollHeight - e.clientHeight;
    e.scrollTo({ top: Math.min(end, start), behavior: "instant" });
    top.current = e.scrollTop;
    away.value = end - e.scrollTop > NEAR;
  };
  const byHand = () => (hand.current = performance.now());
  const onScroll = () => {
    const e = box.current;
    if (!e) return;
    // Who moves up by hand wants to stay. What is new moves the end away, and what shrinks moves the place up.
    const near = e.scrollHeight - e.scrollTop - e.clientHeight < NEAR;
    if (near) pinned.current = true;
    else if (e.scrollTop < top.current - 1 && performance.now() - hand.current < BY_HAND) pinned.current = false;
    top.current = e.scrollTop;
    away.value = !near;
  };
  // Who opens something reads it: a click ends the following until the reader is at the end again.
  // A new request, or another chat: to the end. After that the end is kept in sight as things grow.
  useLayoutEffect(() => {
    pinned.current = amount > 0;
    if (amount > 0) follow();
  }, [chat?.id, amount]);
  // A plan to review is read from its top.
  const toReview = chat?.exchanges.at(-1)?.run.phase === "planned";
  useLayoutEffect(() => {
    if (!toReview) return;
    pinned.current = false;
    box.current?.querySelector(".exchange:last-of-type")?.scrollIntoView({ block: "start" });
  }, [toReview]);
  useEffect(() => {
    const content = box.current?.firstElementChild;
    if (!content) return;
    const observer = new ResizeObserver(() => pinned.current && follow());
    observer.observe(content);
    return () => observer.disconnect();
  }, []);

  return (
    <div
      class="thread"
      ref={box}
      onScroll={onScroll}
      onClickCapture={() => (pinned.current = false)}
      onWheel={byHand}
      onTouchMove={byHand}
      onPointerDown={byHand}
      onKeyDown={byHand}
    >
      <div class="thread-inner">
        {chat?.exchanges.length ? (
          <>
            <h1 class="visually-hidden">{label(chat.title, 80) || t("untitled")}</h1>
            {chat.exchanges.map((e) => (
              <Kept key={e.id} chatId={chat.id} exchange={e} onEdit={startEdit} />
            ))}
          </>
        ) : fetching.value !== null && !chat ? (
          <p class="muted empty" role="status">
            {t("loading")}
          </p>
        ) : (
          <Welcome />
        )}
      </div>
      {away.value && amount > 0 && (
        <button type="button" class="jump" onClick={() => toEnd(true)}>
          <Icon name="down" size={16} />
          {t("jump_latest")}
        </button>
      )}
    </div>
  );
}
