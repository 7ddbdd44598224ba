"""The lease of a run: one runner works on the run at a time, and stops in time.

The lease is stored in the run's record. A runner renews it by compare-and-swap, and another runner
takes an ended lease over in the same way. Before every request that writes at the destination, the
runner checks how long ago it renewed. If too little of the lease is left for the longest request
(LEASE_MARGIN_S), it stops. So a runner that was stalled never writes at the same time as the next.

The end of a lease is a time of the runner's wall clock, and other hosts compare it with their own.
The clocks may differ by CLOCKS_DIFFER_S. A runner whose wall clock was set back renews no more. For
others, the new end would be past. Its own checks use both of its clocks, so it stops.
"""

from collections.abc import Callable

from graveler.export import lifecycle
from graveler.export.lifecycle import RENEWAL_S, WRITING_S
from graveler.export.record import BranchExport, ExportRun, Progress
from graveler.model import Event
from graveler.open_repository import OpenRepository
from graveler.operations.leases import (
    TIME_TO_END_S,
    LeasedRecord,
    OutOfTimeError,
    StoppedError,
    UnwantedError,
)
from graveler.times import Moment

# A runner continues although its wall clock was set back by this much since it took the run.
_SET_BACK_S_MAX = 5

# With less time than this, a runner writes nothing more at the destination.
_TIME_TO_STOP_S = 10
# A runner without progress in this much time makes none at all. Its next step is one huge object or
# manifest.
_TIME_TO_PROGRESS_S = 600


class ExportLease(LeasedRecord[BranchExport]):
    """One runner's hold on a run, with the record as this runner saw it last."""

    def __init__(self, repo: OpenRepository, record: BranchExport, taken_at: Moment) -> None:
        """Hold the run of a record that this runner has just stored as its own, at taken_at."""
        assert record.run is not None
        super().__init__(repo, record, f"the export of branch {record.branch!r}")
        self._run_id = record.run.id
        self._runner = record.run.runner
        self._taken_at = taken_at
        self._renewed_at = taken_at

    @property
    def run(self) -> ExportRun:
        """The run as this runner saw it last."""
        assert self.record.run is not None
        return self.record.run

    def check(self) -> None:
        """Check that a request may write at the destination now; for many threads.

        Raises:
            StoppedError: too little of the lease is left.
        """
        if not self._was_renewed_within(WRITING_S):
            raise StoppedError("the lease is about to end")

    @property
    def is_due(self) -> bool:
        """Whether the lease should be renewed now."""
        return not self._was_renewed_within(RENEWAL_S)

    def _was_renewed_within(self, limit_s: float) -> bool:
        is_held = self.run.runner == self._runner  # until this runner gives the run up
        return is_held and self._renewed_at.is_within(limit_s, self.repo.engine.clock.moment())

    def renew(self, progress: Progress) -> None:
        """Extend the lease and store the run's progress.

        Raises:
            StoppedError: another runner holds the run, or this machine's clock was set back.
            UnwantedError: the run is unwanted.
            ContentionError: too many concurrent updates of the record.
        """
        self._refuse_if_deleted()
        now = self.repo.engine.clock.moment()
        if self._taken_at.set_back_s(now) > _SET_BACK_S_MAX:
            raise StoppedError("the clock was set back: others would see an older lease")

        def renewed(record: BranchExport) -> BranchExport:
            held = lifecycle.taken(record, self._runner, now.wall_ns)
            return lifecycle.advanced(held, progress)

        self.change(renewed)
        self._renewed_at = now
        if lifecycle.is_unwanted(self.record):
            raise UnwantedError("the branch is not exported to this path any more")

    def _stored(self, changed: BranchExport, event: Event | None) -> BranchExport:
        exports = self.repo.engine.exports
        return exports.replace_branch_export(self.repo.record, self.record, changed, event)

    def _current(self) -> BranchExport | None:
        current = self.repo.engine.exports.branch_export(self.repo.record, self.record.branch)
        run = current.run if current is not None else None
        if run is None or (run.id, run.runner) != (self._run_id, self._runner):
            return None
        return current

    def _refuse_if_deleted(self) -> None:
        repository, branch = self.repo.engine.refs.repository_and_branch(
            self.repo.record, self.record.branch
        )
        exists = repository is not None and repository.uid == self.repo.record.uid
        if not exists or branch is None:
            raise UnwantedError("the branch is deleted")


class InvocationDeadline:
    """The end of the invocation in which a runner works."""

    def __init__(self, time_left_s: Callable[[], float]) -> None:
        """Start with the time that is left now."""
        self._time_left_s = time_left_s
        self._begun_with_s = time_left_s()

    @property
    def is_near(self) -> bool:
        """Whether no more steps may begin."""
        return self._time_left_s() < TIME_TO_END_S

    @property
    def was_far(self) -> bool:
        """Whether the runner began with so much time that it should have made progress."""
        return self._begun_with_s >= _TIME_TO_PROGRESS_S

    def check(self) -> None:
        """Check that a request that writes may still begin; for many threads.

        Raises:
            OutOfTimeError: too little time is left.
        """
        if self._time_left_s() < _TIME_TO_STOP_S:
            raise OutOfTimeError("the function is about to be ended")
