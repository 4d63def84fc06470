// Editing a plan before it runs: change arguments and models, delete tasks, see what breaks. Pure.
import type { ConfigTask, ExecutionConfig } from "../api/types";

/** A reference to what a task gives: all of it, or where the path leads in it; `[]` in a path means each element of a list. */
export interface Reference {
  task: number;
  path: string;
}

/** `<GENERATED>-3` and `<GENERATED-3>`, and with a path `<GENERATED-3.flights[0].number>` and `<GENERATED-3.ids[]>`. */
const REFERENCE = /<GENERATED>-(\d+)((?:\.[\p{L}_][\p{L}\p{N}_]*|\[\d*\])*)|<GENERATED-(\d+)((?:[.[][^<>]*)?)>/gu;

function referenceOf(m: RegExpMatchArray): Reference {
  return { task: Number(m[1] ?? m[3]), path: m[2] ?? m[4] ?? "" };
}

/** The tasks whose output a value uses. */
export function referencesIn(value: string): number[] {
  return [...value.matchAll(REFERENCE)].map((m) => referenceOf(m).task);
}

/** A value split into its words and its references, in order. */
export function splitReferences(value: string): (string | Reference)[] {
  const out: (string | Reference)[] = [];
  let at = 0;
  for (const m of value.matchAll(REFERENCE)) {
    if (m.index > at) out.push(value.slice(at, m.index));
    out.push(referenceOf(m));
    at = m.index + m[0].length;
  }
  if (at < value.length) out.push(value.slice(at));
  return out;
}

/** The tasks that use the output of `id` in their arguments. */
export function usersOf(tasks: ConfigTask[], id: number): ConfigTask[] {
  return tasks.filter((t) => t.task_id !== id && Object.values(t.args).some((v) => referencesIn(v).includes(id)));
}

/** The tasks that only wait for `id`, without using its output. */
export function waitersOf(tasks: ConfigTask[], id: number): ConfigTask[] {
  const users = new Set(usersOf(tasks, id));
  return tasks.filter((t) => t.dependencies.includes(id) && !users.has(t));
}

/** `id` and every task that cannot run without it, directly or not. */
export function withUsers(tasks: ConfigTask[], id: number): Set<number> {
  const gone = new Set([id]);
  for (let grew = true; grew;) {
    grew = false;
    for (const t of tasks) {
      if (gone.has(t.task_id)) continue;
      if (Object.values(t.args).some((v) => referencesIn(v).some((r) => gone.has(r)))) {
        gone.add(t.task_id);
        grew = true;
      }
    }
  }
  return gone;
}

/** The plan with derived parts (dependencies, levels, edges, order) worked out anew. */
export function rebuild(config: ExecutionConfig, tasks: ConfigTask[]): ExecutionConfig {
  const ids = new Set(tasks.map((t) => t.task_id));
  const linked = tasks.map((t) => {
    const used = Object.values(t.args).flatMap(referencesIn);
    const dependencies = [...new Set([...t.dependencies, ...used])]
      .filter((d) => ids.has(d) && d !== t.task_id)
      .sort((a, b) => a - b);
    return { ...t, dependencies };
  });
  const levels = levelsOf(linked);
  const leveled = linked.map((t) => ({ ...t, execution_level: levels.get(t.task_id) ?? 0 }));
  const byLevel = new Map<number, number[]>();
  for (const t of leveled) byLevel.set(t.execution_level, [...(byLevel.get(t.execution_level) ?? []), t.task_id]);
  return {
    ...config,
    total_tasks: leveled.length,
    tasks: leveled,
    dag: {
      nodes: [...ids].sort((a, b) => a - b),
      edges: leveled.flatMap((t) => t.dependencies.map((from) => ({ from, to: t.task_id }))),
    },
    execution_order: [...byLevel.entries()]
      .sort(([a], [b]) => a - b)
      .map(([level, list]) => ({ level, parallel: list.length > 1, tasks: list.sort((a, b) => a - b) })),
  };
}

/** The longest way to each task. Tasks on a cycle (an edit may make one) stay at the level where the search gave up. */
function levelsOf(tasks: ConfigTask[]): Map<number, number> {
  const level = new Map(tasks.map((t) => [t.task_id, 0]));
  for (let round = 0; round < tasks.length; round++) {
    let moved = false;
    for (const t of tasks) {
      const least = Math.max(0, ...t.dependencies.map((d) => (level.get(d) ?? -1) + 1));
      if (least > (level.get(t.task_id) ?? 0)) {
        level.set(t.task_id, least);
        moved = true;
      }
    }
    if (!moved) break;
  }
  return level;
}

export function setArg(config: ExecutionConfig, id: number, name: string, value: string): ExecutionConfig {
  const tasks = config.tasks.map((t) => {
    if (t.task_id !== id) return t;
    const before = new Set(referencesIn(t.args[name] ?? ""));
    const args = { ...t.args, [name]: value };
    const still = new Set(Object.values(args).flatMap(referencesIn));
    // A dependency that was there only for the reference just removed goes with it.
    return { ...t, args, dependencies: t.dependencies.filter((d) => still.has(d) || !before.has(d)) };
  });
  return rebuild(config, tasks);
}

export function setModel(
  config: ExecutionConfig,
  id: number,
  model: string,
  host: string,
  reason: string,
): ExecutionConfig {
  return {
    ...config,
    tasks: config.tasks.map((t) => {
      if (t.task_id !== id || t.model_id === model) return t;
      // The model given up stays selectable.
      const others = [{ id: t.model_id, hosted_on: t.hosted_on ?? "" }, ...(t.alternatives ?? [])].filter(
        (a) => a.id !== model && a.id !== "N/A",
      );
      return {
        ...t,
        model_id: model,
        model_reason: reason,
        ...(host ? { hosted_on: host } : {}),
        alternatives: others,
      };
    }),
  };
}

export function removeTasks(config: ExecutionConfig, gone: Set<number>): ExecutionConfig {
  return rebuild(
    config,
    config.tasks.filter((t) => !gone.has(t.task_id)),
  );
}

/** What a task that is added begins with. */
export interface Blank {
  type: string;
  model: string;
  host: string;
  reason: string;
  args: string[];
}

/** The plan with one more task, which waits for nothing, and its number. */
export function addTask(config: ExecutionConfig, blank: Blank): { config: ExecutionConfig; id: number } {
  const id = Math.max(-1, ...config.tasks.map((t) => t.task_id)) + 1;
  const task: ConfigTask = {
    task_id: id,
    task_type: blank.type,
    model_id: blank.model,
    model_reason: blank.reason,
    args: Object.fromEntries(blank.args.map((name) => [name, ""])),
    dependencies: [],
    execution_level: 0,
    ...(blank.host ? { hosted_on: blank.host } : {}),
    alternatives: [],
  };
  return { config: rebuild(config, [...config.tasks, task]), id };
}

/** Why a task cannot be made to wait for another one. */
export type NoEdge = "same" | "there" | "circle";

export function whyNoEdge(config: ExecutionConfig, from: number, to: number): NoEdge | null {
  if (from === to) return "same";
  if (config.tasks.find((t) => t.task_id === to)?.dependencies.includes(from)) return "there";
  return reaches(config.tasks, from, to) ? "circle" : null;
}

/** The arguments of a task that use what another one gives. While there are any, it waits for it. */
export function usedBy(config: ExecutionConfig, from: number, to: number): string[] {
  const args = config.tasks.find((t) => t.task_id === to)?.args ?? {};
  return Object.keys(args).filter((name) => referencesIn(args[name] ?? "").includes(from));
}

function withTask(config: ExecutionConfig, id: number, change: (task: ConfigTask) => ConfigTask): ExecutionConfig {
  return rebuild(
    config,
    config.tasks.map((t) => (t.task_id === id ? change(t) : t)),
  );
}

export const addEdge = (config: ExecutionConfig, from: number, to: number): ExecutionConfig =>
  withTask(config, to, (t) => ({ ...t, dependencies: [...t.dependencies, from] }));

export const removeEdge = (config: ExecutionConfig, from: number, to: number): ExecutionConfig =>
  withTask(config, to, (t) => ({ ...t, dependencies: t.dependencies.filter((d) => d !== from) }));

/** The plan without an argument, and without the dependency that was there only for it. */
export const removeArg = (config: ExecutionConfig, id: number, name: string): ExecutionConfig =>
  withTask(setArg(config, id, name, ""), id, (t) => {
    const { [name]: _, ...args } = t.args;
    return { ...t, args };
  });

export type PlanProblem = { task: number; arg: string; missing: number } | { task: number; arg: string; cycle: true };

/** What would make the server refuse the plan: references to tasks that are not there, and circles. */
export function problems(config: ExecutionConfig): PlanProblem[] {
  const ids = new Set(config.tasks.map((t) => t.task_id));
  const out: PlanProblem[] = [];
  for (const t of config.tasks)
    for (const [arg, value] of Object.entries(t.args))
      for (const ref of referencesIn(value)) {
        if (!ids.has(ref)) out.push({ task: t.task_id, arg, missing: ref });
        else if (ref === t.task_id || reaches(config.tasks, ref, t.task_id))
          out.push({ task: t.task_id, arg, cycle: true });
      }
  return out;
}

/** True when `from` depends on `to`, directly or not. */
export function reaches(tasks: ConfigTask[], from: number, to: number): boolean {
  const seen = new Set<number>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    const task = tasks.find((t) => t.task_id === id);
    if (task) open.push(...Object.values(task.args).flatMap(referencesIn), ...task.dependencies);
  }
  return false;
}
