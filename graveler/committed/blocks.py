"""The data blocks of one stored range: taken over as bytes, decoded, or summed up."""

from bisect import bisect_left

from graveler.cache import BoundedCache
from graveler.committed.summary import RangeSummary, summarize
from graveler.model import RangeHeader
from graveler.sstable import Block, Table


class StoredBlocks:
    """The data blocks of one range: as stored, decoded, or summed up."""

    __slots__ = ("_index", "_summaries", "_table", "header")

    def __init__(
        self, table: Table, header: RangeHeader, summaries: BoundedCache[str, RangeSummary]
    ) -> None:
        self.header = header
        self._table = table
        self._index = table.index()
        self._summaries = summaries

    def __len__(self) -> int:
        return len(self._index.bounds)

    def find(self, key: bytes, start: int = 0) -> int:
        """The block that holds the key, or would: the first one, from start on, that may."""
        return bisect_left(self._index.bounds, key, start)

    def bound(self, at: int) -> bytes:
        """A key not less than the block's last, and less than the next block's first.

        For the last block it is the range's last key.
        """
        return self.header.max_key if at == len(self) - 1 else self._index.bounds[at]

    def block(self, at: int) -> Block:
        """The records of a block."""
        return self._table.block(self._index, at)

    def stored(self, first: int, last: int) -> list[bytes]:
        """The blocks from first up to, and not including, last as they are stored, verified."""
        return [self._table.stored_block(self._index, at) for at in range(first, last)]

    def bounds(self, first: int, last: int) -> list[bytes]:
        """The bounds of the blocks from first up to, and not including, last."""
        bounds = self._index.bounds[first:last]
        if last == len(self):
            bounds[-1] = self.header.max_key
        return bounds

    def raw(self, at: int) -> bytes:
        """A block as it is stored, unverified: equal ones hold equal records."""
        return self._table.unverified_block(self._index, at)

    def summary(self) -> RangeSummary:
        """What the blocks add to a range that takes them over."""
        summary = self._summaries.get(self._table.name)
        if summary is None:
            summary = summarize([self.block(at) for at in range(len(self))])
            self._summaries.put(self._table.name, summary, summary.memory_bytes)
        return summary
