"""Applying sorted changes to a metarange, at a cost that follows the changes.

Theory of operation. The base's ranges are walked in order next to the changes:

    base       [a····f][g··k][l·······r][s···]
    changes         ^d             ^n      ^p        ^x
    result     [a··d·f][g··k][l··n··p··r][s····x]
               rewritten copied rewritten  rewritten: its end was open

A range that no change touches is taken over by its header, unread. Of a touched one, the data
blocks that no change touches are taken over as they are stored; only the others are decoded,
changed and encoded again. Ranges and blocks break by key, so that a change inside one leaves its
end where it was. Two cases need a neighbour. When a change deletes the very key that
ended a range, the records before it run on into the next range, which is therefore read, too. And
the last range of a metarange usually ends only because the records did: records beyond it continue
it. With both, the result is the one that writing the same records afresh would give.

A base range that ends where our own rule would not end it (lakeFS wrote it, or the deployment's
raggedness was another one) keeps its end while its last key lives; else one change would ripple
through everything behind it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import NamedTuple

from graveler.committed.blocks import StoredBlocks
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Committed
from graveler.committed.writer import MetaRangeWriter
from graveler.entries import same_content
from graveler.model import Change, RangeHeader
from graveler.sstable import Block

# Changes beyond the last range are written in batches of this many records.
_BATCH_RECORDS = 4096


@dataclass(slots=True)
class Applied:
    """The metarange that came out, and how many records of each kind made it."""

    metarange_id: str = ""
    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def total(self) -> int:
        """Records that differ from the base; 0 means that nothing changed."""
        return self.added + self.changed + self.removed


class _Changes:
    """Changes in key order, taken in stretches."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self._rest = iter(changes)
        self.next: Change | None = next(self._rest, None)

    def take(self, last: bytes | None = None) -> Iterator[Change]:
        """The changes up to key last inclusive (None: all that are left), one by one."""
        while self.next is not None and (last is None or self.next[0] <= last):
            taken, self.next = self.next, next(self._rest, None)
            yield taken


class _Copied(NamedTuple):
    """A stretch of blocks that no change touches: from first up to, and not including, last."""

    first: int
    last: int


def apply_changes(
    committed: Committed,
    base: MetaRange,
    changes: Iterable[Change],
    *,
    keep_equal: bool = True,
) -> Applied:
    """Store the metarange of base with the changes made; changes ascend by key, None deletes.

    With keep_equal a change to a value of equal content is no change, and base's record stays
    (a commit); without, the change's record is taken (a merge). Deleting what is not there is no
    change either. Where nothing changed, the result is base.

    Raises:
        CorruptDataError: a file of base is missing or damaged.
    """
    applied = Applied()
    writer = MetaRangeWriter(committed, base.namespace)
    pending = _Changes(changes)
    headers = base.headers()
    header = next(headers, None)
    while header is not None:
        following = next(headers, None)
        touched = pending.next is not None and (
            pending.next[0] <= header.max_key
            or (following is None and not writer.is_closed(header))
        )
        if touched or writer.is_open:
            blocks = base.range_blocks(header)
            _rewrite(writer, blocks, following, pending, applied, keep_equal=keep_equal)
        else:
            writer.write_range(header)
        header = following
    while pending.next is not None:
        batch = islice(pending.take(), _BATCH_RECORDS)
        added = [(key, value) for key, value in batch if value is not None]
        if added:
            keys, values = zip(*added, strict=True)
            writer.write_records(keys, values)
            applied.added += len(added)
    applied.metarange_id = writer.finish() if applied.total else base.id
    return applied


def _rewrite(
    writer: MetaRangeWriter,
    blocks: StoredBlocks,
    following: RangeHeader | None,
    pending: _Changes,
    applied: Applied,
    *,
    keep_equal: bool,
) -> None:
    """Write one range of the base with its share of the changes."""
    header = blocks.header
    before = applied.total
    parts = _changed_parts(blocks, pending.take(header.max_key), applied, keep_equal=keep_equal)
    goes_on = following is None and pending.next is not None
    if applied.total == before and not writer.is_open and not goes_on:
        writer.write_range(header)
        return
    last_key = b""
    for part in parts:
        if isinstance(part, _Copied):
            writer.copy_blocks(blocks, *part)
            last_key = blocks.bound(part.last - 1)
        else:
            writer.write_records(part.keys, part.values)
            last_key = part.keys[-1]
    if following is not None and last_key == header.max_key:
        writer.end_range()


def _changed_parts(
    blocks: StoredBlocks, changes: Iterable[Change], applied: Applied, *, keep_equal: bool
) -> list[_Copied | Block]:
    """The range with the changes made: stretches of stored blocks, and records in between."""
    parts: list[_Copied | Block] = []
    done = 0
    for at, of_block in groupby(changes, key=lambda change: blocks.find(change[0])):
        before = applied.total
        block = _changed_block(blocks.block(at), of_block, applied, keep_equal=keep_equal)
        if applied.total == before:
            continue
        if done < at:
            parts.append(_Copied(done, at))
        if block.keys:
            parts.append(block)
        done = at + 1
    if done < len(blocks):
        parts.append(_Copied(done, len(blocks)))
        return parts
    last = parts[-1] if parts else None
    if isinstance(last, _Copied):
        # What followed is gone, so the range ends here, at a key that has to be known exactly.
        parts[-1:] = [_Copied(last.first, last.last - 1)] if last.last - last.first > 1 else []
        parts.append(blocks.block(last.last - 1))
    return parts


def _changed_block(
    block: Block, changes: Iterable[Change], applied: Applied, *, keep_equal: bool
) -> Block:
    """The block's records with the changes made, counted in applied."""
    keys, values = block
    new_keys: list[bytes] = []
    new_values: list[bytes] = []
    done = 0
    for key, value in changes:
        at = bisect_left(keys, key, done)
        new_keys += keys[done:at]
        new_values += values[done:at]
        exists = at < len(keys) and keys[at] == key
        done = at + exists
        if value is None:
            applied.removed += exists
            continue
        new_keys.append(key)
        if not exists:
            applied.added += 1
        elif same_content(values[at], value):
            if keep_equal:
                value = values[at]  # noqa: PLW2901 - the base's record stays, address and all
            else:
                applied.changed += value != values[at]
        else:
            applied.changed += 1
        new_values.append(value)
    return Block(new_keys + keys[done:], new_values + values[done:])
