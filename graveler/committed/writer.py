"""Writing a metarange: ranges that break by key, so that equal content gives equal files.

A range ends after a key whose hash is divisible by the raggedness, or when it has grown to the
maximum size. Where it ends depends on keys alone (and, in the rare second case, on what the range
holds), never on which commit wrote it, so two histories that arrive at the same records arrive at
the same ranges, and a commit rewrites only ranges that it changes.

Data blocks inside a range end by the same idea, after every 16th key or so. A change therefore
leaves the other blocks of its range as they were, and they are taken over as stored bytes. What
they add to the range's ID is remembered from when they were written or read (`RangeSummary`).
"""

from collections.abc import Sequence
from concurrent.futures import Future
from hashlib import sha256

from graveler.committed.blocks import StoredBlocks
from graveler.committed.store import Breaking, Committed
from graveler.committed.summary import RangeSummary
from graveler.entries import range_record
from graveler.identity import key_hash, record_id
from graveler.model import RangeHeader
from graveler.sstable import BlockSize, TableWriter

# Files being stored at a time; more would only hold more memory.
_UPLOADS_MAX = 10

# A block ends after a key whose hash says so, one in 16, or when it has grown to this size.
_BLOCK_END_MASK = 15
_BLOCK_BYTES_MAX = 16 * 1024


def _ends_range(hash_of_key: bytes, breaking: Breaking) -> bool:
    return int.from_bytes(hash_of_key[:8], "big") % breaking.raggedness_records == 0


def breaks_after(key: bytes, breaking: Breaking) -> bool:
    """Whether a range ends after this key whatever surrounds it."""
    return _ends_range(key_hash(key), breaking)


class _OpenRange:
    """The range being written, and the block of it being filled."""

    def __init__(self) -> None:
        self.table = TableWriter("ranges")
        self.min_key = b""
        self.last_key = b""
        self._written_ids: list[bytes] = []
        self._sizes: list[BlockSize] = []
        self._keys: list[bytes] = []
        self._values: list[bytes] = []
        self._ids: list[bytes] = []
        self._bytes = 0

    def add(self, keys: Sequence[bytes], values: Sequence[bytes], ids: Sequence[bytes]) -> None:
        """Append records to the block being filled, which may thereby become several."""
        size_bytes = sum(map(len, keys)) + sum(map(len, values))
        if self._bytes + size_bytes >= _BLOCK_BYTES_MAX and len(keys) > 1:
            for at in range(len(keys)):
                self.add(keys[at : at + 1], values[at : at + 1], ids[at : at + 1])
            return
        self._keys += keys
        self._values += values
        self._ids += ids
        self._bytes += size_bytes
        if self._bytes >= _BLOCK_BYTES_MAX:
            self.end_block()

    def end_block(self) -> None:
        """Write the block being filled, if it holds anything."""
        if not self._keys:
            return
        size = self.table.add_block(self._keys, self._values)
        self._wrote(self._keys[0], self._keys[-1], b"".join(self._ids), [size])
        self._keys, self._values, self._ids = [], [], []
        self._bytes = 0

    def copy_blocks(self, blocks: StoredBlocks, first: int, last: int) -> None:
        """Take over stored blocks whose keys come after everything added."""
        summary = blocks.summary()
        bounds = blocks.bounds(first, last)
        sizes = summary.sizes[first:last]
        self.table.add_stored_blocks(
            blocks.stored(first, last),
            bounds,
            sizes,
            after=blocks.bound(first - 1) if first else self.last_key,
            first=blocks.header.min_key,
        )
        self._wrote(blocks.header.min_key, bounds[-1], summary.ids_of(first, last), sizes)

    def _wrote(self, first: bytes, last: bytes, ids: bytes, sizes: Sequence[BlockSize]) -> None:
        if not self._sizes:
            self.min_key = first
        self.last_key = last
        self._written_ids.append(ids)
        self._sizes += sizes

    def summary(self) -> RangeSummary:
        """What was written."""
        return RangeSummary(b"".join(self._written_ids), self._sizes)


class MetaRangeWriter:
    """Collects records, blocks and whole ranges in key order; stores the metarange they make."""

    def __init__(self, committed: Committed, namespace: str) -> None:
        self._committed = committed
        self._namespace = namespace
        self._breaking = committed.breaking
        self._headers: list[RangeHeader] = []
        self._uploads: list[tuple[Future[bool], str, RangeSummary]] = []
        self._range: _OpenRange | None = None

    @property
    def is_open(self) -> bool:
        """Whether the last record written belongs to a range that has not ended."""
        return self._range is not None

    def is_closed(self, header: RangeHeader) -> bool:
        """Whether the range ends where it does because of its last key or its size."""
        too_large = header.size_bytes >= self._breaking.bytes_max
        return too_large or breaks_after(header.max_key, self._breaking)

    def write_range(self, header: RangeHeader) -> None:
        """Take over a stored range unread; no range may be open."""
        assert self._range is None, "a range is open"
        self._headers.append(header)

    def write_records(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Append records whose keys ascend."""
        hashes = list(map(key_hash, keys))
        ids = list(map(record_id, hashes, values))
        breaking = self._breaking
        range_ends = {at for at, hashed in enumerate(hashes, 1) if _ends_range(hashed, breaking)}
        block_ends = {at for at, hashed in enumerate(hashes, 1) if not hashed[8] & _BLOCK_END_MASK}
        begin = 0
        for end in sorted(range_ends | block_ends | {len(keys)}):
            if begin == end:
                break
            open_range = self._open()
            open_range.add(keys[begin:end], values[begin:end], ids[begin:end])
            begin = end
            if end in range_ends:
                self.end_range()
            elif end in block_ends:
                open_range.end_block()
                self._end_range_if_full()

    def copy_blocks(self, blocks: StoredBlocks, first: int, last: int) -> None:
        """Take over the stored blocks from first up to, and not including, last.

        Where last is not the range's end, records must follow that lie beyond those blocks.
        """
        while first and not self.is_open and first < last:
            # The first key of a range has to be known exactly.
            self.write_records(*blocks.block(first))
            first += 1
        if first == last:
            return
        open_range = self._open()
        open_range.end_block()
        open_range.copy_blocks(blocks, first, last)
        if last < len(blocks):
            return  # nor is the last key known exactly: a range does not end here
        if breaks_after(blocks.header.max_key, self._breaking):
            self.end_range()
        else:
            self._end_range_if_full()

    def _open(self) -> _OpenRange:
        if self._range is None:
            self._range = _OpenRange()
        return self._range

    def _end_range_if_full(self) -> None:
        open_range = self._range
        if (
            open_range is not None
            and open_range.table.estimated_size_bytes >= self._breaking.bytes_max
        ):
            self.end_range()

    def end_range(self) -> None:
        """End the open range here, if there is one."""
        open_range = self._range
        if open_range is None:
            return
        self._range = None
        open_range.end_block()
        table, summary = open_range.table, open_range.summary()
        header = RangeHeader(
            id=sha256(summary.record_ids).hexdigest(),
            min_key=open_range.min_key,
            max_key=open_range.last_key,
            count=table.count,
            size_bytes=table.estimated_size_bytes,
        )
        if len(self._uploads) >= _UPLOADS_MAX:
            self._await_upload()
        stored = self._committed.write(self._namespace, header.id, table.finish())
        self._uploads.append((stored, header.id, summary))
        self._headers.append(header)

    def _await_upload(self) -> None:
        """Wait for the oldest file to be stored, and remember its blocks if it is ours.

        A file that was there before may have other bytes, and its blocks other ends.
        """
        stored, file_id, summary = self._uploads.pop(0)
        if stored.result():
            self._committed.keep_summary(self._namespace, file_id, summary)

    def finish(self) -> str:
        """Store the metarange of everything written; its ID. Every file of it is stored then."""
        self.end_range()
        table = TableWriter("metaranges")
        digest = sha256()
        for header in self._headers:
            key, stored = range_record(header)
            table.add(key, stored)
            digest.update(record_id(key_hash(key), header.id.encode()))
        metarange_id = digest.hexdigest()
        # The ranges first: whoever finds the metarange must find what it names.
        while self._uploads:
            self._await_upload()
        self._committed.write(self._namespace, metarange_id, table.finish()).result()
        return metarange_id
