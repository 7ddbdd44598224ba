"""Writing files of committed data, so that equal content gives equal files.

A range ends after a key whose hash is divisible by the raggedness, or when it has grown to the
maximum size. Where it ends depends on keys alone (and, in the rare second case, on what the range
holds), never on which commit wrote it, so two histories that arrive at the same records arrive at
the same ranges, and a commit rewrites only ranges that it changes. A metarange is one file, which
ends with its records.

Data blocks inside a file end by the same idea, after every 16th or 32nd key or so. A change
therefore leaves the other blocks of its file as they were, and they are taken over as stored bytes.
What they add to the file's ID is remembered from when they were written or read (`Summary`).
"""

from collections.abc import Sequence
from concurrent.futures import Future
from hashlib import sha256
from typing import NamedTuple

from graveler.committed.blocks import Records, StoredBlocks
from graveler.committed.edit import Copied
from graveler.committed.level import RANGES, Level
from graveler.committed.store import Breaking, Committed
from graveler.committed.summary import Summary
from graveler.identity import key_hash, record_id
from graveler.model import RangeHeader
from graveler.sstable import TableWriter

# Files being stored at a time; more would only hold more memory.
_UPLOADS_MAX = 10

# A block also ends when it has grown to this size.
_BLOCK_BYTES_MAX = 16 * 1024


def _ends_block(hash_of_key: bytes, level: Level) -> bool:
    return not hash_of_key[8] & (level.block_records - 1)


def _ends_range(hash_of_key: bytes, breaking: Breaking) -> bool:
    return int.from_bytes(hash_of_key[:8], "big") % breaking.raggedness_records == 0


def breaks_after(key: bytes, breaking: Breaking) -> bool:
    """Whether a range ends after this key whatever surrounds it."""
    return _ends_range(key_hash(key), breaking)


class _OpenFile:
    """The file being written, and the block of it being filled."""

    def __init__(self, level: Level) -> None:
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
        self._begin_with(self._keys[0])
        self.summary.add(self.table.add_block(self._keys, self._values))
        self.last_key = self._keys[-1]
        self._written_ids += self._ids
        self._keys, self._values, self._ids = [], [], []
        self._bytes = 0

    def copy_blocks(self, blocks: StoredBlocks, first: int, last: int) -> None:
        """Take over stored blocks whose keys come after everything added."""
        summary = blocks.summary()
        bounds = blocks.bounds(first, last)
        self.table.add_stored_blocks(
            blocks.stored(first, last),
            bounds,
            summary.size(first, last),
            after=blocks.bound(first - 1) if first else self.last_key,
            first=blocks.first_key,
        )
        self._begin_with(blocks.first_key)
        self.summary.add_from(summary, first, last)
        self.last_key = bounds[-1]
        self._written_ids.append(summary.ids(first, last))

    def _begin_with(self, key: bytes) -> None:
        if not len(self.summary):
            self.first_key = key

    def finish(self) -> tuple[RangeHeader, bytes]:
        """End the file: what a metarange says of it, and its content."""
        self.end_block()
        self.summary.record_ids = b"".join(self._written_ids)
        header = RangeHeader(
            id=sha256(self.summary.record_ids).hexdigest(),
            min_key=self.first_key,
            max_key=self.last_key,
            count=self.table.count,
            size_bytes=self.table.estimated_size_bytes,
        )
        return header, self.table.finish()


class _Upload(NamedTuple):
    """A file being stored; the future tells whether it is this one that is stored then."""

    stored: Future[bool]
    file_id: str
    content: bytes
    summary: Summary


class FileWriter:
    """Collects records and stored blocks in key order; stores the files that they make.

    These are ranges, if a breaking says where they end, or else one metarange.
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
        """Whether the last record written belongs to a file that has not ended."""
        return self._file is not None

    def write_records(
        self, keys: Sequence[bytes], values: Sequence[bytes], ids: Sequence[bytes] = ()
    ) -> None:
        """Append records whose keys ascend.

        An ID that is given, and not empty, is that of a record of a stored block, which ended
        neither the block nor the file, unless it is the last.
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
            if _ends_block(hashed, self._level):
                block_ends.add(end)
            if breaking is not None and _ends_range(hashed, breaking):
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

    def copy_blocks(self, blocks: StoredBlocks, first: int, last: int) -> None:
        """Take over the stored blocks from first up to, and not including, last.

        Where last is not the file's end, records must follow that lie beyond those blocks.
        """
        while first and not self.is_open and first < last:
            # The first key of a file has to be known exactly.
            self.write_records(*blocks.records(first))
            first += 1
        if first == last:
            return
        last_hash = key_hash(blocks.last_key)
        is_end = self._breaking is not None and _ends_range(last_hash, self._breaking)
        is_open = last == len(blocks) and not is_end and not _ends_block(last_hash, self._level)
        copied = last - 1 if is_open else last
        if first < copied:
            file = self.begin_file()
            file.end_block()
            file.copy_blocks(blocks, first, copied)
        if is_open:
            # The block ended where the records did; those that follow belong to it as well.
            self.write_records(*blocks.records(copied))
        elif last == len(blocks):  # inside the file, a file does not end: the key is not known
            if is_end:
                self.end_file()
            else:
                self._end_file_if_full()

    def begin_file(self) -> _OpenFile:
        """The file being written: a new one, if the one before has ended."""
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
        """End the file being written here, if there is one."""
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
        """Wait for the oldest file to be stored, and keep it at hand if it is ours.

        A file that was there before may have other bytes, and its blocks other ends.
        """
        stored, file_id, content, summary = self._uploads.pop(0)
        if stored.result():
            self._committed.keep(self._namespace, file_id, content, summary)

    def write_part(self, blocks: StoredBlocks, part: Copied | Records) -> bytes:
        """Append a part of a changed file; its last key, or a bound of it inside the file."""
        if isinstance(part, Copied):
            self.copy_blocks(blocks, *part)
            return blocks.bound(part.last - 1)
        self.write_records(*part)
        return part.keys[-1]

    def finish(self) -> list[RangeHeader]:
        """End the last file; what was written, file by file, all of it stored."""
        self.end_file()
        while self._uploads:
            self._await_upload()
        return self._headers
