"""Reading a metarange: the sorted list of ranges that is one commit's whole content."""

from collections.abc import Iterator

from graveler.cache import BoundedCache
from graveler.committed.blocks import StoredBlocks
from graveler.committed.headers import HeaderTable
from graveler.committed.level import METARANGES
from graveler.committed.store import Committed
from graveler.model import RangeHeader, Record
from graveler.sstable import TableWriter, WholeTable

# The file of no ranges at all, which is never stored.
_NO_RANGES = TableWriter(METARANGES.kind).finish()


class MetaRange:
    """All records of one metarange, by key, without reading what a caller does not ask for.

    The empty ID stands for no objects at all: a repository's first commit has it.
    """

    __slots__ = ("_blocks", "_committed", "_opened_range", "_ranges", "id", "namespace")

    def __init__(self, committed: Committed, namespace: str, metarange_id: str) -> None:
        self.id = metarange_id
        self.namespace = namespace
        self._committed = committed
        self._opened_range = committed.opened_range
        self._ranges: HeaderTable | None = None
        self._blocks: StoredBlocks | None = None

    def get(self, key: bytes) -> bytes | None:
        """The stored value of the key."""
        if not self.id:
            return None
        found = (self._ranges or self._open()).find(key)
        if found is None:
            return None
        min_key, name, header = found
        if key < min_key:
            return None
        table = self._opened_range(name) or self._committed.open_range(self.namespace, header)
        return table.get(key)

    def _open(self, *, whole: bool = False) -> HeaderTable:
        """The metarange's file, looked for in the caches once for all lookups of a request."""
        self._ranges = self._committed.headers(self.namespace, self.id, whole=whole)
        return self._ranges

    def headers(self, start: bytes = b"") -> Iterator[RangeHeader]:
        """The ranges that may hold keys from start on, in order."""
        if not self.id:
            return
        # Who begins at the beginning mostly goes to the end: a request for all of it, not for each
        # block.
        for found in self._open(whole=not start).ranges(start):
            yield found.header

    def range_from(self, key: bytes) -> RangeHeader | None:
        """The first range that ends at the key or behind it."""
        if not self.id:
            return None
        found = (self._ranges or self._open(whole=True)).find(key)
        return found and found.header

    @property
    def last_key(self) -> bytes:
        """The last key of all; empty if there is none."""
        return self.blocks().last_key

    def blocks(self) -> StoredBlocks:
        """The data blocks of the metarange itself: the records of its ranges, by last key."""
        if self._blocks is None:
            if self.id:
                self._blocks = self._committed.metarange_blocks(self.namespace, self.id)
            else:
                table = WholeTable.from_bytes("", _NO_RANGES)
                self._blocks = StoredBlocks(table, METARANGES, BoundedCache(0))
        return self._blocks

    def range_blocks(self, header: RangeHeader) -> StoredBlocks:
        """The data blocks of one of the ranges."""
        return self._committed.range_blocks(self.namespace, header)

    def records(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Record]:
        """The records with start <= key < end, by key."""
        for header in self.headers(start):
            if end is not None and header.min_key >= end:
                return
            for block in self._committed.whole_range(self.namespace, header).blocks(start, end):
                yield from zip(block.keys, block.values, strict=True)

    def few_records(self, start: bytes, end: bytes) -> Iterator[Record]:
        """The records with start <= key < end, by key, where few or none are expected.

        A cold range is read by its tail and a block instead of whole.
        """
        for header in self.headers(start):
            if header.min_key >= end:
                return
            yield from self._committed.range_for_lookups(self.namespace, header).scan(start, end)
