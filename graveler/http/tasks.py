"""Bodies of answers about tasks; complements `responses`."""

from typing import Generic, TypeVar

from msgspec import Struct

from graveler.http.errors import ErrorBody, status_of
from graveler.http.responses import CommitRow, MergeResult
from graveler.model.tasks import Task, TaskState
from graveler.times import rfc3339

# The result of a commit or of a merge.
R = TypeVar("R", CommitRow, MergeResult)


class TaskCreated(Struct, frozen=True):
    id: str


class AsyncStatus(Struct, Generic[R], frozen=True, kw_only=True, omit_defaults=True):
    """The status of a commit or merge: status_code is what the synchronous call would answer."""

    task_id: str
    completed: bool
    update_time: str
    result: R | None = None
    error: ErrorBody | None = None
    status_code: int = 0


class TaskRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task of any kind; done and known count objects."""

    id: str
    kind: str
    state: str
    branch: str = ""
    user: str
    creation_time: str
    update_time: str
    is_cancelled: bool = False
    objects_done: int
    objects_known: int
    result: dict[str, str] = {}
    error: ErrorBody | None = None
    status_code: int = 0


def error_of(task: Task) -> ErrorBody | None:
    """Return the body of the error that ended the task, None if none did."""
    if task.failure is not None:
        return ErrorBody(task.failure.message, task.failure.details)
    if task.state is TaskState.CANCELLED:
        return ErrorBody("the task was cancelled")
    return None


def status_code_of(task: Task) -> int:
    """Return the status of a failed task's error, 0 if the task has not failed."""
    if task.failure is not None:
        return status_of(task.failure.error)
    return 409 if task.state is TaskState.CANCELLED else 0


def async_status(task: Task, result: R | None, success: int) -> AsyncStatus[R]:
    """Return the status of a commit or merge; success is the status of its synchronous call."""
    return AsyncStatus(
        task_id=task.id,
        completed=task.has_ended,
        update_time=rfc3339(task.update_time_ns),
        result=result,
        error=error_of(task),
        status_code=success if result is not None else status_code_of(task),
    )


def task_row(task: Task) -> TaskRow:
    return TaskRow(
        id=task.id,
        kind=task.kind,
        state=task.shown_state,
        branch=task.branch,
        user=task.user,
        creation_time=rfc3339(task.create_time_ns),
        update_time=rfc3339(task.update_time_ns),
        is_cancelled=task.state is TaskState.CANCELLED or (task.is_unwanted and not task.has_ended),
        objects_done=task.done,
        objects_known=task.known,
        result=dict(task.result),
        error=error_of(task),
        status_code=status_code_of(task),
    )
