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

from collections.abc import Iterator
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from graveler.branches.lookup import reread_branch, same_branch
from graveler.branches.request_time import time_for_request
from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import ConflictError, NoChangesError, StillRunningError, TooManyWaitsError
from graveler.model import CommitID
from graveler.model.tasks import Task, TaskState
from graveler.operations.tasks.requested_work import RequestedWork, TakesLongError, WorkLimit
from graveler.operations.tasks.requests import is_open_for, send_for, start
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


class ClientWait(Struct, frozen=True):
    """A client's place in a chain of requests that wait for one outcome.

    task_id: the task that the answer before this request named, "" if none did.
    is_last: if the task outlasts this request, the client has to repeat it without the name.
    is_first: other requests need this one's place, so it waits for a moment only.
    """

    task_id: str = ""
    is_last: bool = True
    is_first: bool = False


FIRST_REQUEST = ClientWait()


def result_in_time(work: RequestedWork[T], wait: ClientWait) -> T:
    """Return the result of the work, done by this request or by a task.

    Raises:
        StillRunningError: a task does the work, and has not ended in time.
        ConflictError: the task was cancelled.
        GravelerError: whatever the work raises.
    """
    engine, settings = work.repo.engine, work.repo.engine.task_settings
    if settings.request_work_s is None:
        return work.at_once(WorkLimit(engine, None))
    wait_s = time_for_request(engine, settings.request_wait_s)
    until_ns = engine.clock.now_ns() + int(wait_s * NS_PER_S)
    return _WaitingRequest(work, wait, settings.request_work_s, until_ns).result()


class _WaitingRequest(Struct, Generic[T], frozen=True):
    """A request that works for work_s by itself, and waits for a task until until_ns."""

    work: RequestedWork[T]
    wait: ClientWait
    work_s: float
    until_ns: int

    @property
    def _engine(self) -> Engine:
        return self.work.repo.engine

    def result(self) -> T:
        """Join an earlier request's task, or begin; see `result_in_time`."""
        named = self._named_task()
        last = named or self._last_task()
        try:
            if last is not None and (named or self._is_joinable(last)):
                send_for(self.work.repo, last)  # its messages may be lost
                return self._outcome(last)
            if last is not None and last.is_called_back:
                last = self._ended(last, is_outcome=False)
            return self._begun()
        except NoChangesError:
            for done in self._last_and_previous(last):
                if self._is_still_true(done):
                    return self.work.result_of(done)
            raise

    def _named_task(self) -> Task | None:
        """Return the task that an earlier answer named, if this is the same request.

        Raises:
            NotFoundError: the branch of the task was deleted, and another one has its name now.
        """
        work, task_id = self.work, self.wait.task_id
        task = self._engine.refs.task(work.repo.record, task_id) if task_id else None
        if task is None or task.digest != work.digest:
            return None
        if work.branch is not None:
            same_branch(work.branch.name, work.branch, task.branch_uid)
        return task

    def _last_task(self) -> Task | None:
        """Return the last task of an equal request on this branch."""
        work = self.work
        if work.joinable is not None:
            task = work.joinable(work.repo)
        else:
            task = self._engine.refs.joinable_task(work.repo.record, work.digest)
        return task if task is not None and task.is_on(work.branch) else None

    def _is_joinable(self, task: Task) -> bool:
        """Whether this request gets the outcome of an equal one's task.

        If the task has ended, the request must be the repetition that its client was asked for.

        Raises:
            NotFoundError: the branch was deleted meanwhile.
        """
        work = self.work
        if not task.has_ended:
            return is_open_for(task, work.branch, work.is_covered)
        if not task.is_called_back or self._is_old(task) or not work.is_covered(task):
            return False
        if work.branch is None or task.state is TaskState.CANCELLED:
            return True
        if task.state is TaskState.FAILED:
            return task.branch_version == work.branch.version or work.moves()
        # Read the branch after the task: the commit may have become its head in between.
        head_id = reread_branch(work.repo, work.branch).commit_id
        history = work.repo.history()
        return leads_to(history, head_id, CommitID(task.result["commit_id"]))

    def _is_old(self, task: Task) -> bool:
        age_ns = self._engine.clock.now_ns() - task.update_time_ns
        return age_ns // NS_PER_S >= OUTCOME_LIFE_S

    def _begun(self) -> T:
        """Do the work in this request; if it takes long, hand it over to a task."""
        work, engine = self.work, self._engine
        until_ns = engine.clock.now_ns() + int(self.work_s * NS_PER_S)
        try:
            return work.at_once(WorkLimit(engine, until_ns))
        except TakesLongError:
            task = start(
                work.repo,
                work.kind,
                work.request,
                user=work.user,
                branch=work.branch,
                covers=work.covers,
                is_covered=work.is_covered,
                identity=work.identity,
                is_waited_for=True,
            )
        return self._outcome(task)

    def _outcome(self, task: Task) -> T:
        """Wait for the task, and return its result.

        Raises:
            StillRunningError: it has not ended in time.
            ConflictError: it was cancelled.
            GravelerError: it failed.
        """
        ended = self._ended(task)
        if ended.failure is not None:
            raise ended.failure.error
        if ended.state is TaskState.CANCELLED:
            raise ConflictError(f"task {ended.id}, which was doing this, was cancelled")
        return self.work.result_of(ended)

    def _ended(self, task: Task, *, is_outcome: bool = True) -> Task:
        """Wait for the task, and return it as it ended.

        is_outcome: its client no longer waits.

        Raises:
            StillRunningError: it has not ended in time.
            TooManyWaitsError: its user waits for too many others.
        """
        until_ns = self.until_ns
        if self.wait.is_first:
            first_ns = self._engine.clock.now_ns() + int(_FIRST_WAIT_S * NS_PER_S)
            until_ns = min(until_ns, first_ns)
        elif not task.has_ended:
            self._refuse_one_too_many(task)
        ended = self._awaited(task, until_ns)
        if ended is None:
            if self.wait.is_last:
                self._call_back(task, is_called_back=True)
            raise StillRunningError(task.id, is_outcome=is_outcome)
        if is_outcome and ended.is_called_back:
            self._call_back(ended, is_called_back=False)
        return ended

    def _refuse_one_too_many(self, task: Task) -> None:
        """Refuse to wait for the task if requests of its user wait for too many older ones.

        So the requests that wait are those for the oldest tasks, and those for others come again.

        Raises:
            TooManyWaitsError: the user has.
        """
        waits_max = self._engine.task_settings.waits_max
        if waits_max is None:
            return
        older = self._engine.refs.tasks(self.work.repo.record, task.id, _OLDER_TASKS).results
        others = sum(
            each.user == task.user and each.is_waited_for and not each.has_ended for each in older
        )
        if others >= waits_max:
            self._call_back(task, is_called_back=True)
            raise TooManyWaitsError(
                f"task {task.id} goes on, but requests of this user wait for {others} older ones: "
                "send the request again when some have ended, or ask for the task's state"
            )

    def _awaited(self, task: Task, until_ns: int) -> Task | None:
        """Return the task when it has ended, None if it does not end in time."""
        clock, pause_s = self._engine.clock, _FIRST_LOOK_S
        while not task.has_ended:
            left_s = (until_ns - clock.now_ns()) / NS_PER_S
            if left_s <= _WAIT_S_MIN:
                return None
            clock.sleep(min(pause_s, left_s))
            pause_s = min(2 * pause_s, _LOOKS_S_MAX)
            current = self._engine.refs.task(self.work.repo.record, task.id)
            if current is None:
                raise ConflictError(f"task {task.id} was deleted with its repository")
            task = current
        return task

    def _call_back(self, task: Task, *, is_called_back: bool) -> None:
        """Store whether a client was called back for the outcome."""
        refs, repo = self._engine.refs, self.work.repo

        def attempt() -> None:
            current = refs.task(repo.record, task.id)
            if current is not None and current.is_called_back != is_called_back:
                changed = replace(current, is_called_back=is_called_back)
                refs.replace_task(repo.record, current, changed)

        retry_stale(attempt, f"task {task.id}")

    def _last_and_previous(self, last: Task | None) -> Iterator[Task]:
        """Return the task, and the one before it.

        If a repetition is left to a task of its own, that task fails when nothing is left to do.
        """
        if last is not None:
            yield last
            previous_id, repo = last.previous_id, self.work.repo
            previous = self._engine.refs.task(repo.record, previous_id) if previous_id else None
            if previous is not None:
                yield previous

    def _is_still_true(self, task: Task) -> bool:
        """Whether the commit of the last such task is still the branch's head."""
        branch = self.work.branch
        if task.state is not TaskState.COMPLETED or self._is_old(task):
            return False
        if branch is None or not task.is_on(branch):
            return False
        head_id = reread_branch(self.work.repo, branch).commit_id
        return head_id == CommitID(task.result["commit_id"])
