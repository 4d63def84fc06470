// One more task for the plan under review: of the catalogue's kinds, or a tool.
import { useSignal } from "@preact/signals";
import { announce } from "../state/announce";
import { t, taskName } from "../i18n";
import * as plan from "../model/plan";
import { label } from "../model/text";
import { models, tools } from "../state/server";
import { Icon } from "./icons";
import type { PlanEdit } from "./plan-edit";
import { paramsOf } from "./plan-task";

export function AddTask({ edit }: { edit: PlanEdit }) {
  const chosen = useSignal("");
  const kinds = [...(models.value?.tasks ?? [])]
    .map((x) => ({ name: x.name, text: taskName(x.name), model: modelFor(x.name) }))
    .sort((a, b) => a.text.localeCompare(b.text));
  const known = tools.value?.tools ?? [];
  if (!kinds.length && !known.length) return null;
  const tool = known.find((x) => x.name === chosen.value);
  const kind = kinds.find((x) => x.name === chosen.value);
  // Why the chosen one cannot be added, beside the grey button.
  const why =
    tool && tool.approval !== "approved" && tool.approval !== "not_needed"
      ? t("add_not_approved")
      : kind && !kind.model
        ? t("add_no_model")
        : null;
  const add = () => {
    const type = chosen.value;
    if (!type || why) return;
    const { config, id } = plan.addTask(edit.config, {
      type,
      model: tool ? tool.name : (kind?.model?.id ?? "N/A"),
      host: tool ? "tool" : (kind?.model?.host ?? ""),
      reason: t("chosen_by_person"),
      args: paramsOf(type)
        .filter((param) => param.required)
        .map((param) => param.name),
    });
    edit.change(config);
    chosen.value = "";
    announce(t("said_added", { n: id + 1, task: taskName(type) }));
  };
  return (
    <div class="plan-add">
      <select aria-label={t("add_task")} value={chosen.value} onChange={(e) => (chosen.value = e.currentTarget.value)}>
        <option value="">{t("add_choose")}</option>
        {kinds.length > 0 && (
          <optgroup label={t("add_kinds")}>
            {kinds.map((x) => (
              <option key={x.name} value={x.name}>
                {label(x.text, 60)}
                {x.text === x.name ? "" : ` — ${label(x.name, 60)}`}
              </option>
            ))}
          </optgroup>
        )}
        {known.length > 0 && (
          <optgroup label={t("tools")}>
            {known.map((x) => (
              <option key={x.name} value={x.name}>
                {label(x.name, 80)}
              </option>
            ))}
          </optgroup>
        )}
      </select>
      <button type="button" class="secondary" disabled={!chosen.value || why !== null} onClick={add}>
        <Icon name="plus" size={16} />
        {t("add_task")}
      </button>
      {(why ?? tool?.description) && <p class="field-note">{why ?? label(tool?.description ?? "", 200)}</p>}
    </div>
  );
}

/** The model that a task of a kind begins with: one that can be called, one of jarvis' own before others. */
function modelFor(type: string): { id: string; host: string } | null {
  const all = (models.value?.models ?? []).filter((m) => m.task === type);
  return all.find((m) => m.configured && m.host === "native") ?? all.find((m) => m.configured) ?? all[0] ?? null;
}
