"""Read a metarange: the sorted list of ranges that is one commit's whole content."""

from collections.abc import Iterator

from graveler.cache import BoundedCache
from graveler.committed.blocks import StoredBlocks
from graveler.committed.headers import HeaderTable
from graveler.committed.level import METARANGES
from graveler.committed.store import Committed
from graveler.model import MetaRangeID, RangeHeader, Record
from graveler.sstable import TableInMemory, TableWriter

# The file of no ranges at all, which is never stored.
_NO_RANGES = TableWriter(METARANGES.kind).finish()


class MetaRange:
    """All records of one metarange, by key; reads only what a caller asks for.

    The empty ID, which a repository's first commit has, is a metarange without objects.
    """

    __slots__ = ("_blocks", "_committed", "_opened_range", "_ranges", "id", "namespace")

    def __init__(self, committed: Committed, namespace: str, metarange_id: MetaRangeID) -> None:
        self.id = metarange_id
        self.namespace = namespace
        self._committed = committed
        self._opened_range = committed.opened_range
        self._ranges: HeaderTable | None = None
        self._blocks: StoredBlocks | None = None

    def get(self, key: bytes) -> bytes | None:
        """Return the stored value of the key, or None.

        Raises:
            CorruptDataError: a file is missing, or is not what was written.
        """
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

    def range_at(self, key: bytes) -> RangeHeader | None:
        """Return the only range that can hold the key, None if there is none.

        Raises:
            CorruptDataError: the metarange is missing, or is not what was written.
        """
        found = (self._ranges or self._open()).find(key) if self.id else None
        return found.header if found is not None and key >= found.min_key else None

    def _open(self, *, whole: bool = False) -> HeaderTable:
        """Open the metarange's file, so that a request asks the caches once."""
        self._ranges = self._committed.headers(self.namespace, self.id, whole=whole)
        return self._ranges

    def headers(self, start: bytes = b"") -> Iterator[RangeHeader]:
        """Yield the ranges that may hold keys from start on, in order."""
        if not self.id:
            return
        # Scans from the start usually reach the end: fetch the whole file, not block by block.
        for found in self._open(whole=not start).ranges(start):
            yield found.header

    def count(self) -> int:
        """Return the number of records, as the headers of the ranges count them."""
        return sum(header.count for header in self.headers())

    def range_from(self, key: bytes) -> RangeHeader | None:
        """Return the first range that ends at the key or behind it, or None."""
        if not self.id:
            return None
        found = (self._ranges or self._open(whole=True)).find(key)
        return found and found.header

    @property
    def last_key(self) -> bytes:
        """The last key; empty if there are no records."""
        return self.blocks().last_key

    def blocks(self) -> StoredBlocks:
        """Return the metarange's own data blocks: a record for each range, by its last key."""
        if self._blocks is None:
            if self.id:
                self._blocks = self._committed.metarange_blocks(self.namespace, self.id)
            else:
                table = TableInMemory.from_bytes("", _NO_RANGES)
                self._blocks = StoredBlocks(table, METARANGES, BoundedCache(0))
        return self._blocks

    def range_blocks(self, header: RangeHeader) -> StoredBlocks:
        """Return the data blocks of one of the ranges."""
        return self._committed.range_blocks(self.namespace, header)

    def records(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Record]:
        """Yield the records with start <= key < end, by key.

        Raises:
            CorruptDataError: a file is missing, or is not what was written.
        """
        for header in self.headers(start):
            if end is not None and header.min_key >= end:
                return
            for block in self._committed.whole_range(self.namespace, header).blocks(start, end):
                yield from zip(block.keys, block.values, strict=True)

    def few_records(self, start: bytes, end: bytes) -> Iterator[Record]:
        """Yield the records with start <= key < end, by key; fast if few or none match.

        Of a range that is not cached, it reads the tail and a block instead of the whole file.

        Raises:
            CorruptDataError: a file is missing, or is not what was written.
        """
        for header in self.headers(start):
            if header.min_key >= end:
                return
            yield from self._committed.range_for_lookups(self.namespace, header).scan(start, end)
