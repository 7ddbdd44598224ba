"""The requests of users about tasks: start, show, list and cancel them."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

import msgspec

from graveler.branches.lookup import known_repository, read_repository
from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import ConflictError, GravelerError, InvalidInputError
from graveler.limits import COMMIT_BYTES_MAX
from graveler.messages import Refusal
from graveler.model import Branch, Page, tasks
from graveler.model.tasks import ID_PREFIXES, Task, TaskKind, TaskMessage, TaskState
from graveler.open_repository import OpenRepository
from graveler.operations.tasks.hold import end_event, task_event

# A commit's message and metadata, and the JSON around them.
_REQUEST_BYTES_MAX = COMMIT_BYTES_MAX + 32 * 1024

_encode = msgspec.json.Encoder(order="deterministic").encode


def digest_of(kind: TaskKind, branch: str, user: str, request: Mapping[str, Any]) -> str:
    """Return the digest that equal requests of one user share."""
    return sha256(_encode([kind, branch, user, request])).hexdigest()


def name_of(branch: Branch | None) -> str:
    """Return the name that records of tasks have for the branch; "" if the work is on none."""
    return "" if branch is None else branch.name


def always_covers(_task: Task) -> bool:
    """Return True: the effect of a task covers each equal request."""
    return True


def never_covers(_task: Task) -> bool:
    """Return False: the task's data may have changed since it read them."""
    return False


def start(
    repo: OpenRepository,
    kind: TaskKind,
    request: Mapping[str, Any],
    *,
    user: str,
    branch: Branch | None = None,
    covers: str = "",
    is_covered: Callable[[Task], bool] = always_covers,
    identity: Mapping[str, Any] | None = None,
    is_waited_for: bool = False,
) -> Task:
    """Start a task, or join an open one with an equal request that covers this one; return it.

    Args:
        repo: whose task it is.
        kind: decides the work.
        request: the input of the work, as JSON.
        user: who asks.
        branch: on which the task works, as the request saw it; None if on none.
        covers: the content at the time of the request: the newest sealed token, or commits.
        is_covered: whether the effect of a task covers this request.
        identity: the fields that equal requests share, if not `request`.
        is_waited_for: the request waits for the task.

    Raises:
        InvalidInputError: the request is too large to store.
        ContentionError: others started equal tasks in each try.
    """
    if len(_encode(request)) > _REQUEST_BYTES_MAX:
        raise InvalidInputError(
            f"the request is too large for a task: shorten it to {_REQUEST_BYTES_MAX} bytes of JSON"
        )
    digest = digest_of(kind, name_of(branch), user, identity or request)

    def attempt() -> Task:
        last = repo.engine.refs.joinable_task(repo.record, digest)
        if last is not None and is_open_for(last, branch, is_covered):
            return last
        now_ns = repo.engine.clock.now_ns()
        task = Task(
            id=ID_PREFIXES[kind] + repo.engine.names.new_uid(),
            kind=kind,
            user=user,
            create_time_ns=now_ns,
            update_time_ns=now_ns,
            branch=name_of(branch),
            request=request,
            digest=digest,
            covers=covers,
            branch_uid=None if branch is None else branch.uid,
            branch_version=None if branch is None else branch.version,
            is_waited_for=is_waited_for,
            previous_id=_previous(last),
        )
        event = task_event(repo, "task_started", task)
        repo.engine.refs.create_task(repo.record, task, last, event)
        return task

    task = retry_stale(attempt, f"tasks of repository {repo.record.name!r}")
    send_for(repo, task)
    return task


def _previous(last: Task | None) -> str:
    if last is None:
        return ""
    return last.previous_id if last.state is TaskState.FAILED else last.id


def send_for(repo: OpenRepository, task: Task) -> None:
    """Make a runner look at the task, unless one holds it.

    The event of a new task leads to the same message, but later. So the task runs even if this
    fails.
    """
    if not task.has_ended and not task.is_held(repo.engine.clock.now_ns()):
        with suppress(GravelerError):
            repo.engine.task_queue.send(TaskMessage(repo.record.name, task.id))


def is_open_for(task: Task, branch: Branch | None, is_covered: Callable[[Task], bool]) -> bool:
    """Whether the task of an equal request is open, works on the branch and covers the request."""
    return not (task.has_ended or task.is_unwanted) and task.is_on(branch) and is_covered(task)


def status(engine: Engine, repository: str, task_id: str, *kinds: TaskKind) -> Task:
    """Return the current state of the task; it is of one of the kinds, if any are given.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist, or has no such task.
    """
    return _task(known_repository(engine, repository), task_id, kinds)


def _task(repo: OpenRepository, task_id: str, kinds: tuple[TaskKind, ...]) -> Task:
    task = repo.engine.refs.task(repo.record, task_id) if task_id else None
    if task is None or (kinds and task.kind not in kinds):
        raise Refusal.NOT_FOUND.error(f"no task {task_id!r} in repository {repo.record.name!r}")
    return task


# The tasks of a listing, by the name that clients give.
LISTED: Mapping[str, frozenset[TaskState]] = {
    "all": frozenset(TaskState),
    "open": frozenset({TaskState.WAITING, TaskState.RUNNING}),
    **{state.value: frozenset({state}) for state in TaskState},
}


def list_page(
    engine: Engine, repository: str, after: str, amount: int, branch: str = "", state: str = "all"
) -> Page[Task]:
    """Return tasks of the last week, newest first: of the branch, "" for all, in a state of LISTED.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    wanted = LISTED[state]
    repo = read_repository(engine, repository)
    if not branch and state == "all":
        return engine.refs.tasks(repo.record, after, amount)

    def is_wanted(task: Task) -> bool:
        return branch in ("", task.branch) and task.shown_state in wanted

    return engine.refs.tasks(repo.record, after, amount, is_wanted)


def cancel(engine: Engine, repository: str, task_id: str, *kinds: TaskKind) -> Task:
    """Cancel the task: it has no effect, unless it ended before. Return its new state.

    A running task stops within seconds.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist, or has no such task.
        ConflictError: the task has ended.
        ContentionError: the task changed in each try.
    """
    repo = read_repository(engine, repository)

    def attempt() -> Task:
        task = _task(repo, task_id, kinds)
        if task.has_ended:
            raise ConflictError(f"task {task_id} has ended: it is {task.state}")
        changed = tasks.unwanted(task, engine.clock.now_ns())
        event = end_event(repo, changed) if changed.has_ended else None
        return engine.refs.replace_task(repo.record, task, changed, event)

    return retry_stale(attempt, f"task {task_id}")
