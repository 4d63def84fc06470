// Fields for the arguments of a call, each fit for the type of its value. What is written is read by model/fields.ts.
import { t } from "../i18n";
import { type Drafts, type Field, type FieldProblem } from "../model/fields";
import { label } from "../model/text";

interface Props {
  /** Begins the ids of the fields. */
  id: string;
  fields: Field[];
  drafts: Drafts;
  problems: Record<string, FieldProblem>;
  onInput: (drafts: Drafts) => void;
}

export function Fields({ id, fields, drafts, problems, onInput }: Props) {
  return (
    <div class="fields">
      {fields.map((field) => (
        <OneField
          key={field.name}
          id={`${id}-${field.name}`}
          field={field}
          draft={drafts[field.name]}
          problem={problems[field.name]}
          onInput={(draft) => {
            const { [field.name]: _, ...others } = drafts;
            onInput(draft === undefined ? others : { ...others, [field.name]: draft });
          }}
        />
      ))}
    </div>
  );
}

interface OneProps {
  id: string;
  field: Field;
  draft: string | undefined;
  problem: FieldProblem | undefined;
  onInput: (draft: string | undefined) => void;
}

function OneField({ id, field, draft, problem, onInput }: OneProps) {
  const common = {
    id,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-note`,
    required: field.required,
  };
  return (
    <div class="field">
      <label for={id}>
        {label(field.name, 60)}
        {field.required && <span aria-hidden="true"> *</span>}
      </label>
      <FieldInput field={field} draft={draft} common={common} onInput={onInput} />
      <div class="field-note" id={`${id}-note`}>
        {field.description && <span>{label(field.description, 240)}</span>}
        {problem && <span class="problem">{t(`field_${problem}`)}</span>}
      </div>
    </div>
  );
}

function FieldInput({
  field,
  draft,
  common,
  onInput,
}: {
  field: Field;
  draft: string | undefined;
  common: Record<string, unknown>;
  onInput: (draft: string | undefined) => void;
}) {
  switch (field.type) {
    case "number":
    case "integer":
      return (
        <input
          {...common}
          type="text"
          inputMode={field.type === "integer" ? "numeric" : "decimal"}
          autocomplete="off"
          value={draft ?? ""}
          onInput={(e) => onInput(e.currentTarget.value || undefined)}
        />
      );
    case "boolean":
    case "choice": {
      const choices = field.type === "boolean" ? ["true", "false"] : field.choices;
      return (
        <select {...common} value={draft ?? ""} onChange={(e) => onInput(e.currentTarget.value || undefined)}>
          {(draft === undefined || !field.required) && <option value="">{t("field_left_out")}</option>}
          {choices.map((choice) => (
            <option key={choice} value={choice} selected={choice === draft}>
              {field.type === "boolean" ? t(choice === "true" ? "yes" : "no") : label(choice.replace(/^"|"$/g, ""), 80)}
            </option>
          ))}
        </select>
      );
    }
    case "text":
    case "json": {
      const rows = Math.min(8, Math.max(1, (draft ?? "").split("\n").length));
      return (
        <textarea
          {...common}
          class={field.type === "json" ? "field-json" : undefined}
          rows={rows}
          spellcheck={false}
          value={draft ?? ""}
          onInput={(e) => onInput(e.currentTarget.value === "" && !field.required ? undefined : e.currentTarget.value)}
        />
      );
    }
  }
}
