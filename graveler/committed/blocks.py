"""The data blocks of one stored file: copied as bytes, compared, decoded or summarized."""

from typing import NamedTuple

from graveler.cache import BoundedCache
from graveler.committed.level import Level
from graveler.committed.summary import (
    ID_BYTES,
    META_BLOCK,
    Summary,
    decode_summary,
    summarize,
)
from graveler.errors import CorruptDataError
from graveler.identity import record_ids
from graveler.sstable import Block, WholeTable

# The object, its two keys and its entry in the cache.
_OBJECT_BYTES = 500


class Records(NamedTuple):
    """Records as parallel lists in key order; an ID that is not yet known is empty."""

    keys: list[bytes]
    values: list[bytes]
    ids: list[bytes]


class StoredBlocks:
    """The data blocks of a range or a metarange; a file without records has none."""

    __slots__ = ("_count", "_level", "_summaries", "first_key", "last_key", "table")

    def __init__(
        self, table: WholeTable, level: Level, summaries: BoundedCache[str, Summary]
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

    def records(self, at: int) -> Records:
        """Return the records of a block with their IDs.

        Raises:
            CorruptDataError: the block is not what was written.
        """
        joined, block = self.summary().ids(at, at + 1), self.block(at)
        ids = [joined[i : i + ID_BYTES] for i in range(0, len(joined), ID_BYTES)]
        if len(ids) != len(block.keys) or ids != self._ids_of(block):
            # The file's ID proves the IDs of all records together, but not which are whose.
            raise CorruptDataError(
                f"{self.table.name}: block {at} does not hold the records of the file's summary"
            )
        return Records(*block, ids)

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
