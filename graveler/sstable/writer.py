r"""Write a table: from records to the bytes of a whole file.

Theory of operation
-------------------
The ends of blocks decide the bytes of a file. They also decide the estimated size, by which ranges
end. So the rules are exactly lakeFS's (pebble's):

- A block's size is its entries so far, 4 bytes per restart point, and 4 for their number.
- Before a record is added, the block is cut if its size is above 90 % of the target and would
  exceed the target with the record. The record counts as if it shared no prefix.
- A cut block is compressed and appended, and the index gets its separator and handle. The index
  block is cut by the same rule; then the index has two levels.
- The estimated size is the size of the appended blocks and of the open data and index blocks. A cut
  index partition does not count, so the estimate can shrink.

`add_many` is the hot loop: all its names are local, and varints of small numbers are dictionary
look-ups. The length of a shared prefix is computed from integers, without a loop. As little-endian
numbers, two stored keys first differ in the lowest nonzero byte of their exclusive or. A stored key
is the user's key, a byte 1 and seven zeros. So `key + b"\x01"` has the number of the stored key.
Because of the zeros behind its end, the result is capped. A key cannot share more than its length
with a smaller key: only the greater one has the byte 1 there.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

from graveler.sstable.block import (
    RESTART_INTERVAL_MASK,
    BlockSize,
    encode_block,
    encode_records,
    encode_restarts,
    join_block,
)
from graveler.sstable.format import (
    BLOCK_TRAILER_BYTES,
    PROPERTIES_BLOCK,
    RECORD_TRAILER,
    TRAILER_BYTES,
    VARINT,
    Handle,
    encode_footer,
    seal_block,
)
from graveler.sstable.properties import TableStatistics, table_properties
from graveler.sstable.separator import separator, successor

BLOCK_SIZE_BYTES = 4096
_HANDLE_BYTES_MAX = 20  # what the cut rule of the index assumes of a handle


class TableWriter:
    """Builds one table in memory; kind is its property `type`, `ranges` or `metaranges`.

    metadata is stored as user properties, beside min_key, max_key, count and estimated_size_bytes.
    """

    def __init__(
        self,
        kind: str,
        metadata: Mapping[str, str] | None = None,
        *,
        block_size_bytes: int = BLOCK_SIZE_BYTES,
        compress: bool = True,
    ) -> None:
        self._user_properties = {"type": kind, **(metadata or {})}
        self._block_size_bytes = block_size_bytes
        self._threshold_bytes = (block_size_bytes * 90 + 99) // 100
        self._compress = compress
        self._file: list[bytes] = []
        self._file_bytes = 0
        self._statistics = TableStatistics()
        self._first_key = b""
        self._last_key: bytes | None = None
        # The open data block.
        self._parts: list[bytes] = []
        self._restarts: list[int] = []
        self._block_bytes = 4
        self._block_records = 0
        # The open index block, as encoded entries, and the partitions before it.
        self._index: list[bytes] = []
        self._index_bytes = 4
        self._index_bound = b""
        self._partitions: list[tuple[bytes, list[bytes]]] = []
        # The last complete block added, whose bound depends on the next key.
        self._unbound: Handle | None = None

    @property
    def count(self) -> int:
        """The number of added records."""
        return self._statistics.records

    @property
    def estimated_size_bytes(self) -> int:
        """The size so far, as lakeFS estimates it: open blocks count uncompressed."""
        return self._file_bytes + self._block_bytes + self._index_bytes

    def add(self, key: bytes, value: bytes) -> None:
        """Add one record.

        Raises:
            ValueError: as add_many.
        """
        self.add_many((key,), (value,))

    def add_many(
        self, keys: Sequence[bytes], values: Sequence[bytes], size_bytes_max: int | None = None
    ) -> int:
        """Add records up to the first that makes the estimated size reach size_bytes_max.

        Returns:
            The number of added records: all of them if no maximum is given or reached.

        Raises:
            ValueError: a bug of the caller: the keys do not ascend strictly, or keys and values
                differ in number. The writer must not be used afterwards.
        """
        varint, trailer, from_bytes = VARINT, RECORD_TRAILER, int.from_bytes
        target, threshold = self._block_size_bytes, self._threshold_bytes
        parts, restarts = self._parts, self._restarts
        block_bytes, block_records = self._block_bytes, self._block_records
        last = self._last_key
        if last is None and keys:
            self._first_key = keys[0]
        last_length = len(last or b"")
        last_number = from_bytes((last or b"") + b"\x01", "little")
        room = self._room(size_bytes_max)
        added = 0
        for key, value in zip(keys, values, strict=True):
            if last is not None and key <= last:
                raise ValueError(f"keys must ascend: {key!r} after {last!r}")
            key_length, value_length = len(key), len(value)
            if block_bytes > threshold and block_records:
                stored_length = key_length + TRAILER_BYTES
                if target < (
                    block_bytes + stored_length + value_length + 4
                    + (0 if block_records & RESTART_INTERVAL_MASK else 4)
                    + len(varint[stored_length]) + len(varint[value_length])
                ):  # fmt: skip
                    self._cut_block(separator(last or b"", key))
                    block_bytes, block_records = 4, 0
                    room = self._room(size_bytes_max)
            number = from_bytes(key + b"\x01", "little")
            if block_records & RESTART_INTERVAL_MASK:
                difference = number ^ last_number
                shared = (difference & -difference).bit_length() - 1 >> 3
                if shared > last_length:
                    shared = min(shared, last_length + TRAILER_BYTES)
                suffix = key[shared:] + trailer
            else:
                shared = 0
                suffix = key + trailer
                restarts.append(block_bytes - 4 - 4 * len(restarts))
                block_bytes += 4
            head = varint[shared] + varint[len(suffix)] + varint[value_length]
            parts += head, suffix, value
            block_bytes += len(head) + len(suffix) + value_length
            block_records += 1
            added += 1
            last, last_length, last_number = key, key_length, number
            if block_bytes >= room:
                break
        self._last_key = last
        self._block_bytes, self._block_records = block_bytes, block_records
        statistics = self._statistics
        statistics.records += added
        statistics.key_bytes += sum(map(len, islice(keys, added))) + added * TRAILER_BYTES
        statistics.value_bytes += sum(map(len, islice(values, added)))
        return added

    def add_block(self, keys: Sequence[bytes], values: Sequence[bytes]) -> BlockSize:
        """Add records as one complete data block, whatever its size; return its size.

        A table is written either block by block or record by record.

        Raises:
            ValueError: the keys do not ascend strictly, also after those added before.
        """
        if self._last_key is None:
            self._first_key = keys[0]
        elif keys[0] <= self._last_key:
            raise ValueError(f"keys must ascend: {keys[0]!r} after {self._last_key!r}")
        else:
            self._bound_block(separator(self._last_key, keys[0]))
        self._unbound = self._append(encode_records(keys, values), compress=self._compress)
        self._last_key = keys[-1]
        size = BlockSize.of(keys, values)
        self._count_blocks(1, size)
        return size

    def add_stored_blocks(
        self,
        stored: Sequence[bytes],
        bounds: Sequence[bytes],
        size: BlockSize,
        *,
        after: bytes,
        first: bytes,
    ) -> None:
        """Add neighbouring data blocks of another table as their stored bytes.

        Args:
            stored: the blocks.
            bounds: for each block, a key from its last on that is less than the next record's. If
                nothing follows, the last bound is the last key.
            size: the size of all blocks together.
            after: such a bound for the records added before.
            first: the first key, used if no records were added before.

        Raises:
            ValueError: after or the first bound is less than a key added before.
        """
        if self._last_key is None:
            self._first_key = first
        elif not self._last_key <= after < bounds[0]:
            raise ValueError(f"keys must ascend: {after!r}, {bounds[0]!r} after {self._last_key!r}")
        else:
            self._bound_block(after + RECORD_TRAILER)
        offset = self._file_bytes
        lengths = list(map(len, stored))
        for length, bound in zip(lengths[:-1], bounds, strict=False):
            self._enter_block(bound + RECORD_TRAILER, offset, length - BLOCK_TRAILER_BYTES)
            offset += length
        self._unbound = Handle(offset, lengths[-1] - BLOCK_TRAILER_BYTES)
        self._file += stored
        self._file_bytes = self._unbound.end
        self._last_key = bounds[-1]
        self._count_blocks(len(stored), size)

    def _count_blocks(self, blocks: int, size: BlockSize) -> None:
        statistics = self._statistics
        statistics.data_blocks += blocks
        statistics.records += size.records
        statistics.key_bytes += size.key_bytes
        statistics.value_bytes += size.value_bytes

    def _bound_block(self, bound: bytes) -> None:
        """Add the last complete block to the index, now that its bound is known."""
        if self._unbound is not None:
            self._enter_block(bound, *self._unbound)
            self._unbound = None

    def finish(self, meta_blocks: Mapping[str, bytes] | None = None) -> bytes:
        """Return the whole file; nothing can be added afterwards.

        meta_blocks are stored as they are, by names that begin with `graveler.`. Readers that do
        not know them ignore them, and the estimated size does not count them.
        """
        properties = {
            "min_key": self._first_key,
            "max_key": self._last_key or b"",
            "count": str(self.count).encode(),
            "estimated_size_bytes": str(self.estimated_size_bytes).encode(),
        } | {name: value.encode() for name, value in self._user_properties.items()}
        if self._unbound is not None:
            self._bound_block(successor(self._last_key))
        else:
            self._cut_block(successor(self._last_key))
        self._statistics.data_bytes = self._file_bytes
        metas = {
            name.encode(): self._append(block, compress=False)
            for name, block in (meta_blocks or {}).items()
        }
        index = self._append_index()
        properties |= table_properties(self._statistics, compress=self._compress)
        entries = sorted((name.encode(), value) for name, value in properties.items())
        encoded = encode_block(entries, share_prefixes=True)
        metas[PROPERTIES_BLOCK] = self._append(encoded, compress=False)
        entries = [(name, metas[name].encode()) for name in sorted(metas)]
        metaindex = self._append(encode_block(entries), compress=False)
        self._file.append(encode_footer(metaindex, index))
        return b"".join(self._file)

    def _room(self, size_bytes_max: int | None) -> float:
        """Return the size of the open data block at which the estimate reaches the maximum."""
        if size_bytes_max is None:
            return float("inf")
        return size_bytes_max - self._file_bytes - self._index_bytes

    def _append(self, raw: bytes, *, compress: bool) -> Handle:
        stored = seal_block(raw, compress=compress)
        handle = Handle(self._file_bytes, len(stored) - 5)
        self._file.append(stored)
        self._file_bytes = handle.end
        return handle

    def _cut_block(self, bound: bytes) -> None:
        """Append the open data block, and add it to the index under its bound."""
        self._parts.append(encode_restarts(self._restarts))
        handle = self._append(b"".join(self._parts), compress=self._compress)
        self._parts.clear()
        self._restarts.clear()
        self._block_bytes, self._block_records = 4, 0
        self._statistics.data_blocks += 1
        self._enter_block(bound, *handle)

    def _enter_block(self, bound: bytes, offset: int, length: int) -> None:
        varint, bound_length = VARINT, len(bound)
        handle = varint[offset] + varint[length]
        size_bytes = self._index_bytes
        if size_bytes > self._threshold_bytes:
            added = bound_length + _HANDLE_BYTES_MAX + 9 + len(varint[bound_length])
            if self._index and size_bytes + added > self._block_size_bytes:
                self._partitions.append((self._index_bound, self._index))
                self._index, size_bytes = [], 4
        entry = b"\x00" + varint[bound_length] + varint[len(handle)] + bound + handle
        self._index.append(entry)
        self._index_bytes = size_bytes + len(entry) + 4
        self._index_bound = bound

    def _append_index(self) -> Handle:
        """Append the index: one block, or its partitions and a block over them."""
        statistics = self._statistics
        if not self._partitions:
            raw = join_block(self._index)
            statistics.index_bytes = len(raw) + 5
            return self._append(raw, compress=self._compress)
        self._partitions.append((self._index_bound, self._index))
        top: list[tuple[bytes, bytes]] = []
        for bound, partition in self._partitions:
            raw = join_block(partition)
            statistics.index_bytes += len(raw)
            top.append((bound, self._append(raw, compress=self._compress).encode()))
        raw = encode_block(top)
        statistics.index_partitions = len(self._partitions)
        statistics.top_index_bytes = len(raw)
        statistics.index_bytes += len(raw) + 5
        return self._append(raw, compress=self._compress)
