"""The StagingStore in memory, no stronger than the real one: steps, pages, gates closed singly."""

import bisect
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING
from zlib import crc32

from graveler.errors import StaleTaskError, StaleVersionError
from graveler.model import Branch, Change, Event, Repository, StagingToken
from graveler.model.recorded_uploads import Upload
from graveler.model.tasks import Task
from graveler.model.tokens import Spread, spread_of
from graveler.ports import (
    CHANGES_TOGETHER_MAX,
    UNCONDITIONAL,
    ChangesPage,
    Staged,
    StagedChange,
    StageOutcome,
    Unconditional,
)
from tests.support.fakes.memory_objects import nothing

if TYPE_CHECKING:
    from tests.support.fakes.memory import MemoryRefStore

SCAN_PAGE_AMOUNT = 100


class MemoryStagingStore:
    """StagingStore in dictionaries; reads branches from the ref store beside it."""

    def __init__(self, refs: "MemoryRefStore") -> None:
        self.between: Callable[[], None] = nothing
        self.page_amount = SCAN_PAGE_AMOUNT
        self.staged_first = False  # of two items that are read together, which one is read first
        self.gates = 2
        self._writes = 0
        self.changes_at_once = 99
        self._closed: set[tuple[StagingToken, int]] = set()
        self._restored: set[tuple[StagingToken, bytes]] = set()
        self._values: dict[StagingToken, dict[bytes, bytes | None]] = {}
        self._paths: dict[StagingToken, list[bytes]] = {}
        self._lock = threading.RLock()
        self._join(refs)

    def _join(self, refs: "MemoryRefStore") -> None:
        """Join the transactions of the ref store."""
        self._refs = refs
        refs.put_restored = self._put_restored
        refs.check_restored = self._check_restored

    def fork(self, refs: "MemoryRefStore") -> "MemoryStagingStore":
        """Return an independent copy beside a copy of the ref store."""
        made = copy(self)
        made._closed, made._restored = set(self._closed), set(self._restored)
        made._values = {token: dict(values) for token, values in self._values.items()}
        made._paths = {token: list(paths) for token, paths in self._paths.items()}
        made._join(refs)
        return made

    def changes(self, token: StagingToken) -> Mapping[bytes, bytes | None]:
        """Return every change staged under the token."""
        with self._lock:
            return dict(self._values.get(token, {}))

    def tokens(self) -> list[StagingToken]:
        """Return the tokens that hold staged changes."""
        with self._lock:
            return [token for token, values in self._values.items() if values]

    def get(self, token: StagingToken, path: bytes) -> Staged | None:
        with self._lock:
            values = self._values.get(token, {})
            return Staged(values[path]) if path in values else None

    def newest(self, tokens: Sequence[StagingToken], path: bytes) -> Staged | None:
        for number, token in enumerate(tokens):
            if number:
                self.between()
            staged = self.get(token, path)
            if staged is not None:
                return staged
        return None

    def get_with_branch(
        self, repository: Repository, branch: str, token: StagingToken, path: bytes
    ) -> tuple[Branch | None, Staged | None]:
        if self.staged_first:
            staged = self.get(token, path)
            self.between()
            return self._refs.branch(repository, branch), staged
        found = self._refs.branch(repository, branch)
        self.between()
        return found, self.get(token, path)

    def get_with_repository(
        self, repository: Repository, branch: str, token: StagingToken, path: bytes
    ) -> tuple[Repository | None, Branch | None, Staged | None]:
        if self.staged_first:
            staged = self.get(token, path)
            self.between()
            return *self._refs.repository_and_branch(repository, branch), staged
        found = self._refs.repository_and_branch(repository, branch)
        self.between()
        return *found, self.get(token, path)

    def newest_each(
        self, tokens: Sequence[StagingToken], paths: Sequence[bytes]
    ) -> Mapping[bytes, Staged]:
        found = ((path, self.newest(tokens, path)) for path in paths)
        return {path: staged for path, staged in found if staged is not None}

    def stage(self, token: StagingToken, changes: Sequence[Change]) -> StageOutcome:
        assert len({path for path, _ in changes}) == len(changes)
        refused = []
        for number, (path, value) in enumerate(changes):
            if number:
                self.between()
            with self._lock:
                if (token, self._gate_of(path)) in self._closed:
                    refused.append((path, value))
                    continue
                self._put(token, path, value)
        return StageOutcome(refused)

    def fill(self, token: StagingToken, changes: Sequence[Change]) -> None:
        for number, (path, value) in enumerate(changes):
            if number:
                self.between()
            with self._lock:
                self._put(token, path, value)

    def stage_if(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[StagedChange],
        event: Event | None = None,
    ) -> None:
        assert 1 <= len({each.path for each in changes}) == len(changes) <= CHANGES_TOGETHER_MAX
        with self._lock, self._refs.unchanged(repository, branch):
            for each in changes:
                if self.get(branch.staging_token, each.path) != each.replaces:
                    raise StaleVersionError(f"path {each.path!r} changed")
            for each in changes:
                self._put(branch.staging_token, each.path, each.value)
            self._refs.raise_version(repository, branch.name, version=0, edits=1)
            if event is not None:
                self._refs.events.append(event)

    def stage_upload(
        self,
        repository: Repository,
        branch: Branch,
        value: bytes,
        expected: Staged | Unconditional | None,
        completed: Upload,
    ) -> None:
        path, token = completed.path, branch.staging_token
        with self._lock, self._refs.completing(repository, completed):
            if expected is not UNCONDITIONAL:
                self.stage_if(repository, branch, [StagedChange(path, value, expected)])
            elif (token, self._gate_of(path)) in self._closed:
                raise StaleVersionError(f"token {token} is closed")
            else:
                self._put(token, path, value)

    def stage_step(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[StagedChange],
        old: Task,
        new: Task,
    ) -> Task:
        with self._lock:
            current = self._refs.task(repository, old.id)
            if current is None or current.version != old.version:
                raise StaleTaskError(f"task {old.id} changed")
            self.stage_if(repository, branch, changes)
            return self._refs.replace_task(repository, old, new)

    def restore(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[Change],
        again: Collection[bytes] = (),
    ) -> Branch:
        for start in range(0, len(changes), self.changes_at_once):
            if start:
                self.between()
            batch = changes[start : start + self.changes_at_once]
            with self._lock, self._refs.unchanged(repository, branch):
                before = [change for change in batch if change[0] in again]
                self._check_restored(branch.staging_token, before)
                self._put_restored(branch.staging_token, batch)
                branch = self._refs.raise_version(
                    repository, branch.name, restored_token=branch.staging_token
                )
        return branch

    def _put_restored(self, token: StagingToken, changes: Sequence[Change]) -> None:
        with self._lock:
            for path, value in changes:
                self._put(token, path, value)
                self._restored.add((token, path))

    def _check_restored(self, token: StagingToken, changes: Sequence[Change]) -> None:
        with self._lock:
            for path, _ in changes:
                if (token, path) not in self._restored:
                    raise StaleVersionError(f"path {path!r} is not restored any more")

    def restored_paths(self, token: StagingToken) -> Iterator[bytes]:
        for path, _ in self.scan(token, b"", None):
            if (token, path) in self._restored:
                yield path

    def next_spread(self, token: StagingToken) -> Spread:
        return spread_of(token)

    def close(self, token: StagingToken) -> None:
        for gate in range(self.gates):
            if gate:
                self.between()
            with self._lock:
                self._closed.add((token, gate))

    def _gate_of(self, path: bytes) -> int:
        """Return the gate that a write checks: that of its path, or of one that shares its request."""
        self._writes += 1
        return (crc32(path) + self._writes) % self.gates

    def _put(self, token: StagingToken, path: bytes, value: bytes | None) -> None:
        values = self._values.setdefault(token, {})
        if path not in values:
            bisect.insort(self._paths.setdefault(token, []), path)
        values[path] = value
        self._restored.discard((token, path))

    def scan(
        self, token: StagingToken, start: bytes, end: bytes | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        for page in self.scan_pages(token, start, end, self.page_amount):
            yield from page.changes

    def scan_paths(self, token: StagingToken, start: bytes, end: bytes | None) -> Iterator[bytes]:
        return (path for path, _ in self.scan(token, start, end))

    def scan_pages(
        self, token: StagingToken, start: bytes, end: bytes | None, amount: int
    ) -> Iterator[ChangesPage]:
        amount = min(amount, self.page_amount)
        while True:
            page = self._scan_page(token, start, end, amount)
            yield page
            if not page.has_more:
                return
            start, amount = page.changes[-1][0] + b"\0", self.page_amount
            self.between()

    def _scan_page(
        self, token: StagingToken, start: bytes, end: bytes | None, amount: int
    ) -> ChangesPage:
        with self._lock:
            paths = self._paths.get(token, [])
            first = bisect.bisect_left(paths, start)
            last = len(paths) if end is None else bisect.bisect_left(paths, end)
            chosen = paths[first : min(last, first + amount)]
            # As in DynamoDB, a full page does not know whether it is the last one.
            has_more = len(chosen) == amount
            return ChangesPage([(path, self._values[token][path]) for path in chosen], has_more)

    def scan_pages_with_branch(
        self,
        repository: Repository,
        branch: str,
        token: StagingToken,
        start: bytes,
        end: bytes | None,
        amount: int,
    ) -> tuple[Branch | None, Iterator[ChangesPage]]:
        amount = min(amount, self.page_amount)
        if self.staged_first:
            first = self._scan_page(token, start, end, amount)
            self.between()
            return self._refs.branch(repository, branch), self._scan_on(token, first, end)
        found = self._refs.branch(repository, branch)
        self.between()
        first = self._scan_page(token, start, end, amount)
        return found, self._scan_on(token, first, end)

    def _scan_on(
        self, token: StagingToken, first: ChangesPage, end: bytes | None
    ) -> Iterator[ChangesPage]:
        yield first
        if first.has_more:
            self.between()
            start = first.changes[-1][0] + b"\0"
            yield from self.scan_pages(token, start, end, self.page_amount)

    def drop(self, token: StagingToken, has_time: Callable[[], bool] = lambda: True) -> bool:
        while paths := self._paths.get(token):
            if not has_time():
                return False
            with self._lock:
                for path in paths[: self.page_amount]:
                    del self._values[token][path]
                del paths[: self.page_amount]
            self.between()
        with self._lock:
            if not self._paths.get(token):
                self._values.pop(token, None)
                self._paths.pop(token, None)
                self._closed -= {(token, gate) for gate in range(self.gates)}
        return True
