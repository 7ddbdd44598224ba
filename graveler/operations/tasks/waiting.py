"""Requests whose work may take longer than a request can: a task does it, and the request waits.

Theory of operation. A request does its work itself for `request_work_s`. Longer work is left to a
task, and the request waits for it. If the task outlasts the request, the client is called back
(StillRunningError): a redirect names the task, or the client repeats the request. The first request
of a chain waits for a moment only, for the others have places of their own. A repeated request
finds the task by its digest, joins it, and returns its outcome, even if the task has ended
meanwhile. So a client that repeats its request gets the outcome, and the work is done once.

Equal requests may also be sent by independent clients, or by one that has written more since. So a
request joins a task only if the task's effect covers the whole request. Otherwise it first waits
for the task of a client that was called back, and then does the rest.

The outcome of an ended task must be true when it is returned. A commit counts as long as the branch
leads to it. A failure counts as long as nothing has moved the branch, or if the request would mean
something else since. A task of a deleted branch never counts for another one that has the name now.

A client may disconnect before it reads the answer, and then repeat the request. If nothing is left
to do, and the branch's head is still the task's commit, it gets that commit again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from graveler.branches.lookup import reread_branch, same_branch
from graveler.branches.prefetch import Prefetch
from graveler.branches.request_time import time_for_request
from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import ConflictError, NoChangesError, StillRunningError, TooManyWaitsError
from graveler.model import Branch, Commit, CommitID, Repository
from graveler.model.tasks import Task, TaskKind, TaskState
from graveler.operations.tasks.requests import (
    always_covers,
    digest_of,
    is_open_for,
    name_of,
    send_for,
    start,
)
from graveler.refs.merge_base import leads_to
from graveler.times import NS_PER_S

T = TypeVar("T")

# How long a client may take to repeat a request and still get the outcome of the first one.
OUTCOME_LIFE_S = 600

# The first request of a chain waits for so long, and then gives its place to others.
_FIRST_WAIT_S = 0.5

# A waiting request looks at its task after this time, then after twice the time, and so on.
_FIRST_LOOK_S = 0.1
_LOOKS_S_MAX = 1.0
# So many tasks before the one for which a request waits are counted, if their user is the same.
_OLDER_TASKS = 100
# With less time than this, it does not look again.
_WAIT_S_MIN = 0.01


class TakesLongError(Exception):
    """The work takes longer than a request may work by itself."""


@dataclass(frozen=True, slots=True)
class ClientWait:
    """A client's place in a chain of requests that wait for one outcome.

    task_id: the task that the answer before this request named, "" if none did.
    is_last: if the task outlasts this request, the client has to repeat it without the name.
    is_first: other requests need this one's place, so it waits for a moment only.
    """

    task_id: str = ""
    is_last: bool = True
    is_first: bool = False


FIRST_REQUEST = ClientWait()


@dataclass(frozen=True, slots=True)
class WorkLimit:
    """Stops the work of a request when it takes too long."""

    engine: Engine
    until_ns: int | None

    def over(self, things: Iterable[T], /) -> Iterator[T]:
        """Pass the things on.

        Raises:
            TakesLongError: the time is up.
        """
        now_ns, until_ns = self.engine.clock.now_ns, self.until_ns
        for thing in things:
            if until_ns is not None and now_ns() > until_ns:
                raise TakesLongError
            yield thing


@dataclass(slots=True)
class RequestedWork(Generic[T]):
    """The work of a request, and the two ways to do it: at once, or by a task.

    branch: as the request saw it when it began; None if the work is on none.
    request: the input of a task.
    at_once: does the work in this request, under the limit.
    result_of: returns the result of a completed task.
    is_covered: whether the effect of a task covers the request.
    moves: whether the request means something else when the branch has moved.
    covers: see `Task`; for a commit, at_once sets it.
    identity: the fields that equal requests share, if not `request`.
    joinable: returns the last task of an equal request, if its read has begun.
    """

    kind: TaskKind
    user: str
    branch: Branch | None
    request: Mapping[str, Any]
    at_once: Callable[[WorkLimit], T]
    result_of: Callable[[Task], T]
    is_covered: Callable[[Task], bool] = always_covers
    moves: Callable[[], bool] = lambda: False
    covers: str = ""
    identity: Mapping[str, Any] | None = None
    joinable: Callable[[Repository], Task | None] | None = None


def joinable_ahead(
    prefetch: Prefetch, kind: TaskKind, branch: str, user: str, identity: Mapping[str, Any]
) -> Callable[[Repository], Task | None] | None:
    """Begin to read the last task of an equal request; None if this process starts no tasks."""
    engine = prefetch.engine
    if engine.task_settings.request_work_s is None:
        return None
    digest = digest_of(kind, branch, user, identity)
    return prefetch.of_repository(lambda found: engine.refs.joinable_task(found, digest))


def result_in_time(
    engine: Engine, repository: Repository, work: RequestedWork[T], wait: ClientWait
) -> T:
    """Return the result of the work, done by this request or by a task.

    Raises:
        StillRunningError: a task does the work, and has not ended in time.
        ConflictError: the task was cancelled.
        GravelerError: whatever the work raises.
    """
    work_s = engine.task_settings.request_work_s
    if work_s is None:
        return work.at_once(WorkLimit(engine, None))
    wait_s = time_for_request(engine, engine.task_settings.request_wait_s)
    until_ns = engine.clock.now_ns() + int(wait_s * NS_PER_S)
    named = _named_task(engine, repository, work, wait)
    last = named or _joinable(engine, repository, work)
    try:
        if last is not None and (named or _is_joinable(engine, repository, work, last)):
            task = last
            send_for(engine, repository, task)  # its messages may have been lost
        else:
            if last is not None and last.is_called_back:
                last = _ended(engine, repository, last, until_ns, wait, is_outcome=False)
            try:
                return work.at_once(
                    WorkLimit(engine, engine.clock.now_ns() + int(work_s * NS_PER_S))
                )
            except TakesLongError:
                task = _start(engine, repository, work)
        return _outcome(engine, repository, work, task, until_ns, wait)
    except NoChangesError:
        for done in _last_and_previous(engine, repository, last):
            if _is_still_true(engine, repository, work, done):
                return work.result_of(done)
        raise


def _joinable(engine: Engine, repository: Repository, work: RequestedWork[T]) -> Task | None:
    if work.joinable is not None:
        task = work.joinable(repository)
    else:
        task = engine.refs.joinable_task(repository, _digest(work))
    return task if task is not None and task.is_on(work.branch) else None


def _digest(work: RequestedWork[T]) -> str:
    return digest_of(work.kind, name_of(work.branch), work.user, work.identity or work.request)


def _is_joinable(
    engine: Engine, repository: Repository, work: RequestedWork[T], task: Task
) -> bool:
    """Whether a request gets the outcome of the task, which an equal request started on its branch.

    If the task has ended, the request must be the repetition that its client was asked for.

    Raises:
        NotFoundError: the branch was deleted meanwhile.
    """
    if not task.has_ended:
        return is_open_for(task, work.branch, work.is_covered)
    if not task.is_called_back or _is_old(engine, task) or not work.is_covered(task):
        return False
    if work.branch is None or task.state is TaskState.CANCELLED:
        return True
    if task.state is TaskState.FAILED:
        return task.branch_version == work.branch.version or work.moves()
    # Read the branch after the task: the commit may have become its head in between.
    head_id = reread_branch(engine, repository, work.branch).commit_id
    return leads_to(engine.history(repository), head_id, CommitID(task.result["commit_id"]))


def _is_old(engine: Engine, task: Task) -> bool:
    return (engine.clock.now_ns() - task.update_time_ns) // NS_PER_S >= OUTCOME_LIFE_S


def _named_task(
    engine: Engine, repository: Repository, work: RequestedWork[T], wait: ClientWait
) -> Task | None:
    """Return the task that an earlier answer named, if this is the same request.

    Raises:
        NotFoundError: the branch of the task was deleted, and another one has its name now.
    """
    task = engine.refs.task(repository, wait.task_id) if wait.task_id else None
    if task is None or task.digest != _digest(work):
        return None
    if work.branch is not None:
        same_branch(work.branch.name, work.branch, task.branch_uid)
    return task


def _start(engine: Engine, repository: Repository, work: RequestedWork[T]) -> Task:
    return start(
        engine,
        repository,
        work.kind,
        work.request,
        user=work.user,
        branch=work.branch,
        covers=work.covers,
        is_covered=work.is_covered,
        identity=work.identity,
        is_waited_for=True,
    )


def _last_and_previous(engine: Engine, repository: Repository, last: Task | None) -> Iterator[Task]:
    """Return the task, and the one before it.

    If a repetition is left to a task of its own, that task fails when nothing is left to do.
    """
    if last is not None:
        yield last
        previous = engine.refs.task(repository, last.previous_id) if last.previous_id else None
        if previous is not None:
            yield previous


def _is_still_true(
    engine: Engine, repository: Repository, work: RequestedWork[T], task: Task
) -> bool:
    """Whether the commit of the last such task is still the branch's head."""
    if task.state is not TaskState.COMPLETED or _is_old(engine, task):
        return False
    if work.branch is None or not task.is_on(work.branch):
        return False
    head_id = reread_branch(engine, repository, work.branch).commit_id
    return head_id == CommitID(task.result["commit_id"])


def _outcome(
    engine: Engine,
    repository: Repository,
    work: RequestedWork[T],
    task: Task,
    until_ns: int,
    wait: ClientWait,
) -> T:
    """Wait for the task, and return its result.

    Raises:
        StillRunningError: it has not ended in time.
        ConflictError: it was cancelled.
        GravelerError: it failed.
    """
    ended = _ended(engine, repository, task, until_ns, wait)
    if ended.failure is not None:
        raise ended.failure.error
    if ended.state is TaskState.CANCELLED:
        raise ConflictError(f"task {ended.id}, which was doing this, was cancelled")
    return work.result_of(ended)


def _ended(
    engine: Engine,
    repository: Repository,
    task: Task,
    until_ns: int,
    wait: ClientWait,
    *,
    is_outcome: bool = True,
) -> Task:
    """Wait for the task and return it as it ended; its client no longer waits if it is the outcome.

    Raises:
        StillRunningError: it has not ended in time.
        TooManyWaitsError: its user waits for too many others.
    """
    if wait.is_first:
        until_ns = min(until_ns, engine.clock.now_ns() + int(_FIRST_WAIT_S * NS_PER_S))
    elif not task.has_ended:
        _refuse_one_too_many(engine, repository, task)
    ended = _wait(engine, repository, task, until_ns)
    if ended is None:
        if wait.is_last:
            _call_back(engine, repository, task, is_called_back=True)
        raise StillRunningError(task.id, is_outcome=is_outcome)
    if is_outcome and ended.is_called_back:
        _call_back(engine, repository, ended, is_called_back=False)
    return ended


def _refuse_one_too_many(engine: Engine, repository: Repository, task: Task) -> None:
    """Refuse to wait for the task if requests of its user wait for too many older ones.

    So the requests that wait are those for the oldest tasks, and those for others come again.

    Raises:
        TooManyWaitsError: the user has.
    """
    waits_max = engine.task_settings.waits_max
    if waits_max is None:
        return
    older = engine.refs.tasks(repository, task.id, _OLDER_TASKS).results
    others = sum(
        each.user == task.user and each.is_waited_for and not each.has_ended for each in older
    )
    if others >= waits_max:
        _call_back(engine, repository, task, is_called_back=True)
        raise TooManyWaitsError(
            f"task {task.id} goes on, but requests of this user wait for {others} older ones: "
            "send the request again when some have ended, or ask for the task's state"
        )


def _wait(engine: Engine, repository: Repository, task: Task, until_ns: int) -> Task | None:
    """Return the task when it has ended, None if it does not end in time."""
    pause_s = _FIRST_LOOK_S
    while not task.has_ended:
        left_s = (until_ns - engine.clock.now_ns()) / NS_PER_S
        if left_s <= _WAIT_S_MIN:
            return None
        engine.clock.sleep(min(pause_s, left_s))
        pause_s = min(2 * pause_s, _LOOKS_S_MAX)
        current = engine.refs.task(repository, task.id)
        if current is None:
            raise ConflictError(f"task {task.id} was deleted with its repository")
        task = current
    return task


def _call_back(engine: Engine, repository: Repository, task: Task, *, is_called_back: bool) -> None:
    """Store whether a client was called back for the outcome."""

    def attempt() -> None:
        current = engine.refs.task(repository, task.id)
        if current is not None and current.is_called_back != is_called_back:
            changed = replace(current, is_called_back=is_called_back)
            engine.refs.replace_task(repository, current, changed)

    retry_stale(attempt, f"task {task.id}")


def commit_of(engine: Engine, repository: Repository, task: Task) -> Commit:
    """Return the commit that a completed task made."""
    return engine.history(repository).commit(CommitID(task.result["commit_id"]))
