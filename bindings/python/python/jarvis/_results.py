"""What :func:`jarvis.run` and :func:`jarvis.plan` give: typed, and shown by notebooks."""

from __future__ import annotations

import base64
import json
import mimetypes
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import types
from ._errors import JarvisError
from ._frames import frame
from ._native import draw
from ._writing import NO_JSON, no_json, replace

if TYPE_CHECKING:
    import pandas as pd

    from ._native import Shape

#: Larger pictures are named in a notebook, not embedded in it.
EMBEDDED_BYTES = 8_000_000

_A_PLAN = "a plan is what `jarvis.plan` gives or `jarvis plan` prints"


@dataclass(frozen=True)
class Output:
    """One thing that a task made: a file (``path`` on this machine, ``url`` at the server), a text, or a value."""

    kind: types.ResourceKind
    path: Path | None = None
    url: str | None = None
    text: str | None = None
    value: Any = None
    #: How a person calls the file.
    name: str | None = None

    @classmethod
    def of(cls, output: Mapping[str, Any]) -> Output:
        path = output.get("path")
        return cls(
            kind=output["kind"],
            path=None if path is None else Path(path),
            url=output.get("url"),
            text=output.get("text"),
            value=output.get("value"),
            name=output.get("name"),
        )

    def __str__(self) -> str:
        if self.text is not None:
            return self.text
        place = self.path or self.url
        return str(place) if place is not None else json.dumps(self.value, ensure_ascii=False)


@dataclass(frozen=True)
class TaskOutcome:
    """How one task ended."""

    id: int
    task: str
    status: types.TaskStatus
    #: The model that gave the result, or was chosen first.
    model: str | None
    host: str | None
    #: Why that model.
    reason: str | None
    outputs: tuple[Output, ...]
    error: types.TaskError | None
    #: From dispatch to end.
    ms: int

    @classmethod
    def of(cls, outcome: types.RunOutcome) -> TaskOutcome:
        return cls(
            id=outcome["id"],
            task=outcome["task"],
            status=outcome["status"],
            model=outcome["model"],
            host=outcome["host"],
            reason=outcome["reason"],
            outputs=tuple(Output.of(cast("Mapping[str, Any]", output)) for output in outcome["outputs"]),
            error=outcome["error"],
            ms=outcome["ms"],
        )


@dataclass(frozen=True)
class RunResult:
    """A run that ended. ``document`` is all of it, as ``jarvis run --json`` prints it."""

    run_id: str
    request: str
    #: Whether at least one task succeeded, or it was plain conversation.
    ok: bool
    #: The answer's text.
    text: str
    #: The files of the answer.
    files: tuple[Output, ...]
    outcomes: tuple[TaskOutcome, ...]
    planner: str
    model: str
    #: Parts of the request that were not done, in words.
    not_done: tuple[str, ...]
    ms: int
    document: types.RunDocument = field(repr=False)

    @classmethod
    def of(cls, document: types.RunDocument) -> RunResult:
        return cls(
            run_id=document["run_id"],
            request=document["request"],
            ok=document["ok"],
            text=document["answer"]["text"],
            files=tuple(Output.of(cast("Mapping[str, Any]", made)) for made in document["answer"]["resources"]),
            outcomes=tuple(TaskOutcome.of(outcome) for outcome in document["outcomes"]),
            planner=document["planner"],
            model=document["model"],
            not_done=tuple(document.get("not_done", ())),
            ms=document["ms"],
            document=document,
        )

    @property
    def usage(self) -> types.Usage:
        """Model calls and tokens, in all and by stage."""
        return self.document["usage"]

    def raise_if_failed(self) -> RunResult:
        """Itself, where something was done; else :class:`JarvisError` with the reason."""
        if self.ok:
            return self
        errors = [outcome.error["message"] for outcome in self.outcomes if outcome.error is not None]
        message = "; ".join([*self.not_done, *errors]) or self.text
        raise JarvisError(message, code=self.document.get("reason", "failed"), run_id=self.run_id)

    def to_frame(self) -> pd.DataFrame:
        """A row for each task."""
        rows: list[dict[str, Any]] = [
            {
                "id": outcome.id,
                "task": outcome.task,
                "status": outcome.status,
                "model": outcome.model,
                "host": outcome.host,
                "output": "; ".join(str(output) for output in outcome.outputs) or None,
                "error": None if outcome.error is None else outcome.error["message"],
                "ms": outcome.ms,
            }
            for outcome in self.outcomes
        ]
        return frame(rows, ["id", "task", "status", "model", "host", "output", "error", "ms"], "id")

    def _repr_html_(self) -> str:
        parts = [f'<div style="white-space: pre-wrap">{escape(self.text)}</div>']
        parts.extend(_shown(made) for made in self.files)
        rows = "".join(
            f"<tr><td>{outcome.id}</td><td>{escape(outcome.task)}</td><td>{escape(outcome.model or '')}</td>"
            f"<td>{escape(outcome.status)}</td><td>{outcome.ms} ms</td></tr>"
            for outcome in self.outcomes
        )
        if rows:
            head = "<tr><th></th><th>task</th><th>model</th><th>status</th><th>time</th></tr>"
            parts.append(f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>")
        return "".join(parts)


def _shown(made: Output) -> str:
    """A file in a notebook: a picture that is on this machine as it is, anything else by its name."""
    caption = escape(made.name or str(made))
    kind = None if made.path is None else mimetypes.guess_type(made.path.name)[0]
    if made.kind != "image" or made.path is None or kind is None:
        return f"<div>{caption}</div>"
    try:
        if made.path.stat().st_size > EMBEDDED_BYTES:
            return f"<div>{caption}</div>"
        data = base64.b64encode(made.path.read_bytes()).decode("ascii")
    except OSError:
        return f"<div>{caption}</div>"
    return f'<figure><img style="max-width: 100%" src="data:{kind};base64,{data}"><figcaption>{caption}</figcaption></figure>'


@dataclass(frozen=True)
class Plan:
    """A plan with a model for each task, and nothing carried out.

    ``execution_config`` may be edited (tasks, arguments, models) before the plan is run; levels and order are worked out anew.
    """

    execution_config: types.ExecutionConfig
    #: The name under which a server keeps it.
    plan_id: str | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Plan:
        """The plan of what ``jarvis plan`` prints, or a server decides."""
        config = document.get("execution_config", document)
        if not isinstance(config, Mapping) or not isinstance(config.get("tasks"), list):
            message = "this is no plan: it has no list of tasks"
            raise JarvisError(message, hint=_A_PLAN, code="usage", exit_code=2)
        return cls(cast("types.ExecutionConfig", config), document.get("plan_id"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """The plan of a file that ``jarvis plan --out`` or :meth:`save` wrote."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            message = f"cannot read the plan {path}: {error.strerror or error}"
            raise JarvisError(message, hint="name a file that `save` wrote", code="usage", exit_code=2) from error
        except ValueError as error:
            raise JarvisError(f"{path} is no plan: {error}", hint=_A_PLAN, code="usage", exit_code=2) from error
        return cls.of(document if isinstance(document, dict) else {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it for ``jarvis run --plan`` and :meth:`load`: all of it, or the file stays as it was."""
        hint = "check the folder's permissions and the free space of the disk"
        replace(path, self._json(ensure_ascii=False, indent=2) + "\n", "the plan", hint)

    def _json(self, **how: Any) -> str:
        """What the program reads."""
        try:
            return json.dumps({"execution_config": self.execution_config}, **how)
        except NO_JSON as error:
            raise no_json("the plan", error, "put text, numbers, lists and dictionaries into `args`") from error

    @property
    def request(self) -> str:
        return self.execution_config.get("user_request", "")

    @property
    def tasks(self) -> list[types.ExecutionTask]:
        return self.execution_config["tasks"]

    @property
    def warnings(self) -> list[str]:
        """What is left out or cannot run as it is."""
        return self.execution_config.get("warnings", [])

    @property
    def complete(self) -> bool:
        """Whether there is something to run, and nothing of the request is left out."""
        return bool(self.tasks) and not self.warnings

    def to_svg(self) -> str:
        return self._drawn("svg")

    def to_dot(self) -> str:
        return self._drawn("dot")

    def to_mermaid(self) -> str:
        return self._drawn("mermaid")

    def _drawn(self, form: str) -> str:
        places = {task.get("task_id", at): at for at, task in enumerate(self.tasks)}
        shapes: list[Shape] = []
        edges: list[tuple[int, int]] = []
        for at, task in enumerate(self.tasks):
            shapes.append(
                {
                    "name": f"{task.get('task_id', at)}. {task['task_type']}",
                    "details": [(name, _value(value)) for name, value in (task.get("args") or {}).items()],
                    "extra": [task.get("model_id") or "no model"],
                }
            )
            edges.extend((places[before], at) for before in (task.get("dependencies") or []) if before in places)
        return draw(shapes, edges, len(self.execution_config.get("execution_order", [])), form)

    def to_frame(self) -> pd.DataFrame:
        """A row for each task."""
        rows: list[dict[str, Any]] = [
            {
                "task_id": task.get("task_id", at),
                "task_type": task["task_type"],
                "model_id": task.get("model_id"),
                "dependencies": task.get("dependencies") or [],
                "args": task.get("args") or {},
            }
            for at, task in enumerate(self.tasks)
        ]
        return frame(rows, ["task_id", "task_type", "model_id", "dependencies", "args"], "task_id")

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/vnd.mermaid": self.to_mermaid(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        tasks = ", ".join(f"{task.get('task_id', at)}. {task['task_type']}" for at, task in enumerate(self.tasks))
        return f"Plan({self.request!r}: {tasks or 'no tasks'})"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
