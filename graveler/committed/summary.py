"""What a range's blocks add to the ID and the properties of another range that takes them over."""

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from graveler.identity import key_hash, record_id
from graveler.sstable import Block, BlockSize

_ID_BYTES = 32
# Of one block's size, as objects.
_SIZE_BYTES = 120


class RangeSummary:
    """The IDs of a range's records, in order, and the sizes of its blocks."""

    def __init__(self, record_ids: bytes, sizes: Sequence[BlockSize]) -> None:
        self.record_ids = record_ids
        self.sizes = sizes

    @cached_property
    def _starts(self) -> list[int]:
        """Where in record_ids each block's begin."""
        return list(accumulate((size.records * _ID_BYTES for size in self.sizes), initial=0))

    def ids_of(self, first: int, last: int) -> bytes:
        """The IDs of the records in the blocks from first up to, and not including, last."""
        return self.record_ids[self._starts[first] : self._starts[last]]

    @property
    def memory_bytes(self) -> int:
        """About what the summary takes in memory."""
        return len(self.record_ids) + _SIZE_BYTES * len(self.sizes)


def summarize(blocks: Sequence[Block]) -> RangeSummary:
    """The summary of a range, from all of its blocks."""
    record_ids = [
        record_id(key_hash(key), value)
        for keys, values in blocks
        for key, value in zip(keys, values, strict=True)
    ]
    return RangeSummary(b"".join(record_ids), [BlockSize.of(*block) for block in blocks])
