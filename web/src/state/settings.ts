// What the person has set: language, appearance, what happens with a plan. Kept between visits.
import { computed, effect, signal } from "@preact/signals";
import { language, preferredLanguage, LANGUAGES, type Language } from "../i18n";
import { chatModels, pipelines } from "./server";
import { readSettings, writeSettings, type Mode } from "./storage";

export type Theme = "auto" | "light" | "dark";

export const theme = signal<Theme>("auto");
export const mode = signal<Mode>("run");
/** The pipeline chosen by hand. */
export const chosenPipeline = signal<string | null>(null);
/** The pipeline of the next run; null for the server's default, also when the chosen one is no longer offered. */
export const pipeline = computed(() => pipelines.value.slice(1).find((name) => name === chosenPipeline.value) ?? null);
/** The chat model chosen by hand. */
export const chosenModel = signal<string | null>(null);
/** The chat model of the next request; null for the server's default, also when the chosen one is no longer offered. */
export const requestModel = computed(
  () => chatModels.value.slice(1).find((name) => name === chosenModel.value) ?? null,
);
/** Whether the person wants to be told of runs that end while they look elsewhere. */
export const notifies = signal(false);
/** The language chosen by hand; until there is one, the browser's decides. */
export const chosenLanguage = signal<Language | null>(null);

/** Reads the settings, and from then on applies each change. */
export function startSettings(): void {
  const kept = readSettings();
  chosenLanguage.value =
    typeof kept.language === "string" && Object.hasOwn(LANGUAGES, kept.language) ? (kept.language as Language) : null;
  theme.value = kept.theme === "light" || kept.theme === "dark" ? kept.theme : "auto";
  mode.value = kept.mode === "review" || kept.mode === "plan" ? kept.mode : "run";
  chosenModel.value = typeof kept.model === "string" ? kept.model : null;
  notifies.value = kept.notifies === true;
  chosenPipeline.value = typeof kept.pipeline === "string" ? kept.pipeline : null;
  effect(() => {
    language.value = chosenLanguage.value ?? preferredLanguage();
    const root = document.documentElement;
    root.lang = language.value === "zh" ? "zh-Hans" : language.value;
    if (theme.value === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme.value;
  });
  let first = true;
  effect(() => {
    const now = {
      theme: theme.value,
      mode: mode.value,
      language: chosenLanguage.value,
      pipeline: chosenPipeline.value,
      model: chosenModel.value,
      notifies: notifies.value,
    };
    if (!first) writeSettings(now);
    first = false;
  });
}
