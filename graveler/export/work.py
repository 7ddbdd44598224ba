"""The work of a run: which keys of a destination change, and to what values.

A destination holds the objects of the last exported commit, except where unfinished runs put those
of other commits. These commits are the bases. The keys to change are those in which the new head
differs from any base:

    exported   a1  b1  c1          keys to change: b (copy b2), c (delete), d (copy d2)
    touched    a1  b1  --  d1
    head       a1  b2  --  d2

Nothing else is read: the cost follows what changed. A destination without an exported commit has
the empty commit as a base, so everything is exported. Objects that are there need no copy.
"""

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import groupby, islice

from msgspec import Struct

from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import diff
from graveler.model import Change

# Comparing this many objects takes a second, or a few.
_OBJECTS_BETWEEN_PAUSES = 500_000
_CHANGES_BETWEEN_PAUSES = 10_000


def _no_pause() -> None:
    pass


class ExportWork(Struct, frozen=True):
    """The changes that turn a destination from its bases into the head."""

    head: MetaRange
    bases: Sequence[MetaRange]
    # Called now and then during a search for changes, which may find none for minutes.
    pause: Callable[[], None] = _no_pause

    def changes(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Change]:
        """Yield changes with start <= key < end in key order: the new value, or None to delete."""
        if end is None:
            for last in self.ends(start, _OBJECTS_BETWEEN_PAUSES):
                yield from self._changes(start, last + b"\0")
                self.pause()
                start = last + b"\0"
        yield from self._changes(start, end)

    def _changes(self, start: bytes, end: bytes | None) -> Iterator[Change]:
        differences = (diff(base, self.head, start, end) for base in self.bases)
        last: bytes | None = None
        for difference in merge(*differences, key=lambda each: each.key):
            if difference.key != last:
                last = difference.key
                yield difference.key, difference.right

    @property
    def is_whole(self) -> bool:
        """Whether every object of the head is visited, because the empty commit is a base."""
        return any(not base.id for base in self.bases)

    def count(self) -> int:
        """Return the number of keys to change; if everything is exported, of the head's objects."""
        if self.is_whole:
            return self.head.count()
        total = 0
        changes = self.changes()
        while counted := sum(1 for _ in islice(changes, _CHANGES_BETWEEN_PAUSES)):
            total += counted
            self.pause()
        return total

    def ends(self, start: bytes, objects_min: int) -> Iterator[bytes]:
        """Yield keys that cut the work from start on into slices of similar duration.

        Each is the last key of a range. Between two of them, the ranges that differ have at least
        objects_min objects.
        """
        sides = [self.head, *self.bases]
        headers = merge(*(side.headers(start) for side in sides), key=lambda each: each.max_key)
        objects = 0
        for max_key, ranges in groupby(headers, key=lambda each: each.max_key):
            found = list(ranges)
            if len(found) < len(sides) or len({each.id for each in found}) > 1:
                objects += max(each.count for each in found)
            if objects >= objects_min:
                yield max_key
                objects = 0
