"""The client of ``jarvis serve``.

Made of ``_async_client.py`` by ``tests/unasync.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Literal, cast

import httpx
from httpx_sse import EventSource, SSEError

from . import _calls, types
from ._calls import RUN_TIMEOUT, STREAM_TIMEOUT, Attachments, Call, History, Upload, route
from ._errors import ApiError
from ._results import Plan, RunResult


class Client:
    """Talks to a server, the one at ``http://127.0.0.1:8004`` unless ``base_url`` names another. ``token`` is that of the user, where
    the server wants one.

    ``http`` brings a client of one's own, with proxies, certificates or limits. Without a ``base_url`` its own is taken. It is left
    as it is: only requests to the server carry the token, and whoever made it closes it.
    """

    def __init__(
        self, base_url: str | None = None, *, token: str | None = None, http: httpx.Client | None = None
    ) -> None:
        self._server = _calls.Server.of(base_url, token, http)
        self._http = httpx.Client() if http is None else http
        self._made_here = http is None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, other than those of a client of one's own."""
        if self._made_here:
            self._http.close()

    # Runs

    def run(
        self,
        request: str,
        *,
        history: History = (),
        attachments: Attachments = (),
        pipeline: str = "hugginggpt",
        model: str | None = None,
        budget: types.BudgetAsk | None = None,
        experience: bool | None = None,
    ) -> RunResult:
        """Carries a request out and waits for its result.

        Raises :class:`jarvis.ApprovalNeeded` where the run comes to a call that somebody must allow.
        """
        body = _calls.ask(
            request, history=history, attachments=attachments, model=model, budget=budget, experience=experience
        )
        return _calls.result(
            self._json(Call("POST", route("pipelines", pipeline, "runs"), json=body, timeout=RUN_TIMEOUT))
        )

    def start(
        self,
        request: str,
        *,
        history: History = (),
        attachments: Attachments = (),
        pipeline: str = "hugginggpt",
        model: str | None = None,
        budget: types.BudgetAsk | None = None,
        experience: bool | None = None,
    ) -> types.StartedReply:
        """Starts a run that goes on by itself, and does not wait for it."""
        body = _calls.ask(
            request,
            history=history,
            attachments=attachments,
            model=model,
            budget=budget,
            experience=experience,
            detached=True,
        )
        return cast(types.StartedReply, self._json(Call("POST", route("pipelines", pipeline, "runs"), json=body)))

    def stream(
        self,
        request: str,
        *,
        history: History = (),
        attachments: Attachments = (),
        pipeline: str = "hugginggpt",
        model: str | None = None,
        budget: types.BudgetAsk | None = None,
        experience: bool | None = None,
        detached: bool = False,
    ) -> Iterator[types.Event]:
        """Carries a request out and gives its events while they happen, up to ``done`` or ``error``.

        Leaving the loop early cancels the run, unless it is ``detached``; close the iterator to leave at once.
        """
        body = _calls.ask(
            request,
            history=history,
            attachments=attachments,
            model=model,
            budget=budget,
            experience=experience,
            detached=detached,
        )
        return self._events(
            Call("POST", route("pipelines", pipeline, "runs", "stream"), json=body, timeout=STREAM_TIMEOUT)
        )

    def follow(self, run_id: str, *, last_event_id: str | None = None) -> Iterator[types.Event]:
        """The events of a run, from the beginning or behind one of them, and up to its end; leaving cancels nothing."""
        behind = None if last_event_id is None else (run_id, last_event_id)
        return self._events(_calls.place(run_id, last_event_id), behind)

    def follow_all(self, run_ids: str | Iterable[str]) -> Iterator[types.RunsEvent]:
        """The events of up to 100 runs in one stream; of a run that is not there, only its ``run_id``."""
        runs = [run_ids] if isinstance(run_ids, str) else list(run_ids)
        call = Call("GET", "/events", params={"run": runs}, timeout=STREAM_TIMEOUT)
        with self._stream(call) as source:
            for sent in source.iter_sse():
                if sent.data:
                    yield cast(types.RunsEvent, _calls.event(sent.data))

    def runs(
        self,
        *,
        limit: int | None = None,
        before: str | None = None,
        status: str | Iterable[str] = (),
        since_ms: int | None = None,
        until_ms: int | None = None,
        text: str | None = None,
        user: str | None = None,
    ) -> types.RunsReply:
        """A page of runs, newest first; its ``next`` is ``before`` of the one that follows."""
        params = _calls.query(limit, before, status, since_ms, until_ms, text, user)
        return cast(types.RunsReply, self._json(Call("GET", "/runs", params=params)))

    def get_run(self, run_id: str) -> types.RunReply:
        """A run with everything that happened in it, and what it waits for."""
        return cast(types.RunReply, self._json(Call("GET", route("runs", run_id))))

    def wait(self, run_id: str) -> types.RunReply:
        """Follows a run to its end; the run with everything that happened in it."""
        for _ in self.follow(run_id):
            pass
        return self.get_run(run_id)

    def cancel(self, run_id: str) -> types.CancelReply:
        """Ends a run before its time."""
        return cast(types.CancelReply, self._json(Call("POST", route("runs", run_id, "cancel"))))

    def resume(self, run_id: str) -> types.ResumeReply:
        """Goes on with a run that was cut off."""
        return cast(types.ResumeReply, self._json(Call("POST", route("runs", run_id, "resume"))))

    def retry(self, run_id: str, *, task: int | None = None) -> types.ResumeReply:
        """Tries again what did not succeed, or from a task on, in a new run."""
        body = None if task is None else {"from": task}
        return cast(types.ResumeReply, self._json(Call("POST", route("runs", run_id, "retry"), json=body)))

    def remove_run(self, run_id: str) -> types.RemovedReply:
        """Removes a run with the files that nothing else speaks of."""
        return cast(types.RemovedReply, self._json(Call("DELETE", route("runs", run_id))))

    def rate(self, run_id: str, rating: types.Rating) -> types.RatingReply:
        """Says whether a run's plan was good, by which later ones are made."""
        return cast(
            types.RatingReply, self._json(Call("POST", route("runs", run_id, "rating"), json={"rating": rating}))
        )

    def approve(
        self,
        run_id: str,
        task: int,
        *,
        decision: Literal["approve", "approve_always"] = "approve",
        arguments: dict[str, Any] | None = None,
    ) -> types.ApprovalReply:
        """Allows a call that waits; ``arguments`` are all of them, in the place of the planned ones."""
        body = {"decision": decision, **({} if arguments is None else {"arguments": arguments})}
        return self._answer(run_id, task, body)

    def refuse(self, run_id: str, task: int, *, reason: str | None = None) -> types.ApprovalReply:
        """Refuses a call that waits."""
        return self._answer(run_id, task, {"decision": "refuse", **({} if reason is None else {"reason": reason})})

    # Plans

    def plan(
        self,
        request: str,
        *,
        history: History = (),
        attachments: Attachments = (),
        model: str | None = None,
        experience: bool | None = None,
    ) -> Plan:
        """Decides which tasks and models a request takes, and carries nothing out. The server keeps it as ``plan_id``."""
        body = _calls.ask(request, history=history, attachments=attachments, model=model, experience=experience)
        return Plan.of(self._json(Call("POST", "/decisions", json=body, timeout=RUN_TIMEOUT)))

    def get_plan(self, plan_id: str) -> Plan:
        """A plan that the server keeps."""
        return Plan.of({**self._json(Call("GET", route("plans", plan_id))), "plan_id": plan_id})

    def run_plan(self, plan: Plan | str, *, attachments: Attachments = ()) -> RunResult:
        """Carries a plan out, as it was saved or edited, and waits for its result."""
        path, body = _calls.plan_ask(plan, attachments=attachments)
        return _calls.result(self._json(Call("POST", path, json=body, timeout=RUN_TIMEOUT)))

    def stream_plan(
        self, plan: Plan | str, *, attachments: Attachments = (), detached: bool = False
    ) -> Iterator[types.Event]:
        """Carries a plan out and gives its events while they happen."""
        path, body = _calls.plan_ask(plan, attachments=attachments, detached=detached)
        return self._events(Call("POST", f"{path}/stream", json=body, timeout=STREAM_TIMEOUT))

    # Files

    def upload(self, *files: Upload) -> list[types.Attachment]:
        """Sends files, by path or as name and content; what stands for them in a request."""
        with ExitStack() as stack:
            call = Call("POST", "/upload", timeout=RUN_TIMEOUT)
            reply = cast(types.UploadReply, self._json(call, files=_calls.opened(files, stack)))
        return [_calls.attachment(sent) for sent in reply["files"]]

    def download(self, url: str) -> bytes:
        """A file of the server's, by the ``url`` of an output, such as ``/images/….png``."""
        reply = self._send(Call("GET", _calls.file_path(url), timeout=RUN_TIMEOUT))
        if not reply.is_success:
            raise _calls.refusal(reply)
        return reply.content

    # What there is

    def health(self) -> types.HealthReply:
        """How the server is, which pipelines and chat models it has."""
        return cast(types.HealthReply, self._json(Call("GET", "/health")))

    def models(self) -> types.ModelsReply:
        """The models, and the task types that something serves."""
        return cast(types.ModelsReply, self._json(Call("GET", "/models")))

    def local_models(self) -> types.LocalModels:
        """The models on the server's machine, and what would help."""
        return cast(types.LocalModels, self._json(Call("GET", "/local-models")))

    def tools(self) -> types.ToolsReply:
        """The tools with their inputs."""
        return cast(types.ToolsReply, self._json(Call("GET", "/tools")))

    def pipelines(self) -> list[str]:
        """The pipelines that work as the server is configured."""
        return self.health()["pipelines"]

    # Below: one request, one stream

    def _answer(self, run_id: str, task: int, body: dict[str, Any]) -> types.ApprovalReply:
        return cast(types.ApprovalReply, self._json(Call("POST", route("runs", run_id, "approvals", task), json=body)))

    def _send(self, call: Call, **more: Any) -> httpx.Response:
        try:
            return self._http.request(**call.arguments(self._server), **more)
        except httpx.TransportError as error:
            raise _calls.unreachable(error, self._server.url) from error

    def _json(self, call: Call, **more: Any) -> Any:
        return _calls.read(self._send(call, **more))

    @contextmanager
    def _stream(self, call: Call) -> Iterator[EventSource]:
        begun = False
        try:
            with self._http.stream(**call.arguments(self._server)) as reply:
                if not reply.is_success:
                    reply.read()
                    raise _calls.refusal(reply)
                begun = True
                yield EventSource(reply)
        except SSEError as error:
            raise ApiError(f"the reply is no stream of events: {error}") from error
        except httpx.TransportError as error:
            raise (_calls.cut_off() if begun else _calls.unreachable(error, self._server.url)) from error

    def _events(self, call: Call, behind: tuple[str, str] | None = None) -> Iterator[types.Event]:
        """The events up to the end. ``behind`` is the run and the event that they begin behind."""
        empty = True
        with self._stream(call) as source:
            for sent in source.iter_sse():
                # A comment alone comes with an empty text.
                if not sent.data:
                    continue
                told, empty = _calls.event(sent.data), False
                yield told
                if _calls.is_end(told):
                    return
        # Nothing follows the end of a run.
        if empty and behind is not None and _calls.has_seen_end(self.get_run(behind[0]), behind[1]):
            return
        raise _calls.cut_off()
