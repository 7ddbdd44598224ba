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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import diff
from graveler.model import Change


@dataclass(frozen=True, slots=True)
class Work:
    """What brings a destination from its bases to the head."""

    head: MetaRange
    bases: Sequence[MetaRange]

    def changes(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Change]:
        """The keys to change with start <= key < end, by key: new values, or None to delete."""
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
        return sum(1 for _ in self.changes())

    def stretches(self, count: int) -> list[tuple[bytes, bytes | None]]:
        """At most count intervals [start, end) of keys with about the same number of objects.

        Together they hold every key, each once.
        """
        headers = list(self.head.headers())
        total = sum(header.count for header in headers)
        ends: list[bytes] = []
        passed = 0
        for header in headers[:-1]:
            passed += header.count
            if passed * count >= total * (len(ends) + 1) and len(ends) < count - 1:
                ends.append(header.max_key + b"\0")
        return list(zip([b"", *ends], [*ends, None], strict=True))


def object_count(content: MetaRange) -> int:
    """The number of objects, by what the metarange says of its ranges."""
    return sum(header.count for header in content.headers())
