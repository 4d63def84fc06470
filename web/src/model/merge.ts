// Two states of one chat made one: nothing that was asked on either side is lost. Pure.
import type { Chat, Exchange } from "../state/storage";
import { isLive } from "./run";

/** Of two states of an exchange, the one that knows more. */
function further(a: Exchange, b: Exchange): Exchange {
  const [one, two] = [a.run.startedAt ?? 0, b.run.startedAt ?? 0];
  if (a.run.runId !== b.run.runId) return two > one ? b : a;
  if (isLive(a.run.phase) !== isLive(b.run.phase)) return isLive(a.run.phase) ? b : a;
  return b.run.lastSeq > a.run.lastSeq ? b : a;
}

/** Our chat with what the server has besides, based on the server's version. */
export function merge(ours: Chat, theirs: Chat): Chat {
  const known = new Map(ours.exchanges.map((e) => [e.id, e]));
  for (const e of theirs.exchanges) known.set(e.id, further(known.get(e.id) ?? e, e));
  const exchanges = [...known.values()].sort((a, b) => a.at - b.at);
  const title = ours.unsent || ours.updated >= theirs.updated ? ours.title : theirs.title;
  return { ...ours, title, exchanges, version: theirs.version, updated: Math.max(ours.updated, theirs.updated) };
}
