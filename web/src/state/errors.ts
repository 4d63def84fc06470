// What a run's error means, in the reader's language, and whether doing it again may help.
import { asApiError } from "../api/http";
import { t } from "../i18n";
import type { Key } from "../i18n/en";
import type { RunError } from "../model/run";
import { clean } from "../model/text";

/** The codes of the server that have a plain sentence. */
const PLAIN: Record<string, Key> = {
  unauthorized: "fail_unauthorized",
  unavailable: "fail_unavailable",
  timeout: "fail_timeout",
  rate_limited: "fail_rate_limited",
  upstream: "fail_upstream",
  bad_reply: "fail_bad_reply",
  overloaded: "fail_overloaded",
  stopping: "fail_stopping",
  cancelled: "fail_cancelled",
  disk_full: "fail_disk_full",
  too_large: "fail_too_large",
  not_found: "fail_not_found",
};

const plain = (code: string): Key | null => (Object.hasOwn(PLAIN, code) ? (PLAIN[code] ?? null) : null);

export interface ErrorWords {
  message: string;
  /** The server's own words, when `message` is ours. */
  own: string | null;
  hint: string | null;
}

/** The words of an error: ours for what is common or what only the page can know, else the server's. */
export function wordsOf(error: RunError): ErrorWords {
  const hint = error.hint ? clean(error.hint) : null;
  const own = clean(error.message) || null;
  switch (error.code) {
    case "unreachable":
      return { message: t("err_unreachable"), own: null, hint: t("err_unreachable_hint") };
    case "lost":
      return { message: t("err_lost"), own: null, hint };
    case "interrupted":
      return { message: t("err_interrupted"), own, hint };
    case "not_confirmed":
      return { message: t("err_not_confirmed"), own: null, hint };
    case "page_error":
      return { message: t("err_page", { message: clean(error.message) }), own: null, hint };
    default: {
      const key = plain(error.code);
      return key ? { message: t(key), own, hint } : { message: own ?? error.code, own: null, hint };
    }
  }
}

/** A failed call as the error of a page. */
export function failure(e: unknown): RunError {
  const { code, message, hint } = asApiError(e);
  return { code, message, ...(hint ? { hint } : {}) };
}

/** False where the same request would fail in the same way. */
export const mayHelpAgain = (code: string): boolean => !["unauthorized", "too_large", "not_found"].includes(code);
