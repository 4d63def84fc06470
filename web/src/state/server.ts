// What the page knows of the server itself: its health, its models, and the difference between the two clocks.
import { computed, signal, type Signal } from "@preact/signals";
import * as client from "../api/client";
import type { Health, Model, TaskType, Tools } from "../api/types";

/** Null before the first answer; `"unreachable"` when the last one failed. */
export const health = signal<Health | "unreachable" | null>(null);
export const models = signal<{ models: Model[]; tasks: TaskType[] } | null>(null);
export const tools = signal<Tools | null>(null);

/** The pipelines that a run may choose, the default first. */
export const pipelines = computed(() =>
  health.value !== null && health.value !== "unreachable" ? health.value.pipelines : [],
);
/** The chat models that a request may name, the default first. */
export const chatModels = computed(() =>
  health.value !== null && health.value !== "unreachable" ? health.value.chatModels : [],
);
/** The chat model's name; empty when there is none, or the server was not asked yet. */
export const chatModel = computed(() => {
  const h = health.value;
  return h !== null && h !== "unreachable" && h.planner === "llm" ? h.model : "";
});
/** The name of a model; plans call the chat model, whichever it is, `ChatGPT`. */
export const modelName = (id: string): string => (id === "ChatGPT" && chatModel.value ? chatModel.value : id);
/** True when the server wants a token. */
export const asksToken = computed(() => health.value !== null && health.value !== "unreachable" && health.value.auth);
/** Who is logged in; empty where the server has one user alone. */
export const user = computed(() =>
  health.value !== null && health.value !== "unreachable" ? (health.value.user ?? "") : "",
);
/** Whether the server keeps chats. */
export const keepsChats = computed(
  () => health.value !== null && health.value !== "unreachable" && health.value.kept?.chats === true,
);
/** True unless the user may not answer what runs wait for. */
export const mayApprove = computed(
  () => health.value === null || health.value === "unreachable" || health.value.mayApprove,
);
/** True once the server has let this browser in. */
export const loggedIn = signal(false);

export async function loadHealth(): Promise<void> {
  try {
    health.value = await client.health();
  } catch {
    health.value = "unreachable";
  }
}

/** Loads something once, when it is first needed. A failure only means fewer choices; the next who needs it tries again. */
function once<T>(kept: Signal<T | null>, load: () => Promise<T>): () => Promise<void> {
  let loading = false;
  return async () => {
    if (loading || kept.value) return;
    loading = true;
    try {
      kept.value = await load();
    } catch {
      loading = false;
    }
  };
}

export const loadModels = once(models, client.models);
export const loadTools = once(tools, client.tools);

export function watchHealth(): void {
  void loadHealth();
  addEventListener("online", () => void loadHealth());
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && void loadHealth());
}

/** The least difference seen between our clock and the server's, in milliseconds: their skew plus the quickest delivery. */
let skew = Infinity;

/** Notes the time stamp of an event that has just arrived. */
export function observeClock(atMs: number): void {
  if (atMs > 0) skew = Math.min(skew, Date.now() - atMs);
}

/** The server's time now, as well as we know it. */
export const serverNow = (): number => Date.now() - (Number.isFinite(skew) ? skew : 0);
