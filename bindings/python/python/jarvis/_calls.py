"""The requests of both clients, and what their replies mean: no I/O.

Types come from the server's own description (:mod:`jarvis.types`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union, cast
from urllib.parse import quote

import httpx

from . import types
from ._errors import ApiError, ApprovalNeeded, JarvisError
from ._results import Plan, RunResult

DEFAULT_URL = "http://127.0.0.1:8004"

#: For replies that a server has at once.
TIMEOUT = httpx.Timeout(30.0)
#: A run takes as long as it takes.
RUN_TIMEOUT = httpx.Timeout(30.0, read=None)
#: A server sends a comment every 15 seconds: a stream that is silent for longer is dead.
STREAM_TIMEOUT = httpx.Timeout(30.0, read=60.0)

#: Earlier turns: messages as they are, or pairs of role and content.
History = Iterable[types.Message]
#: What goes with a request: what :meth:`Client.upload` gave.
Attachments = Iterable[types.Attachment]
#: A file to upload: its path, or its name and content.
Upload = Union[str, "os.PathLike[str]", tuple[str, bytes]]


class Bearer(httpx.Auth):
    """The token of the user. It goes before what the client of ``http=`` would say; ``httpx`` takes it off where a reply leads to
    another host."""

    def __init__(self, token: str) -> None:
        self._value = f"Bearer {token}"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = self._value
        yield request


@dataclass(frozen=True)
class Server:
    """Whom requests go to, and who asks."""

    url: str
    #: ``None`` without a token.
    auth: Bearer | None

    @classmethod
    def of(cls, url: str | None, token: str | None, http: httpx.Client | httpx.AsyncClient | None) -> Server:
        """The address that was given, else that of the client that was given, else the usual one."""
        named = url if url is not None else str(http.base_url if http is not None else "") or DEFAULT_URL
        try:
            httpx.URL(named)
        except httpx.InvalidURL as error:
            raise JarvisError(
                f"`{named}` is no address of a server: {error}",
                hint=f"give one such as {DEFAULT_URL}",
                code="usage",
                exit_code=2,
            ) from error
        return cls(named.rstrip("/"), Bearer(token) if token else None)


@dataclass(frozen=True)
class Call:
    """One request to the server."""

    method: str
    path: str
    json: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: httpx.Timeout = field(default_factory=lambda: TIMEOUT)

    def arguments(self, server: Server) -> dict[str, Any]:
        """For ``httpx``."""
        params = {name: value for name, value in self.params.items() if value is not None}
        more: dict[str, Any] = {} if self.json is None else {"json": self.json}
        # `None` would take away what a client of one's own says of who asks.
        more.update({} if server.auth is None else {"auth": server.auth})
        return {
            "method": self.method,
            "url": server.url + self.path,
            "params": params,
            "headers": self.headers,
            "timeout": self.timeout,
            **more,
        }


def route(*parts: str | int) -> str:
    """The path of a route; what callers give stays within its part."""
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)


def file_path(url: str) -> str:
    """The path of a server's file. No other host is asked, which would be sent the token."""
    if url.startswith("/") and not url.startswith("//"):
        return url
    raise JarvisError(
        f"`{url}` is no file of the server",
        hint="give the `url` of an output, such as /images/….png",
        code="usage",
        exit_code=2,
    )


def result(reply: Any) -> RunResult:
    """The result of a run that was waited for."""
    if "run" not in reply:
        raise ApprovalNeeded(reply["run_id"], reply["waiting"])
    return RunResult.of(reply["run"])


def ask(
    request: str,
    *,
    history: History = (),
    attachments: Attachments = (),
    model: str | None = None,
    budget: types.BudgetAsk | None = None,
    experience: bool | None = None,
    detached: bool = False,
) -> dict[str, Any]:
    """The body of a request in words."""
    body: dict[str, Any] = {"messages": [*history, {"role": "user", "content": request}]}
    given = {"attachments": list(attachments) or None, "model": model, "budget": budget, "experience": experience}
    body.update({name: value for name, value in given.items() if value is not None})
    if detached:
        body["detached"] = True
    return body


def plan_ask(plan: Plan | str, *, attachments: Attachments = (), detached: bool = False) -> tuple[str, dict[str, Any]]:
    """Route and body for a plan to be carried out: the server's own by its id, another one as it is."""
    body: dict[str, Any] = {"detached": True} if detached else {}
    if files := list(attachments):
        body["attachments"] = files
    if isinstance(plan, str):
        return route("plans", plan, "run"), body
    body["execution_config"] = plan.execution_config
    return (route("plans", plan.plan_id, "run") if plan.plan_id else "/plans/run"), body


def query(
    limit: int | None,
    before: str | None,
    status: Iterable[str],
    since_ms: int | None,
    until_ms: int | None,
    text: str | None,
    user: str | None,
) -> dict[str, Any]:
    """The parameters of a page of runs."""
    words = ",".join([status] if isinstance(status, str) else status) or None
    bounds = {"limit": limit, "before": before, "since_ms": since_ms, "until_ms": until_ms}
    return {**bounds, "status": words, "text": text, "user": user}


def opened(files: Sequence[Upload], stack: ExitStack) -> list[tuple[str, tuple[str, Any]]]:
    """The parts of a form of files; the stack closes them."""
    parts: list[tuple[str, tuple[str, Any]]] = []
    for file in files:
        if isinstance(file, tuple):
            parts.append(("file", file))
        else:
            path = Path(file)
            parts.append(("file", (path.name, stack.enter_context(path.open("rb")))))
    return parts


def attachment(sent: types.Uploaded) -> types.Attachment:
    """What stands for an uploaded file in a request."""
    keys = ("kind", "name", "path", "text", "url")
    return cast(types.Attachment, {key: sent[key] for key in keys if key in sent})  # type: ignore[literal-required]


def place(run_id: str, last_event_id: str | None) -> Call:
    """The events of a run from the beginning, or behind an event."""
    headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
    return Call("GET", route("runs", run_id, "events"), headers=headers, timeout=STREAM_TIMEOUT)


def refusal(reply: httpx.Response) -> ApiError:
    """The error that a reply tells. Its body has been read."""
    try:
        error = reply.json()["error"]
        message = str(error["message"])
    except (ValueError, KeyError, TypeError):
        text = reply.text.strip()[:500]
        message = f"the server answered {reply.status_code} {reply.reason_phrase}" + (f": {text}" if text else "")
        return ApiError(message, status=reply.status_code, hint="check that the address is that of `jarvis serve`")
    return ApiError(
        message,
        status=reply.status_code,
        hint=error.get("hint"),
        code=error.get("code"),
        run_id=error.get("run_id"),
        details=error.get("details"),
    )


def unreachable(error: httpx.TransportError, url: str) -> JarvisError:
    """What stands for a failed connection."""
    if isinstance(error, httpx.TimeoutException):
        return JarvisError(f"the server at {url} did not answer in time", code="timeout", hint="try again")
    return JarvisError(
        f"the server at {url} cannot be reached: {error}",
        code="unreachable",
        hint="start one with `jarvis serve`, or check the address",
    )


def read(reply: httpx.Response) -> Any:
    """The JSON of a reply."""
    if not reply.is_success:
        raise refusal(reply)
    try:
        return reply.json()
    except ValueError as error:
        raise ApiError(
            f"the reply of {reply.url} is not JSON",
            status=reply.status_code,
            hint="check that the address is that of `jarvis serve`",
        ) from error


def event(data: str) -> types.Event:
    """An event of a stream."""
    try:
        return cast(types.Event, json.loads(data))
    except ValueError as error:
        raise ApiError(f"an event of the stream is not JSON: {error}") from error


def is_end(told: types.Event) -> bool:
    """Whether nothing follows the event."""
    return told["event"] in ("done", "error")


def has_seen_end(run: types.RunReply, last_event_id: str) -> bool:
    """Whether the event, or one before it, is the end of the run."""
    events, place = run["events"], last_event_id.strip().partition(".")[0]
    return bool(events) and is_end(events[-1]) and place.isdecimal() and events[-1]["seq"] <= int(place)


def cut_off() -> ApiError:
    """A stream that ended before its run."""
    return ApiError(
        "the stream ended before its run did",
        code="cut_off",
        hint="the run may go on: `follow` it by the `run_id` of its events",
    )
