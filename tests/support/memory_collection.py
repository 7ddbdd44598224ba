"""Garbage collection step by step in memory: the engine's own parts of it, and sets for Spark."""

from collections.abc import Iterable

from graveler.errors import CorruptDataError
from graveler.model import Repository
from graveler.operations.engine import NS_PER_S, Engine
from graveler.operations.garbage import (
    active_metaranges,
    neighbours,
    staged_addresses,
    staging_tokens,
    territory,
)
from graveler.operations.lookup import read_repository
from graveler.retention.candidates import Territory
from graveler.retention.ranges import RangeReader, ReadFile, read_metarange


class MemoryCollection:
    """One run. What it reads of committed data is counted: range IDs, one for each reading."""

    def __init__(self, engine: Engine, read_file: ReadFile, name: str, age_s: int) -> None:
        self.engine = engine
        self.read_file = read_file
        self.repository: Repository = read_repository(engine, name)
        self.namespace = self.repository.storage_namespace
        self.cutoff_ns = engine.clock.now_ns() - age_s * NS_PER_S
        self.ranges_read: list[str] = []
        self.candidates: set[str] = set()
        self.marked: set[str] = set()
        self._staged: set[str] = set()
        self._active: dict[str, str] = {}

    def list_candidates(self) -> None:
        own = self._territory()
        listed = self.engine.objects.list_objects(own.data_uri)
        self.candidates = {address for address, _ in own.candidates(listed)}

    def _territory(self) -> Territory:
        return territory(self.engine, self.repository, self.cutoff_ns)

    def look_at_staged(self) -> None:
        self._staged = self._staged_now()

    def _staged_now(self) -> set[str]:
        sharers = neighbours(self.engine, self.repository).sharers
        return {
            address
            for token in staging_tokens(self.engine, sharers)
            for address in staged_addresses(self.engine.staging, self.namespace, token)
        }

    def look_at_commits(self) -> None:
        self._active = self._active_now()

    def _active_now(self) -> dict[str, str]:
        return active_metaranges(self.engine, neighbours(self.engine, self.repository).sharers)

    def mark(self) -> None:
        self.marked = self.candidates - self._staged - self._addresses(self._active.values())

    def _addresses(self, metarange_ids: Iterable[str]) -> set[str]:
        headers = {
            header.id: header
            for metarange_id in set(metarange_ids) - {""}
            for header in read_metarange(self.read_file, self.namespace, metarange_id)
        }
        found: set[str] = set()
        reader = RangeReader(self.read_file, self.namespace)
        unread = [headers[range_id] for range_id in headers.keys() - set(self.ranges_read)]
        for header in sorted(unread, key=lambda header: (header.min_key, header.id)):
            self.ranges_read.append(header.id)
            found.update(reader.addresses(header))
        return found

    def sweep(self) -> set[str]:
        """Look again, delete what is still garbage; its URIs."""
        staged = self._staged_now()
        active = self._active_now()
        alive = staged | self._addresses(set(active.values()) - set(self._active.values()))
        own = self._territory()
        doomed = self.marked - alive
        for address in doomed:
            if not own.holds(address):
                raise CorruptDataError(f"{address} is not in {own.data_uri}")
        uris = {f"{self.namespace}/{address}" for address in doomed}
        self.engine.objects.delete_many(sorted(uris))
        return uris

    def run(self) -> set[str]:
        """All steps; the URIs of what was deleted."""
        self.list_candidates()
        self.look_at_staged()
        self.look_at_commits()
        self.mark()
        return self.sweep()
