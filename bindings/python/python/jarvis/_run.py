"""Requests carried out, or planned, by the installed program."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, Union

from ._errors import JarvisError
from ._program import Done, call, failure
from ._results import Plan, RunResult

#: A path, as the standard library takes it.
StrPath: TypeAlias = Union[str, "os.PathLike[str]"]


def run(
    request: str | None = None,
    *,
    files: StrPath | Iterable[StrPath] = (),
    plan: Plan | Mapping[str, Any] | StrPath | None = None,
    out: StrPath | None = None,
    pipeline: str | None = None,
    llm: str | None = None,
    base_url: str | None = None,
    record: StrPath | None = None,
    config: StrPath | None = None,
    data_dir: StrPath | None = None,
    offline: bool = False,
    experience: bool = True,
    replan: Literal["never", "failures", "always"] | None = None,
    yes: bool = False,
    approve: str | Iterable[str] = (),
    max_time: float | None = None,
    max_tokens: int | None = None,
    max_calls: int | None = None,
    max_cost: float | None = None,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    cwd: StrPath | None = None,
) -> RunResult:
    """Carries a request out, or a plan: ``jarvis run``.

    ``files`` are what the request is about, ``out`` is the folder for what is made. ``yes`` allows every call of a tool that changes
    something, ``approve`` those of the tools that it names. ``max_time`` (seconds) bounds the run, which then answers with what is
    there; ``timeout`` (seconds) stops it without an answer. ``env`` is added to the environment, such as ``OPENAI_API_KEY``.

    The result may be one that nothing was done for: see :attr:`RunResult.ok`. Raises :class:`JarvisError` where there is no result.
    """
    args = ["run", "--json"]
    stdin = request
    if plan is not None:
        if request is not None:
            raise _usage("a request and a plan were given", "give one of them; a plan has its request in it")
        args.append("--plan=-")
        if not isinstance(plan, Plan):
            plan = Plan.of(plan) if isinstance(plan, Mapping) else Plan.load(plan)
        stdin = plan._json()
    elif request is None:
        raise _usage("there is neither a request nor a plan", "give a request in words, or `plan=`")
    else:
        args.append("-")
    args += _common(files, llm, base_url, record, config, data_dir, offline, experience)
    args += _option("out", out) + _option("pipeline", pipeline) + _option("replan", replan)
    args += ["--yes"] if yes else []
    for name in [approve] if isinstance(approve, str) else approve:
        args += _option("approve", name)
    args += _option("max-time", None if max_time is None else f"{round(max_time * 1000)}ms")
    args += _option("max-tokens", max_tokens) + _option("max-calls", max_calls) + _option("max-cost", max_cost)
    done = call(args, timeout=timeout, env=env, cwd=cwd, stdin=stdin)
    document = _document(done)
    if "answer" not in document:
        raise failure(done)
    return RunResult.of(document)  # type: ignore[arg-type]


def plan(
    request: str,
    *,
    files: StrPath | Iterable[StrPath] = (),
    llm: str | None = None,
    base_url: str | None = None,
    record: StrPath | None = None,
    config: StrPath | None = None,
    data_dir: StrPath | None = None,
    offline: bool = False,
    experience: bool = True,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    cwd: StrPath | None = None,
) -> Plan:
    """Decides which tasks and models a request takes, and carries nothing out: ``jarvis plan``.

    A plan may leave out a part of the request: see :attr:`Plan.complete`. Raises :class:`JarvisError` where there is no plan.
    """
    args = ["plan", "-", *_common(files, llm, base_url, record, config, data_dir, offline, experience)]
    done = call(args, timeout=timeout, env=env, cwd=cwd, stdin=request)
    document = _document(done)
    if "execution_config" not in document:
        raise failure(done)
    return Plan.of(document)


def _common(
    files: StrPath | Iterable[StrPath],
    llm: str | None,
    base_url: str | None,
    record: StrPath | None,
    config: StrPath | None,
    data_dir: StrPath | None,
    offline: bool,
    experience: bool,
) -> list[str]:
    args = []
    for file in [files] if isinstance(files, (str, os.PathLike)) else files:
        # Standard input, which `-` stands for, carries the request.
        name = os.fspath(file)
        args += _option("file", os.path.join(".", name) if name == "-" else name)
    args += _option("llm", llm) + _option("base-url", base_url) + _option("record", record)
    args += _option("config", config) + _option("data-dir", data_dir)
    args += ["--offline"] if offline else []
    args += [] if experience else ["--no-experience"]
    return args


def _option(name: str, value: object) -> list[str]:
    """In one word, so that no value is taken for an option."""
    if value is None:
        return []
    return [f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]


def _document(done: Done) -> dict[str, Any]:
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _usage(message: str, hint: str) -> JarvisError:
    return JarvisError(message, hint=hint, code="usage", exit_code=2)
