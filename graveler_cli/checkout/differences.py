"""Differences between sorted streams of paths: files and objects, local changes and remote ones."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec

from graveler_cli.checkout.attributes import differs, is_newer
from graveler_cli.checkout.walk import FileEntry, TrackingRules
from graveler_cli.schemas import ObjectStats

ChangeType = Literal["added", "removed", "changed", "conflict"]
ChangeSource = Literal["local", "remote"]

# Changes are kept in memory up to this size, in a file beyond.
_MEMORY_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 16


class Change(msgspec.Struct, frozen=True):
    """A path that changed."""

    source: ChangeSource
    type: ChangeType
    path: str
    # The object that is to be downloaded, or that a local change was compared with.
    stats: ObjectStats | None = None

    def undone(self) -> "Change":
        """Return the remote change that takes a local one back."""
        return Change(
            "remote", "removed" if self.type == "added" else "changed", self.path, self.stats
        )


class ChangeSpool:
    """Changes that are read more than once; a file keeps them if they are many."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self._file = tempfile.SpooledTemporaryFile(_MEMORY_BYTES)  # noqa: SIM115 - closed with it
        self._count = 0
        for change in changes:
            self.add(change)

    def add(self, change: Change) -> None:
        """Append a change."""
        self._file.seek(0, os.SEEK_END)
        self._file.write(msgspec.json.encode(change) + b"\n")
        self._count += 1

    def __iter__(self) -> Iterator[Change]:
        decoder = msgspec.json.Decoder(Change)
        offset = 0
        while True:
            self._file.seek(offset)  # other iterations share the file
            lines = self._file.readlines(_BLOCK_BYTES)
            if not lines:
                return
            offset = self._file.tell()
            yield from map(decoder.decode, lines)

    def __del__(self) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._count


class _HasPath(Protocol):
    @property
    def path(self) -> str: ...


L = TypeVar("L", bound=_HasPath)
R = TypeVar("R", bound=_HasPath)


def joined(left: Iterable[L], right: Iterable[R]) -> Iterator[tuple[L | None, R | None]]:
    """Yield the items of two streams, sorted by path, at each path; None for a missing one."""
    lefts, rights = iter(left), iter(right)
    a, b = next(lefts, None), next(rights, None)
    while a is not None or b is not None:
        if b is None or (a is not None and a.path < b.path):
            yield a, None
            a = next(lefts, None)
        elif a is None or b.path < a.path:
            yield None, b
            b = next(rights, None)
        else:
            yield a, b
            a, b = next(lefts, None), next(rights, None)


def local_changes(
    entries: Iterable[FileEntry], objects: Iterable[ObjectStats], rules: TrackingRules, root: Path
) -> Iterator[Change]:
    """Yield the changes from the objects to the entries of a folder, the root."""
    for entry, stats in joined(entries, objects):
        if entry is None:
            assert stats is not None
            yield Change("local", "removed", stats.path, stats)
        elif stats is None:
            yield Change("local", "added", entry.path)
        elif differs(entry, stats, rules) or is_newer(root, entry, stats):
            yield Change("local", "changed", entry.path, stats)


def merged(local: Iterable[Change], remote: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes of both sides; a path that both changed is a conflict."""
    for mine, theirs in joined(local, remote):
        if mine is not None and theirs is not None:
            yield Change("local", "conflict", mine.path, theirs.stats)
        else:
            change = mine or theirs
            assert change is not None
            yield change


def among(changes: Iterable[Change], others: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes whose paths are among those of the others."""
    for change, other in joined(changes, others):
        if change is not None and other is not None:
            yield change


def except_for(changes: Iterable[Change], others: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes whose paths are not among those of the others."""
    for change, other in joined(changes, others):
        if change is not None and other is None:
            yield change
