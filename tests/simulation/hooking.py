"""Hooks before and after commits and merges: targets that allow, refuse, fail, or are slow."""

from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import msgspec

from graveler.errors import HookFailedError
from graveler.model import Commit, Repository
from graveler.model.hooks import HookStatus, Run
from graveler.model.tasks import TaskKind, TaskState
from graveler.open_repository import OpenRepository
from graveler.ports import HttpAnswer, HttpRequest
from tests.simulation.lives import Lives
from tests.simulation.worlds import ACTIONS_PATH, REPO
from tests.support.fakes.hooks import answered

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

_ANSWERS = ("allow", "allow", "allow", "allow", "refuse", "refuse", "fail", "slow")
_SLOW_STEPS = 40
_TIMEOUT_S = 70


class _Call(NamedTuple):
    """A call of the target: the event's type, branch and message, and when it ended how."""

    event: str
    branch: str
    message: str
    commit_id: str
    moment: int
    is_allowed: bool


class Hooks:
    """The target of all hooks in a schedule, and what it was asked."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._calls: list[_Call] = []
        self._asked = 0
        simulation.world.targets.requests.clear()
        simulation.world.targets.answer = self._answer

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        simulation = self._simulation
        event: dict[str, Any] = msgspec.json.decode(request.body)
        self._asked += 1
        began = simulation.scheduler.tick()
        chosen = crc32(f"{simulation.schedule_seed} {self._asked}".encode()) % len(_ANSWERS)
        how = _ANSWERS[chosen] if simulation.scheduler.is_stepping else "allow"
        for _ in range(_SLOW_STEPS if how == "slow" else 1):
            simulation.scheduler.pause()
        names = ("event_type", "branch_id", "commit_message", "commit_id")
        kind, branch, message, commit_id = (str(event.get(name, "")) for name in names)
        self._calls.append(_Call(kind, branch, message, commit_id, began, how == "allow"))
        if how == "slow":
            simulation.world.clock.tick(_TIMEOUT_S)
        if how in ("slow", "fail"):
            raise HookFailedError(f"simulated: the target is {how}")
        return answered(200 if how == "allow" else 403)

    def judge(self) -> None:
        """Each commit was allowed before it was made, and its runs are recorded."""
        simulation = self._simulation
        repository = simulation.repository
        assert repository is not None
        records = simulation.world.refs.records_of(repository)
        lives = Lives(simulation.first_heads, simulation.outbox, REPO)
        may_cancel = any(op.kind == "cancel_task" for op in simulation.operations)
        cancelled = set()
        for task in records.tasks.values():
            if task.kind is not TaskKind.HOOKS or task.state is TaskState.COMPLETED:
                continue
            if may_cancel and task.state is TaskState.CANCELLED:
                cancelled.add(task.request["about"]["commit_id"])
            else:
                simulation.problem("stuck", f"a task of hooks has not completed: {task}")
        for commit in records.commits.values():
            if commit.message.startswith("#") and commit.id not in cancelled:
                self._check(repository, lives, commit)

    def _check(self, repository: Repository, lives: Lives, commit: Commit) -> None:
        simulation = self._simulation
        is_merge = bool(commit.parents[1:])
        of = "merge" if is_merge else "commit"
        judged = commit.parents[1] if is_merge else commit.id
        page = simulation.world.refs.hook_runs(repository, "", 100, branch="", commit_id=commit.id)
        # Of equal commits in one second, another one may have been refused.
        found = sorted(page.results, key=lambda run: run.status is HookStatus.COMPLETED)
        runs: dict[str, Run] = {each.event: each for each in found}
        after = runs.get(f"post-{of}")
        is_called = any(
            (each.event, each.commit_id) == (f"post-{of}", commit.id) for each in self._calls
        )
        if after is None or (after.status is HookStatus.COMPLETED and not is_called):
            simulation.problem("hook", f"{commit} was made, and {after} is the run after it")
        if OpenRepository(simulation.reader, repository).content(judged).get(ACTIONS_PATH) is None:
            return  # no hook was due before it
        before = runs.get(f"pre-{of}")
        if before is None or before.status is not HookStatus.COMPLETED:
            simulation.problem("hook", f"{commit} was made, and {before} is the run before it")
        if not any(self._allows(lives, commit, each, f"pre-{of}") for each in self._calls):
            simulation.problem("hook", f"{commit} was made, and no hook allowed it on its parent")

    def _allows(self, lives: Lives, commit: Commit, call: _Call, event: str) -> bool:
        """Whether the call allowed the commit, and saw the head that became its parent."""
        if (call.event, call.message, call.is_allowed) != (event, commit.message, True):
            return False
        heads = lives.within(call.branch, call.moment, call.moment)
        return commit.parents[0] in [spell.commit_id for spell in heads]
