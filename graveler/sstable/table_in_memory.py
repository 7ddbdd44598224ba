"""A table whose complete file is in memory: its data blocks as stored bytes, compared or decoded.

For callers that copy blocks into another file, or compare two files. The bounds are decoded at
once, the positions of blocks when they are needed.
"""

from bisect import bisect_left
from collections.abc import Sequence

from graveler.sstable.block import Block, decode_records
from graveler.sstable.entries import Pair, Replaced, differing_records, replace_values
from graveler.sstable.format import (
    BLOCK_TRAILER_BYTES,
    is_sealed,
    open_block,
    read_handle,
    verify_block,
)
from graveler.sstable.open_table import OpenTable

# The memory that decoding adds to an index entry: bound, handle and extent, and their places.
_ENTRY_BYTES = 220
# The memory of a table without file and index: the object, its lists, name and callback.
_TABLE_BYTES = 2500
# So many positions are decoded one by one, before all of them are.
_SINGLE_EXTENTS_MAX = 64


class TableInMemory(OpenTable[Block]):
    """A table of records in memory, opened by `from_bytes`; it holds no decoded blocks."""

    __slots__ = ("_encoded_handles", "_extents", "_single_extents", "bounds", "content")

    def _open_ends(self) -> None:
        self.content = self._tail
        super()._open_ends()
        self.bounds: list[bytes] = []
        self._encoded_handles: list[bytes] = []
        self._extents: list[tuple[int, int]] = []  # of all blocks, once decoded
        self._single_extents = 0
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
        """The memory of the table, about, its file included."""
        entries_bytes = self._layout.index_bytes + _ENTRY_BYTES * len(self)
        return self.content.__sizeof__() + entries_bytes + _TABLE_BYTES

    def __len__(self) -> int:
        return len(self.bounds)

    def find(self, key: bytes) -> int:
        """Return the number of the block that can hold the key; len(self) if there is none."""
        return bisect_left(self.bounds, key)

    def block(self, at: int) -> Block:
        """Return the records of a block.

        Raises:
            CorruptDataError: the block is not what was written.
        """
        raw = self.raw_block(at)
        begin, _ = self.extent(at)
        block = self._check(begin, decode_records, raw)
        if not self._is_within(at, block.keys):
            self._fail(begin, "a block holds keys outside its bounds")
        return block

    def _is_within(self, at: int, keys: Sequence[bytes]) -> bool:
        """Return whether the ascending keys are within the bounds of a block."""
        bounds = self.bounds
        return not keys or (keys[-1] <= bounds[at] and (not at or keys[0] > bounds[at - 1]))

    def raw_block(self, at: int) -> bytes:
        """Return a block, uncompressed; only its checksum is verified.

        Raises:
            CorruptDataError: the checksum does not match.
        """
        begin, end = self.extent(at)
        return self._check(begin, open_block, self.content[begin:end])

    def differing_records(self, at: int, other: "TableInMemory", other_at: int) -> list[Pair]:
        """Return the records in which a block and one of the other table differ, by key.

        Hardly more than these records are decoded.

        Raises:
            CorruptDataError: a block is not what was written.
        """
        raw, other_raw = self.raw_block(at), other.raw_block(other_at)
        try:
            return differing_records(raw, other_raw)
        except ValueError:
            # The complete decoding tells what is wrong, or that nothing is.
            return _differences(self.block(at), other.block(other_at))

    def replace_values(self, at: int, records: Sequence[tuple[bytes, bytes]]) -> Replaced | None:
        """Return a block with new values of some keys; None if that takes a complete decoding.

        Hardly more than these records are decoded. Keys ascend; there is at least one.

        Raises:
            CorruptDataError: the block's checksum does not match.
        """
        try:
            return replace_values(self.raw_block(at), records)
        except ValueError:
            return None

    def stored_blocks(self, first: int, last: int) -> list[bytes]:
        """Return the stored bytes of the blocks from first up to, but not including, last.

        Their checksums are verified.

        Raises:
            CorruptDataError: one is not what was written.
        """
        content = self.content
        extents = self._all_extents()[first:last]
        stored = [content[begin:end] for begin, end in extents]
        if not all(map(is_sealed, stored)):
            for (begin, _), block in zip(extents, stored, strict=True):
                self._check(begin, verify_block, block)
        return stored

    def equal_blocks(self, at: int, other: "TableInMemory", other_at: int) -> int:
        """Return how many blocks from at on have the same bytes as the other's from other_at on.

        Blocks of equal bytes hold equal records. They are compared in stretches that double while
        they are equal, and then halve: equal files cost little more than comparing their bytes.
        (Each block ends with its checksum, so equal bytes have equal block ends.)
        """
        most = min(len(self) - at, len(other) - other_at)
        equal, step = 0, 1
        while equal < most and self._equals(at + equal, other, other_at + equal, step):
            equal += step
            step = min(step * 2, most - equal)
        while step > 1:  # the first different block is among the next `step` blocks
            half = step // 2
            if self._equals(at + equal, other, other_at + equal, half):
                equal += half
                step -= half
            else:
                step = half
        return equal

    def _equals(self, at: int, other: "TableInMemory", other_at: int, count: int) -> bool:
        """Return whether count blocks from at and other_at on have the same bytes."""
        begin, end = self.extent(at)[0], self.extent(at + count - 1)[1]
        other_begin, other_end = other.extent(other_at)[0], other.extent(other_at + count - 1)[1]
        # The only comparison of slices that neither copies them nor runs byte by byte.
        return end - begin == other_end - other_begin and self.content.startswith(
            memoryview(other.content)[other_begin:other_end], begin
        )

    def extent(self, at: int) -> tuple[int, int]:
        """Return where a block begins and ends in the file, its trailer included."""
        if self._extents:
            return self._extents[at]
        self._single_extents += 1
        if self._single_extents > _SINGLE_EXTENTS_MAX:
            return self._all_extents()[at]
        handle = self._handle(self._encoded_handles[at])
        end = handle.end
        if end > self._layout.data_bytes:
            self._fail(handle.offset, "a data block is outside the data blocks")
        return handle.offset, end

    def _all_extents(self) -> list[tuple[int, int]]:
        if not self._extents:
            self._extents = self._check(0, _decode_extents, self._encoded_handles)
            if max(end for _, end in self._extents) > self._layout.data_bytes:
                self._fail(0, "a data block is outside the data blocks")
        return self._extents


def _differences(left: Block, right: Block) -> list[Pair]:
    """Return the records in which two decoded blocks differ, by key."""
    lefts, rights = (dict(zip(*block, strict=True)) for block in (left, right))
    pairs = ((key, lefts.get(key), rights.get(key)) for key in sorted(lefts | rights))
    return [pair for pair in pairs if pair[1] != pair[2]]


def _decode_extents(handles: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return where each block begins and ends, its trailer included.

    Most blocks have a length of two bytes at an offset of three or four, which are decoded in line.
    """
    extents: list[tuple[int, int]] = []
    for handle in handles:
        if len(handle) == 5:
            a, b, c, low, high = handle
            if a > 127 and b > 127 and low > 127 and c < 128 and high < 128:
                begin = a - 128 | b - 128 << 7 | c << 14
                extents.append((begin, begin + (low - 128 | high << 7) + BLOCK_TRAILER_BYTES))
                continue
        elif len(handle) == 6:
            a, b, c, d, low, high = handle
            if a > 127 and b > 127 and c > 127 and low > 127 and d < 128 and high < 128:
                begin = a - 128 | b - 128 << 7 | c - 128 << 14 | d << 21
                extents.append((begin, begin + (low - 128 | high << 7) + BLOCK_TRAILER_BYTES))
                continue
        decoded, end = read_handle(handle)
        if end != len(handle):
            raise ValueError("a handle is longer than its two numbers")
        extents.append((decoded.offset, decoded.end))
    return extents
