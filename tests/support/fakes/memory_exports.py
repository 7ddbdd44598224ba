"""The ports of continuous export in memory."""

import threading
from collections.abc import Callable, Iterator
from copy import copy

from msgspec.structs import replace

from graveler.errors import StaleVersionError
from graveler.export.paths import ListedExport, paths_of
from graveler.export.record import BranchExport, ExportRequest, next_version
from graveler.model import Branch, Event, Repository
from graveler.model.tasks import TaskStart
from graveler.ports import Clock
from tests.support.fakes.memory import MemoryRefStore
from tests.support.fakes.memory_objects import nothing

DELAY_S_MAX = 900


class MemoryExportStore:
    """ExportStore in a dictionary; events go to the outbox of the ref store beside it."""

    def __init__(self, refs: MemoryRefStore) -> None:
        self.between: Callable[[], None] = nothing
        self.page_amount = 1000
        self._refs = refs
        self._records: dict[tuple[str, str], BranchExport] = {}
        self._listed: dict[tuple[str, str], ListedExport] = {}
        self._lock = threading.RLock()

    def fork(self, refs: MemoryRefStore) -> "MemoryExportStore":
        """Return an independent copy beside a copy of the ref store."""
        made = copy(self)
        made._refs = refs
        made._records, made._listed = dict(self._records), dict(self._listed)
        return made

    def recorded(self) -> frozenset[tuple[str, str]]:
        """Return (repository uid, branch) of every record."""
        return frozenset(self._records)

    def branch_export(self, repository: Repository, branch: str) -> BranchExport | None:
        with self._lock:
            return self._records.get((repository.uid, branch))

    def replace_branch_export(
        self,
        repository: Repository,
        old: BranchExport | None,
        new: BranchExport,
        event: Event | None = None,
    ) -> BranchExport:
        with self._lock:
            self._check(repository, new.branch, old)
            is_first = old is None and event is not None
            if is_first and self._refs.branch(repository, new.branch) is None:
                raise StaleVersionError(f"branch {new.branch} is gone")
            stored = replace(new, version=next_version(old, event))
            self._records[repository.uid, new.branch] = stored
            if event is not None:
                self._refs.events.append(event)
                if old is None or old.configuration != new.configuration:
                    self._listed[repository.uid, new.branch] = ListedExport(
                        repository.name, repository.uid, new.branch, paths_of(stored)
                    )
            return stored

    def delete_branch_export(self, repository: Repository, old: BranchExport) -> None:
        with self._lock:
            if self.branch_export(repository, old.branch) is not None:
                self._check(repository, old.branch, old)
                del self._records[repository.uid, old.branch]
            self._listed.pop((repository.uid, old.branch), None)

    def delete_branch(
        self,
        repository: Repository,
        branch: Branch,
        event: Event,
        drop_after_ns: int,
        *,
        export: BranchExport | None = None,
        left: BranchExport | None = None,
        starts: TaskStart | None = None,
    ) -> None:
        with self._lock:
            self._check(repository, branch.name, export)
            self._refs.delete_branch(repository, branch, event, drop_after_ns, starts)
            if left is not None:
                stored = replace(left, version=next_version(export, event))
                self._records[repository.uid, branch.name] = stored
            else:
                self._records.pop((repository.uid, branch.name), None)
                self._listed.pop((repository.uid, branch.name), None)

    def listed_exports(self) -> Iterator[ListedExport]:
        after = ("", "")
        while True:
            with self._lock:
                keys = sorted(key for key in self._listed if key > after)
                page = [self._listed[key] for key in keys[: self.page_amount]]
            yield from page
            if len(keys) <= self.page_amount:
                return
            after = keys[self.page_amount - 1]
            self.between()

    def listed_record(self, listed: ListedExport) -> BranchExport | None:
        with self._lock:
            return self._records.get((listed.repository_uid, listed.branch))

    def _check(self, repository: Repository, branch: str, old: BranchExport | None) -> None:
        current = self._records.get((repository.uid, branch))
        # A record that is deleted and created again starts at version 1, so compare the run, too.
        if _identity(current) != _identity(old):
            raise StaleVersionError(f"the export of branch {branch} changed")


def _identity(record: BranchExport | None) -> object:
    return record and (record.version, record.run)


class MemoryExportQueue:
    """ExportQueue as a list of waiting requests, each with the time in ns when it is due."""

    def __init__(self, clock: Clock) -> None:
        self.waiting: list[tuple[int, ExportRequest]] = []
        self._clock = clock

    def fork(self, clock: Clock) -> "MemoryExportQueue":
        made = MemoryExportQueue(clock)
        made.waiting = list(self.waiting)
        return made

    def send(self, request: ExportRequest, delay_s: int = 0) -> None:
        assert 0 <= delay_s <= DELAY_S_MAX
        self.waiting.append((self._clock.now_ns() + delay_s * 10**9, request))


class MemoryBatchJobs:
    """BatchJobs that records what it starts; no job is deployed unless a test sets is_deployed."""

    def __init__(self) -> None:
        self.is_deployed = False
        self.started: list[tuple[ExportRequest, str]] = []

    def start_export(self, request: ExportRequest, run_id: str) -> bool:
        if self.is_deployed:
            self.started.append((request, run_id))
        return self.is_deployed
