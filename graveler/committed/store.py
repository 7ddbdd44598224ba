"""Opening, caching and writing the immutable files of committed data.

A point lookup in a cold file costs two requests: the tail, with footer, properties and index, and
one block. A scan fetches the file whole, once, and the lookups that follow are served from it.
Everything kept is immutable and named by its content, so caches only evict. One ID may have
several byte forms (another compressor wrote it), so what is cached belongs to a namespace.
"""

from bisect import bisect_left
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial

from graveler.cache import BoundedCache
from graveler.committed.summary import RangeSummary, summarize
from graveler.limits import RANGE_BYTES_MAX, RANGE_RAGGEDNESS_RECORDS
from graveler.model import RangeHeader
from graveler.ports import CommittedFiles
from graveler.sstable import TAIL_BYTES, Block, BlockId, Table


@dataclass(frozen=True, slots=True)
class Breaking:
    """Where ranges end: after a key whose hash is divisible by raggedness, or at bytes_max."""

    raggedness_records: int = RANGE_RAGGEDNESS_RECORDS
    bytes_max: int = RANGE_BYTES_MAX


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """Budgets in bytes of what a process keeps of committed data."""

    index_bytes: int = 32 * 1024 * 1024
    block_bytes: int = 192 * 1024 * 1024
    content_bytes: int = 64 * 1024 * 1024
    summary_bytes: int = 32 * 1024 * 1024


class Committed:
    """The committed data of every namespace, through caches that one process shares."""

    def __init__(
        self,
        files: CommittedFiles,
        *,
        breaking: Breaking | None = None,
        caches: CacheSizes | None = None,
        executor: Executor | None = None,
    ) -> None:
        sizes = caches or CacheSizes()
        self.breaking = breaking or Breaking()
        self._files = files
        self._executor = executor
        self._tables: BoundedCache[tuple[str, str], Table] = BoundedCache(sizes.index_bytes)
        self._blocks: BoundedCache[BlockId, Block] = BoundedCache(sizes.block_bytes)
        self._summaries: BoundedCache[str, RangeSummary] = BoundedCache(sizes.summary_bytes)
        self._contents: BoundedCache[tuple[str, str], bytes] = BoundedCache(sizes.content_bytes)

    def table(self, namespace: str, file_id: str) -> Table:
        """The file, opened by its tail for lookups.

        Raises:
            CorruptDataError: the file is missing or not what was written.
        """
        table = self._tables.get((namespace, file_id))
        return table if table is not None else self._open(namespace, file_id)

    def _open(self, namespace: str, file_id: str) -> Table:
        content = self._contents.get((namespace, file_id))
        if content is not None:
            tail, size_bytes = content[-TAIL_BYTES:], len(content)
        else:
            tail, size_bytes = self._files.read_tail(namespace, file_id, TAIL_BYTES)
        table = Table.open(
            _name(namespace, file_id),
            size_bytes,
            tail,
            partial(self._read, namespace, file_id),
            self._blocks,
        )
        self._tables.put((namespace, file_id), table, table.index_size_bytes)
        return table

    def _read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        content = self._contents.get((namespace, file_id))
        if content is not None:
            return content[offset : offset + length]
        return self._files.read(namespace, file_id, offset, length)

    def whole(self, namespace: str, file_id: str) -> Table:
        """The file, its content fetched in one request unless it is held: for scans."""
        name = (namespace, file_id)
        if self._contents.get(name) is None:
            content = self._files.read_all(namespace, file_id)
            self._contents.put(name, content, len(content))
        return self.table(namespace, file_id)

    def blocks(self, namespace: str, header: RangeHeader) -> "StoredBlocks":
        """The data blocks of a range, its content at hand."""
        return StoredBlocks(self.whole(namespace, header.id), header, self._summaries)

    def keep_summary(self, namespace: str, file_id: str, summary: RangeSummary) -> None:
        """Remember what is known of a range whose file was written just now."""
        self._summaries.put(_name(namespace, file_id), summary, summary.memory_bytes)

    def write(self, namespace: str, file_id: str, content: bytes) -> "Future[bool]":
        """Begin to store a file; the future tells whether these are the bytes now stored.

        What was written is not kept for reading: if a file of that ID was there, with other bytes,
        its index and these bytes would not fit each other.
        """
        return self._run(partial(self._files.write, namespace, file_id, content))

    def _run(self, work: Callable[[], bool]) -> "Future[bool]":
        if self._executor is not None:
            return self._executor.submit(work)
        done: Future[bool] = Future()
        done.set_result(work())
        return done


def _name(namespace: str, file_id: str) -> str:
    return f"{namespace}/_lakefs/{file_id}"


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
        return len(self._index.ids)

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
