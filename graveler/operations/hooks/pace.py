"""The pace of hooks: how a request or a task's runner waits while they run."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from graveler.branches.request_time import time_for_request
from graveler.engine import Engine
from graveler.limits import TASK_HOOKS_S_MAX
from graveler.model.hooks import HookRun
from graveler.operations.leases import OutOfTimeError
from graveler.operations.tasks.hold import Hold, TaskHasHooksError
from graveler.operations.tasks.requested_work import TakesLongError
from graveler.times import NS_PER_S

_SAVED = "hooks"
_SPENT = "hooks_ns"


class Pace(Protocol):
    """The part of a run of hooks that the waiting request or task decides."""

    def begin(self) -> None:
        """Called before the first hook; raises if the hooks must run elsewhere."""

    def time_for(self, timeout_s: float) -> float:
        """Return how long a hook with that time-out may take; raise if another runner has to."""

    def tick(self) -> None:
        """Called at least every two seconds while hooks run; raises to stop."""

    def ended(self, run_id: str) -> Mapping[str, HookRun]:
        """Return the hooks of the run that an earlier process has run, by the IDs of their runs."""

    def save(self, run_id: str, ended: Mapping[str, HookRun]) -> None:
        """Store the hooks of the run that have ended; raise to stop."""


class RequestPace:
    """The pace of a request: its hooks have a bounded time together.

    may_wait: if not, the request leaves each operation with hooks to a task.
    """

    def __init__(self, engine: Engine, *, may_wait: bool) -> None:
        self._engine = engine
        self._may_wait = may_wait
        self._clock = engine.clock
        self._until_ns: int | None = None

    def begin(self) -> None:
        if not self._may_wait:
            raise TakesLongError
        if self._until_ns is None:
            limit_s = time_for_request(self._engine, self._engine.hook_settings.request_hooks_s)
            self._until_ns = self._clock.now_ns() + int(limit_s * NS_PER_S)

    def time_for(self, timeout_s: float) -> float:
        assert self._until_ns is not None
        return min(timeout_s, (self._until_ns - self._clock.now_ns()) / NS_PER_S)

    def tick(self) -> None:
        """Do nothing: each hook ends in time."""

    def ended(self, run_id: str) -> Mapping[str, HookRun]:  # noqa: ARG002 - the port's
        return {}

    def save(self, run_id: str, ended: Mapping[str, HookRun]) -> None:
        """Store nothing: a request that dies is repeated by its client."""


class TaskPace:
    """The pace of a task's runner: it reports while hooks run, and saves those that have ended.

    Where hooks have a queue of their own, only its runners run them: hooks may take minutes, and
    other tasks must not wait for a place so long. All hooks of a task share TASK_HOOKS_S_MAX, also
    if they run again because the branch has moved.
    """

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._clock = hold.repo.engine.clock
        self._since_ns = 0

    def begin(self) -> None:
        if self._hold.repo.engine.hook_queue is not None:
            raise TaskHasHooksError("hooks are due")
        self._since_ns = self._clock.now_ns()
        self._hold.report_again()

    def time_for(self, timeout_s: float) -> float:
        timeout_s = min(timeout_s, TASK_HOOKS_S_MAX - self._spent_ns() / NS_PER_S)
        if self._hold.time_left_s < timeout_s:
            raise OutOfTimeError("the next hook may take longer than this runner has")
        return timeout_s

    def tick(self) -> None:
        self._hold.report_again()

    def ended(self, run_id: str) -> Mapping[str, HookRun]:
        saved: Any = self._hold.task.saved.get(_SAVED, {})
        if saved.get("run_id") != run_id:
            return {}
        return msgspec.convert(saved["ended"], dict[str, HookRun])

    def save(self, run_id: str, ended: Mapping[str, HookRun]) -> None:
        saved = {"run_id": run_id, "ended": msgspec.to_builtins(dict(ended))}
        spent_ns = self._spent_ns()
        self._since_ns = self._clock.now_ns()
        self._hold.save({**self._hold.task.saved, _SAVED: saved, _SPENT: spent_ns})

    def _spent_ns(self) -> int:
        """Return how long the task's hooks have run, as far as runners have saved it."""
        saved: Any = self._hold.task.saved
        return int(saved.get(_SPENT, 0)) + self._clock.now_ns() - self._since_ns
