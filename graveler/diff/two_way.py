"""What differs between two metaranges.

Theory of operation. Both sides are walked range by range:

    left    [a····f][g··k][l·······r]
    right   [a····f][g·h][i·k][l···r]
             equal   ^----------------- windows: g..h, i..k, ...

Where both sides stand at the start of a range and the ranges have one ID, both are skipped unread.
Elsewhere a window is opened that ends with the first range to end; each side contributes its
records of the window, and the two lists are compared with sets and dictionaries, at C's speed.
A side whose range begins beyond the window contributes nothing and stays unread.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from graveler.committed.metarange import MetaRange
from graveler.entries import same_content
from graveler.model import RangeHeader


@dataclass(frozen=True, slots=True)
class Difference:
    """One key whose content differs; None stands for a missing record."""

    key: bytes
    left: bytes | None
    right: bytes | None

    @property
    def kind(self) -> str:
        """`added`, `removed` or `changed`, from left to right."""
        if self.left is None:
            return "added"
        return "removed" if self.right is None else "changed"


class _Side:
    """One metarange on its way through the windows."""

    def __init__(self, metarange: MetaRange, start: bytes) -> None:
        self._metarange = metarange
        self._start = start
        self._headers = metarange.headers(start)
        self._keys: list[bytes] | None = None
        self._values: list[bytes] = []
        self._position = 0
        self.header: RangeHeader | None = next(self._headers, None)

    @property
    def at_start(self) -> bool:
        """Whether nothing of the current range has been taken."""
        return self._keys is None

    def skip(self) -> None:
        """Go to the next range."""
        self._keys = None
        self.header = next(self._headers, None)

    def take(self, last: bytes) -> tuple[list[bytes], list[bytes]]:
        """The records up to key last, all in the current range."""
        header = self.header
        if header is None or header.min_key > last:
            return [], []
        if self._keys is None:
            self._keys, self._values = self._metarange.range_records(header)
            self._position = bisect_left(self._keys, self._start)
        begin = self._position
        end = self._position = bisect_right(self._keys, last, begin)
        records = self._keys[begin:end], self._values[begin:end]
        if end == len(self._keys):
            self.skip()
        return records


def diff(
    left: MetaRange, right: MetaRange, start: bytes = b"", end: bytes | None = None
) -> Iterator[Difference]:
    """The keys with start <= key < end whose content differs, in order.

    Content is compared by identity: a record that only moved to another address does not differ.
    """
    if left.id == right.id:
        return
    one, other = _Side(left, start), _Side(right, start)
    while one.header is not None or other.header is not None:
        if one.header is not None and other.header is not None:
            if one.at_start and other.at_start and one.header.id == other.header.id:
                one.skip()
                other.skip()
                continue
            last = min(one.header.max_key, other.header.max_key)
        else:
            last = (one.header or other.header).max_key  # type: ignore[union-attr] # one is there
        if end is not None and _beyond(one, end) and _beyond(other, end):
            return
        for difference in _diff_window(one.take(last), other.take(last)):
            if end is not None and difference.key >= end:
                return
            yield difference


def _beyond(side: _Side, end: bytes) -> bool:
    return side.header is None or (side.at_start and side.header.min_key >= end)


def _diff_window(
    left: tuple[list[bytes], list[bytes]], right: tuple[list[bytes], list[bytes]]
) -> list[Difference]:
    """The differences of two record lists, in key order."""
    lefts = dict(zip(*left, strict=True))
    rights = dict(zip(*right, strict=True))
    differences = [
        Difference(key, value, rights.get(key))
        for key, value in lefts.items()
        if rights.get(key) != value and not (key in rights and same_content(value, rights[key]))
    ]
    added = rights.keys() - lefts.keys()
    if added:
        differences += [Difference(key, None, rights[key]) for key in added]
        differences.sort(key=lambda difference: difference.key)
    return differences
