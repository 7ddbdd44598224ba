"""A walk through the records of one file, by equal blocks, by blocks or by records."""

from bisect import bisect_left, bisect_right

from graveler.committed.blocks import StoredBlocks
from graveler.sstable import Block, Pair


class FileWalk:
    """The position of one side of a comparison in a file, a range or a metarange."""

    __slots__ = ("_records", "_start", "at", "blocks", "cut", "position")

    def __init__(self, blocks: StoredBlocks, start: bytes) -> None:
        self.blocks = blocks
        self._start = start
        self.at = blocks.find(start)  # the block
        self.cut = self.at if start else -1  # the block of which the walk may leave out records
        self._records: Block | None = None  # of the block, once decoded
        self.position = 0  # how many of them are consumed

    @property
    def is_at_end(self) -> bool:
        """Whether no block is left."""
        return self.at >= len(self.blocks)

    @property
    def bound(self) -> bytes:
        """A key from the block's last up to, but not including, the key that follows it."""
        return self.blocks.bound(self.at)

    def next_record(self) -> tuple[bytes, bytes] | None:
        """Return the next record without consuming it; None at the end."""
        while not self.is_at_end:
            keys, values = self._records or self._decode()
            if self.position < len(keys):
                return keys[self.position], values[self.position]
            self.skip_blocks(1)
        return None

    def skip_record(self) -> None:
        """Consume the record that next_record returned."""
        assert self._records is not None
        self.position += 1
        if self.position == len(self._records.keys):
            self.skip_blocks(1)

    def skip_equal(self, other: "FileWalk") -> bool:
        """Skip the next blocks whose bytes are equal on both sides; return whether there were any.

        There are none unless both sides are at the start of a block.
        """
        if self.position or other.position:
            return False
        equal = self.blocks.equal_blocks(self.at, other.blocks, other.at)
        if equal:
            self.skip_blocks(equal)
            other.skip_blocks(equal)
        return equal > 0

    def take_differing(self, other: "FileWalk") -> list[Pair] | None:
        """Consume the next block of both sides; return the records in which they differ.

        None, and nothing is consumed, unless both sides are at the start of a block and these end
        at the same bound.
        """
        at, other_at = self.at, other.at
        if self.position or other.position or at == self.cut or other_at == other.cut:
            return None
        if self.is_at_end or other.is_at_end or self.bound != other.bound:
            return None
        self.skip_blocks(1)
        other.skip_blocks(1)
        return self.blocks.differing_records(at, other.blocks, other_at)

    def take(self, last: bytes) -> Block:
        """Consume and return the records up to key last."""
        keys: list[bytes] = []
        values: list[bytes] = []
        while not self.is_at_end:
            if self.at and self.blocks.bound(self.at - 1) >= last:
                break  # the block begins behind last: do not decode it
            bound = self.bound
            records = self._records or self._decode()
            begin = self.position
            end = self.position = bisect_right(records.keys, last, begin)
            keys += records.keys[begin:end]
            values += records.values[begin:end]
            if end == len(records.keys):
                self.skip_blocks(1)
            if bound >= last:
                break
        return Block(keys, values)

    def _decode(self) -> Block:
        """Decode the block, and move to the first record from the walk's start on."""
        records = self._records = self.blocks.block(self.at)
        self.position = bisect_left(records.keys, self._start)
        return records

    def skip_blocks(self, count: int) -> None:
        """Move to the start of the block that is count blocks ahead."""
        self.at += count
        self._records = None
        self.position = 0
