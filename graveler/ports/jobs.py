"""The port to the records of jobs that work on a whole repository, such as garbage collection."""

from typing import Protocol

from graveler.model import Event, Repository


class JobStore(Protocol):
    """Leases that let one job of a kind run, and the events that jobs end with.

    A lease only saves duplicate work. No job may need it to be safe: a stalled holder does not
    notice that its lease has ended.
    """

    def take_lease(
        self, repository: Repository, kind: str, holder: str, *, now_ns: int, until_ns: int
    ) -> bool:
        """Take the lease until until_ns, or extend it; return False if another job holds it."""

    def has_lease(self, repository: Repository, kind: str, holder: str) -> bool:
        """Return whether the holder took the lease last and has not ended it."""

    def lease_holder(self, repository: Repository, kind: str, now_ns: int) -> str:
        """Return the holder of the lease; "" if none took it, or it has ended."""

    def end_lease(self, repository: Repository, kind: str, holder: str) -> None:
        """Release the lease, if the holder still has it."""

    def put_event(self, repository: Repository, event: Event) -> None:
        """Put an event in the outbox that belongs to no change of a record."""

    def note_collection(self, series: str, now_ns: int) -> None:
        """Store that a collection of the series succeeded (`retention.runs`)."""


class CollectionJobs(Protocol):
    """Jobs that collect garbage."""

    def start_collection(
        self, repository: str, run_id: str, *, is_dry: bool, deletions_max: int | None
    ) -> bool:
        """Start the Spark job that carries out this run; return False if none is deployed.

        A job may be started twice; the second one finds that the run has begun, and ends.

        Args:
            repository: the repository's name.
            run_id: the run's ID, which holds the lease until the job extends it.
            is_dry: only mark, and delete nothing.
            deletions_max: with more to delete, the run fails; None leaves that to the deployment.

        Raises:
            ThrottledError: too many jobs are running.
        """
