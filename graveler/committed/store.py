"""Opening, caching and writing the immutable files of committed data.

A point lookup in a cold file costs two requests: the tail, with footer, properties and index, and
one block. A scan fetches the file whole, once, and the lookups that follow are served from it.
Everything kept is immutable and named by its content, so caches only evict. One ID may have
several byte forms (another compressor wrote it), so what is cached belongs to a namespace.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial

from graveler.cache import BoundedCache
from graveler.committed.blocks import StoredBlocks
from graveler.committed.summary import RangeSummary
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

    def blocks(self, namespace: str, header: RangeHeader) -> StoredBlocks:
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
