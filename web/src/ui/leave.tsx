// A call that waits for leave: what would be called, with what, where that came from, and the answer.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as client from "../api/client";
import { asApiError } from "../api/http";
import type { Approval } from "../api/types";
import { t } from "../i18n";
import { type Drafts, draftsOf, fieldsOf, valuesOf } from "../model/fields";
import { clean, label } from "../model/text";
import { wordsOf } from "../state/errors";
import { loadTools, mayApprove, tools } from "../state/server";
import { Fields } from "./fields";
import { Icon } from "./icons";

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** What is shown of the arguments: a row each, or a row for each of several calls. */
const rows = (args: Record<string, unknown>): [string, unknown][] =>
  Array.isArray(args.each) && Object.keys(args).length === 1
    ? args.each.map((call, at): [string, unknown] => [`${at + 1}.`, call])
    : Object.entries(args);

/** What stands in the place of a tool where the planner asks the person something. */
const ASK_PERSON = "ask_person";

export function Leave({ runId, ask }: { runId: string | null; ask: Approval }) {
  return ask.tool === ASK_PERSON ? <Question runId={runId} ask={ask} /> : <Call runId={runId} ask={ask} />;
}

/** What the planner asks, with a line for the answer. */
function Question({ runId, ask }: { runId: string | null; ask: Approval }) {
  const busy = useSignal(false);
  const problem = useSignal("");
  const answer = useSignal("");
  const say = async (decision: "approve" | "refuse") => {
    if (!runId) return;
    busy.value = true;
    problem.value = "";
    try {
      await client.approve(
        runId,
        ask.task,
        decision,
        decision === "approve" ? { arguments: { answer: answer.value } } : {},
      );
    } catch (e) {
      const { code, message } = asApiError(e);
      problem.value = wordsOf({ code, message }).message;
      busy.value = false;
    }
  };
  return (
    <section class="leave" aria-label={t("question_title")}>
      <h3>
        <Icon name="warn" size={16} />
        {t("question_title")}
      </h3>
      <p>{clean(shown(ask.args.question)).slice(0, 2000)}</p>
      {ask.here && mayApprove.value ? (
        <form
          class="leave-actions"
          onSubmit={(e) => {
            e.preventDefault();
            void say("approve");
          }}
        >
          <input
            type="text"
            aria-label={t("question_answer")}
            value={answer.value}
            onInput={(e) => (answer.value = e.currentTarget.value)}
          />
          <button type="submit" class="primary" disabled={busy.value || !answer.value.trim()}>
            {t("question_send")}
          </button>
          <button type="button" class="secondary" disabled={busy.value} onClick={() => void say("refuse")}>
            {t("question_refuse")}
          </button>
        </form>
      ) : (
        <p class="hint">{t(ask.here ? "approval_others" : "approval_elsewhere")}</p>
      )}
      {problem.value && (
        <p class="hint" role="alert">
          {problem.value}
        </p>
      )}
    </section>
  );
}

type Decision = "approve" | "approve_always" | "refuse" | "retry" | "done" | "skip";

function Call({ runId, ask }: { runId: string | null; ask: Approval }) {
  useEffect(() => void loadTools(), []);
  const tool = tools.value?.tools.find((x) => x.name === ask.tool);
  const fields = fieldsOf(ask.args, tool?.inputs);
  const busy = useSignal(false);
  const problem = useSignal("");
  const drafts = useSignal<Drafts | null>(null);
  const refusing = useSignal<string | null>(null);
  const read = drafts.value && valuesOf(fields, drafts.value);
  const problems = read && "problems" in read ? read.problems : {};
  const say = async (decision: Decision) => {
    if (!runId) return;
    const reason = refusing.value?.trim();
    const more =
      decision === "approve" && read && "values" in read
        ? { arguments: read.values }
        : decision === "refuse" && reason
          ? { reason }
          : {};
    busy.value = true;
    problem.value = "";
    try {
      await client.approve(runId, ask.task, decision, more);
    } catch (e) {
      const { code, message } = asApiError(e);
      problem.value = wordsOf({ code, message }).message;
      busy.value = false;
    }
  };
  const button = (decision: Decision, look: string, disabled = false) => (
    <button type="button" class={look} disabled={busy.value || disabled} onClick={() => void say(decision)}>
      {t(`approval_${decision}`)}
    </button>
  );
  const mayAnswer = ask.here && mayApprove.value;
  return (
    <section class={`leave leave-${ask.effect}`} aria-label={t("approval_title")}>
      <h3>
        <Icon name="warn" size={16} />
        {t(ask.unknown ? "approval_unknown" : ask.effect === "destroys" ? "approval_destroys" : "approval_writes", {
          n: ask.task + 1,
          tool: label(ask.tool, 80),
        })}
      </h3>
      {tool?.description && <p class="muted leave-about">{label(tool.description, 300)}</p>}
      {drafts.value ? (
        <Fields
          id={`leave-${ask.task}`}
          fields={fields}
          drafts={drafts.value}
          problems={problems}
          onInput={(next) => (drafts.value = next)}
        />
      ) : (
        <dl>
          {rows(ask.args).map(([name, value]) => (
            <div key={name}>
              <dt>{label(name, 60)}</dt>
              <dd>
                <code>{clean(shown(value)).slice(0, 600)}</code>
                {ask.sources[name] && <span class="muted">{label(ask.sources[name], 60)}</span>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {problem.value && (
        <p class="hint" role="alert">
          {problem.value}
        </p>
      )}
      {!mayAnswer ? (
        <p class="hint">{t(ask.here ? "approval_others" : "approval_elsewhere")}</p>
      ) : ask.unknown ? (
        <p class="leave-actions">
          {button("done", "primary")}
          {button("retry", "secondary")}
          {button("skip", "secondary")}
        </p>
      ) : refusing.value !== null ? (
        <form class="leave-actions" onSubmit={(e) => (e.preventDefault(), void say("refuse"))}>
          <input
            type="text"
            aria-label={t("approval_reason")}
            placeholder={t("approval_reason")}
            maxLength={500}
            value={refusing.value}
            ref={(input) => void (refusing.value === "" && input?.focus())}
            onInput={(e) => (refusing.value = e.currentTarget.value)}
          />
          <button type="submit" class="danger" disabled={busy.value}>
            {t("approval_refuse")}
          </button>
          <button type="button" class="secondary" onClick={() => (refusing.value = null)}>
            {t("back")}
          </button>
        </form>
      ) : (
        <p class="leave-actions">
          {button("approve", "primary", Object.keys(problems).length > 0)}
          {drafts.value === null && button("approve_always", "secondary")}
          <button type="button" class="secondary" disabled={busy.value} onClick={() => (refusing.value = "")}>
            {t("approval_refuse")}
          </button>
          {Object.keys(ask.args).length > 0 && (
            <button
              type="button"
              class="quiet"
              disabled={busy.value}
              onClick={() => (drafts.value = drafts.value ? null : draftsOf(ask.args, fields))}
            >
              {t(drafts.value ? "approval_as_planned" : "approval_edit")}
            </button>
          )}
        </p>
      )}
    </section>
  );
}
