"""Exports by several runners that are frozen, run out of time, fail and are repaired.

A function may leave a run to a job, whose workers carry out slices. Each worker is a process. It may
die, and it may outlive its job, which does not know then what became of it.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from graveler.engine import Engine
from graveler.export.lifecycle import LEASE_S
from graveler.export.record import ExportRequest, ExportState
from graveler.export.slices import ExportSlice, ExportSliceResult
from graveler.model.places import PlaceLimit
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.operations.exports.batch import export_in_batch
from graveler.operations.exports.slices import RunSpec, carry_out_slice
from graveler.operations.leases import StoppedError
from graveler.threads import ContextThreads
from graveler.times import NS_PER_S
from tests.simulation.life_verdict import check_destination
from tests.simulation.schedule import Op
from tests.simulation.worlds import DESCRIBED, EXPORTED, REPO
from tests.support.fakes.memory_exports import MemoryBatchJobs
from tests.support.faults.counting import Port
from tests.support.faults.faults import Crash

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
        self.jobs = MemoryBatchJobs()
        self.jobs.is_deployed = True

    def guarded(self, engine: Engine, branch: str, runner: str) -> Engine:
        """Return the engine of a runner or of one of its workers."""
        store: Any = Port(engine.objects, "objects", self._guard(branch, runner))
        return replace(engine, objects=store)

    def _guard(self, branch: str, runner: str) -> Callable[..., Any]:
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
    host, watcher, engine = actor.host, actor.watcher(Exports), actor.engine
    if op.kind == "leave_export":
        settings = structs.replace(engine.export_settings, batch_objects_min=2)
        engine = replace(engine, batch_jobs=watcher.jobs, export_settings=settings)
    if not actor.choose("places", 4):
        engine = replace(engine, export_places=PlaceLimit("exports", 1))
    for number in range(_INVOCATIONS):
        host.begins_export()
        runner = f"runner {op.id} {number}"
        began_ns, limit_s = host.true_ns, _LIMITS_S[actor.choose("limit", len(_LIMITS_S))]

        def time_left_s(began_ns: int = began_ns, limit_s: int = limit_s) -> float:
            return limit_s - (host.true_ns - began_ns) / NS_PER_S

        advance(
            watcher.guarded(engine, op.branch, runner),
            ExportRequest(REPO, op.branch),
            runner=runner,
            time_left_s=time_left_s,
        )


class _Workers:
    """Workers on slices of one object, for a job."""

    objects_min = 1
    at_once = 2

    def __init__(self, actor: "Actor") -> None:
        self._actor = actor
        self._threads = ContextThreads(self.at_once)

    def submit(self, run: RunSpec, part: ExportSlice) -> Future[ExportSliceResult]:
        result = self._threads.submit(self._carry_out, run, part)
        if self._actor.choose("lost", 6):
            return result
        lost: Future[ExportSliceResult] = self._threads.submit(_lose)
        return lost

    def _carry_out(self, run: RunSpec, part: ExportSlice) -> ExportSliceResult:
        actor = self._actor
        actor.host.export_workers += 1
        try:
            engine = actor.start_worker().engine
            engine = actor.watcher(Exports).guarded(engine, run.branch, run.runner)
            return carry_out_slice(engine, run, part)
        except Crash:
            return _lose()
        finally:
            actor.host.export_workers -= 1


def _lose() -> ExportSliceResult:
    raise StoppedError("nobody knows what a worker does")


def run_export_job(actor: "Actor", op: Op) -> None:
    """Carry out a run that was left to a job, or one that a user names; jobs may be begun twice."""
    watcher, host = actor.watcher(Exports), actor.host
    request, run_id = ExportRequest(REPO, op.branch), ""
    if watcher.jobs.started:
        request, run_id = watcher.jobs.started[-1]
        if actor.choose("once", 3):
            watcher.jobs.started.pop()
    host.begins_export()
    runner = f"job {op.id}"
    export_in_batch(
        watcher.guarded(actor.engine, request.branch, runner),
        request,
        run_id,
        runner=runner,
        workers=_Workers(actor),
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
    for each in (
        *(work_on_export, run_export_job, freeze_export),
        *(repair_export, rerun_export, put_back_described),
    )
} | {"leave_export": work_on_export}
