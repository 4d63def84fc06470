"""jarvis plans a request into a task graph, chooses a model for each task, runs the graph and answers.

:func:`run` and :func:`plan` call the program that is installed with this package; :class:`Client` and :class:`AsyncClient` talk to
``jarvis serve``; :mod:`jarvis.taskbench` scores plans; :mod:`jarvis.types` holds the types of everything the server says.
"""

from ._async_client import AsyncClient
from ._client import Client
from ._errors import ApiError, ApprovalNeeded, JarvisError, ProgramNotFound, TimedOut
from ._program import program
from ._results import Output, Plan, RunResult, TaskOutcome
from ._run import plan, run

__all__ = [
    "ApiError",
    "ApprovalNeeded",
    "AsyncClient",
    "Client",
    "JarvisError",
    "Output",
    "Plan",
    "ProgramNotFound",
    "RunResult",
    "TaskOutcome",
    "TimedOut",
    "plan",
    "program",
    "run",
]
