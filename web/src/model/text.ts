// Text from outside made fit to show: no control characters, no hidden or direction-changing marks. Pure.

/** C0/C1 controls except tab and line ends, bidirectional controls, invisible tag characters, other default-ignorables. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** The text without characters that are there to deceive the eye. */
export const clean = (text: string): string => text.replace(HIDDEN, "");

/** As `clean`, on one line and not longer than `max`, for names and labels. */
export function label(text: string, max = 120): string {
  const one = clean(text).replace(/\s+/g, " ").trim();
  return one.length > max ? `${one.slice(0, max - 1)}…` : one;
}

/** The last part of a path or model id. */
export const baseName = (path: string): string => path.split("/").filter(Boolean).at(-1) ?? path;

export function bytes(n: number, language: string): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  let at = 0;
  let value = n;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at++;
  }
  const format = {
    style: "unit",
    unit: units[at] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: value < 10 && at > 0 ? 1 : 0,
  } as const;
  return new Intl.NumberFormat(language, format).format(value);
}

const UNITS: Record<string, [string, string, string]> = {
  en: [" ms", " s", " min"],
  ru: [" мс", " с", " мин"],
  zh: [" 毫秒", " 秒", " 分"],
};

/** A duration: 420 ms, 3.4 s, 2 min 5 s. */
export function duration(ms: number, language: string): string {
  const [milli, second, minute] = UNITS[language] ?? [" ms", " s", " min"];
  const number = (value: number, digits = 0) =>
    new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
  if (ms < 1000) return number(Math.round(ms)) + milli;
  if (ms < 59_500) return number(ms / 1000, ms < 9950 ? 1 : 0) + second;
  const seconds = Math.round(ms / 1000);
  return number(Math.floor(seconds / 60)) + minute + (seconds % 60 ? ` ${number(seconds % 60)}${second}` : "");
}
