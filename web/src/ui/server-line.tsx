// The line at the foot: who plans and answers, how the server is, where requests may go and what is kept. It says what the
// server's health says, and nothing beyond it.
import { joined, t, taskName } from "../i18n";
import type { Key } from "../i18n/en";
import { clean, label } from "../model/text";
import { health } from "../state/server";

const HERE = "this machine";
const NAMED = "hosts that the request names";

const HOSTS: Record<string, Key> = { [HERE]: "reach_here", "your network": "reach_network", [NAMED]: "reach_named" };
const KINDS: Record<string, Key> = {
  planning: "reach_planning",
  choosing: "reach_choosing",
  answering: "reach_answering",
  inputs: "reach_inputs",
  decisions: "reach_decisions",
};

export function hostWords(host: string): string {
  const key = Object.hasOwn(HOSTS, host) ? HOSTS[host] : undefined;
  if (key) return t(key);
  return host.startsWith("program ") ? t("reach_program", { name: label(host.slice(8), 60) }) : label(host, 80);
}

export function kindWords(kind: string): string {
  const key = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  return key ? t(key) : label(taskName(kind), 60);
}

/** What is kept where, as far as the server tells. */
export function keptWords(): string {
  const h = health.value;
  if (h === null || h === "unreachable" || !h.kept) return t("kept_browser");
  const { journal, logs, files, plans, folder } = h.kept;
  const what = [
    ...(journal ? [t("kept_journal")] : []),
    ...(files ? [t("kept_files")] : []),
    ...(logs ? [t("kept_logs")] : []),
    ...(plans > 0 ? [t("kept_plans", { n: plans })] : []),
  ];
  const server = what.length ? t("kept_server", { what: joined(what) }) : t("kept_nothing");
  const where = what.length && folder ? ` ${t("kept_folder", { folder: label(folder, 200) })}` : "";
  return `${t(h.kept.chats ? "kept_chats" : "kept_browser")} ${server}${where}`;
}

export function ServerLine() {
  const h = health.value;
  if (h === null) return <p class="server-line">&nbsp;</p>;
  if (h === "unreachable")
    return (
      <p class="server-line">
        <span class="dot dot-failed" />
        {t("foot_unreachable")}
      </p>
    );
  const bad = h.checks.filter((c) => !c.ok);
  const who = h.planner === "llm" ? t("foot_llm", { model: label(h.model, 60) }) : t("foot_offline");
  const away = [...new Set(h.reach.flatMap((r) => r.hosts))].filter((host) => host !== HERE && host !== NAMED);
  const where = away.length ? t("foot_reach", { hosts: joined(away.map(hostWords)) }) : t("foot_local");
  return (
    <details class="server-foot">
      <summary class="server-line" title={bad.map((c) => `${c.name}: ${c.detail ?? ""}`).join("\n")}>
        <span class={`dot ${h.status === "healthy" && !h.warnings.length ? "dot-ok" : "dot-warn"}`} />
        <span class="server-words">{h.reach.length ? `${who} · ${where}` : who}</span>
        {h.status !== "healthy" && (
          <span>
            {" "}
            · {t("foot_degraded")}
            {bad.length ? `: ${bad.map((c) => label(c.name, 30)).join(", ")}` : ""}
          </span>
        )}
        {h.warnings.length > 0 && <span> · {t("foot_warnings", { n: h.warnings.length })}</span>}
        {h.version && <span class="server-version"> · {label(h.version, 20)}</span>}
      </summary>
      <div class="server-more">
        {h.warnings.length > 0 && (
          <ul class="server-warnings">
            {h.warnings.map((w) => (
              <li key={w}>{clean(w)}</li>
            ))}
          </ul>
        )}
        <p>
          {keptWords()} <a href="#/data">{t("data_more")}</a>
        </p>
        <ul class="server-reach">
          {h.reach.map((r) => (
            <li key={r.kind}>
              {kindWords(r.kind)}: {joined(r.hosts.map(hostWords))}
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}
