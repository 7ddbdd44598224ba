"""A way through the records of one file, in steps of equal blocks, of blocks, or of records."""

from bisect import bisect_left, bisect_right

from graveler.committed.blocks import StoredBlocks
from graveler.sstable import Block


class Walk:
    """Where one side of a comparison has come to in a file, a range or a metarange."""

    __slots__ = ("_records", "_start", "at", "blocks", "position")

    def __init__(self, blocks: StoredBlocks, start: bytes) -> None:
        self.blocks = blocks
        self._start = start
        self.at = blocks.find(start)  # the block
        self._records: Block | None = None  # of the block, once it was decoded
        self.position = 0  # how many of them have been taken

    @property
    def is_at_end(self) -> bool:
        """Whether no block is left."""
        return self.at >= len(self.blocks)

    @property
    def bound(self) -> bytes:
        """A key not less than the last of the block, and less than what follows it."""
        return self.blocks.bound(self.at)

    def next_record(self) -> tuple[bytes, bytes] | None:
        """The next record, which is not taken thereby."""
        while not self.is_at_end:
            keys, values = self._records or self._decode()
            if self.position < len(keys):
                return keys[self.position], values[self.position]
            self.skip_blocks(1)
        return None

    def skip_record(self) -> None:
        """Take the record that next_record told."""
        assert self._records is not None
        self.position += 1
        if self.position == len(self._records.keys):
            self.skip_blocks(1)

    def skip_equal(self, other: "Walk") -> bool:
        """Skip all blocks, from here on, that are the same bytes on the other's way as well.

        That is none unless both ways are at the start of a block.
        """
        if self.position or other.position:
            return False
        equal = self.blocks.equal_blocks(self.at, other.blocks, other.at)
        if equal:
            self.skip_blocks(equal)
            other.skip_blocks(equal)
        return equal > 0

    def take(self, last: bytes) -> Block:
        """The records up to key last."""
        keys: list[bytes] = []
        values: list[bytes] = []
        while not self.is_at_end:
            if self.at and self.blocks.bound(self.at - 1) >= last:
                break  # the block begins behind last, and need not be decoded
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
        """The records of the block."""
        records = self._records = self.blocks.block(self.at)
        self.position = bisect_left(records.keys, self._start)
        return records

    def skip_blocks(self, count: int) -> None:
        self.at += count
        self._records = None
        self.position = 0
