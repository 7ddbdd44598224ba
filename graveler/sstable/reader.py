"""Read the records of a table: by key, or in order.

Theory of operation. A lookup may be the only one that needs its block. So the first lookup decodes
the block only up to its record, and holds it raw; the next lookup decodes all of it. Faults that
the checksum cannot show (order, bounds) are checked by the complete decoding. A key is reported
missing only after the complete decoding of its block.
"""

from bisect import bisect_left
from collections.abc import Iterator

from graveler.sstable.block import Block, find_record
from graveler.sstable.index import Partition
from graveler.sstable.open_table import OpenTable

# The held form of a block, in key order. A look-up in a small dictionary touches far less memory
# than a bisection, and Python's garbage collector does not track dictionaries of bytes.
Records = dict[bytes, bytes]

# The memory of a bytes object beside its content.
_BYTES_OBJECT = 33


class Table(OpenTable[Records]):
    """A table of records."""

    __slots__ = ()

    def _open_ends(self) -> None:
        super()._open_ends()
        # The tail has few of a range's data blocks, and many ranges are open at a time.
        self._forget_data()

    def _held_form(self, block: Block) -> tuple[Records, int]:
        keys, values = block
        held = dict(zip(keys, values, strict=True))
        payload_bytes = sum(map(len, keys)) + sum(map(len, values))
        return held, payload_bytes + 2 * _BYTES_OBJECT * len(keys) + held.__sizeof__() + 16

    def get(self, key: bytes) -> bytes | None:
        """Return the value of the key, or None.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        # The hot path of every lookup: it avoids every call that it can.
        number = bisect_left(self._bounds, key)
        if number == len(self._bounds):
            return None
        partition = self._partitions[number] or self._load_partition(number)
        at = bisect_left(partition.bounds, key)
        held = partition.held[at]
        if held is None:
            return self._get_unheld(partition, at, key)
        partition.used[at] = 1
        return held.get(key)

    def _get_unheld(self, partition: Partition[Records], at: int, key: bytes) -> bytes | None:
        """Return the value of the key, or None; its block is not held in decoded form."""
        raw = self._held_raw(partition, at)
        if raw is None:
            raw = self._read_raw(partition, at)
            try:
                value = find_record(raw, key)
            except ValueError as e:
                self._fail(self._handle(partition.handles[at]).offset, str(e))
            if value is not None:
                if self._blocks is not None:
                    self._blocks.hold_raw(partition, at, raw)
                return value
        return self._load_block(partition, at, raw).get(key)

    def blocks(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Block]:
        """Yield the records with start <= key < end, in order, block by block; no block is empty.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        for partition, at in self._places_from(start):
            keys, values = self._block(partition, at)
            low = bisect_left(keys, start) if start else 0
            if end is not None and partition.bounds[at] >= end:
                high = bisect_left(keys, end)
                if low < high:
                    yield Block(keys[low:high], values[low:high])
                return
            if low < len(keys):
                yield Block(keys[low:], values[low:]) if low else Block(keys, values)

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yield the records with start <= key < end, in order.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        for keys, values in self.blocks(start, end):
            yield from zip(keys, values, strict=True)

    def _block(self, partition: Partition[Records], at: int) -> Block:
        held = partition.held[at]
        if held is not None:
            partition.used[at] = 1
            return Block(list(held), list(held.values()))
        block = self._read_block(partition, at)
        if self._blocks is not None:
            self._hold_block(partition, at, block)
        return block
