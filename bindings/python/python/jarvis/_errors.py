"""What goes wrong, as exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Approval


class JarvisError(Exception):
    """jarvis could not do what was asked.

    ``message`` says what failed and why, ``hint`` what to try, ``code`` is a stable word. ``exit_code`` is that of the program: 1
    where the work failed, 2 for wrong use.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        code: str | None = None,
        exit_code: int = 1,
        run_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.exit_code = exit_code
        self.run_id = run_id

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class ProgramNotFound(JarvisError):
    """There is no jarvis program to run."""


class TimedOut(JarvisError):
    """The program did not end in time, and was stopped."""


class ApiError(JarvisError):
    """A server refused a request, or a stream of it ended with an error.

    ``status`` is the HTTP status; ``None`` in the middle of a stream.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        hint: str | None = None,
        code: str | None = None,
        run_id: str | None = None,
        details: object = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code, run_id=run_id)
        self.status = status
        self.details = details


class ApprovalNeeded(JarvisError):
    """A run of a server waits until somebody allows what it would do: ``waiting`` says what.

    ``approve`` and ``refuse`` of the client answer, and ``wait`` and ``follow`` go on with the run ``run_id``.
    """

    def __init__(self, run_id: str, waiting: list[Approval]) -> None:
        calls = ", ".join(f"{call['tool']} (task {call['task']})" for call in waiting)
        super().__init__(
            f"the run {run_id} waits for leave to call {calls}",
            hint="answer with `approve` or `refuse` of the client, then `wait`",
            code="waiting",
            run_id=run_id,
        )
        self.waiting = waiting
