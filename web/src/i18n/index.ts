// The language in use and the texts in it. Reading `t` inside a component makes it follow a change of language.
import { computed, signal } from "@preact/signals";
import { en, type Key, type Texts } from "./en";
import { ru } from "./ru";
import { taskName as nameOf } from "./tasks";
import { zh } from "./zh";

export type Language = "en" | "ru" | "zh";
export const LANGUAGES: Record<Language, Texts> = { en, ru, zh };

/** The language the browser asks for, or English. */
export function preferredLanguage(wanted: readonly string[] = navigator.languages): Language {
  for (const tag of wanted) {
    const base = tag.toLowerCase().split("-")[0];
    if (base === "en" || base === "ru" || base === "zh") return base;
  }
  return "en";
}

export const language = signal<Language>("en");
const texts = computed(() => LANGUAGES[language.value]);
const plurals = computed(() => new Intl.PluralRules(language.value));

type Params = Record<string, string | number>;

function fill(text: string, params: Params): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : whole,
  );
}

/** The text of a key, filled in. */
export const t = (key: Key, params: Params = {}): string => fill(texts.value[key], params);

type PluralKey = Key extends infer K ? (K extends `${infer Base}_many` ? Base : never) : never;

/** The form of a counted text that fits `n`. */
export function count(key: PluralKey, n: number): string {
  const rule = plurals.value.select(n);
  const form = rule === "one" || rule === "few" || rule === "many" ? rule : "other";
  return t(`${key}_${form}`, { n: new Intl.NumberFormat(language.value).format(n) });
}

export const taskName = (task: string): string => nameOf(task, language.value);

/** Names joined as the language does: "a, b and c". */
export const joined = (names: string[]): string =>
  new Intl.ListFormat(language.value, { type: "conjunction" }).format(names);

/** The language with the region the browser is set to, where that is the same language: dates differ between them. */
const regional = (): string =>
  navigator.languages.find((tag) => tag.toLowerCase().startsWith(language.value)) ?? language.value;

/** A moment, with the day only when it was not today. */
export function moment(ms: number, now = Date.now()): string {
  const date = new Date(ms);
  const today = new Date(now).toDateString() === date.toDateString();
  const year = new Date(now).getFullYear() === date.getFullYear();
  const format: Intl.DateTimeFormatOptions = today
    ? { hour: "2-digit", minute: "2-digit" }
    : { day: "numeric", month: "short", ...(year ? {} : { year: "numeric" }), hour: "2-digit", minute: "2-digit" };
  return new Intl.DateTimeFormat(regional(), format).format(date);
}
