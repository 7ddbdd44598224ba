"""Making sorted changes to the records of one file, block by block.

A block that no change touches is taken over as it is stored; the others are decoded and changed.
Ranges (whose records are objects) and metaranges (whose records are ranges) are changed alike.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from graveler.committed.blocks import Records, StoredBlocks
from graveler.committed.counts import Counts
from graveler.model import Change
from graveler.sstable import Block

# Records are handed on in blocks of about as many, so that memory does not grow with the changes.
BATCH_RECORDS = 4096


class PendingChanges:
    """Changes in key order, taken in stretches."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self._rest = iter(changes)
        self.next: Change | None = next(self._rest, None)

    def reach(self, key: bytes) -> bool:
        """Whether there is a change up to the key, inclusive."""
        return self.next is not None and self.next[0] <= key

    def take(self, last: bytes) -> Iterator[Change]:
        """The changes up to key last, inclusive, one by one."""
        while self.next is not None and self.next[0] <= last:
            taken, self.next = self.next, next(self._rest, None)
            yield taken

    def take_additions(self, before: bytes | None) -> Iterator[Block]:
        """What the changes before that key (None: all of them) add where there are no records."""
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
        """Drop the deletions up to the next change that is none: there are no records any more."""
        while self.next is not None and self.next[1] is None:
            self.next = next(self._rest, None)


class Copied(NamedTuple):
    """A stretch of blocks that no change touches: from first up to, and not including, last."""

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
    """The file, from start up to end, with the changes made: stored blocks, and records in between.

    If nothing changes, that is one stretch of all blocks. Otherwise the last part ends at a key
    that is known exactly: it is records, or holds the last block. (Where an end is given, there
    must be a change in the last block before it.)
    """
    done = blocks.find(start)
    last = len(blocks) if end is None else blocks.find(end)
    stretch: Copied | None = None  # is handed on when something follows it
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
        # What followed is gone.
        if stretch.last - stretch.first > 1:
            yield Copied(stretch.first, stretch.last - 1)
        yield blocks.records(stretch.last - 1)


class _Touched(NamedTuple):
    """A block that has to be decoded: its records, and the changes among them."""

    at: int
    records: Records
    changes: Iterable[Change]
    is_cut: bool  # some of its records are left out


def _touched_blocks(
    blocks: StoredBlocks, changes: Iterable[Change], start: bytes, end: bytes | None
) -> Iterator[_Touched]:
    """The blocks that have changes, or records on both sides of start or end."""
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
    """The records of a block with the changes made, if they change any; in pieces, if many.

    always: even if they change none.
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
