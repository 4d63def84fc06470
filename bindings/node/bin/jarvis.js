#!/usr/bin/env node
// @ts-check
// `jarvis` by npx or npm scripts: the program of this platform, with this process's streams, signals and status.

import { spawn } from "node:child_process";
import process from "node:process";

import { JarvisError, program } from "../dist/index.js";

/** @param {unknown} error */
function fail(error) {
  if (!(error instanceof JarvisError)) throw error;
  process.stderr.write(`error: ${error.message}\n\nhint: ${error.hint}\n`);
  process.exitCode = 1;
}

try {
  const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
  /** @type {NodeJS.Signals[]} */
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  // A terminal sends its interrupt to the program itself; whoever sends a signal to this process means the program.
  for (const signal of signals)
    process.on(signal, () => (signal === "SIGINT" && process.stdin.isTTY) || child.kill(signal));
  child.on("error", (cause) => {
    const hint = "check that the package is for this platform, or name a program with JARVIS_BIN";
    fail(new JarvisError(`jarvis cannot be started: ${cause.message}`, { hint, cause }));
  });
  child.on("exit", (status, signal) => {
    if (signal === null) {
      process.exitCode = status ?? 1;
      return;
    }
    // Ends as the program did, so that a shell sees the same.
    for (const other of signals) process.removeAllListeners(other);
    process.kill(process.pid, signal);
  });
} catch (error) {
  fail(error);
}
