"""The lease that lets one run at a time collect a repository."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from graveler.errors import ContentionError, GravelerError
from graveler.model import Repository
from graveler.retention.runs import LEASE, LEASE_S
from graveler.times import NS_PER_S
from graveler_jobs.session import JobDeployment

# The interval of renewals.
_RENEWAL_S = 60


@dataclass(slots=True)
class CollectionLease:
    """A lease on a repository; renewed in the background."""

    deployment: JobDeployment
    repository: Repository
    holder: str
    is_lost: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def take(self) -> None:
        """Take or extend the lease.

        Raises:
            ContentionError: another run holds it.
        """
        now_ns = self.deployment.engine.clock.now_ns()
        until_ns = now_ns + LEASE_S * NS_PER_S
        if not self.deployment.jobs.take_lease(
            self.repository, LEASE, self.holder, now_ns=now_ns, until_ns=until_ns
        ):
            self.is_lost = True
            raise ContentionError(
                f"another run collects the garbage of {self.repository.name!r}: wait for its end, "
                f"or {LEASE_S // 60} minutes if it died"
            )

    def check(self) -> None:
        """Extend the lease before the next step.

        Raises:
            ContentionError: this run stalled, and another one has begun.
        """
        if self.is_lost:
            raise ContentionError(f"another run has taken over {self.repository.name!r}")
        self.take()  # after a stall, the renewing thread may not have noticed yet

    def renew_until_ended(self) -> None:
        """Extend the lease periodically until the run ends or the lease is lost."""
        while not self.ended.wait(_RENEWAL_S):
            try:
                self.take()
            except ContentionError:
                return
            except GravelerError:  # the store is busy: retry at the next renewal
                continue


@contextmanager
def held(
    deployment: JobDeployment, repository: Repository, holder: str
) -> Iterator[CollectionLease]:
    """Hold the repository's lease, renewed in the background.

    Raises:
        ContentionError: another run holds it.
    """
    lease = CollectionLease(deployment, repository, holder)
    lease.take()
    heart = threading.Thread(target=lease.renew_until_ended, name="lease", daemon=True)
    heart.start()
    try:
        yield lease
    finally:
        lease.ended.set()
        heart.join()
        deployment.jobs.end_lease(repository, LEASE, holder)
