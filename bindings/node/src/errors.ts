// What goes wrong. Every error says what failed, and where something can be tried, what.

import type { components } from "./api.js";

export interface Facts {
  /** What to try. */
  hint?: string | undefined;
  /** A stable word. */
  code?: string | undefined;
  /** The run that it happened in. */
  runId?: string | undefined;
  cause?: unknown;
}

/** jarvis could not do what was asked. */
export class JarvisError extends Error {
  readonly hint: string | undefined;
  readonly code: string | undefined;
  readonly runId: string | undefined;
  /** The program's exit status: 1 where the work failed, 2 for wrong use. */
  readonly exitCode: number;

  constructor(message: string, facts: Facts & { exitCode?: number } = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.hint = facts.hint;
    this.code = facts.code;
    this.runId = facts.runId;
    this.exitCode = facts.exitCode ?? 1;
  }
}

/** There is no jarvis program to run. */
export class ProgramNotFoundError extends JarvisError {}

/** A server refused a request, cannot be reached, or broke off. */
export class ApiError extends JarvisError {
  /** The HTTP status, where there is a reply. */
  readonly status: number | undefined;
  readonly details: unknown;

  constructor(message: string, facts: Facts & { status?: number; details?: unknown } = {}) {
    super(message, facts);
    this.status = facts.status;
    this.details = facts.details;
  }
}

/** A run of a server waits until somebody allows what it would do; `approve` and `refuse` of the client answer. */
export class ApprovalNeededError extends JarvisError {
  readonly waiting: components["schemas"]["Approval"][];

  constructor(runId: string, waiting: components["schemas"]["Approval"][]) {
    const calls = waiting.map((call) => `${call.tool} (task ${call.task})`).join(", ");
    super(`the run ${runId} waits for leave to call ${calls}`, {
      runId,
      code: "waiting",
      hint: "answer with `approve` or `refuse` of the client, then `wait`",
    });
    this.waiting = waiting;
  }
}
