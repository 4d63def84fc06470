// What is kept, where it goes, and what a person can do about it: see it, take it along, delete it, and see that it is gone.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as client from "../api/client";
import type { Me } from "../api/types";
import { count, joined, language, moment, t } from "../i18n";
import type { Key } from "../i18n/en";
import type { RunError } from "../model/run";
import { bytes, label } from "../model/text";
import { notify } from "../state/announce";
import { chats } from "../state/chats";
import { failure } from "../state/errors";
import { health, keepsChats, user } from "../state/server";
import { forgetAll, forgetHere } from "../state/sync";
import { ErrorBubble } from "./answer";
import { Confirm, IconButton } from "./common";
import { Icon } from "./icons";
import { hostWords, keptWords, kindWords } from "./server-line";

const WHAT: Record<string, Key> = {
  runs: "runs",
  media: "what_media",
  logs: "what_logs",
  plans: "what_plans",
  chats: "chats",
  approvals: "what_approvals",
  audit: "what_audit",
  models: "models",
};

/** The server's words that have a translation; others stand as they are. */
const PLACES: Record<string, Key> = {
  "run journal on this machine": "where_journal",
  "folder on this machine": "where_folder",
  "request logs on this machine": "where_logs",
  "audit log on this machine": "where_audit",
  "file on this machine": "where_file",
};
const TIMES: Record<string, Key> = {
  "until you delete it": "until_deleted",
  "as long as the server's folder": "until_folder",
};

function whereWords(text: string): string {
  const [place = "", path] = text.split(/, in (.*)/s);
  const key = Object.hasOwn(PLACES, place) ? PLACES[place] : undefined;
  if (!key) return label(text, 300);
  return path === undefined ? t(key) : `${t(key)}: ${label(path, 200)}`;
}

function untilWords(text: string): string {
  const key = Object.hasOwn(TIMES, text) ? TIMES[text] : undefined;
  const days = /^(\d+) days after it ended$/.exec(text)?.[1];
  return key ? t(key) : days ? count("until_days", Number(days)) : label(text, 300);
}

export function Data() {
  const h = health.value === "unreachable" ? null : health.value;
  const items = h?.kept?.items ?? [];
  return (
    <div class="page">
      <section class="data" aria-labelledby="data-title">
        <div class="page-head">
          <div>
            <h1 id="data-title">{t("data_title")}</h1>
            <p class="muted">{t("data_sub")}</p>
          </div>
        </div>
        <Mine />
        <h2>{t("data_kept")}</h2>
        {items.length ? (
          <table class="data-table">
            <thead>
              <tr>
                <th scope="col">{t("data_what")}</th>
                <th scope="col">{t("data_where")}</th>
                <th scope="col">{t("data_until")}</th>
              </tr>
            </thead>
            <tbody>
              {items.map((item) => {
                const key = Object.hasOwn(WHAT, item.what) ? WHAT[item.what] : undefined;
                return (
                  <tr key={item.what}>
                    <th scope="row">{key ? t(key) : label(item.what, 60)}</th>
                    <td>{whereWords(item.where)}</td>
                    <td>{untilWords(item.until)}</td>
                  </tr>
                );
              })}
              <tr>
                <th scope="row">{t("data_settings")}</th>
                <td>{t("data_this_browser")}</td>
                <td>{t("data_until_cleared")}</td>
              </tr>
            </tbody>
          </table>
        ) : (
          <p>{keptWords()}</p>
        )}
        <h2>{t("data_goes")}</h2>
        {h?.reach.length ? (
          <table class="data-table">
            <thead>
              <tr>
                <th scope="col">{t("data_work")}</th>
                <th scope="col">{t("data_to")}</th>
              </tr>
            </thead>
            <tbody>
              {h.reach.map((r) => (
                <tr key={r.kind}>
                  <th scope="row">{kindWords(r.kind)}</th>
                  <td>{joined(r.hosts.map(hostWords))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <p class="muted">{t("data_unknown")}</p>
        )}
      </section>
    </div>
  );
}

/** The person's own: how much there is, on the server and in this browser, to be taken along and deleted. */
function Mine() {
  const me = useSignal<Me | null>(null);
  const error = useSignal<RunError | null>(null);
  const asking = useSignal<"all" | "here" | null>(null);
  const load = async () => {
    try {
      me.value = await client.me();
      error.value = null;
    } catch (e) {
      const problem = failure(e);
      // A server of the time before does not count.
      error.value = problem.code === "not_found" ? null : problem;
    }
  };
  useEffect(() => void load(), [user.value]);
  const stored = me.value?.stored;
  const size = (n: number) => bytes(n, language.value);
  const figures: [string, string, string][] = stored
    ? [
        [t("runs"), String(stored.runs), size(stored.runBytes)],
        [t("what_media"), String(stored.files), size(stored.fileBytes)],
        [t("chats"), String(stored.chats), ""],
        [t("what_plans"), String(stored.plans), ""],
      ]
    : [];
  return (
    <div class="mine">
      <div class="mine-head">
        <h2>{user.value ? t("data_mine_of", { user: label(user.value, 40) }) : t("data_mine")}</h2>
        <IconButton icon="again" label={t("refresh")} onClick={() => void load()} />
      </div>
      {error.value && <ErrorBubble error={error.value} onAgain={() => void load()} />}
      {stored && (
        <>
          <dl class="figures">
            {figures.map(([name, n, more]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <b>{n}</b> {more && <span class="muted">{more}</span>}
                </dd>
              </div>
            ))}
          </dl>
          {me.value?.oldestMs != null && <p class="muted">{t("data_oldest", { when: moment(me.value.oldestMs) })}</p>}
          {me.value?.today.map(({ what, used, most }) => (
            <p key={what} class="budget">
              <span>{t("data_today", { what: budgetWords(what), used: figure(used), most: figure(most) })}</span>
              <progress max={most} value={used} aria-label={budgetWords(what)} />
            </p>
          ))}
          <p class="mine-actions">
            <a class="secondary" href={client.MY_DATA} download="jarvis-data.zip">
              <Icon name="download" size={16} />
              {t("data_export")}
            </a>
            <button type="button" class="secondary" onClick={() => (asking.value = "all")}>
              <Icon name="trash" size={16} />
              {t("data_delete")}
            </button>
          </p>
        </>
      )}
      <p class="mine-here">
        <span>
          {count("chats_here", chats.value.length)}{" "}
          <span class="muted">{t(keepsChats.value ? "data_here_copy" : "data_here_only")}</span>
        </span>
        {chats.value.length > 0 && (
          <button type="button" class="quiet" onClick={() => (asking.value = "here")}>
            {t("data_here_delete")}
          </button>
        )}
      </p>
      {asking.value === "all" && (
        <Confirm
          title={t("data_delete")}
          text={t("data_delete_text")}
          action={t("data_delete_yes")}
          onClose={() => (asking.value = null)}
          onYes={async () => {
            const gone = await client.deleteMyData();
            forgetAll();
            await load();
            const parts = [
              count("runs_n", gone.runs),
              count("files", gone.media),
              count("chats_n", gone.chats),
              count("plans_n", gone.plans),
            ];
            const left = gone.goingOn ? ` ${t("data_going_on", { runs: count("runs_n", gone.goingOn) })}` : "";
            notify(`${t("data_deleted", { what: joined(parts) })}${left}`);
          }}
        />
      )}
      {asking.value === "here" && (
        <Confirm
          title={t("data_here_delete")}
          text={t(keepsChats.value ? "data_here_text_copy" : "data_here_text_only")}
          action={t("delete")}
          onClose={() => (asking.value = null)}
          onYes={async () => forgetHere()}
        />
      )}
    </div>
  );
}

const BUDGETS: Record<string, Key> = { calls: "budget_calls", tokens: "budget_tokens", cost: "budget_cost" };
const budgetWords = (what: string): string => {
  const key = Object.hasOwn(BUDGETS, what) ? BUDGETS[what] : undefined;
  return key ? t(key) : label(what, 40);
};
const figure = (n: number): string => new Intl.NumberFormat(language.value, { maximumFractionDigits: 4 }).format(n);
