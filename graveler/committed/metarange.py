"""Reading a metarange: the sorted list of ranges that is one commit's whole content."""

from collections.abc import Iterator
from functools import lru_cache

from graveler.committed.blocks import StoredBlocks
from graveler.committed.store import Committed
from graveler.entries import record_range
from graveler.model import RangeHeader, Record

# Headers are decoded again and again from the same cached blocks; bytes keep their hash.
_header = lru_cache(maxsize=65_536)(record_range)


class MetaRange:
    """All records of one metarange, by key, without reading what a caller does not ask for.

    The empty ID stands for no objects at all: a repository's first commit has it.
    """

    __slots__ = ("_committed", "id", "namespace")

    def __init__(self, committed: Committed, namespace: str, metarange_id: str) -> None:
        self.id = metarange_id
        self.namespace = namespace
        self._committed = committed

    def get(self, key: bytes) -> bytes | None:
        """The stored value of the key."""
        if not self.id:
            return None
        found = self._committed.table(self.namespace, self.id).seek_ge(key)
        if found is None:
            return None
        header = _header(found[1])
        if key < header.min_key:
            return None
        return self._committed.table(self.namespace, header.id).get(key)

    def headers(self, start: bytes = b"") -> Iterator[RangeHeader]:
        """The ranges that may hold keys from start on, in order."""
        if not self.id:
            return
        # Who begins at the beginning mostly goes to the end: a request for all of it, not for each
        # block.
        open_file = self._committed.table if start else self._committed.whole
        for block in open_file(self.namespace, self.id).blocks(start):
            yield from map(_header, block.values)

    def range_blocks(self, header: RangeHeader) -> StoredBlocks:
        """The data blocks of one of the ranges."""
        return self._committed.blocks(self.namespace, header)

    def records(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Record]:
        """The records with start <= key < end, by key."""
        for header in self.headers(start):
            if end is not None and header.min_key >= end:
                return
            for block in self._committed.whole(self.namespace, header.id).blocks(start, end):
                yield from zip(block.keys, block.values, strict=True)
