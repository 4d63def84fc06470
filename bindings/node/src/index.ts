// jarvis for Node: `run` and `plan` call the program that comes with this package, `Client` talks to `jarvis serve`.

export type { components, paths } from "./api.js";
export { type AskOptions, Client, type ClientOptions, type Page, type Upload } from "./client.js";
export { ApiError, ApprovalNeededError, JarvisError, ProgramNotFoundError } from "./errors.js";
export { program } from "./program.js";
export { type CommonOptions, plan, type Plan, run, type RunDocument, type RunOptions } from "./run.js";
export type { Event, RunsEvent } from "./stream.js";
