"""A stretch of an export's run, carried out by a worker that is told of the run in plain data.

Theory of operation. The runner who holds the run's lease does not work on stretches itself: it
renews the lease and counts what comes back. Workers may be anywhere, and may outlive it. So each
reads the same record as the runner, and again as often as the runner renews it: it lets a request
pass only while what it saw last leaves enough of the lease, and stops when the run is in other
hands, or unwanted. Whoever takes the run over waits for the end of the lease that the record tells,
and no worker has seen a later one; so no write of a worker is beside those of a successor.

One thing is left: a runner that ends a run while a worker of its own is lost, but alive. It must
not: who does not know what a worker does lets the lease end by itself (`Workers.submit`).
"""

from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from graveler.errors import GravelerError
from graveler.export import lifecycle, manifest
from graveler.export.lifecycle import LEASE_MARGIN_S, RENEWAL_S, destination_of
from graveler.export.model import ExportState, Progress
from graveler.export.patterns import Patterns
from graveler.export.schedule import RunFailedError, Schedule
from graveler.export.stretches import Carried, Stretch
from graveler.export.walk import Walk
from graveler.export.work import Work
from graveler.model import Repository
from graveler.operations.engine import Engine
from graveler.operations.exports.lease import Lease, StoppedError, UnwantedError
from graveler.operations.exports.retrying import ExportWrites, GaveUpError, pool_of
from graveler.operations.exports.transfer import ExportTransfer
from graveler.times import NS_PER_S


@dataclass(frozen=True, slots=True)
class RunInHand:
    """What workers have to know of a run: it can be sent anywhere."""

    repository: Repository
    branch: str
    run_id: str
    runner: str
    head: str  # metaranges
    bases: tuple[str, ...]
    path: str
    patterns: tuple[str, ...]
    has_marks: bool
    has_manifest: bool

    @classmethod
    def of(cls, lease: Lease, work: Work) -> "RunInHand":
        """The run of the lease."""
        run = lease.run
        configuration = run.configuration
        return cls(
            repository=lease.repository,
            branch=lease.record.branch,
            run_id=run.id,
            runner=run.runner,
            head=work.head.id,
            bases=tuple(base.id for base in work.bases),
            path=configuration.path,
            patterns=configuration.last_keys_in_prefix_regexps,
            has_marks=destination_of(lease.record, configuration.path).has_marks,
            has_manifest=bool(configuration.status_path),
        )


class Workers(Protocol):
    """Carry stretches out, each by `carry_out_stretch` with an engine of its own."""

    # A stretch has about so many objects that may have changed.
    objects_min: int

    @property
    def at_once(self) -> int:
        """How many stretches are worked on at the same time."""

    def submit(self, run: RunInHand, stretch: Stretch) -> Future[Carried]:
        """Have the stretch carried out; what came of it.

        The result raises StoppedError if that cannot be told: somebody may still be at work.
        """


class SeenLease:
    """Another's lease as its record says, read again and again."""

    def __init__(self, engine: Engine, run: RunInHand) -> None:
        self._engine = engine
        self._run = run
        self._lock = Lock()
        self._read_again_ns = 0
        self._stop_ns = 0

    def check(self) -> None:
        """Let a request pass that writes at the destination; for many threads.

        Raises:
            StoppedError: too little of the lease is left, or the run is in other hands.
        """
        with self._lock:
            now_ns = self._engine.clock.now_ns()
            if now_ns < self._read_again_ns and now_ns <= self._stop_ns:
                return
            self._stop_ns = self._read() - LEASE_MARGIN_S * NS_PER_S
            self._read_again_ns = now_ns + RENEWAL_S * NS_PER_S
            # Reading takes time as well.
            if self._engine.clock.now_ns() > self._stop_ns:
                raise StoppedError("the lease is about to end")

    def _read(self) -> int:
        record = self._engine.exports.branch_export(self._run.repository, self._run.branch)
        run = record.run if record is not None else None
        ours = (self._run.run_id, self._run.runner)
        if record is None or run is None or (run.id, run.runner) != ours:
            raise StoppedError("the run is in other hands")
        if record.state is not ExportState.IN_PROGRESS:
            raise StoppedError("the run has ended")
        if lifecycle.is_unwanted(record):
            raise UnwantedError("the branch is not exported there any more")
        return run.lease_until_ns


def carry_out_stretch(engine: Engine, run: RunInHand, stretch: Stretch) -> Carried:
    """Bring what is in the stretch to the destination; nothing is at work any more afterwards."""
    work = Work(
        engine.metarange(run.repository, run.head),
        [engine.metarange(run.repository, base) for base in run.bases],
    )
    walk = Walk(
        work,
        Patterns(run.patterns),
        has_marks=run.has_marks,
        stretch=(stretch.start, stretch.end),
    )
    writes = ExportWrites(engine, SeenLease(engine, run).check)
    transfer = ExportTransfer(writes, work, run.path)
    at_once = engine.export_settings.requests_at_once
    with pool_of(at_once) as pool:
        schedule = Schedule(transfer, Progress(), pool, at_once)
        try:
            schedule.run(walk.steps(), lambda: True)
            etags = schedule.take_etags()
            if run.has_manifest and etags:
                namespace = run.repository.storage_namespace
                uri = manifest.piece_uri(namespace, run.run_id, stretch.piece)
                writes.put(uri, manifest.piece_of(etags), manifest.CONTENT_TYPE)
        except (RunFailedError, GaveUpError, StoppedError, GravelerError) as problem:
            return Carried(schedule.progress, problem=problem)
    return Carried(schedule.progress, tuple(schedule.kept))
