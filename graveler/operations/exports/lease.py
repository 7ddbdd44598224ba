"""Holding a run: one runner works on it at a time, and knows when it has to stop.

The lease is in the run's record. A runner renews it by compare-and-swap; who finds that the lease
has ended takes the run over in the same way. Before every request that writes at the destination,
the runner looks at its own clock: with too little of the lease left for the longest request
(LEASE_MARGIN_S) it stops, so that one that was stalled never writes beside its successor.
"""

from collections.abc import Callable

from graveler.errors import StaleVersionError
from graveler.export import lifecycle
from graveler.export.lifecycle import LEASE_MARGIN_S, LEASE_S, RENEWAL_S
from graveler.export.model import BranchExport, ExportRun, Progress
from graveler.model import Event, Repository
from graveler.operations.engine import Engine
from graveler.operations.protocol.retries import retry_stale
from graveler.times import NS_PER_S

Transition = Callable[[BranchExport], BranchExport]


class StoppedError(Exception):
    """This runner is not to go on with the run; the message says why."""


class UnwantedError(StoppedError):
    """Nobody wants the run any more: the branch is gone, or exported to elsewhere."""


class Lease:
    """A run in the hands of one runner, and its record as this runner saw it last."""

    def __init__(self, engine: Engine, repository: Repository, record: BranchExport) -> None:
        """Hold a record whose run this runner has just taken."""
        assert record.run is not None
        self.engine = engine
        self.repository = repository
        self.record = record
        self._run_id = record.run.id
        self._runner = record.run.runner
        self._until_ns = record.run.lease_until_ns

    @property
    def run(self) -> ExportRun:
        """The run as it stands."""
        assert self.record.run is not None
        return self.record.run

    def check(self) -> None:
        """Let a request pass that writes at the destination; for many threads.

        Raises:
            StoppedError: too little of the lease is left.
        """
        if self.engine.clock.now_ns() > self._until_ns - LEASE_MARGIN_S * NS_PER_S:
            raise StoppedError("the lease is about to end")

    @property
    def is_due(self) -> bool:
        """Whether it is time to renew."""
        renewed_ns = self._until_ns - LEASE_S * NS_PER_S
        return self.engine.clock.now_ns() >= renewed_ns + RENEWAL_S * NS_PER_S

    def renew(self, progress: Progress) -> None:
        """Hold the run for longer, and store how far it has come.

        Raises:
            StoppedError: somebody else has the run.
            UnwantedError: nobody wants it any more.
        """
        self._refuse_if_deleted()
        now_ns = self.engine.clock.now_ns()

        def renewed(record: BranchExport) -> BranchExport:
            held = lifecycle.taken(record, self._runner, now_ns)
            return lifecycle.advanced(held, progress)

        self.change(renewed)
        if lifecycle.is_unwanted(self.record):
            raise UnwantedError("the branch is not exported there any more")

    def change(self, transition: Transition, event: Event | None = None) -> None:
        """Change the record, whatever others changed in it meanwhile, and tell of it.

        Raises:
            StoppedError: the run is in other hands.
        """

        def attempt() -> None:
            changed = transition(self.record)
            try:
                self.record = self.engine.exports.replace_branch_export(
                    self.repository, self.record, changed, event
                )
            except StaleVersionError:
                self._read_again()
                raise

        retry_stale(attempt, f"the export of branch {self.record.branch!r}")
        self._until_ns = self.run.lease_until_ns

    def _read_again(self) -> None:
        current = self.engine.exports.branch_export(self.repository, self.record.branch)
        run = current.run if current is not None else None
        if current is None or run is None or (run.id, run.runner) != (self._run_id, self._runner):
            raise StoppedError("the run is in other hands")
        self.record = current

    def _refuse_if_deleted(self) -> None:
        repository, branch = self.engine.refs.repository_and_branch(
            self.repository, self.record.branch
        )
        is_there = repository is not None and repository.uid == self.repository.uid
        if not is_there or branch is None:
            raise UnwantedError("the branch is gone")
