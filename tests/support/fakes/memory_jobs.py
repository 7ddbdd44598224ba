"""Leases of jobs in memory, beside the memory ref store's outbox."""

import threading

from graveler.errors import GravelerError
from graveler.model import Event, Repository
from tests.support.fakes.memory import MemoryRefStore


class MemoryJobStore:
    """JobStore in a dictionary."""

    def __init__(self, refs: MemoryRefStore) -> None:
        self._refs = refs
        self.collections: dict[str, int] = {}
        self._leases: dict[tuple[str, str], tuple[str, int]] = {}
        self._lock = threading.Lock()

    def fork(self, refs: MemoryRefStore) -> "MemoryJobStore":
        made = MemoryJobStore(refs)
        made.collections = dict(self.collections)
        made._leases = dict(self._leases)
        return made

    def take_lease(
        self, repository: Repository, kind: str, holder: str, *, now_ns: int, until_ns: int
    ) -> bool:
        with self._lock:
            held_by, held_until_ns = self._leases.get((repository.uid, kind), (holder, 0))
            if held_by != holder and held_until_ns > now_ns:
                return False
            self._leases[repository.uid, kind] = (holder, until_ns)
            return True

    def has_lease(self, repository: Repository, kind: str, holder: str) -> bool:
        with self._lock:
            return self._leases.get((repository.uid, kind), ("", 0))[0] == holder

    def lease_holder(self, repository: Repository, kind: str, now_ns: int) -> str:
        with self._lock:
            holder, until_ns = self._leases.get((repository.uid, kind), ("", 0))
            return holder if until_ns > now_ns else ""

    def end_lease(self, repository: Repository, kind: str, holder: str) -> None:
        with self._lock:
            if self._leases.get((repository.uid, kind), ("", 0))[0] == holder:
                del self._leases[repository.uid, kind]

    def put_event(self, repository: Repository, event: Event) -> None:  # noqa: ARG002 - the port's
        if event not in self._refs.events:
            self._refs.events.append(event)

    def note_collection(self, series: str, now_ns: int) -> None:
        self.collections[series] = now_ns


class MemoryCollectionJobs:
    """CollectionJobs that records what it starts; a test may undeploy the job, or let it fail."""

    def __init__(self) -> None:
        self.is_deployed = True
        self.error: GravelerError | None = None
        self.started: list[tuple[str, str, bool, int | None]] = []

    def start_collection(
        self, repository: str, run_id: str, *, is_dry: bool, deletions_max: int | None
    ) -> bool:
        if self.error is not None:
            raise self.error
        if self.is_deployed:
            self.started.append((repository, run_id, is_dry, deletions_max))
        return self.is_deployed
