"""One runner's hold on a task: reports, and the end.

The work calls `report` at least every few seconds. That extends the lease and stores the progress.
It stops the work if a user cancelled the task, another runner has taken it, or time is up. While
the work waits for a store, another thread calls `beat`, which does the same but stops nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from graveler.branches.lookup import (
    current_branch,
    reread_repository,
    same_branch,
    same_repository,
)
from graveler.branches.protection import check_can_commit, check_can_merge
from graveler.errors import (
    ContentionError,
    GravelerError,
    StaleTaskError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.model import Branch, Commit, Event, tasks
from graveler.model.tasks import LATER_REPORT_S, LATER_S, REPORT_S, Task, TaskEnd
from graveler.open_repository import OpenRepository
from graveler.operations.leases import (
    TIME_TO_END_S,
    LeasedRecord,
    LeaseLostError,
    OutOfTimeError,
    StoppedError,
    UnwantedError,
)
from graveler.times import NS_PER_S

T = TypeVar("T")

# Another runner may succeed after these errors.
PASSING_ERRORS = (ThrottledError, ContentionError, UnknownOutcomeError)

Transition = Callable[[Task], Task]


class TaskHasHooksError(StoppedError):
    """Hooks are due, which runners of the hook queue run."""


class Hold(LeasedRecord[Task]):
    """A runner's hold on a task, with the record as this runner saw it last."""

    def __init__(self, repo: OpenRepository, task: Task, time_left_s: Callable[[], float]) -> None:
        """Hold a task that this runner has just taken."""
        super().__init__(repo, task, f"task {task.id}")
        self._time_left_s = time_left_s
        self._stored_at = repo.engine.clock.moment()
        self._done = self._known = task.done
        self._passed = 0
        self._lost: LeaseLostError | None = None
        self._is_ending = False

    @property
    def task(self) -> Task:
        """The task as this runner saw it last."""
        return self.record

    def current_branch(self) -> tuple[OpenRepository, Branch]:
        """Return the task's repository and branch, read from the store.

        Raises:
            NotFoundError: one of them was deleted; another one of its name does not count.
        """
        repo, branch = current_branch(self.repo.engine, self.repo.record.name, self.task.branch)
        same_repository(repo, self.repo.record.uid)
        return repo, same_branch(branch.name, branch, self.task.branch_uid)

    def current_repository(self) -> OpenRepository:
        """Return the task's repository, read from the store.

        Raises:
            NotFoundError: it was deleted; another one of its name does not count.
        """
        return reread_repository(self.repo)

    def report(self, done: int, known: int) -> None:
        """Report the number of objects done, and of those known so far.

        Raises:
            UnwantedError: a user cancelled the task.
            LeaseLostError: another runner holds the task.
            OutOfTimeError: the function's invocation is about to end.
        """
        self._done, self._known = done, known
        self._is_ending = False
        if self._lost is not None:
            raise self._lost
        if self._time_left_s() < TIME_TO_END_S:
            raise OutOfTimeError("the function is about to be ended")
        self._extend()
        self._refuse_unwanted()

    def beat(self) -> None:
        """Extend the lease; called by another thread than the work's."""
        with self._lock:
            if self._is_ending or self._lost is not None or self._time_left_s() <= 0:
                return
            try:
                with suppress(GravelerError):  # the next beat tries again
                    self._extend()
            except LeaseLostError as error:
                self._lost = error

    def _extend(self) -> None:
        """Store the progress and extend the lease, if that is due.

        Raises:
            LeaseLostError: another runner holds the task.
        """
        now = self.repo.engine.clock.moment()
        now_ns = now.wall_ns
        is_late = now_ns - self.task.create_time_ns > LATER_S * NS_PER_S
        if self._stored_at.is_within(LATER_REPORT_S if is_late else REPORT_S, now):
            return
        self.change(
            lambda task: tasks.reported(task, now_ns, self._done, self._known),
            lambda task: task_event(self.repo, "task_progressed", task),
        )
        self._stored_at = now

    @property
    def time_left_s(self) -> float:
        """Seconds that this runner may still work."""
        return self._time_left_s() - TIME_TO_END_S

    def cover(self, covers: str) -> None:
        """Store the content that the task's effect will include; see `Task.covers`.

        Raises:
            UnwantedError: a user cancelled the task.
            LeaseLostError: another runner holds the task.
        """
        self.change(lambda task: replace(task, covers=covers))
        self._refuse_unwanted()

    def report_again(self) -> None:
        """Report the same progress as before; see report."""
        self.report(self._done, self._known)

    def save(self, saved: Mapping[str, Any]) -> None:
        """Store the state from which the next runner can continue.

        Raises:
            UnwantedError: a user cancelled the task.
            LeaseLostError: another runner holds the task.
        """
        now = self.repo.engine.clock.moment()
        self.change(lambda task: tasks.saved(task, now.wall_ns, self._done, self._known, saved))
        self._stored_at = now
        self._refuse_unwanted()

    def step(
        self, saved: Mapping[str, Any], done: int, store: Callable[[Task, Task], Task]
    ) -> None:
        """Make one step of the work, and save the progress after it: the number of objects done.

        store(old, new) stores the step and the task's record in one transaction. If the record has
        changed, an earlier step may have been made: continue from the task's saved state.

        Raises:
            StaleVersionError: another writer was faster, or changed the task.
            UnwantedError: a user cancelled the task.
            LeaseLostError: another runner holds the task.
            OutOfTimeError: the function's invocation is about to end.
        """
        self.report_again()
        now_ns = self.repo.engine.clock.now_ns()
        with self._lock:
            self._refuse_unwanted()
            try:
                self.record = store(self.task, tasks.saved(self.task, now_ns, done, done, saved))
            except StaleTaskError:
                self.read_again()
                raise
        self._done = self._known = done

    def watched(self, things: Iterable[T], /) -> Iterator[T]:
        """Pass the things on, and report meanwhile; each counts as an object known and done.

        Raises:
            StoppedError: as report.
        """
        for thing in things:
            self.report(self._passed, self._passed)
            self._passed += 1
            yield thing

    def reporting(self, things: Iterable[T], /) -> Iterator[T]:
        """Pass the things on, and report the progress so far meanwhile.

        Raises:
            StoppedError: as report.
        """
        for thing in things:
            self.report_again()
            yield thing

    def end_with(self, commit: Commit) -> TaskEnd:
        """Return the end of the task whose result is the commit.

        Raises:
            UnwantedError: a user cancelled it.
        """
        with self._lock:
            self._refuse_unwanted()  # a beat may have read the cancellation: nothing is stale then
            self._is_ending = True  # a beat would make the end stale
            ended = self._completed(self.task, {"commit_id": commit.id})
            return TaskEnd(self.task, ended, end_event(self.repo, ended))

    def _completed(self, task: Task, result: Mapping[str, str]) -> Task:
        known = max(self._done, self._known)
        return tasks.completed(task, result, self.repo.engine.clock.now_ns(), known)

    def read_again(self) -> None:
        """Read the task again, which another writer changed.

        Raises:
            LeaseLostError: another runner holds the task, or it has ended.
            UnwantedError: a user cancelled it.
        """
        with self._lock:
            self._is_ending = False
            self._read_again()
        self._refuse_unwanted()

    def complete(self, result: Mapping[str, str], *, although_unwanted: bool = False) -> None:
        """End the task with its result; although_unwanted: the effect was made and stays.

        Raises:
            LeaseLostError: another runner holds the task, or it has ended.
            UnwantedError: a user cancelled it.
        """

        def transition(task: Task) -> Task:
            if not although_unwanted:
                self._refuse_unwanted()
            return self._completed(task, result)

        self.end(transition)

    def end(self, transition: Transition) -> None:
        """End the task by the transition.

        Raises:
            LeaseLostError: another runner holds the task, or it has ended.
        """
        self.change(transition, lambda task: end_event(self.repo, task))

    def release(self, delay_s: int = 0) -> None:
        """Let another runner take the task after delay_s.

        Raises:
            LeaseLostError: another runner holds the task, or it has ended.
        """
        now_ns = self.repo.engine.clock.now_ns()
        self.change(lambda task: tasks.released(task, now_ns, delay_s))

    def leave_to_hooks(self) -> None:
        """Let a runner of the hook queue take the task.

        Raises:
            LeaseLostError: another runner holds the task, or it has ended.
        """
        now_ns = self.repo.engine.clock.now_ns()
        self.change(lambda task: tasks.left_to_hooks(task, now_ns))

    def _stored(self, changed: Task, event: Event | None) -> Task:
        return self.repo.engine.refs.replace_task(self.repo.record, self.task, changed, event)

    def _current(self) -> Task | None:
        current = self.repo.engine.refs.task(self.repo.record, self.task.id)
        if current is None or current.has_ended or current.runner != self.task.runner:
            return None
        return current

    def _refuse_unwanted(self) -> None:
        if self.task.is_unwanted:
            raise UnwantedError("a user cancelled the task")


class ProtectedEnding(Struct, frozen=True):
    """The end of a task that rules of protection may refuse.

    Such a task may run for hours. So the branch's protection is read again before the transaction
    that moves its head.

    is_merge: whether the task merges without a pull request.
    """

    hold: Hold
    force: bool
    is_merge: bool = False

    def end_with(self, commit: Commit) -> TaskEnd:
        """Return the end of the task whose result is the commit.

        Raises:
            ForbiddenError: the branch is protected by now, or the repository is read-only.
            NotFoundError: the repository was deleted.
            UnwantedError: a user cancelled the task.
        """
        repo = self.hold.current_repository()
        check = check_can_merge if self.is_merge else check_can_commit
        check(repo.record, self.hold.task.branch, force=self.force)
        return self.hold.end_with(commit)

    def read_again(self) -> None:
        """Read the task again; see `Hold.read_again`."""
        self.hold.read_again()


def task_event(repo: OpenRepository, kind: str, task: Task) -> Event:
    """Return the event that describes a task."""
    failure = task.failure
    return repo.event(
        kind,
        task_id=task.id,
        task_kind=task.kind,
        branch=task.branch,
        user=task.user,
        state=task.state,
        done=task.done,
        known=task.known,
        result=task.result,
        error="" if failure is None else str(failure.error),
        error_code="" if failure is None else failure.code,
    )


def end_event(repo: OpenRepository, task: Task) -> Event:
    """Return the event of the task's end: `task_completed`, `task_failed` or `task_cancelled`."""
    return task_event(repo, f"task_{task.state}", task)
