// Finds the jarvis program. Nothing is downloaded and nothing runs at installation: npm chooses the package of the platform.

import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

import { ProgramNotFoundError } from "./errors.js";

const require = createRequire(import.meta.url);

/** The platforms that there are packages for. */
export const PLATFORMS: readonly string[] = ["linux-arm64", "linux-x64"];

/** The jarvis program: `$JARVIS_BIN`, else that of the package for this platform. The path is absolute: the same in every folder. */
export function program(): string {
  const named = process.env["JARVIS_BIN"];
  if (named)
    return executable(
      resolve(named),
      `JARVIS_BIN names \`${named}\``,
      "name the jarvis program with JARVIS_BIN, or unset it",
    );
  const platform = `${process.platform}-${process.arch}`;
  const name = `@jarvis-run/${platform}`;
  if (!PLATFORMS.includes(platform))
    throw new ProgramNotFoundError(`there is no package of jarvis for ${platform}`, {
      code: "program_not_found",
      hint: `build jarvis from its sources and name the program with JARVIS_BIN; there are packages for ${PLATFORMS.join(", ")}`,
    });
  const install = `install without --omit=optional (or --no-optional), so that npm takes ${name}; or name a program with JARVIS_BIN`;
  let path: string;
  try {
    path = require.resolve(`${name}/bin/jarvis`);
  } catch (cause) {
    const message = `the package ${name}, which holds the program, is not installed`;
    throw new ProgramNotFoundError(message, { code: "program_not_found", hint: install, cause });
  }
  return executable(path, `the program of ${name} is ${path}`, install);
}

function executable(path: string, what: string, hint: string): string {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch (cause) {
    throw new ProgramNotFoundError(`${what}, which cannot be executed`, { code: "program_not_found", hint, cause });
  }
}
