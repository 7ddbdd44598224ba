"""Find the differences between two metaranges.

Theory of operation. Both sides are walked beside each other, in the largest possible steps:

    left    [a····f][g··k][l···|····r]
    right   [a····f][g·h][i·k][l···|··r]
             equal   ^ windows ^    equal blocks, then a window

A metarange is a file of records like a range, so both are walked alike (`graveler.diff.walk`).

- If both sides are at the start of a block of range headers, the next equal blocks are skipped at
  once.
- If both are at the start of a range, and the ranges have one ID, both are skipped unread.
- Ranges that overlap and differ are opened. Their equal blocks are skipped likewise, undecoded.
- Blocks that differ and have one bound are compared as bytes, so that few records are decoded.
- Otherwise a window is compared: the records up to the end of the block that ends first.

Ranges and blocks end after keys chosen by hash, so equal content is mostly in equal blocks.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import NamedTuple

from msgspec import Struct

from graveler.committed.headers import decode_header
from graveler.committed.metarange import MetaRange
from graveler.diff.walk import FileWalk
from graveler.entries import same_content
from graveler.errors import CorruptDataError
from graveler.model import RangeHeader
from graveler.sstable import Block, Pair

_NOTHING = Block([], [])
_START, _END = attrgetter("start"), attrgetter("end")


@lru_cache(maxsize=4096)
def _decoded(key: bytes, value: bytes) -> RangeHeader:
    """Return the header in a metarange's record; cached, since each step of a side asks for it."""
    try:
        return decode_header(key, value)
    except ValueError as e:
        raise CorruptDataError(f"a metarange holds a record that is no range: {e}") from e


class Difference(Struct, frozen=True, gc=False):
    """One key whose content differs; a missing record is None."""

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
    """The position in one metarange: at the start of a range, or inside an open one."""

    def __init__(self, metarange: MetaRange, start: bytes) -> None:
        self._metarange = metarange
        self._start = start
        self.ranges = FileWalk(metarange.blocks(), start)
        self.records: FileWalk | None = None  # of the range, once it is open

    @property
    def header(self) -> RangeHeader | None:
        """The current range; None behind the last one."""
        record = self.ranges.next_record()
        return record and _decoded(*record)

    @property
    def last(self) -> bytes:
        """The last key of the current range; in an open range, the bound of the current block."""
        if self.records is not None:
            return self.records.bound
        header = self.header
        assert header is not None
        return header.max_key

    def is_beyond(self, key: bytes) -> bool:
        """Return whether all remaining records are at the key or behind it."""
        header = self.header
        return header is None or (self.records is None and header.min_key >= key)

    def skip_range(self) -> None:
        """Move to the next range."""
        self.records = None
        self.ranges.skip_record()

    def open_range(self) -> FileWalk:
        """Return the range's records."""
        if self.records is None:
            assert self.header is not None
            blocks = self._metarange.range_blocks(self.header)
            self.records = FileWalk(blocks, self._start)
        return self.records

    def take(self, last: bytes) -> Block:
        """Consume the records up to key last, which is in the current range or before it."""
        header = self.header
        if header is None or header.min_key > last:
            return _NOTHING
        records = self.open_range()
        taken = records.take(last)
        self.leave_range_at_end()
        return taken

    def leave_range_at_end(self) -> None:
        """Move to the next range if the open one is consumed."""
        if self.records is not None and self.records.is_at_end:
            self.skip_range()


def diff(
    left: MetaRange,
    right: MetaRange,
    start: bytes = b"",
    end: bytes | None = None,
    *,
    exact: bool = False,
    passed: Callable[[bytes], None] | None = None,
) -> Iterator[Difference]:
    """Yield the keys with start <= key < end whose content differs, in order.

    Content is compared by identity: a record that differs in its address only is equal. With exact,
    the stored values are compared, and such a record differs. Many records may yield nothing;
    passed gets keys up to which everything was compared.

    Raises:
        CorruptDataError: a file is missing, or is not what was written.
    """
    if left.id == right.id:
        return
    for last, pairs in _windows(_Side(left, start), _Side(right, start), end):
        for key, one, other in pairs:
            if end is not None and key >= end:
                return
            if exact or one is None or other is None or not same_content(one, other):
                yield Difference(key, one, other)
        if passed is not None:
            passed(last)


def _windows(one: _Side, other: _Side, end: bytes | None) -> Iterator[tuple[bytes, Sequence[Pair]]]:
    """Yield windows: a key, and the records up to it whose stored values differ."""
    while True:
        if _skip_equal(one, other):
            continue
        sides = [side for side in (one, other) if side.header is not None]
        if not sides or (end is not None and all(side.is_beyond(end) for side in sides)):
            return
        last = min(side.last for side in sides)
        left, right = one.records, other.records
        pairs = left.take_differing(right) if left is not None and right is not None else None
        if pairs is None:
            yield last, _differing_pairs(one.take(last), other.take(last))
            continue
        assert left is not None
        assert right is not None
        while pairs is not None:  # this loop, since the sides need not be asked between two blocks
            yield last, pairs
            left.skip_equal(right)
            if left.is_at_end:
                break
            last = left.bound
            pairs = left.take_differing(right)
        one.leave_range_at_end()
        other.leave_range_at_end()


def changed_ranges(left: MetaRange, right: MetaRange) -> Iterator[bytes]:
    """Yield the last keys of the ranges that only one side has, in order."""
    return (key for key, _, _ in _differing_ranges(left, right))


class Span(NamedTuple):
    """The keys with start <= key < end."""

    start: bytes
    end: bytes


def changed_spans(left: MetaRange, right: MetaRange, spans: Sequence[Span]) -> set[Span]:
    """Return those of the spans whose content differs; they are in order and apart.

    Ranges are read only if they differ and may hold keys of a span.

    Raises:
        CorruptDataError: a file is missing, or is not what was written.
    """
    touched: set[Span] = set()
    for key, *values in _differing_ranges(left, right):
        first = min(_decoded(key, value).min_key for value in values if value is not None)
        begin = bisect_right(spans, first, key=_END)
        touched.update(spans[begin : bisect_right(spans, key, key=_START)])
    found: set[Span] = set()
    rest = sorted(touched)
    at = 0
    while at < len(rest):
        difference = next(diff(left, right, rest[at].start, rest[-1].end), None)
        if difference is None:
            break
        at = bisect_right(rest, difference.key, lo=at, key=_END)
        if rest[at].start <= difference.key:
            found.add(rest[at])
            at += 1
    return found


def _differing_ranges(left: MetaRange, right: MetaRange) -> Iterator[Pair]:
    """Yield the records of the ranges that only one side has, by their last keys."""
    one, other = FileWalk(left.blocks(), b""), FileWalk(right.blocks(), b"")
    while True:
        if one.skip_equal(other):
            continue
        bounds = [walk.bound for walk in (one, other) if not walk.is_at_end]
        if not bounds:
            return
        for pair in _differing_pairs(one.take(min(bounds)), other.take(min(bounds))):
            _, left_value, right_value = pair
            if (
                left_value is None
                or right_value is None
                or not same_content(left_value, right_value)
            ):
                yield pair


def _skip_equal(one: _Side, other: _Side) -> bool:
    """Skip the ranges or blocks that are equal on both sides; return whether there were any.

    Ranges that overlap are opened, so that their blocks can be skipped.
    """
    if one.records is None and other.records is None and one.ranges.skip_equal(other.ranges):
        return True
    left, right = one.header, other.header
    if left is None or right is None:
        return False
    if one.records is None and other.records is None and left.id == right.id:
        one.skip_range()
        other.skip_range()
        return True
    if left.max_key < right.min_key or right.max_key < left.min_key:
        return False
    if one.open_range().skip_equal(other.open_range()):
        one.leave_range_at_end()
        other.leave_range_at_end()
        return True
    return False


def _differing_pairs(left: Block, right: Block) -> list[Pair]:
    """Return the records in which two lists of records differ, by key."""
    lefts = dict(zip(*left, strict=True))
    rights = dict(zip(*right, strict=True))
    pairs: list[Pair] = [
        (key, value, rights.get(key)) for key, value in lefts.items() if rights.get(key) != value
    ]
    added = rights.keys() - lefts.keys()
    if added:
        pairs += [(key, None, rights[key]) for key in added]
        pairs.sort(key=itemgetter(0))
    return pairs
