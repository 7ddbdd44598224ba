"""Exports by several runners that are frozen, run out of time, fail and are repaired."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graveler.export.lifecycle import LEASE_S
from graveler.export.record import ExportRequest, ExportState
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.times import NS_PER_S
from tests.simulation.life_verdict import check_destination
from tests.simulation.schedule import Op
from tests.simulation.worlds import DESCRIBED, EXPORTED, REPO
from tests.support.faults.counting import Port

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation

_INVOCATIONS = 2
_LAST_RUNNERS_MAX = 20
_LIMITS_S = (900, 900, 200, 75)
_FREEZES_S = (LEASE_S + 5, LEASE_S + 65, 600)


class Exports:
    """The exports of a schedule: who may write, and what their destinations hold in the end."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._branches: set[str] = set()

    def guard(self, branch: str, runner: str) -> Callable[..., Any]:
        """Return how calls of the object store are passed on: only the run's holder may write."""
        simulation = self._simulation
        self._branches.add(branch)

        def around(
            name: str, call: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
        ) -> Any:
            written = args[1] if name == "objects.copy" else args[0]
            if name in _WRITES and str(written).lstrip("['").startswith(EXPORTED):
                assert simulation.repository is not None
                record = simulation.world.exports.branch_export(simulation.repository, branch)
                holder = record.run.runner if record is not None and record.run else ""
                if holder != runner:
                    text = f"{runner} writes {written}, and the run's runner is {holder!r}"
                    simulation.problem("writer", text)
            return call(*args, **options)

        return around

    def put_back(self) -> bytes:
        """Return what was at the described address first."""
        return self._simulation.start.foreign[DESCRIBED]

    def judge(self) -> None:
        """A runner without faults ends each run; then the destination holds what it exported."""
        simulation = self._simulation
        for branch in sorted(self._branches):
            for number in range(_LAST_RUNNERS_MAX):
                record = advance(
                    simulation.new_engine(),
                    ExportRequest(REPO, branch),
                    runner=f"last {number}",
                    time_left_s=lambda: 900.0,
                )
                if record is None or record.state is not ExportState.IN_PROGRESS:
                    break
                simulation.world.clock.tick(2 * LEASE_S)
            else:
                simulation.problem("stuck", f"the export never ends: {record}")
        if simulation.repository is not None:
            check_destination(simulation, simulation.repository)


_WRITES = ("objects.put", "objects.copy", "objects.delete", "objects.delete_many")


def work_on_export(actor: "Actor", op: Op) -> None:
    """What a function does for some messages, in a bounded time."""
    host = actor.host
    for number in range(_INVOCATIONS):
        host.begins_export()
        runner = f"runner {op.id} {number}"
        store: Any = Port(
            actor.engine.objects, "objects", actor.watcher(Exports).guard(op.branch, runner)
        )
        began_ns, limit_s = host.true_ns, _LIMITS_S[actor.choose("limit", len(_LIMITS_S))]

        def time_left_s(began_ns: int = began_ns, limit_s: int = limit_s) -> float:
            return limit_s - (host.true_ns - began_ns) / NS_PER_S

        advance(
            replace(actor.engine, objects=store),
            ExportRequest(REPO, op.branch),
            runner=runner,
            time_left_s=time_left_s,
        )


def freeze_export(actor: "Actor", op: Op) -> None:
    """Let a runner stand still for longer than its lease."""
    freeze_s = _FREEZES_S[actor.choose("freeze", len(_FREEZES_S))]
    actor.host.step_clock_of_runner(0, 40 * (1 + actor.choose("stall", 3)))
    actor.host.pass_time(freeze_s)


def repair_export(actor: "Actor", op: Op) -> None:
    requests.repair(actor.engine, REPO, op.branch)


def rerun_export(actor: "Actor", op: Op) -> None:
    requests.run(actor.engine, REPO, op.branch)


def put_back_described(actor: "Actor", op: Op) -> None:
    """The owner of replaced data puts the first ones back."""
    actor.engine.objects.put(DESCRIBED, actor.watcher(Exports).put_back(), "t")


EXPORT_ACTIONS: Mapping[str, Callable[["Actor", Op], None]] = {
    each.__name__: each
    for each in (work_on_export, freeze_export, repair_export, rerun_export, put_back_described)
}
