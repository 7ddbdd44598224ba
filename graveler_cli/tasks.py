"""The API's operations on tasks."""

import re
import time
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from graveler_cli import output
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.hook_refusals import in_one_line
from graveler_cli.schemas import ResultPage
from graveler_cli.uris import RepositoryUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

_TASKS = "/repositories/{repository}/tasks"
_TASK = f"{_TASKS}/{{task_id}}"

_ID = re.compile(r"[A-Za-z0-9]+")

_OPEN = ("waiting", "running")

_POLL_INTERVAL_S = 1.0


class TaskFailure(Struct, frozen=True):
    """The error that ended a task or an import."""

    message: str
    details: str = ""


class Task(Struct, frozen=True):
    """A task: work that outlives the request that started it."""

    id: str
    kind: str
    state: str
    user: str
    creation_time: datetime
    update_time: datetime
    branch: str = ""
    is_cancelled: bool = False
    objects_done: int = 0
    objects_known: int = 0
    result: dict[str, str] = {}
    error: TaskFailure | None = None
    status_code: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether the task's state is final."""
        return self.state not in _OPEN

    @property
    def progress(self) -> str:
        """Objects done of the objects known so far."""
        return f"{self.objects_done} of {self.objects_known} objects"


class Tasks:
    """The tasks of one repository; every method raises CommandError if the server refuses."""

    def __init__(self, server: "LakeClient", repository: RepositoryUri) -> None:
        self._server = server
        self._repository = repository.repository

    def page(self, after: str, amount: int) -> ResultPage[Task]:
        """Return a page of tasks, the newest first."""
        query = {"after": after, "amount": amount}
        return self._server.page(_TASKS, {"repository": self._repository}, Task, query)

    def task(self, task_id: str) -> Task:
        """Return the task at its current state."""
        return self._server.ask("GET", _TASK, self._names(task_id), Task)

    def completed(self, task_id: str) -> Task:
        """Return the task when it has ended, which it awaits.

        Raises:
            CommandError: it failed or was cancelled.
        """
        found = self.task(task_id)
        if not found.has_ended:
            with output.progress(f"Task {found.kind}") as update:
                while not found.has_ended:
                    update(found.objects_done, found.objects_known)
                    time.sleep(_POLL_INTERVAL_S)
                    found = self.task(task_id)
        self.require_success(found)
        return found

    def cancel(self, task_id: str) -> Task:
        """Cancel the task; return its new state. A running task stops within seconds."""
        return self._server.ask("DELETE", _TASK, self._names(task_id), Task)

    def require_success(self, task: Task) -> None:
        """Check that a task, which has ended, succeeded.

        Raises:
            CommandError: it failed or was cancelled.
        """
        if task.state == "completed":
            return
        if task.state == "cancelled":
            raise CommandError(
                f"task {task.id} was cancelled and has no effect: if you still want it, send the "
                "request that started it again"
            )
        error = task.error or TaskFailure("the server does not say why")
        message = in_one_line(error.message, self._server.request, self._repository)
        reason = ": ".join(filter(None, (message, error.details)))
        remedy = (
            "send the request that started it again; if that fails too, tell the server's operator"
            if task.status_code >= 500
            else "correct that, then send the request that started it again"
        )
        raise CommandError(f"task {task.id} failed: {reason}; {remedy}")

    def _names(self, task_id: str) -> dict[str, str]:
        """Return the names in the path.

        Raises:
            UsageError: the ID is malformed, and would lead to another operation.
        """
        if not _ID.fullmatch(task_id):
            raise UsageError(
                f"{task_id!r} is not a task's ID: write one that `graveler tasks list` shows"
            )
        return {"repository": self._repository, "task_id": task_id}
