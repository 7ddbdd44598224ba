"""Garbage collection in memory, step by step: sets do the work of Spark."""

from collections.abc import Callable, Iterable

from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.errors import ContentionError, CorruptDataError, PreconditionFailedError
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.model import EMPTY_METARANGE, CommitID, MetaRangeID, RangeID
from graveler.operations.collection_reads import (
    Scan,
    active_metaranges,
    begin_scan,
    claimed_addresses,
    staged_addresses,
    staged_in_time,
    staging_tokens,
    territory,
    upload_addresses,
)
from graveler.retention.candidates import Territory
from graveler.retention.files import looks_folder, run_folder
from graveler.retention.liveness import FRUITLESS_LOOKS_MAX, LOOK_S, Look, begin_look
from graveler.retention.ranges import MetarangeReader, RangeReader, ReadFile
from graveler.times import NS_PER_S
from tests.support.fakes.memory_objects import nothing


class MemoryCollection:
    """One run; ranges_read records the ID of a range at each read.

    between: called between the reads of a look.

    has_lease: whether the run still holds the repository's lease. Safety does not depend on it.
    """

    def __init__(
        self,
        engine: Engine,
        read_file: ReadFile,
        name: str,
        age_s: int,
        *,
        look_s: int = LOOK_S,
        batch_objects: int = DELETE_OBJECTS_MAX,
        has_lease: Callable[[], bool] = lambda: True,
    ) -> None:
        self.engine = engine
        self.read_file = read_file
        self.repo = read_repository(engine, name)
        self.namespace = self.repo.record.storage_namespace
        self.cutoff_ns = engine.clock.now_ns() - age_s * NS_PER_S
        self.ranges_read: list[RangeID] = []
        self.candidates: set[str] = set()
        self.marked: set[str] = set()
        self._staged: set[str] = set()
        self._claimed: set[str] = set()
        self.between: Callable[[], None] = nothing
        self._active: dict[CommitID, MetaRangeID] = {}
        self._scan: Scan | None = None
        self._ranges_of_mark: set[RangeID] = set()
        self.look_s = look_s
        self.batch_objects = batch_objects
        self.has_lease = has_lease
        self.doomed: set[str] = set()
        self.deleted: set[str] = set()
        self._looks = 0
        self._look: Look | None = None
        self._own: Territory | None = None

    def list_candidates(self) -> None:
        own = self._territory()
        self.candidates = {
            address
            for uri in own.uris
            for address, _ in own.candidates(self.engine.objects.list_objects(uri))
        }

    def _territory(self) -> Territory:
        return territory(self.repo, self.cutoff_ns, self.cutoff_ns)

    def look_at_staged(self) -> None:
        self._staged = self._staged_now()

    def _staged_now(self) -> set[str]:
        self._scan = begin_scan(self.repo)
        self.between()
        found = set(upload_addresses(self._scan.sharers))
        self.between()
        with staged_in_time(self.engine.objects, self._looks_uri):
            for token in staging_tokens(self._scan):
                self.between()
                found.update(staged_addresses(self.engine.staging, self.namespace, token))
        return found

    @property
    def _looks_uri(self) -> str:
        return looks_folder(f"{self.namespace}/{run_folder('memory')}")

    def look_at_commits(self) -> None:
        self._active = self._active_now()
        self.between()
        self._claimed = self._claimed_now()

    def _claimed_now(self) -> set[str]:
        assert self._scan is not None
        return set(claimed_addresses(self._scan.sharers))

    def _active_now(self) -> dict[CommitID, MetaRangeID]:
        assert self._scan is not None, "look at what is staged first"
        return active_metaranges(self._scan)

    def mark(self) -> None:
        self.marked = self.candidates - self._staged - self._claimed
        self.marked -= self._addresses(self._active.values())
        self._ranges_of_mark = set(self.ranges_read)

    def _addresses(self, metarange_ids: Iterable[MetaRangeID]) -> set[str]:
        metaranges = MetarangeReader(self.read_file, self.namespace)
        headers = {
            header.id: header
            for metarange_id in set(metarange_ids) - {EMPTY_METARANGE}
            for header in metaranges.headers(metarange_id)
        }
        found: set[str] = set()
        reader = RangeReader(self.read_file, self.namespace)
        unread = [headers[range_id] for range_id in headers.keys() - self._ranges_of_mark]
        for header in sorted(unread, key=lambda header: (header.min_key, header.id)):
            self.ranges_read.append(header.id)
            found.update(reader.addresses(header))
        return found

    def look(self) -> None:
        """Look again: marked objects that are still garbage may be deleted."""
        self._looks += 1
        self._look = begin_look(self.engine.objects, self._looks_uri, self._looks, self.look_s)
        self._own = self._territory()
        staged = self._staged_now()
        self.between()
        active = self._active_now()
        self.between()
        alive = staged | self._claimed_now()
        alive |= self._addresses(set(active.values()) - set(self._active.values()))
        self.doomed = self.marked - alive - self.deleted

    def delete_batch(self) -> bool:
        """Delete the next batch; return False if none is left or the look is too old."""
        batch = sorted(self.doomed)[: self.batch_objects]
        if not batch:
            return False
        assert self._look is not None, "look before you delete"
        assert self._own is not None
        for address in batch:
            if not self._own.holds(address):
                raise CorruptDataError(f"{address} is not in {self._own.uris}")
        if not self.has_lease():
            raise ContentionError("another run has taken over")
        if not self._look.is_current(self.engine.objects, "0"):
            return False
        self.engine.objects.delete_many([f"{self.namespace}/{address}" for address in batch])
        self.deleted.update(batch)
        self.doomed.difference_update(batch)
        return True

    def sweep(self) -> set[str]:
        """Look and delete in turns until no garbage is left; return the deleted URIs."""
        fruitless = 0
        while fruitless < FRUITLESS_LOOKS_MAX:
            before = len(self.deleted)
            self.look()
            while self.delete_batch():
                pass
            if not self.doomed:
                return {f"{self.namespace}/{address}" for address in self.deleted}
            fruitless = fruitless + 1 if len(self.deleted) == before else 0
        raise PreconditionFailedError("a look takes longer than it may be used")

    def run(self) -> set[str]:
        """Do all steps; return the deleted URIs."""
        self.list_candidates()
        self.look_at_staged()
        self.look_at_commits()
        self.mark()
        return self.sweep()
