"""Finds the jarvis program and runs it, without a shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._errors import JarvisError, ProgramNotFound, TimedOut

#: Names another program than the installed one.
VARIABLE = "JARVIS_BIN"

#: How long a program that is asked to stop may take to cancel its run in good order.
GRACE_S = 5.0

_NAME = "jarvis.exe" if os.name == "nt" else "jarvis"


def program() -> Path:
    """The jarvis program: ``$JARVIS_BIN``, else the one installed with this package, else the first in ``PATH``.

    Its path is absolute, so that it is the same program in every folder.
    """
    named = os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramNotFound(
                f"{VARIABLE} names `{named}`, which is no program",
                hint=f"name the jarvis program with {VARIABLE}, or unset it to use the installed one",
                code="program_not_found",
            )
        return Path(found).absolute()
    for folder in _script_folders():
        candidate = folder / _NAME
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    on_path = shutil.which(_NAME)
    if on_path is not None:
        return Path(on_path).absolute()
    raise ProgramNotFound(
        "there is no jarvis program in this environment or in PATH",
        hint=f"install the wheel of jarvis-run for this platform again, or name a program with {VARIABLE}",
        code="program_not_found",
    )


def _script_folders() -> list[Path]:
    """Where pip puts programs, first the folder of the installation that this package is of: beside it (``--target``), that of the
    user (``--user``), or the environment's. In the others may be a program of another version."""
    here = Path(__file__).parent.parent
    folders = [here / "bin"]
    others: list[Path] = []
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        paths = sysconfig.get_paths(scheme)
        own = any(Path(paths[kind]).resolve() == here.resolve() for kind in ("platlib", "purelib"))
        (folders if own else others).append(Path(paths["scripts"]))
    return list(dict.fromkeys([*folders, Path(sys.executable).parent, *others]))


@dataclass(frozen=True)
class Done:
    """A program that ended."""

    exit_code: int
    stdout: str
    stderr: str


def call(
    args: Sequence[str],
    *,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stdin: str | None = None,
) -> Done:
    """Runs ``jarvis ARGS`` to its end. ``env`` is added to the environment."""
    if cwd is not None:
        _enterable(cwd)
    try:
        process = subprocess.Popen(
            [str(program()), *args],
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise ProgramNotFound(
            f"jarvis cannot be started: {error}",
            hint=f"check that the program is for this platform, or name another with {VARIABLE}",
            code="program_not_found",
        ) from error
    with process:
        try:
            stdout, stderr = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            _stop(process)
            raise TimedOut(
                f"jarvis did not end within {timeout} s and was stopped",
                hint="give it more time with `timeout`, or bound the run itself with `max_time`",
                code="timeout",
            ) from None
        except BaseException:
            _stop(process)
            raise
    return Done(process.returncode, stdout, stderr)


def _enterable(cwd: str | os.PathLike[str]) -> None:
    """Whether the program can be started in the folder. The error of a start that fails would be taken for one of the program."""
    if not os.path.exists(cwd):
        why = "which does not exist"
    elif not os.path.isdir(cwd):
        why = "which is no folder"
    elif not os.access(cwd, os.X_OK):
        why = "which may not be entered"
    else:
        return
    raise JarvisError(
        f"`cwd` is `{os.fspath(cwd)}`, {why}",
        hint="name a folder that is there, or leave `cwd` out for the current one",
        code="usage",
        exit_code=2,
    )


def _stop(process: subprocess.Popen[str]) -> None:
    """Lets the run be cancelled in good order, so that it is in the journal as what it is; then ends it."""
    process.terminate()
    try:
        process.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def failure(done: Done) -> JarvisError:
    """The failure that a program told: the document of ``--json`` where there is one, else what it wrote to stderr."""
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = None
    if isinstance(document, dict) and isinstance(document.get("error"), dict):
        error: dict[str, Any] = document["error"]
        return JarvisError(
            str(error.get("message", "jarvis failed")),
            hint=error.get("hint"),
            code=error.get("code"),
            exit_code=done.exit_code,
            run_id=document.get("run_id"),
        )
    message, hint = _said(done.stderr)
    if done.exit_code < 0:
        message = message or f"jarvis was ended by signal {-done.exit_code}"
    usage = done.exit_code == 2
    return JarvisError(
        message or f"jarvis ended with status {done.exit_code}",
        hint=hint,
        code="usage" if usage else "failed",
        exit_code=done.exit_code,
    )


def _said(stderr: str) -> tuple[str, str | None]:
    """Message and hint of a failure on stderr: `error: …`, `Caused by: …`, `hint: …`."""
    message: list[str] = []
    hint: list[str] = []
    part: list[str] | None = None
    for line in stderr.splitlines():
        text = line.strip()
        for word, begun in (("error: ", message), ("Caused by: ", message), ("hint: ", hint), ("tip: ", hint)):
            if text.startswith(word):
                part = begun
                part.append(text[len(word) :])
                break
        else:
            if not text or text.startswith("Usage: "):
                part = None
            elif part is not None:
                part.append(text)
    # Of several failures the last one ended the program; what clap adds belongs to it.
    return ": ".join(message), " ".join(hint) or None
