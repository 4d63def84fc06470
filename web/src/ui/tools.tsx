// The tools that a run may call: what each does, whether it changes something, and whether that was approved.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as client from "../api/client";
import type { Approved, Tool, Tools as AllTools } from "../api/types";
import { t } from "../i18n";
import { fieldsOf } from "../model/fields";
import type { RunError } from "../model/run";
import { clean, label } from "../model/text";
import { failure } from "../state/errors";
import { ErrorBubble } from "./answer";
import { IconButton, StateMark } from "./common";

const MARKS = {
  not_needed: "succeeded",
  approved: "succeeded",
  new: "waiting",
  changed: "failed",
} as const satisfies Record<Approved, string>;

export function Tools() {
  const all = useSignal<AllTools | null>(null);
  const error = useSignal<RunError | null>(null);
  const load = async () => {
    try {
      all.value = await client.tools();
      error.value = null;
    } catch (e) {
      error.value = failure(e);
    }
  };
  useEffect(() => void load(), []);
  const { tools, warnings } = all.value ?? { tools: [], warnings: [] };
  const waiting = tools.filter((tool) => tool.approval === "new" || tool.approval === "changed");
  const ready = tools.filter((tool) => !waiting.includes(tool));
  return (
    <div class="page">
      <section aria-labelledby="tools-title">
        <div class="page-head">
          <div>
            <h1 id="tools-title">{t("tools")}</h1>
            <p class="muted">{t("tools_sub")}</p>
          </div>
          <IconButton icon="again" label={t("refresh")} onClick={() => void load()} />
        </div>
        {error.value && <ErrorBubble error={error.value} onAgain={() => void load()} />}
        {warnings.length > 0 && (
          <ul class="server-warnings">
            {warnings.map((w) => (
              <li key={w}>{clean(w)}</li>
            ))}
          </ul>
        )}
        {all.value && !tools.length && <p class="muted empty">{t("tools_empty")}</p>}
        {waiting.length > 0 && (
          <>
            <h2>{t("tools_waiting")}</h2>
            <p class="muted">{t("tools_waiting_sub")}</p>
            <List tools={waiting} label={t("tools_waiting")} />
          </>
        )}
        {ready.length > 0 && (
          <>
            {waiting.length > 0 && <h2>{t("tools_ready")}</h2>}
            <List tools={ready} label={t("tools_ready")} />
          </>
        )}
      </section>
    </div>
  );
}

const List = ({ tools, label: name }: { tools: Tool[]; label: string }) => (
  <ul class="models tools" aria-label={name}>
    {tools.map((tool) => (
      <li key={tool.name}>
        <div class="models-what">
          <b>{label(tool.name, 100)}</b>
          {tool.description && <span class="muted">{label(tool.description, 400)}</span>}
          <Inputs tool={tool} />
        </div>
        <span class={`badge badge-${tool.effect}`}>{t(`effect_${tool.effect}`)}</span>
        <span class="models-size">{label([tool.server, tool.kind].filter(Boolean).join(" · "), 60)}</span>
        <span class="tools-approval">
          <StateMark state={MARKS[tool.approval]} size={16} />
          {t(`approval_state_${tool.approval}`)}
        </span>
      </li>
    ))}
  </ul>
);

function Inputs({ tool }: { tool: Tool }) {
  const fields = fieldsOf({}, tool.inputs);
  if (!fields.length) return null;
  return (
    <details class="tools-inputs">
      <summary>{t("arguments")}</summary>
      <ul>
        {fields.map((field) => (
          <li key={field.name}>
            <code>{label(field.name, 60)}</code>
            {field.required && "*"} <span class="muted">{field.description || t(`type_${field.type}`)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
