"""What differs between two metaranges.

Theory of operation. Both sides are walked next to each other, in steps of whole ranges where
possible, else of data blocks, else of records:

    left    [a····f][g··k][l···|····r]
    right   [a····f][g·h][i·k][l···|··r]
             equal   ^ windows ^    equal blocks, then a window

Where both sides stand at the start of a range and the ranges have one ID, both are skipped unread.
Ranges that overlap and differ are opened; where both sides stand at the start of a block and the
blocks are stored as the same bytes, both are skipped without being decoded. Since ranges and
blocks end after keys that their hash chooses, equal stretches of content mostly are equal blocks.
Everywhere else a window is compared: the records up to the end of the block that ends first.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from graveler.committed.blocks import StoredBlocks
from graveler.committed.metarange import MetaRange
from graveler.entries import same_content
from graveler.model import RangeHeader
from graveler.sstable import Block

_NOTHING = Block([], [])


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
    """One metarange on its way: at the start of a range, or somewhere in an open one."""

    def __init__(self, metarange: MetaRange, start: bytes) -> None:
        self._metarange = metarange
        self._start = start
        self._headers = metarange.headers(start)
        self._blocks: StoredBlocks | None = None
        self._at = 0  # the block
        self._records: Block | None = None  # of the block, once it was decoded
        self._position = 0  # how many of them have been taken
        self.header: RangeHeader | None = next(self._headers, None)

    @property
    def is_at_range(self) -> bool:
        """Whether nothing of the current range has been opened."""
        return self._blocks is None

    @property
    def is_at_block(self) -> bool:
        """Whether the range is open, and nothing of the current block has been taken."""
        return self._blocks is not None and (self._records is None or self._position == 0)

    @property
    def last(self) -> bytes:
        """The last key of the range; or, in an open one, a bound of the block."""
        if self._blocks is not None:
            return self._blocks.bound(self._at)
        assert self.header is not None
        return self.header.max_key

    def skip_range(self) -> None:
        self._blocks = None
        self.header = next(self._headers, None)

    def open_range(self) -> None:
        assert self.header is not None
        self._blocks = self._metarange.range_blocks(self.header)
        self._at = self._blocks.find(self._start)
        self._records = None

    def skip_block(self) -> None:
        self._records = None
        self._position = 0
        self._at += 1
        if self._blocks is not None and self._at == len(self._blocks):
            self.skip_range()

    def raw_block(self) -> bytes:
        """The current block as it is stored."""
        assert self._blocks is not None
        return self._blocks.raw(self._at)

    def take(self, last: bytes) -> Block:
        """The records up to key last, which lies in the current range or before it."""
        header = self.header
        if header is None or header.min_key > last:
            return _NOTHING
        if self._blocks is None:
            self.open_range()
        keys: list[bytes] = []
        values: list[bytes] = []
        while self.header is header:
            assert self._blocks is not None
            if self._at and self._blocks.bound(self._at - 1) >= last:
                break  # the block begins behind last, and need not be decoded
            bound = self._blocks.bound(self._at)
            if self._records is None:
                self._records = self._blocks.block(self._at)
                self._position = bisect_left(self._records.keys, self._start)
            begin = self._position
            end = self._position = bisect_right(self._records.keys, last, begin)
            keys += self._records.keys[begin:end]
            values += self._records.values[begin:end]
            if end == len(self._records.keys):
                self.skip_block()
            if bound >= last:
                break
        return Block(keys, values)


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
        if end is not None and _is_beyond(one, end) and _is_beyond(other, end):
            return
        if _skip_equal(one, other):
            continue
        last = min(side.last for side in (one, other) if side.header is not None)
        for difference in _diff_window(one.take(last), other.take(last)):
            if end is not None and difference.key >= end:
                return
            yield difference


def _is_beyond(side: _Side, end: bytes) -> bool:
    return side.header is None or (side.is_at_range and side.header.min_key >= end)


def _skip_equal(one: _Side, other: _Side) -> bool:
    """Skip what both sides have next, if it is a whole range or block and the same.

    Ranges that overlap are opened on the way, to be skipped block by block.
    """
    if one.header is None or other.header is None:
        return False
    if one.is_at_range and other.is_at_range and one.header.id == other.header.id:
        one.skip_range()
        other.skip_range()
        return True
    if one.header.min_key <= other.header.max_key and other.header.min_key <= one.header.max_key:
        for side in (one, other):
            if side.is_at_range:
                side.open_range()
    if one.is_at_block and other.is_at_block and one.raw_block() == other.raw_block():
        one.skip_block()
        other.skip_block()
        return True
    return False


def _diff_window(left: Block, right: Block) -> list[Difference]:
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
