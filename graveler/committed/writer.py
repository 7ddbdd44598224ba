"""Writing a metarange: ranges that break by key, so that equal content gives equal files.

A range ends after a key whose hash is divisible by the raggedness, or when it has grown to the
maximum size. Where it ends depends on keys alone (and, in the rare second case, on what the range
holds), never on which commit wrote it, so two histories that arrive at the same records arrive at
the same ranges, and a commit rewrites only ranges that it changes.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from hashlib import sha256

from graveler.committed.store import Breaking, Committed
from graveler.entries import range_record
from graveler.identity import record_id
from graveler.model import RangeHeader
from graveler.sstable.writer import TableWriter

# Files being stored at a time; more would only hold more memory.
_UPLOADS_MAX = 10


def breaks_after(key: bytes, breaking: Breaking) -> bool:
    """Whether a range ends after this key whatever surrounds it."""
    return int.from_bytes(sha256(key).digest()[:8], "big") % breaking.raggedness_records == 0


class MetaRangeWriter:
    """Collects records and whole ranges in key order, and stores the metarange they make."""

    def __init__(self, committed: Committed, namespace: str) -> None:
        self._committed = committed
        self._namespace = namespace
        self._breaking = committed.breaking
        self._headers: list[RangeHeader] = []
        self._uploads: list[Future[None]] = []
        self._table: TableWriter | None = None
        self._digest = sha256()
        self._first = self._last = b""

    @property
    def is_open(self) -> bool:
        """Whether the last record written belongs to a range that has not ended."""
        return self._table is not None

    def is_closed(self, header: RangeHeader) -> bool:
        """Whether the range ends where it does because of its last key or its size."""
        too_large = header.size_bytes >= self._breaking.bytes_max
        return too_large or breaks_after(header.max_key, self._breaking)

    def write_range(self, header: RangeHeader) -> None:
        """Take over a stored range unread; no range may be open."""
        assert self._table is None, "a range is open"
        self._headers.append(header)

    def write_records(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Append records whose keys ascend."""
        hashes = [sha256(key).digest() for key in keys]
        ids = [
            sha256(hashed + sha256(value).digest()).digest()
            for hashed, value in zip(hashes, values, strict=True)
        ]
        raggedness = self._breaking.raggedness_records
        breaks = [
            at
            for at, hashed in enumerate(hashes, 1)
            if int.from_bytes(hashed[:8], "big") % raggedness == 0
        ]
        begin = 0
        for end in (*breaks, len(keys)):
            while begin < end:
                begin += self._add(keys[begin:end], values[begin:end], ids[begin:end])
            if end != len(keys) or end in breaks[-1:]:
                self.end_range()

    def _add(self, keys: Sequence[bytes], values: Sequence[bytes], ids: Sequence[bytes]) -> int:
        """Add records to the open range until it has its maximum size; how many it took."""
        table = self._table
        if table is None:
            table = self._table = TableWriter("ranges")
            self._digest = sha256()
            self._first = keys[0]
        bytes_max = self._breaking.bytes_max
        added = table.add_many(keys, values, bytes_max)
        self._digest.update(b"".join(ids[:added]))
        self._last = keys[added - 1]
        if table.estimated_size_bytes >= bytes_max:
            self.end_range()
        return added

    def end_range(self) -> None:
        """End the open range here, if there is one."""
        table = self._table
        if table is None:
            return
        self._table = None
        header = RangeHeader(
            id=self._digest.hexdigest(),
            min_key=self._first,
            max_key=self._last,
            count=table.count,
            size_bytes=table.estimated_size_bytes,
        )
        self._store(header.id, table.finish())
        self._headers.append(header)

    def _store(self, file_id: str, content: bytes) -> None:
        if len(self._uploads) >= _UPLOADS_MAX:
            self._uploads.pop(0).result()
        self._uploads.append(self._committed.write(self._namespace, file_id, content))

    def finish(self) -> str:
        """Store the metarange of everything written; its ID. Every file of it is stored then."""
        self.end_range()
        table = TableWriter("metaranges")
        digest = sha256()
        for header in self._headers:
            key, stored = range_record(header)
            table.add(key, stored)
            digest.update(record_id(sha256(key).digest(), header.id.encode()))
        metarange_id = digest.hexdigest()
        # The ranges first: whoever finds the metarange must find what it names.
        for upload in self._uploads:
            upload.result()
        self._committed.write(self._namespace, metarange_id, table.finish()).result()
        return metarange_id
