"""Tasks: work that outlives the request that asks for it.

Theory of operation. A task has a record, changed only by compare-and-swap on its version:

    waiting ──taken──► running ──► completed | failed | cancelled

A message on a queue only names a task, so it may arrive late, twice or never. The record decides
what to do. A runner takes the task for LEASE_S and extends that with each report. When it dies,
another runner takes the task over. Two runners do no harm: one transaction makes the effect of a
task and ends its record, or the effect can be repeated. So a task has one effect or none, and a
task that was cancelled first has none.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from graveler.errors import GravelerError, error_of_code
from graveler.model import Branch, Event
from graveler.times import NS_PER_S

# A runner reports every second at first, as lakeFS's imports do, then less often. It is believed
# dead after the lease. lakectl gives an import up after 25 seconds without a report.
REPORT_S = 1
LATER_REPORT_S = 3
LATER_S = 60
LEASE_S = 20

# Runners that stop without progress before the task fails: its work may be what kills them.
TAKES_MAX = 5


class TaskState(StrEnum):
    """The states of a task, as the API shows them."""

    WAITING = "waiting"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TaskKind(StrEnum):
    """The kinds of work that tasks do."""

    COMMIT = "commit"
    MERGE = "merge"
    MERGE_PULL_REQUEST = "merge-pull-request"
    REVERT = "revert"
    CHERRY_PICK = "cherry-pick"
    IMPORT = "import"
    DUMP = "dump"
    RESTORE = "restore"
    PREPARE_COMMITS = "prepare-commits"
    COPY_PREFIX = "copy-prefix"
    MOVE_PREFIX = "move-prefix"
    RESTORE_PREFIX = "restore-prefix"
    DELETE_PREFIX = "delete-prefix"
    HOOKS = "hooks"
    DESCRIBE_OBJECTS = "describe-objects"


# The capital letters before the xid in a task's ID; those of dumps, restores and prepared commits
# are lakeFS's.
ID_PREFIXES: Mapping[TaskKind, str] = {
    TaskKind.COMMIT: "CA",
    TaskKind.MERGE: "MA",
    TaskKind.MERGE_PULL_REQUEST: "PM",
    TaskKind.REVERT: "RV",
    TaskKind.CHERRY_PICK: "CP",
    TaskKind.IMPORT: "IM",
    TaskKind.DUMP: "DR",
    TaskKind.RESTORE: "RR",
    TaskKind.PREPARE_COMMITS: "GCPC",
    TaskKind.COPY_PREFIX: "PC",
    TaskKind.MOVE_PREFIX: "PV",
    TaskKind.RESTORE_PREFIX: "PR",
    TaskKind.DELETE_PREFIX: "PD",
    TaskKind.HOOKS: "HK",
    TaskKind.DESCRIBE_OBJECTS: "DO",
}


class Failure(Struct, frozen=True):
    """An error as a record keeps it: the error's code, message and details."""

    code: str
    message: str
    details: str = ""

    @classmethod
    def of(cls, error: GravelerError) -> "Failure":
        return cls(error.code, error.message, error.details)

    @property
    def error(self) -> GravelerError:
        """The error, for the callers of another process."""
        return error_of_code(self.code, self.message, self.details)


class Task(Struct, frozen=True):
    """The record of a task.

    branch_uid, branch_version: of the branch that the request saw. None if the task has none, or if
        an earlier version stored it.
    request: what the kind's work decodes.
    digest: names equal requests: a request may join a task that has its digest.
    covers: what the task includes: for a commit, the newest sealed token at its start; for a merge,
        the commits; for a copy of a prefix, the commit it copies from.
    is_called_back: a client was asked to repeat its request, and has not learnt the outcome yet.
    is_unwanted: a user cancelled it, and its runner has to stop.
    done, known: objects done, of the objects known so far. After a lost race, work begins anew.
    furthest: the most objects that were ever done.
    takes: runners that took it since more were done than ever before.
    is_paused: its last runner has given it up, for the next one to take when the lease ends.
    is_for_hooks: hooks are due, so the next runner is one of the hook queue.
    is_put_off: it has no place: the message of `runner` comes when the lease ends. Until then, any
        other message may find a place as well.
    is_waited_for: a request that waits started it.
    previous_id: the last task with the digest before it that has not failed.
    saved: what the work stored for the next runner, as JSON.
    """

    id: str
    kind: TaskKind
    user: str
    create_time_ns: int
    update_time_ns: int
    branch: str = ""
    request: Mapping[str, Any] = {}
    digest: str = ""
    covers: str = ""
    is_called_back: bool = False
    state: TaskState = TaskState.WAITING
    is_unwanted: bool = False
    runner: str = ""
    lease_until_ns: int = 0
    takes: int = 0
    is_paused: bool = False
    done: int = 0
    known: int = 0
    furthest: int = 0
    saved: Mapping[str, Any] = {}
    result: Mapping[str, str] = {}
    failure: Failure | None = None
    version: int = 1
    branch_uid: str | None = None
    branch_version: int | None = None
    is_for_hooks: bool = False
    is_put_off: bool = False
    is_waited_for: bool = False
    previous_id: str = ""

    def is_on(self, branch: Branch | None) -> bool:
        """Whether it works on the branch, and not on another one that had the name before."""
        return branch is None or self.branch_uid in (None, branch.uid)

    @property
    def has_ended(self) -> bool:
        return self.state not in (TaskState.WAITING, TaskState.RUNNING)

    @property
    def shown_state(self) -> TaskState:
        """The state for users: between two runners, a task waits."""
        is_paused = self.is_paused and not self.has_ended
        return TaskState.WAITING if is_paused else self.state

    def is_held(self, now_ns: int) -> bool:
        """Whether a runner works on it, by the record."""
        return not (self.has_ended or self.is_put_off) and now_ns < self.lease_until_ns


class TaskEnd(Struct, frozen=True):
    """The end of a task, to be stored in one transaction with its effect."""

    old: Task
    new: Task
    event: Event


class TaskStart(Struct, frozen=True):
    """A new task and its event, to be stored in one transaction with what starts it."""

    task: Task
    event: Event


class TaskMessage(Struct, frozen=True):
    """Look at this task. An event of a task has the same fields, but for the runner.

    runner: the runner that sent the message for the end of its lease; "" if a request sent it.
    """

    repository: str
    task_id: str
    runner: str = ""


class TaskSettings(Struct, frozen=True):
    """How requests and tasks share work.

    request_work_s: a request that works for longer leaves its work to a task; None: never.
    request_wait_s: a request answers after this time at the latest.
    slices_at_once: slices of one task that are applied at the same time.
    waits_max: so many older tasks for which requests of a user wait, at most, if another one waits.
    """

    request_work_s: float | None = None
    request_wait_s: float = 24.0
    slices_at_once: int = 1
    waits_max: int | None = None


def taken(task: Task, runner: str, now_ns: int) -> Task:
    """Return the task in the hands of the runner."""
    return replace(
        task,
        state=TaskState.RUNNING,
        runner=runner,
        lease_until_ns=now_ns + LEASE_S * NS_PER_S,
        update_time_ns=now_ns,
        takes=task.takes + 1,
        is_paused=False,
        is_for_hooks=False,
        is_put_off=False,
    )


def reported(task: Task, now_ns: int, done: int, known: int) -> Task:
    """Return the task with its runner's progress and a new lease."""
    return replace(
        task,
        lease_until_ns=now_ns + LEASE_S * NS_PER_S,
        update_time_ns=_updated_ns(task, now_ns),
        takes=1 if done > task.furthest else task.takes,
        furthest=max(done, task.furthest),
        done=done,
        known=max(done, known),
    )


def saved(task: Task, now_ns: int, done: int, known: int, to_keep: Mapping[str, Any]) -> Task:
    """Return the task with its runner's progress, and with what the next runner needs."""
    takes = task.takes if to_keep == task.saved else 1
    return replace(reported(task, now_ns, done, known), saved=to_keep, takes=takes)


def released(task: Task, now_ns: int, delay_s: int = 0) -> Task:
    """Return the task after its runner stopped, so that another can take it after delay_s."""
    return replace(
        task,
        lease_until_ns=now_ns + delay_s * NS_PER_S,
        update_time_ns=_updated_ns(task, now_ns),
        is_paused=True,
    )


def put_off(task: Task, runner: str, now_ns: int, delay_s: int) -> Task:
    """Return the task, which the runner's message takes after delay_s: it has no place now."""
    return replace(released(task, now_ns, delay_s), runner=runner, is_put_off=True)


def left_to_hooks(task: Task, now_ns: int) -> Task:
    """Return the task for a runner of the hook queue; the take that leaves it does not count."""
    takes = task.takes if task.is_for_hooks else task.takes - 1
    return replace(released(task, now_ns), takes=takes, is_for_hooks=True)


def unwanted(task: Task, now_ns: int) -> Task:
    """Return the task after a user cancelled it: a runner has to stop, without one it ends."""
    if task.state is TaskState.WAITING or task.is_paused:
        return _ended(task, TaskState.CANCELLED, now_ns)
    return replace(task, is_unwanted=True, update_time_ns=_updated_ns(task, now_ns))


def completed(task: Task, result: Mapping[str, str], now_ns: int, done: int) -> Task:
    """Return the task with its result, and with so many objects done: all that are known."""
    ended = _ended(task, TaskState.COMPLETED, now_ns)
    return replace(ended, result=result, done=done, known=done)


def failed(task: Task, error: GravelerError, now_ns: int) -> Task:
    """Return the task with the error that ended it."""
    return replace(_ended(task, TaskState.FAILED, now_ns), failure=Failure.of(error))


def cancelled(task: Task, now_ns: int) -> Task:
    """Return the task, which stopped because a user cancelled it."""
    return _ended(task, TaskState.CANCELLED, _updated_ns(task, now_ns))


def _ended(task: Task, state: TaskState, now_ns: int) -> Task:
    return replace(task, state=state, lease_until_ns=0, update_time_ns=now_ns)


def _updated_ns(task: Task, now_ns: int) -> int:
    """Return the time of an update: for users, a task that they cancelled changes no more."""
    return task.update_time_ns if task.is_unwanted else now_ns
