// The plan of an exchange while it is changed: by the form and by the graph, step by step, and back.
import { signal } from "@preact/signals";
import type { ExecutionConfig } from "../api/types";
import { changed, noSteps, redone, undone, type Steps } from "../model/undo";
import { setDraft } from "../state/runs";
import type { Exchange } from "../state/storage";

export interface PlanEdit {
  config: ExecutionConfig;
  isChanged: boolean;
  /** `about` names what is changed: changes of the same thing one after the other are one step. */
  change: (to: ExecutionConfig, about?: string) => void;
  /** Null where there is no such step. */
  undo: (() => void) | null;
  redo: (() => void) | null;
  reset: () => void;
}

/** Steps by exchange. They last as long as the page. */
const steps = signal<ReadonlyMap<string, Steps<ExecutionConfig>>>(new Map());

/** The plan under review of an exchange; null when it has none. */
export function planEdit(chatId: string, exchange: Exchange): PlanEdit | null {
  const original = exchange.run.config;
  if (exchange.run.phase !== "planned" || exchange.mode !== "review" || !original) return null;
  const config = exchange.draft ?? original;
  const mine = steps.value.get(exchange.id) ?? noSteps<ExecutionConfig>();
  const set = (to: ExecutionConfig, next: Steps<ExecutionConfig>) => {
    steps.value = new Map(steps.value).set(exchange.id, next);
    setDraft(chatId, exchange.id, to === original ? null : to);
  };
  const go = (step: { steps: Steps<ExecutionConfig>; to: ExecutionConfig } | null) =>
    step && (() => set(step.to, step.steps));
  return {
    config,
    isChanged: config !== original,
    change: (to, about) => set(to, changed(mine, config, about)),
    undo: go(undone(mine, config)),
    redo: go(redone(mine, config)),
    reset: () => set(original, changed(mine, config)),
  };
}
