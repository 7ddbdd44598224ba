"""Write files of committed data, so that equal content gives equal files.

Theory of operation. A range ends after a key whose hash is divisible by the raggedness, or when it
reaches the maximum size. So its end depends on keys alone; in the rare second case, on the range's
records. It never depends on the commit that writes it. Two histories that lead to the same records
have the same ranges. A commit rewrites only the ranges that it changes. A metarange is one file,
which ends with its records.

Data blocks end by the same rule, after every 16th or 32nd key on average. So a change does not move
the other blocks of its file, and they are copied as stored bytes. What they add to the file's ID
is kept from when they were written or read (`Summary`).
"""

from collections.abc import Sequence
from concurrent.futures import Future
from hashlib import sha256
from typing import NamedTuple

from graveler.committed.blocks import BLOCK_BYTES_MAX, Records, StoredBlocks
from graveler.committed.edit import Copied
from graveler.committed.level import RANGES, Level, ends_block, ends_range
from graveler.committed.store import Breaking, Committed
from graveler.committed.summary import META_BLOCK, Summary
from graveler.identity import key_hash, record_id
from graveler.model import RangeHeader, RangeID
from graveler.sstable import TAIL_BYTES, TableWriter

# Files that are stored at a time; more would only take memory.
_UPLOADS_MAX = 10


def breaks_after(key: bytes, breaking: Breaking) -> bool:
    """Return whether a range ends after this key, whatever keys are around it."""
    return ends_range(key_hash(key), breaking.raggedness_records)


class _OpenFile:
    """The file being written, and its open block."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self.table = TableWriter(level.kind)
        self.summary = Summary()
        self.first_key = b""
        self.last_key = b""
        self._written_ids: list[bytes] = []
        self._keys: list[bytes] = []
        self._values: list[bytes] = []
        self._ids: list[bytes] = []
        self._bytes = 0

    def add(self, keys: Sequence[bytes], values: Sequence[bytes], ids: Sequence[bytes]) -> None:
        """Append records to the open block; they may end it once or several times."""
        size_bytes = sum(map(len, keys)) + sum(map(len, values))
        if self._bytes + size_bytes >= BLOCK_BYTES_MAX and len(keys) > 1:
            for at in range(len(keys)):
                self.add(keys[at : at + 1], values[at : at + 1], ids[at : at + 1])
            return
        self._keys += keys
        self._values += values
        self._ids += ids
        self._bytes += size_bytes
        if self._bytes >= BLOCK_BYTES_MAX:
            self.end_block()

    def end_block(self) -> None:
        """Write the open block, unless it is empty."""
        if not self._keys:
            return
        self._begin_with(self._keys[0])
        self.summary.add(self.table.add_block(self._keys, self._values))
        self.last_key = self._keys[-1]
        self._written_ids += self._ids
        self._keys, self._values, self._ids = [], [], []
        self._bytes = 0

    def copy_blocks(self, blocks: StoredBlocks, part: Copied) -> None:
        """Copy stored blocks whose keys are greater than all keys added before."""
        first, last, replaced = part
        summary = blocks.summary()
        bounds = blocks.bounds(first, last)
        stored, size = blocks.stored(first, last), summary.size(first, last)
        for each in replaced:
            stored[each.at - first] = each.stored
            size = size._replace(value_bytes=size.value_bytes + each.grown_bytes)
        self.table.add_stored_blocks(
            stored,
            bounds,
            size,
            after=blocks.bound(first - 1) if first else self.last_key,
            first=blocks.first_key,
        )
        self._begin_with(blocks.first_key)
        begin = len(self.summary) - first
        self.summary.add_from(summary, first, last)
        self.last_key = bounds[-1]
        for each in replaced:
            self.summary.value_bytes[begin + each.at] += each.grown_bytes
            self._written_ids += summary.ids(first, each.at), each.ids
            first = each.at + 1
        self._written_ids.append(summary.ids(first, last))

    def _begin_with(self, key: bytes) -> None:
        if not len(self.summary):
            self.first_key = key

    def finish(self) -> tuple[RangeHeader, bytes]:
        """End the file; return its header in a metarange, and its content."""
        self.end_block()
        self.summary.record_ids = b"".join(self._written_ids)
        header = RangeHeader(
            id=RangeID(sha256(self.summary.record_ids).hexdigest()),
            min_key=self.first_key,
            max_key=self.last_key,
            count=self.table.count,
            size_bytes=self.table.estimated_size_bytes,
        )
        # Lookups in a smaller file fetch it whole, and it is soon summed up.
        is_large = header.size_bytes > TAIL_BYTES
        stores_summary = self._level.stores_summary and is_large
        meta_blocks = {META_BLOCK: self.summary.encode()} if stores_summary else None
        return header, self.table.finish(meta_blocks)


class _Upload(NamedTuple):
    """A file being stored; the future is whether its bytes are the stored ones."""

    stored: Future[bool]
    file_id: str
    content: bytes
    summary: Summary


class FileWriter:
    """Collects records and stored blocks in key order, and stores them as files.

    With a breaking, the files are ranges that end by it; without, they are one metarange.
    """

    def __init__(
        self,
        committed: Committed,
        namespace: str,
        level: Level = RANGES,
        breaking: Breaking | None = None,
    ) -> None:
        self._committed = committed
        self._namespace = namespace
        self._level = level
        self._breaking = breaking
        self._headers: list[RangeHeader] = []
        self._uploads: list[_Upload] = []
        self._file: _OpenFile | None = None

    @property
    def is_open(self) -> bool:
        """Whether the file of the last written record is still open."""
        return self._file is not None

    def write_records(
        self, keys: Sequence[bytes], values: Sequence[bytes], ids: Sequence[bytes] = ()
    ) -> None:
        """Append records whose keys ascend.

        A record with an ID that is not empty comes from a stored block. Its key ends neither block
        nor file, unless the record is the last.
        """
        ids = list(ids) or [b""] * len(keys)
        identity, breaking = self._level.identity, self._breaking
        block_ends: set[int] = set()
        file_ends: set[int] = set()
        for end, known in enumerate(ids, 1):
            if known and end < len(ids):
                continue
            hashed = key_hash(keys[end - 1])
            ids[end - 1] = known or record_id(hashed, identity(values[end - 1]))
            if ends_block(hashed, self._level):
                block_ends.add(end)
            if breaking is not None and ends_range(hashed, breaking.raggedness_records):
                file_ends.add(end)
        begin = 0
        for end in sorted(file_ends | block_ends | {len(keys)}):
            if begin == end:
                break
            file = self.begin_file()
            file.add(keys[begin:end], values[begin:end], ids[begin:end])
            begin = end
            if end in file_ends:
                self.end_file()
            elif end in block_ends:
                file.end_block()
                self._end_file_if_full()

    def copy_blocks(self, blocks: StoredBlocks, part: Copied) -> None:
        """Copy neighbouring stored blocks.

        If it does not reach the file's end, records with greater keys must follow.
        """
        first, last, replaced = part
        if replaced and self._may_end_inside(blocks, part):
            for each in replaced:
                self.copy_blocks(blocks, Copied(first, each.at))
                self.write_records(*blocks.replaced_records(each))
                first = each.at + 1
            replaced = ()
        while first and not self.is_open and first < last:
            # The first key of a file must be known exactly.
            self.write_records(*blocks.records(first))
            first += 1
        if first == last:
            return
        last_hash = key_hash(blocks.last_key)
        breaking = self._breaking
        is_end = breaking is not None and ends_range(last_hash, breaking.raggedness_records)
        is_open = last == len(blocks) and not is_end and not ends_block(last_hash, self._level)
        copied = last - 1 if is_open else last
        if first < copied:
            file = self.begin_file()
            file.end_block()
            file.copy_blocks(blocks, Copied(first, copied, replaced))
        if is_open:
            # This block ended only because the records did: records that follow continue it.
            self.write_records(*blocks.records(copied))
        elif last == len(blocks):  # elsewhere the last key is not known, so no file ends
            if is_end:
                self.end_file()
            else:
                self._end_file_if_full()

    def _may_end_inside(self, blocks: StoredBlocks, part: Copied) -> bool:
        """Return whether a file may begin or end inside these blocks, as new values decide."""
        if self._file is None:
            if part.first:
                return True
            size_bytes = 0
        else:
            size_bytes = self._file.table.estimated_size_bytes
        grown_bytes = sum(max(0, each.grown_bytes) for each in part.replaced)
        size_bytes += len(blocks.table.content) + grown_bytes
        return self._breaking is not None and size_bytes >= self._breaking.bytes_max

    def begin_file(self) -> _OpenFile:
        """Return the open file, or begin a new one."""
        if self._file is None:
            self._file = _OpenFile(self._level)
        return self._file

    def _end_file_if_full(self) -> None:
        file, breaking = self._file, self._breaking
        if file is None or breaking is None:
            return
        if file.table.estimated_size_bytes >= breaking.bytes_max:
            self.end_file()

    def end_file(self) -> None:
        """End the open file, if there is one, and begin to store it."""
        if self._file is None:
            return
        header, content = self._file.finish()
        summary, self._file = self._file.summary, None
        if len(self._uploads) >= _UPLOADS_MAX:
            self._await_upload()
        stored = self._committed.write(self._namespace, header.id, content)
        self._uploads.append(_Upload(stored, header.id, content, summary))
        self._headers.append(header)

    def _await_upload(self) -> None:
        """Wait until the oldest file is stored, and cache it if its bytes are the stored ones.

        A file that existed before may have other bytes, and blocks that end elsewhere.
        """
        stored, file_id, content, summary = self._uploads.pop(0)
        if stored.result():
            self._committed.keep(self._namespace, file_id, content, summary)

    def write_part(self, blocks: StoredBlocks, part: Copied | Records) -> bytes:
        """Append a part of a changed file; return its last key, or inside the file its bound."""
        if isinstance(part, Copied):
            self.copy_blocks(blocks, part)
            return blocks.bound(part.last - 1)
        self.write_records(*part)
        return part.keys[-1]

    def finish(self) -> list[RangeHeader]:
        """End the last file and wait until all are stored; return their headers in order."""
        headers = self.end()
        self.wait()
        return headers

    def end(self) -> list[RangeHeader]:
        """End the last file; return the headers in order. The files may not be stored yet."""
        self.end_file()
        return self._headers

    def wait(self) -> None:
        """Wait until all files are stored."""
        while self._uploads:
            self._await_upload()
