"""What garbage collection asks of the world beside `graveler.ports`."""

from typing import Protocol

from graveler.model import Event, Repository


class JobStore(Protocol):
    """What jobs over a whole repository keep: that one of a kind runs, and what it tells at last.

    A lease keeps two jobs from doing the same work; no job may need it to be safe, since a holder
    that was stalled does not notice that its lease has ended.
    """

    def take_lease(
        self, repository: Repository, kind: str, holder: str, *, now_ns: int, until_ns: int
    ) -> bool:
        """Hold the lease until then, or longer than so far; False while another one holds it."""

    def has_lease(self, repository: Repository, kind: str, holder: str) -> bool:
        """Whether the holder was the last one to take the lease, and has not ended it."""

    def end_lease(self, repository: Repository, kind: str, holder: str) -> None:
        """Let others have the lease, if the holder still has it."""

    def put_event(self, repository: Repository, event: Event) -> None:
        """Put an event in the outbox that reports no change of anything else."""
