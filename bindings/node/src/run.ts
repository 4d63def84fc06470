// Requests carried out, or planned, by the installed program, without a shell.

import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";

import type { components } from "./api.js";
import { JarvisError, ProgramNotFoundError } from "./errors.js";
import { program } from "./program.js";

type Schemas = components["schemas"];

/** A run that ended, as `jarvis run --json` prints it. */
export type RunDocument = Schemas["RunDocument"];
/** A plan with a model for each task, as `jarvis plan` prints it. */
export interface Plan {
  execution_config: Schemas["ExecutionConfig"];
}

export interface CommonOptions {
  /** What the request is about: files, or folders of them. */
  files?: string | readonly string[];
  /** The chat model: `offline`, a model's name, `auto`, `local/NAME`, `replay:FILE`. */
  llm?: string;
  /** The OpenAI-compatible endpoint of that model. */
  baseUrl?: string;
  /** Appends every model call to this file. */
  record?: string;
  config?: string;
  dataDir?: string;
  /** Whether nothing may be looked up at the Hugging Face Hub. */
  offline?: boolean;
  /** Whether plans of earlier runs count, and this one is kept; as configured unless false. */
  experience?: boolean;
  /** Stops the program. */
  signal?: AbortSignal;
  /** Added to the environment, such as `OPENAI_API_KEY`. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

export interface RunOptions extends CommonOptions {
  /** The folder for what is made. */
  out?: string;
  pipeline?: string;
  replan?: "never" | "failures" | "always";
  /** Allows every call of a tool that changes something. */
  yes?: boolean;
  /** Allows calls of these tools; patterns such as `shop.*` too. */
  approve?: string | readonly string[];
  /** Seconds after which nothing new starts. */
  maxTime?: number;
  maxTokens?: number;
  maxCalls?: number;
  maxCost?: number;
}

/**
 * Carries a request out, or a plan: `jarvis run`. The result may be one that nothing was done for: see its `ok`.
 *
 * @throws {JarvisError} where there is no result
 */
export async function run(request: string | Plan, options: RunOptions = {}): Promise<RunDocument> {
  const args = ["run", "--json", typeof request === "string" ? "-" : "--plan=-", ...common(options)];
  const { out, pipeline, replan, yes, approve = [], maxTime, maxTokens, maxCalls, maxCost } = options;
  args.push(...option("out", out), ...option("pipeline", pipeline), ...option("replan", replan));
  if (yes) args.push("--yes");
  for (const name of several(approve)) args.push(...option("approve", name));
  args.push(...option("max-time", maxTime === undefined ? undefined : `${Math.round(maxTime * 1000)}ms`));
  args.push(...option("max-tokens", maxTokens), ...option("max-calls", maxCalls), ...option("max-cost", maxCost));
  const stdin = typeof request === "string" ? request : JSON.stringify({ execution_config: request.execution_config });
  const done = await call(args, stdin, options);
  const document = json(done.stdout);
  if (document === undefined || !("answer" in document)) throw failure(done);
  return document as unknown as RunDocument;
}

/**
 * Decides which tasks and models a request takes, and carries nothing out: `jarvis plan`. What it leaves out is in
 * `execution_config.warnings`.
 *
 * @throws {JarvisError} where there is no plan
 */
export async function plan(request: string, options: CommonOptions = {}): Promise<Plan> {
  const done = await call(["plan", "-", ...common(options)], request, options);
  const document = json(done.stdout);
  if (document === undefined || !("execution_config" in document)) throw failure(done);
  return document as unknown as Plan;
}

function common(options: CommonOptions): string[] {
  const { files = [], llm, baseUrl, record, config, dataDir, offline, experience } = options;
  // Standard input, which `-` stands for, carries the request.
  const args = several(files).flatMap((file) => option("file", file === "-" ? "./-" : file));
  args.push(...option("llm", llm), ...option("base-url", baseUrl), ...option("record", record));
  args.push(...option("config", config), ...option("data-dir", dataDir));
  if (offline) args.push("--offline");
  if (experience === false) args.push("--no-experience");
  return args;
}

/** One or several; a string is no list of letters. */
function several(values: string | readonly string[]): readonly string[] {
  return typeof values === "string" ? [values] : values;
}

/** In one word, so that no value is taken for an option. */
function option(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}

interface Done {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

function call(args: string[], stdin: string, { signal, env, cwd }: CommonOptions): Promise<Done> {
  return new Promise((resolve, reject) => {
    if (cwd !== undefined) enterable(cwd);
    // SIGTERM lets the run be cancelled in good order.
    const child = spawn(program(), args, { cwd, env: { ...process.env, ...env }, signal, killSignal: "SIGTERM" });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (piece: Buffer) => stdout.push(piece));
    child.stderr.on("data", (piece: Buffer) => stderr.push(piece));
    child.on("error", (cause) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      reject(notStarted(cause.message, cause));
    });
    child.on("close", (status, ended) => {
      const text = (pieces: Buffer[]) => Buffer.concat(pieces).toString("utf8");
      resolve({ status, signal: ended, stdout: text(stdout), stderr: text(stderr) });
    });
    // A program that ends without reading its input says why on stderr.
    child.stdin.on("error", () => undefined);
    child.stdin.end(stdin);
  });
}

/** Looks before the start does, whose failure would be taken for one of the program. */
function enterable(cwd: string): void {
  let cause: unknown;
  let why: string;
  try {
    if (statSync(cwd).isDirectory()) {
      accessSync(cwd, constants.X_OK);
      return;
    }
    why = "which is no folder";
  } catch (error) {
    cause = error;
    why = (error as NodeJS.ErrnoException).code === "EACCES" ? "which may not be entered" : "which does not exist";
  }
  const hint = "name a folder that is there, or leave `cwd` out for the current one";
  throw new JarvisError(`\`cwd\` is \`${cwd}\`, ${why}`, { code: "usage", exitCode: 2, hint, cause });
}

function notStarted(why: string, cause?: unknown): ProgramNotFoundError {
  const hint = "check that the program is for this platform, or name another with JARVIS_BIN";
  return new ProgramNotFoundError(`jarvis cannot be started: ${why}`, { code: "program_not_found", hint, cause });
}

function json(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The failure that the program told: the document of `--json` where there is one, else what it wrote to stderr. */
function failure({ status, signal, stdout, stderr }: Done): JarvisError {
  const exitCode = status ?? 1;
  const document = json(stdout) as { run_id?: string | null; error?: Schemas["ErrorFields"] } | undefined;
  if (document?.error) {
    const { message, code, hint } = document.error;
    return new JarvisError(message, { exitCode, code, hint: hint ?? undefined, runId: document.run_id ?? undefined });
  }
  const { message, hint } = said(stderr);
  // Files that are no programs are handed to a shell by the system's own `execvp`, which says so by these.
  if (message === "" && (status === 126 || status === 127)) return notStarted(stderr.trim() || `status ${status}`);
  const ended = signal === null ? `ended with status ${status}` : `was ended by ${signal}`;
  return new JarvisError(message || `jarvis ${ended}`, { exitCode, code: exitCode === 2 ? "usage" : "failed", hint });
}

/** Message and hint of a failure on stderr: `error: …`, `Caused by: …`, `hint: …`. */
function said(stderr: string): { message: string; hint: string | undefined } {
  const [message, hint]: [string[], string[]] = [[], []];
  let part: string[] | undefined;
  for (const line of stderr.split("\n").map((line) => line.trim())) {
    const begins = /^(error|Caused by|hint|tip): (.*)$/.exec(line);
    if (begins) {
      part = begins[1] === "hint" || begins[1] === "tip" ? hint : message;
      part.push(begins[2] ?? "");
    } else if (line === "" || line.startsWith("Usage: ")) part = undefined;
    else part?.push(line);
  }
  return { message: message.join(": "), hint: hint.join(" ") || undefined };
}
