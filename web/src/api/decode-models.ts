// From unknown JSON to the types of the models on the server's machine and of pulls.
import { list, num, numOrNull, orNull, record, str, strings } from "./decode";
import type { KeptModel, LocalModels, PlannedPull, PullLine, SuggestedModel } from "./types";

function keptModel(v: unknown): KeptModel {
  const o = record(v);
  const loaded = record(o.loaded);
  return {
    id: str(o.id),
    name: str(o.name, str(o.id)),
    tasks: strings(o.tasks),
    bytes: num(o.bytes),
    license: orNull(o.license),
    loaded: typeof loaded.memory === "number" ? { memory: num(loaded.memory) } : null,
  };
}

function suggestedModel(v: unknown): SuggestedModel {
  const o = record(v);
  return {
    name: str(o.name),
    about: str(o.about),
    repo: str(o.repo),
    license: orNull(o.license),
    tasks: strings(o.tasks),
    bytes: numOrNull(o.bytes),
    isEstimate: o.is_estimate === true,
    fits: o.fits !== false,
  };
}

export function localModels(v: unknown): LocalModels {
  const o = record(v);
  return {
    kept: list(o.kept).map(keptModel),
    suggested: list(o.suggested).map(suggestedModel),
    pulls: o.pulls === true,
  };
}

export function plannedPull(v: unknown): PlannedPull {
  const o = record(v);
  return {
    name: str(o.name),
    commit: str(o.commit),
    isPinned: o.is_pinned === true,
    license: orNull(o.license),
    tasks: strings(o.tasks),
    total: num(o.total),
    missing: num(o.missing),
    free: numOrNull(o.free),
  };
}

export function pullLine(v: unknown): PullLine {
  const o = record(v);
  const error = typeof o.error === "string" ? { message: o.error, hint: orNull(o.hint) } : null;
  return { status: str(o.status), digest: str(o.digest), total: num(o.total), completed: num(o.completed), error };
}
