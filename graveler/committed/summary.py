"""What a file's blocks add to the ID and the properties of a file into which they are copied.

A range holds its own summary in a meta block. So a commit that changes a few of its blocks need not
decode and hash the others. The block proves itself: the file's ID is the hash of the record IDs.
docs/formats/committed.md has its layout.
"""

import struct
from array import array
from collections.abc import Iterable
from hashlib import sha256
from itertools import accumulate

from graveler.committed.level import Level
from graveler.identity import record_ids
from graveler.sstable import Block, BlockSize

META_BLOCK = "graveler.summary"

ID_BYTES = 32
# An item of the arrays of sizes and of starts; arrays allocate an eighth more.
_SIZES_BYTES = 14
_START_BYTES = 9
_OBJECTS_BYTES = 700


class Summary:
    """The IDs of a file's records, in order, and the sizes of its blocks."""

    __slots__ = ("_starts", "key_bytes", "record_ids", "records", "value_bytes")

    def __init__(self) -> None:
        self.record_ids = b""
        self.records = array("I")
        self.key_bytes = array("I")
        self.value_bytes = array("I")
        self._starts: array[int] | None = None  # the first record of each block

    def __len__(self) -> int:
        return len(self.records)

    def add(self, size: BlockSize) -> None:
        """Append the size of a block."""
        self.records.append(size.records)
        self.key_bytes.append(size.key_bytes)
        self.value_bytes.append(size.value_bytes)

    def add_from(self, other: "Summary", first: int, last: int) -> None:
        """Append the sizes of the other's blocks from first up to, but not including, last."""
        self.records += other.records[first:last]
        self.key_bytes += other.key_bytes[first:last]
        self.value_bytes += other.value_bytes[first:last]

    def size(self, first: int, last: int) -> BlockSize:
        """Return the summed sizes of the blocks from first up to, but not including, last."""
        return BlockSize(
            sum(self.records[first:last]),
            sum(self.key_bytes[first:last]),
            sum(self.value_bytes[first:last]),
        )

    def ids(self, first: int, last: int) -> bytes:
        """Return the IDs of the records in the blocks from first up to, but not including, last."""
        if self._starts is None:
            self._starts = array("Q", accumulate(self.records, initial=0))
        begin, end = self._starts[first], self._starts[last]
        return self.record_ids[begin * ID_BYTES : end * ID_BYTES]

    @property
    def memory_bytes(self) -> int:
        """The memory that the summary takes, about."""
        return len(self.record_ids) + (_SIZES_BYTES + _START_BYTES) * len(self) + _OBJECTS_BYTES

    def encode(self) -> bytes:
        """Return the summary as the content of a meta block."""
        sizes = _sizes(len(self)).pack(*self.records, *self.key_bytes, *self.value_bytes)
        return sizes + self.record_ids


def decode_summary(encoded: bytes, blocks: int, file_id: str) -> Summary:
    """Return the summary that a file of so many blocks and with that ID holds.

    Raises:
        ValueError: it is not the summary of that file.
    """
    summary, layout = Summary(), _sizes(blocks)
    if len(encoded) < layout.size:
        raise ValueError(f"{len(encoded)} bytes are too few for a summary of {blocks} blocks")
    sizes = layout.unpack_from(encoded)
    summary.records.extend(sizes[:blocks])
    summary.key_bytes.extend(sizes[blocks : 2 * blocks])
    summary.value_bytes.extend(sizes[2 * blocks :])
    summary.record_ids = encoded[layout.size :]
    if len(summary.record_ids) != ID_BYTES * sum(summary.records):
        raise ValueError("the summary has another number of records than its blocks")
    if sha256(summary.record_ids).hexdigest() != file_id:
        raise ValueError("the summary is another file's")
    return summary


def _sizes(blocks: int) -> struct.Struct:
    """Return the layout of the sizes of so many blocks: records, then bytes of keys, of values."""
    return struct.Struct(f"<{3 * blocks}I")


def summarize(blocks: Iterable[Block], level: Level) -> Summary:
    """Return the summary of a file, from all of its blocks."""
    summary = Summary()
    ids: list[bytes] = []
    for keys, values in blocks:
        ids += record_ids(keys, map(level.identity, values))
        summary.add(BlockSize.of(keys, values))
    summary.record_ids = b"".join(ids)
    return summary
