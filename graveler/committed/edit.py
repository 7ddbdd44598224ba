"""Apply sorted changes to the records of one file, block by block.

Untouched blocks are copied as stored bytes. A block whose records only get new values is copied
with these. Its keys stay, and so do its bound and all other entries. Other touched blocks are
decoded and changed. Ranges (whose records are objects) and metaranges (whose records are ranges)
are changed alike.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, groupby, islice
from typing import NamedTuple

from graveler.committed.blocks import Records, Replacement, StoredBlocks
from graveler.committed.counts import Counts
from graveler.model import Change
from graveler.sstable import Block

# The size of a batch of records, about: memory must not grow with the changes.
BATCH_RECORDS = 4096

# With as many changes, a block is decoded.
_NEW_VALUES_MAX = 32


class PendingChanges:
    """Changes in key order, consumed block by block."""

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
    """A stretch of blocks, from first up to, but not including, last; some with new values."""

    first: int
    last: int
    replaced: tuple[Replacement, ...] = ()


def changed_parts(
    blocks: StoredBlocks,
    changes: Iterable[Change],
    counts: Counts,
    *,
    start: bytes = b"",
    end: bytes | None = None,
    raggedness_records: int | None = None,
) -> Iterator[Copied | Records]:
    """Yield the changed file from start up to end: stretches of stored blocks, and records.

    If nothing changes, one stretch holds all blocks. Otherwise the last part ends at a key that is
    known exactly: it is records, or holds the last block. If end is given, the last block before it
    must have a change. The raggedness decides where ranges end. A metarange has none.
    """
    done = blocks.find(start)
    last = len(blocks) if end is None else blocks.find(end)
    stretch: Copied | None = None  # yielded once something follows it
    replaced: list[Replacement] = []  # behind the stretch
    for touched in _touched_blocks(blocks, changes, start, end, raggedness_records):
        if isinstance(touched, Replacement):
            if touched.changed:
                counts.changed += touched.changed
                replaced.append(touched)
            continue
        at, records, of_block, is_cut = touched
        check = partial(blocks.check_id, at)
        pieces = _changed_records(records, of_block, counts, check, always=is_cut)
        for piece in pieces:
            if done < at:
                if stretch is not None:
                    yield stretch
                stretch = Copied(done, at, tuple(replaced))
                replaced.clear()
            done = at + 1
            if piece.keys:
                if stretch is not None:
                    yield stretch
                    stretch = None
                yield piece
    if done < last:
        if stretch is not None:
            yield stretch
        yield Copied(done, last, tuple(replaced))
    elif stretch is not None:
        yield from _with_known_end(blocks, stretch)  # the records behind it were deleted


def _with_known_end(blocks: StoredBlocks, stretch: Copied) -> Iterator[Copied | Records]:
    """Yield the stretch with its last block as records, since its last key must be known."""
    first, last, replaced = stretch
    at = last - 1
    if replaced and replaced[-1].at == at:
        records, replaced = blocks.replaced_records(replaced[-1]), replaced[:-1]
    else:
        records = blocks.records(at)
    if first < at:
        yield Copied(first, at, replaced)
    yield records


class _Touched(NamedTuple):
    """A block to decode: its records and the changes to them."""

    at: int
    records: Records
    changes: Iterable[Change]
    is_cut: bool  # some of its records are left out


def _touched_blocks(
    blocks: StoredBlocks,
    changes: Iterable[Change],
    start: bytes,
    end: bytes | None,
    raggedness_records: int | None,
) -> Iterator[_Touched | Replacement]:
    """Yield the blocks that have changes, and those that start or end cuts."""
    # The records of the last one must be known, because its last key ends the file.
    replaced_before = len(blocks) - 1 if end is None else blocks.find(end) - 1
    cut: dict[int, Records] = {}
    for at in {blocks.find(key) for key in (start, end) if key}:
        if at < len(blocks):
            keys, values, ids = blocks.records(at)
            low = bisect_left(keys, start)
            high = len(keys) if end is None else bisect_left(keys, end)
            if high - low < len(keys):
                cut[at] = Records(keys[low:high], values[low:high], ids[low:high])
    for at, changes_of_block in groupby(changes, key=lambda change: blocks.find(change[0])):
        for before in [each for each in sorted(cut) if each < at]:
            yield _Touched(before, cut.pop(before), (), is_cut=True)
        if at in cut:
            yield _Touched(at, cut.pop(at), changes_of_block, is_cut=True)
            continue
        few = list(islice(changes_of_block, _NEW_VALUES_MAX))
        if at < replaced_before and len(few) < _NEW_VALUES_MAX:
            replacement = _replacement(blocks, at, few, raggedness_records)
            if replacement is not None:
                yield replacement
                continue
        rest = chain(few, changes_of_block)  # noqa: B031  (it goes on behind the few)
        yield _Touched(at, blocks.records(at, checked=False), rest, is_cut=False)
    for at in sorted(cut):
        yield _Touched(at, cut[at], (), is_cut=True)


def _replacement(
    blocks: StoredBlocks, at: int, changes: Sequence[Change], raggedness_records: int | None
) -> Replacement | None:
    """Return the block with the changes if all of them are new values of its records."""
    new = [(key, value) for key, value in changes if value is not None]
    if len(new) < len(changes):
        return None
    return blocks.replacement(at, new, raggedness_records)


def _changed_records(
    records: Records,
    changes: Iterable[Change],
    counts: Counts,
    check: Callable[[bytes, bytes, bytes], None],
    *,
    always: bool,
) -> Iterator[Records]:
    """Yield the changed records of a block, in pieces if many; nothing if no record changes.

    With always, the records are yielded even if none changes. check gets key, value and ID of a
    record beside each change. The file's ID proves the order of the IDs, and check proves their
    place.
    """
    keys, values, ids = records
    before = -1 if always else counts.total
    new = Records([], [], [])
    done, checked = 0, -1
    for key, value in changes:
        at = bisect_left(keys, key, done)
        beside = min(at, len(keys) - 1)
        if beside > checked:
            check(keys[beside], values[beside], ids[beside])
            checked = beside
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
