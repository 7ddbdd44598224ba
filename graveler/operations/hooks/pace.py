"""How hooks run beside what waits for them: inside a request, or by a task's runner."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from graveler.branches.watching import time_for_request
from graveler.engine import Engine
from graveler.model.hooks import HookRun
from graveler.operations.tasks.hold import Hold, TaskOutOfTimeError
from graveler.operations.tasks.waiting import TakesLongError
from graveler.times import NS_PER_S

_SAVED = "hooks"


class Pace(Protocol):
    """What a run of hooks asks of whoever waits for it."""

    def begin(self) -> None:
        """Be called before the first hook; raise if the hooks must run elsewhere."""

    def time_for(self, timeout_s: float) -> float:
        """Return how long a hook with that time-out may take; raise if it must wait for another."""

    def tick(self) -> None:
        """Be called at least every two seconds while hooks run; raise to stop."""

    def ended(self, run_id: str) -> Mapping[str, HookRun]:
        """Return the hooks of the run that an earlier process has run, by the IDs of their runs."""

    def save(self, run_id: str, ended: Mapping[str, HookRun]) -> None:
        """Store the hooks of the run that have ended; raise to stop."""


class ElsewherePace:
    """Of a request that leaves operations with hooks to tasks: no method but `begin` is called."""

    def begin(self) -> None:
        raise TakesLongError

    def time_for(self, timeout_s: float) -> float:
        return timeout_s

    def tick(self) -> None:
        raise TakesLongError

    def ended(self, run_id: str) -> Mapping[str, HookRun]:  # noqa: ARG002 - the port's
        return {}

    def save(self, run_id: str, ended: Mapping[str, HookRun]) -> None:
        """Store nothing."""


class RequestPace:
    """Of a request that runs hooks itself: they have a bounded time together."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._clock = engine.clock
        self._until_ns: int | None = None

    def begin(self) -> None:
        if self._until_ns is None:
            limit_s = time_for_request(self._engine, self._engine.hook_settings.request_hooks_s)
            self._until_ns = self._clock.now_ns() + int(limit_s * NS_PER_S)

    def time_for(self, timeout_s: float) -> float:
        assert self._until_ns is not None
        return min(timeout_s, (self._until_ns - self._clock.now_ns()) / NS_PER_S)

    def tick(self) -> None:
        """Go on: each hook ends in time."""

    def ended(self, run_id: str) -> Mapping[str, HookRun]:  # noqa: ARG002 - the port's
        return {}

    def save(self, run_id: str, ended: Mapping[str, HookRun]) -> None:
        """Store nothing: a request that dies is repeated by its client."""


class TaskPace:
    """Of a task's runner, which reports while hooks run, and saves those that have ended."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold

    def begin(self) -> None:
        self._hold.report_again()

    def time_for(self, timeout_s: float) -> float:
        if self._hold.time_left_s < timeout_s:
            raise TaskOutOfTimeError("the next hook may take longer than this runner has")
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
        self._hold.save({**self._hold.task.saved, _SAVED: saved})
