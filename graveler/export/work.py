"""The work of a run: which keys of a destination have to change, and to what.

A destination holds the objects of the commit that was exported last, except where runs that did
not come to their end put those of others. So the keys to change are those in which the new head
differs from any of these commits, its bases:

    exported   a1  b1  c1          keys to change: b (copy b2), c (delete), d (copy d2)
    touched    a1  b1  --  d1
    head       a1  b2  --  d2

Nothing else is looked at: the work follows what changed. A destination without an exported commit
has the empty one as its base, and gets everything.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, islice

from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import diff
from graveler.model import Change

# Objects that are compared in a second, or a few.
_OBJECTS_BETWEEN_PAUSES = 500_000
_CHANGES_BETWEEN_PAUSES = 10_000


def _nobody_waits() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Work:
    """What brings a destination from its bases to the head."""

    head: MetaRange
    bases: Sequence[MetaRange]
    # Called now and then while all changes are looked for: there may be none for minutes.
    pause: Callable[[], None] = _nobody_waits

    def changes(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Change]:
        """The keys to change with start <= key < end, by key: new values, or None to delete."""
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

    def count(self) -> int:
        """How many keys there are to change, about: everything is only counted by its ranges."""
        if any(not base.id for base in self.bases):
            return object_count(self.head)
        total = 0
        changes = self.changes()
        while counted := sum(1 for _ in islice(changes, _CHANGES_BETWEEN_PAUSES)):
            total += counted
            self.pause()
        return total

    def ends(self, start: bytes, objects_min: int) -> Iterator[bytes]:
        """Keys that cut the work from start on into stretches that take about equally long.

        Between two of them lie at least so many objects of ranges that differ, on any side; each
        is the last key of a range.
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


def object_count(content: MetaRange) -> int:
    """The number of objects, by what the metarange says of its ranges."""
    return sum(header.count for header in content.headers())
