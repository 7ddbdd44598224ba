"""A table whose file is at hand: its data blocks as they are stored, compared, and decoded.

For whoever takes blocks over into another file, or looks for what differs between two. The bounds
are decoded at once; where the blocks lie, only as far as it is asked for.
"""

from bisect import bisect_left
from collections.abc import Sequence

from graveler.sstable.block import Block, decode_records
from graveler.sstable.format import (
    BLOCK_TRAILER_BYTES,
    VARINT,
    is_sealed,
    open_block,
    read_handle,
    read_varint,
    verify_block,
)
from graveler.sstable.opened import OpenTable

# What decoding adds to an entry of the index: bound, handle and extent as objects and their places.
_ENTRY_BYTES = 220
# The table without its file and its index: the object, its lists, name and callback.
_TABLE_BYTES = 2500


class WholeTable(OpenTable[Block]):
    """A table of records in one piece, opened by `from_bytes`; no decoded block is held."""

    __slots__ = ("_encoded_handles", "_extents", "bounds", "content")

    def _open_ends(self) -> None:
        self.content = self._tail
        super()._open_ends()
        self.bounds: list[bytes] = []
        self._encoded_handles: list[bytes] = []
        self._extents: list[tuple[int, int]] = []  # of all blocks, once they were decoded
        for number in range(len(self._handles)):
            offset, (bounds, handles) = self._read_partition(number)
            if self.bounds and bounds[0] <= self.bounds[-1]:
                self._fail(offset, "a partition of the index does not follow the one before")
            self.bounds += bounds
            self._encoded_handles += handles

    def _held_form(self, block: Block) -> tuple[Block, int]:
        return block, block.memory_bytes

    @property
    def memory_bytes(self) -> int:
        """About what the table takes in memory, its file included."""
        entries_bytes = self._layout.index_bytes + _ENTRY_BYTES * len(self)
        return self.content.__sizeof__() + entries_bytes + _TABLE_BYTES

    def __len__(self) -> int:
        return len(self.bounds)

    def find(self, key: bytes) -> int:
        """Return the block that holds the key, or would; behind the last bound there is none."""
        return bisect_left(self.bounds, key)

    def block(self, at: int) -> Block:
        """Return the records of a block.

        Raises:
            CorruptDataError: it is not what was written.
        """
        begin, end = self.extent(at)
        block = self._check(
            begin, lambda stored: decode_records(open_block(stored)), self.content[begin:end]
        )
        keys = block.keys
        if keys and (keys[-1] > self.bounds[at] or (at and keys[0] <= self.bounds[at - 1])):
            self._fail(begin, "a block holds keys outside its bounds")
        return block

    def stored_blocks(self, first: int, last: int) -> list[bytes]:
        """Return the blocks from first up to, and not including, last as they are stored, verified.

        Raises:
            CorruptDataError: one is not what was written.
        """
        if not self._extents:
            self._extents = self._check(0, _decode_extents, self._encoded_handles)
            if max(end for _, end in self._extents) > self._layout.data_bytes:
                self._fail(0, "a data block does not lie where there are any")
        content = self.content
        extents = self._extents[first:last]
        stored = [content[begin:end] for begin, end in extents]
        if not all(map(is_sealed, stored)):
            for (begin, _), block in zip(extents, stored, strict=True):
                self._check(begin, verify_block, block)
        return stored

    def equal_blocks(self, at: int, other: "WholeTable", other_at: int) -> int:
        """How many blocks from at on are stored as the same bytes as the other's from other_at on.

        Equal blocks hold equal records. They are counted in stretches that double while they are
        equal, and then halve: for equal files that costs little more than a look at their bytes.
        (Blocks end with checksums of theirs, so that equal bytes do not end them differently.)
        """
        most = min(len(self) - at, len(other) - other_at)
        equal, step = 0, 1
        while equal < most and self._equals(at + equal, other, other_at + equal, step):
            equal += step
            step = min(step * 2, most - equal)
        while step > 1:  # somewhere in the next `step` blocks is the first one that differs
            half = step // 2
            if self._equals(at + equal, other, other_at + equal, half):
                equal += half
                step -= half
            else:
                step = half
        return equal

    def _equals(self, at: int, other: "WholeTable", other_at: int, count: int) -> bool:
        """Return whether so many blocks from at and other_at on are stored as the same bytes."""
        begin, end = self.extent(at)[0], self.extent(at + count - 1)[1]
        other_begin, other_end = other.extent(other_at)[0], other.extent(other_at + count - 1)[1]
        # The one comparison of parts of bytes that neither copies them nor goes byte by byte.
        return end - begin == other_end - other_begin and self.content.startswith(
            memoryview(other.content)[other_begin:other_end], begin
        )

    def extent(self, at: int) -> tuple[int, int]:
        """Where a block, its trailer included, begins and ends in the file."""
        if self._extents:
            return self._extents[at]
        handle = self._handle(self._encoded_handles[at])
        end = handle.end
        if end > self._layout.data_bytes:
            self._fail(handle.offset, "a data block does not lie where there are any")
        return handle.offset, end


class _Lengths(dict[bytes, int]):
    """The number of every varint that is asked for."""

    def __missing__(self, encoded: bytes) -> int:
        number, end = read_varint(encoded, 0)
        if end != len(encoded):
            raise ValueError("a handle is longer than its two numbers")
        self[encoded] = number
        return number


def _decode_extents(handles: Sequence[bytes]) -> list[tuple[int, int]]:
    """Where each block, its trailer included, begins and ends.

    Blocks lie side by side, mostly, so that an offset is known before it is read.
    """
    varint, lengths = VARINT, _Lengths()
    extents: list[tuple[int, int]] = []
    end = 0
    for handle in handles:
        foreseen = varint[end]
        if handle.startswith(foreseen):
            begin, length = end, lengths[handle[len(foreseen) :]]
        else:
            begin, length = read_handle(handle)[0]
        end = begin + length + BLOCK_TRAILER_BYTES
        extents.append((begin, end))
    return extents
