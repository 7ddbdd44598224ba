"""The data blocks of one stored file: copied as bytes, compared, decoded or summarized."""

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from graveler.cache import BoundedCache
from graveler.committed.level import Level, ends_block, ends_range
from graveler.committed.summary import (
    ID_BYTES,
    META_BLOCK,
    Summary,
    decode_summary,
    summarize,
)
from graveler.errors import CorruptDataError
from graveler.identity import key_hash, record_id, record_ids
from graveler.model import Record
from graveler.sstable import Block, Pair, TableInMemory, seal_block

# A block also ends when its keys and values have this size.
BLOCK_BYTES_MAX = 16 * 1024

# The object, its two keys and its entry in the cache.
_OBJECT_BYTES = 500


class Records(NamedTuple):
    """Records as parallel lists in key order; an ID that is not yet known is empty."""

    keys: list[bytes]
    values: list[bytes]
    ids: list[bytes]


class Replacement(NamedTuple):
    """A block whose records have the keys that they had, and some of them new values."""

    at: int  # the number of the block in its file
    stored: bytes
    ids: bytes  # of all records, joined
    grown_bytes: int  # by which the values are longer
    records: Sequence[Record]  # those with new values
    changed: int  # how many of these differ from the old ones


class StoredBlocks:
    """The data blocks of a range or a metarange; a file without records has none."""

    __slots__ = ("_count", "_level", "_summaries", "first_key", "last_key", "table")

    def __init__(
        self, table: TableInMemory, level: Level, summaries: BoundedCache[str, Summary]
    ) -> None:
        self.table = table
        self._level = level
        self._summaries = summaries
        self._count = len(table)
        self.first_key = self.last_key = b""
        first = self.block(0).keys
        if first:
            self.first_key = first[0]
            self.last_key = self.block(self._count - 1).keys[-1]
        else:
            self._count = 0  # its one block is empty, which callers need not know

    def __len__(self) -> int:
        return self._count

    @property
    def memory_bytes(self) -> int:
        """The memory that the file takes, about, its content included."""
        keys_bytes = len(self.first_key) + len(self.last_key)
        return self.table.memory_bytes + keys_bytes + _OBJECT_BYTES

    def find(self, key: bytes) -> int:
        """Return the number of the block that can hold the key; len(self) if there is none."""
        return self.table.find(key)

    def bound(self, at: int) -> bytes:
        """Return a key from the block's last up to, but not including, the next block's first.

        For the last block it is the file's last key.
        """
        return self.last_key if at == self._count - 1 else self.table.bounds[at]

    def bounds(self, first: int, last: int) -> list[bytes]:
        """Return the bounds of the blocks from first up to, but not including, last."""
        bounds = self.table.bounds[first:last]
        if last == self._count:
            bounds[-1] = self.last_key
        return bounds

    def block(self, at: int) -> Block:
        """Return the records of a block.

        Raises:
            CorruptDataError: the block is not what was written.
        """
        return self.table.block(at)

    def records(self, at: int, *, checked: bool = True) -> Records:
        """Return the records of a block with their IDs.

        Without checked, only the number of IDs is compared: check_id compares one of them.

        Raises:
            CorruptDataError: the block is not what was written.
        """
        ids, block = _split_ids(self.summary().ids(at, at + 1)), self.block(at)
        # The file's ID proves the IDs of all records together, but not which are whose.
        if len(ids) != len(block.keys) or (checked and ids != self._ids_of(block)):
            self._refuse_ids(at)
        return Records(*block, ids)

    def check_id(self, at: int, key: bytes, value: bytes, claimed_id: bytes) -> None:
        """Check the ID of one of the records of a block.

        Raises:
            CorruptDataError: it is another record's.
        """
        if record_id(key_hash(key), self._level.identity(value)) != claimed_id:
            self._refuse_ids(at)

    def _refuse_ids(self, at: int) -> NoReturn:
        raise CorruptDataError(
            f"{self.table.name}: block {at} does not hold the records of the file's summary"
        )

    def replacement(
        self, at: int, records: Sequence[Record], raggedness_records: int | None
    ) -> Replacement | None:
        """Return a block with new values of some keys, without decoding and hashing its others.

        None if it does not hold all of these keys, if the block or its range might end elsewhere,
        or if the summary does not fit: `records` reports that. A metarange has no raggedness.

        Raises:
            CorruptDataError: the block's checksum does not match.
        """
        size, joined = self.summary().size(at, at + 1), self.summary().ids(at, at + 1)
        replaced = self.table.replace_values(at, records)
        if replaced is None or not size.records == replaced.records_max == len(joined) // ID_BYTES:
            return None
        identity = self._level.identity
        done = grown_bytes = changed = 0
        ids: list[bytes] = []
        for (key, new), old, place in zip(records, replaced.values, replaced.places, strict=True):
            hashed, begin = key_hash(key), place * ID_BYTES
            if joined[begin : begin + ID_BYTES] != record_id(hashed, identity(old)):
                return None
            if ends_block(hashed, self._level) and place < size.records - 1:
                return None  # another system wrote the file, or keys and values are large
            if raggedness_records is not None and ends_range(hashed, raggedness_records):
                return None
            ids += joined[done:begin], record_id(hashed, identity(new))
            done = begin + ID_BYTES
            grown_bytes += len(new) - len(old)
            changed += new != old
        ids.append(joined[done:])
        size_bytes = size.key_bytes + size.value_bytes
        if max(size_bytes, size_bytes + grown_bytes) >= BLOCK_BYTES_MAX:
            return None  # its size decides where it ends
        stored = seal_block(replaced.raw, compress=True)
        return Replacement(at, stored, b"".join(ids), grown_bytes, records, changed)

    def replaced_records(self, replacement: Replacement) -> Records:
        """Return the records of a block with its new values.

        Raises:
            CorruptDataError: the block is not what was written.
        """
        keys, values, _ = self.records(replacement.at)
        new = dict(replacement.records)
        values = [new.get(key, value) for key, value in zip(keys, values, strict=True)]
        return Records(keys, values, _split_ids(replacement.ids))

    def _ids_of(self, block: Block) -> list[bytes]:
        return record_ids(block.keys, map(self._level.identity, block.values))

    def stored(self, first: int, last: int) -> list[bytes]:
        """Return the stored bytes of the blocks from first up to, but not including, last.

        Their checksums are verified.

        Raises:
            CorruptDataError: one is not what was written.
        """
        return self.table.stored_blocks(first, last)

    def equal_blocks(self, at: int, other: "StoredBlocks", other_at: int) -> int:
        """Return how many blocks from at on have the same bytes as the other's from other_at on.

        Blocks of equal bytes hold equal records.
        """
        return self.table.equal_blocks(at, other.table, other_at)

    def differing_records(self, at: int, other: "StoredBlocks", other_at: int) -> list[Pair]:
        """Return the records in which a block and one of the other file differ, by key.

        Hardly more than these records are decoded.

        Raises:
            CorruptDataError: a block is not what was written.
        """
        return self.table.differing_records(at, other.table, other_at)

    def summary(self) -> Summary:
        """Return what the blocks add to a file into which they are copied.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        summary = self._summaries.get(self.table.name)
        if summary is None:
            summary = self._stored_summary()
            if summary is None:
                summary = summarize(map(self.block, range(len(self))), self._level)
            self._summaries.put(self.table.name, summary, summary.memory_bytes)
        return summary

    def _stored_summary(self) -> Summary | None:
        encoded = self.table.meta_block(META_BLOCK)
        if encoded is None:
            return None  # another system or an earlier version wrote the file
        name = self.table.name
        try:
            return decode_summary(encoded, len(self), name.rpartition("/")[2])
        except ValueError as e:
            raise CorruptDataError(f"{name}: {META_BLOCK}: {e}") from e


def _split_ids(joined: bytes) -> list[bytes]:
    return [joined[at : at + ID_BYTES] for at in range(0, len(joined), ID_BYTES)]
