"""Apply sorted changes to the records of one file, block by block.

Untouched blocks are copied as stored bytes; touched blocks are decoded and changed. Ranges (whose
records are objects) and metaranges (whose records are ranges) are changed alike.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from graveler.committed.blocks import Records, StoredBlocks
from graveler.committed.counts import Counts
from graveler.model import Change
from graveler.sstable import Block

# The size of a batch of records, about: memory must not grow with the changes.
BATCH_RECORDS = 4096


class PendingChanges:
    """Changes in key order, consumed in stretches."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self._rest = iter(changes)
        self.next: Change | None = next(self._rest, None)

    def reach(self, key: bytes) -> bool:
        """Return whether there is a change up to the key, inclusive."""
        return self.next is not None and self.next[0] <= key

    def take(self, last: bytes) -> Iterator[Change]:
        """Yield and consume the changes up to key last, inclusive."""
        while self.next is not None and self.next[0] <= last:
            taken, self.next = self.next, next(self._rest, None)
            yield taken

    def take_additions(self, before: bytes | None) -> Iterator[Block]:
        """Yield what the changes before that key (None: all changes) add where no records are."""
        keys: list[bytes] = []
        values: list[bytes] = []
        while self.next is not None and (before is None or self.next[0] < before):
            key, value = self.next
            self.next = next(self._rest, None)
            if value is not None:
                keys.append(key)
                values.append(value)
                if len(keys) == BATCH_RECORDS:
                    yield Block(keys, values)
                    keys, values = [], []
        if keys:
            yield Block(keys, values)

    def drop_deletions(self) -> None:
        """Drop the deletions before the next put: behind the last record they do nothing."""
        while self.next is not None and self.next[1] is None:
            self.next = next(self._rest, None)


class Copied(NamedTuple):
    """A stretch of untouched blocks: from first up to, but not including, last."""

    first: int
    last: int


def changed_parts(
    blocks: StoredBlocks,
    changes: Iterable[Change],
    counts: Counts,
    *,
    start: bytes = b"",
    end: bytes | None = None,
) -> Iterator[Copied | Records]:
    """Yield the changed file from start up to end: stretches of stored blocks, and records.

    If nothing changes, one stretch holds all blocks. Otherwise the last part ends at a key that is
    known exactly: it is records, or holds the last block. (If end is given, the last block before
    it must have a change.)
    """
    done = blocks.find(start)
    last = len(blocks) if end is None else blocks.find(end)
    stretch: Copied | None = None  # yielded once something follows it
    for at, records, of_block, is_cut in _touched_blocks(blocks, changes, start, end):
        pieces = _changed_records(records, of_block, counts, always=is_cut)
        for piece in pieces:
            if done < at:
                if stretch is not None:
                    yield stretch
                stretch = Copied(done, at)
            done = at + 1
            if piece.keys:
                if stretch is not None:
                    yield stretch
                    stretch = None
                yield piece
    if done < last:
        if stretch is not None:
            yield stretch
        yield Copied(done, last)
    elif stretch is not None:
        # The records behind the stretch were deleted.
        if stretch.last - stretch.first > 1:
            yield Copied(stretch.first, stretch.last - 1)
        yield blocks.records(stretch.last - 1)


class _Touched(NamedTuple):
    """A block to decode: its records and the changes to them."""

    at: int
    records: Records
    changes: Iterable[Change]
    is_cut: bool  # some of its records are left out


def _touched_blocks(
    blocks: StoredBlocks, changes: Iterable[Change], start: bytes, end: bytes | None
) -> Iterator[_Touched]:
    """Yield the blocks that have changes, and those that start or end cuts."""
    cut: dict[int, Records] = {}
    for at in {blocks.find(key) for key in (start, end) if key}:
        if at < len(blocks):
            keys, values, ids = blocks.records(at)
            low = bisect_left(keys, start)
            high = len(keys) if end is None else bisect_left(keys, end)
            if high - low < len(keys):
                cut[at] = Records(keys[low:high], values[low:high], ids[low:high])
    for at, of_block in groupby(changes, key=lambda change: blocks.find(change[0])):
        for before in [each for each in sorted(cut) if each < at]:
            yield _Touched(before, cut.pop(before), (), is_cut=True)
        is_cut = at in cut
        yield _Touched(at, cut.pop(at) if is_cut else blocks.records(at), of_block, is_cut)
    for at in sorted(cut):
        yield _Touched(at, cut[at], (), is_cut=True)


def _changed_records(
    records: Records, changes: Iterable[Change], counts: Counts, *, always: bool
) -> Iterator[Records]:
    """Yield the changed records of a block, in pieces if many; nothing if no record changes.

    With always, the records are yielded even if none changes.
    """
    keys, values, ids = records
    before = -1 if always else counts.total
    new = Records([], [], [])
    done = 0
    for key, value in changes:
        at = bisect_left(keys, key, done)
        new.keys.extend(keys[done:at])
        new.values.extend(values[done:at])
        new.ids.extend(ids[done:at])
        exists = at < len(keys) and keys[at] == key
        done = at + exists
        if value is None:
            counts.removed += exists
            continue
        if not exists:
            counts.added += 1
        else:
            counts.changed += value != values[at]
        new.keys.append(key)
        new.values.append(value)
        new.ids.append(b"")
        if len(new.keys) >= BATCH_RECORDS:
            yield new
            new, before = Records([], [], []), -1
    if counts.total != before:
        yield Records(new.keys + keys[done:], new.values + values[done:], new.ids + ids[done:])
