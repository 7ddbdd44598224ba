"""How a worker carries out one slice of a run, from a description in plain data.

Theory of operation. The runner that holds the lease does not work on slices itself. It renews the
lease and adds up the results. Workers may be on other machines, and may outlive the runner. So each
worker reads the run's record itself, as often as the runner renews the lease. It makes a request
only while the lease that it read last is long enough. It stops when another runner holds the run or
the run is unwanted. The next runner waits until the lease in the record ends, and no worker has
read a later one. So workers never write at the same time as the next runner. The lease's end is a
time of the runner's clock, which may differ from the worker's. A worker whose clock is set back
would believe an old lease. So it also stops if it has read no renewal for a while.

One danger is left: a runner could end a run while a lost worker still writes. A runner that does
not know the state of a worker must let the lease expire (`ExportWorkers.submit`).
"""

from concurrent.futures import Future
from threading import Lock
from typing import Protocol

from msgspec import Struct

from graveler.engine import Engine
from graveler.errors import GravelerError
from graveler.export import lifecycle
from graveler.export.lifecycle import LEASE_MARGIN_S, RENEWAL_S, WRITING_S, destination_of
from graveler.export.patterns import Patterns
from graveler.export.record import Destination, ExportState, Progress
from graveler.export.schedule import RunFailedError, Schedule
from graveler.export.slices import ExportSlice, ExportSliceResult
from graveler.export.walk import ExportWalk
from graveler.export.work import ExportWork
from graveler.model import MetaRangeID, Repository
from graveler.open_repository import OpenRepository
from graveler.operations.exports.existing_objects import present_in
from graveler.operations.exports.lease import ExportLease
from graveler.operations.exports.retried_requests import GaveUpError, RetriedRequests, pool_of
from graveler.operations.exports.run_records import put_piece
from graveler.operations.exports.transfer import ExportTransfer
from graveler.operations.leases import StoppedError, UnwantedError
from graveler.times import NEVER, NS_PER_S, Moment


class RunSpec(Struct, frozen=True):
    """The description of a run for workers; it can be pickled."""

    repository: Repository
    branch: str
    run_id: str
    runner: str
    head: MetaRangeID
    bases: tuple[MetaRangeID, ...]
    destination: Destination
    patterns: tuple[str, ...]
    has_manifest: bool

    @classmethod
    def of(cls, lease: ExportLease, work: ExportWork) -> "RunSpec":
        """Describe the leased run."""
        run = lease.run
        configuration = run.configuration
        return cls(
            repository=lease.repo.record,
            branch=lease.record.branch,
            run_id=run.id,
            runner=run.runner,
            head=work.head.id,
            bases=tuple(base.id for base in work.bases),
            destination=destination_of(lease.record, configuration.path),
            patterns=configuration.last_keys_in_prefix_regexps,
            has_manifest=bool(configuration.status_path),
        )


class ExportWorkers(Protocol):
    """Carry out slices, each by `carry_out_slice` with an engine of its own."""

    # Each slice but the last has at least this many objects that may have changed.
    objects_min: int

    @property
    def at_once(self) -> int:
        """How many slices to submit at the same time."""

    def submit(self, run: RunSpec, part: ExportSlice) -> Future[ExportSliceResult]:
        """Start a worker on the slice.

        Returns:
            The result. It raises StoppedError if the result is unknown: the worker may still
            be writing.
        """


class ObservedLease:
    """The runner's lease as a worker sees it: read from the record again and again."""

    def __init__(self, engine: Engine, run: RunSpec) -> None:
        self._engine = engine
        self._run = run
        self._lock = Lock()
        self._until_ns = 0
        self._read_at = NEVER
        self._first_read_at = NEVER  # of this end of the lease

    def check(self) -> None:
        """Check that a request may write at the destination now; for many threads.

        Raises:
            StoppedError: too little of the lease is left, or another runner holds the run.
            UnwantedError: the run is unwanted.
        """
        with self._lock:
            now = self._engine.clock.moment()
            if self._read_at.is_within(RENEWAL_S, now) and self._is_long_enough(now):
                return
            until_ns = self._read()
            self._read_at = now
            if until_ns != self._until_ns:
                self._until_ns, self._first_read_at = until_ns, now
            # Reading the record takes time, too.
            if not self._is_long_enough(self._engine.clock.moment()):
                raise StoppedError("the lease is about to end")

    def _is_long_enough(self, now: Moment) -> bool:
        stop_ns = self._until_ns - LEASE_MARGIN_S * NS_PER_S
        return now.wall_ns <= stop_ns and self._first_read_at.is_within(WRITING_S, now)

    def _read(self) -> int:
        record = self._engine.exports.branch_export(self._run.repository, self._run.branch)
        run = record.run if record is not None else None
        ours = (self._run.run_id, self._run.runner)
        if record is None or run is None or (run.id, run.runner) != ours:
            raise StoppedError("another runner holds the run")
        if record.state is not ExportState.IN_PROGRESS:
            raise StoppedError("the run has ended")
        if lifecycle.is_unwanted(record):
            raise UnwantedError("the branch is not exported to this path any more")
        return run.lease_until_ns


def carry_out_slice(engine: Engine, run: RunSpec, part: ExportSlice) -> ExportSliceResult:
    """Copy and delete the objects that the slice changes at the destination.

    No request is under way when it returns. Errors are in the result, not raised.
    """
    repo = OpenRepository(engine, run.repository)
    work = ExportWork(repo.metarange(run.head), [repo.metarange(base) for base in run.bases])
    walk = ExportWalk(
        work,
        Patterns(run.patterns),
        has_marks=run.destination.has_marks,
        keys=(part.start, part.end),
        present=present_in(engine.objects, work, run.destination),
    )
    requests = RetriedRequests(engine, ObservedLease(engine, run).check)
    transfer = ExportTransfer(requests, work, run.destination.path)
    at_once = engine.export_settings.requests_at_once
    with pool_of(at_once) as pool:
        schedule = Schedule(transfer, Progress(), pool, at_once)
        try:
            schedule.run(walk.steps(), lambda: True)
            etags = schedule.take_etags()
            if run.has_manifest and etags:
                put_piece(requests, run.repository, run.run_id, part.piece, etags)
        except (RunFailedError, GaveUpError, StoppedError, GravelerError) as problem:
            return ExportSliceResult(schedule.progress, problem=problem)
    return ExportSliceResult(schedule.progress, tuple(schedule.kept))
