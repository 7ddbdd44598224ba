"""An open table: opened from its last bytes, then one read for each block that is not held.

Theory of operation
-------------------
Footer, properties and index are at the end of the file. In the ranges that we write, a tail of
`TAIL_BYTES` holds all of them, so a lookup in an uncached file takes two reads: the tail and one
block. Anything outside the tail is read through the callback when it is needed.

In memory the index always has two levels: an index of a single block is one partition under a top
with one bound. A partition is decoded when a key in it is first looked up; then it holds the
decoded data blocks. If there is a cache for partitions, it evicts them. The tail stays; it is much
smaller, so that very many tables can be open. The subclass chooses the held form of data blocks:
for lookups of records (`graveler.sstable.reader.Table`), or of the things that records describe.

Each block is checked when it is read: its checksum, the order of its keys, and its bounds. Handles
must point where the file has blocks of that kind. A failed check raises CorruptDataError. Held
blocks are not checked again.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, NoReturn, Self, TypeVar

from graveler.errors import CorruptDataError
from graveler.sstable.block import Block, decode_block, decode_records
from graveler.sstable.block_cache import BlockCache
from graveler.sstable.format import (
    FOOTER_BYTES,
    INDEX_TYPE_SINGLE,
    INDEX_TYPE_TWO_LEVEL,
    PROPERTIES_BLOCK,
    Handle,
    decode_footer,
    open_block,
    read_handle,
)
from graveler.sstable.index import (
    Layout,
    Partition,
    decode_index,
    decoded_bytes,
    read_layout,
    top_bytes,
)

# Enough for footer, properties and index of a range of several MiB, in one request.
TAIL_BYTES = 64 * 1024

ReadBytes = Callable[[int, int], bytes]  # offset, length
B = TypeVar("B")
S = TypeVar("S")
T = TypeVar("T")

# The memory of an open table without tail and index: the object, its lists, name and callback.
_TABLE_BYTES = 900


class OpenTable(ABC, Generic[B]):
    """An open table that holds its blocks as B: immutable, and safe to share between threads."""

    __slots__ = (
        "__weakref__",
        "_blocks",
        "_bounds",
        "_handles",
        "_indexes",
        "_layout",
        "_partitions",
        "_properties",
        "_read",
        "_tail",
        "_tail_offset",
        "name",
        "size_bytes",
        "stated_keys",
    )

    def __init__(
        self,
        name: str,
        size_bytes: int,
        tail: bytes,
        read: ReadBytes,
        blocks: BlockCache | None,
        indexes: BlockCache | None,
    ) -> None:
        self.name = name
        self.size_bytes = size_bytes
        self._tail = tail
        self._tail_offset = size_bytes - len(tail)
        self._read = read
        self._blocks = blocks
        self._indexes = indexes
        self._layout = Layout(INDEX_TYPE_SINGLE, 0, 0, 0)
        self._properties = Handle(0, 0)
        self._bounds: list[bytes] = []
        self._handles: list[bytes] = []  # of the partitions, encoded
        # The first and the last key that the file states, if any.
        self.stated_keys: tuple[bytes | None, bytes | None] = (None, None)
        self._partitions: list[Partition[B] | None] = []

    @classmethod
    def open(
        cls,
        name: str,
        size_bytes: int,
        tail: bytes,
        read: ReadBytes,
        blocks: BlockCache | None = None,
        indexes: BlockCache | None = None,
    ) -> Self:
        """Return the table of a file; tail has its last bytes (TAIL_BYTES, or the whole file).

        read(offset, length) returns exactly those bytes of the file. Messages contain the name.
        Without the cache blocks, no block is held. Without the cache indexes, every decoded part of
        the index is held.

        Raises:
            CorruptDataError: the bytes are not the end of a table.
        """
        table = cls(name, size_bytes, tail, read, blocks, indexes)
        if size_bytes < FOOTER_BYTES:
            table._fail(0, f"{size_bytes} bytes are too few for an SSTable")
        if not FOOTER_BYTES <= len(tail) <= size_bytes:
            table._fail(0, f"{len(tail)} bytes are not the end of a file of {size_bytes}")
        table._open_ends()
        return table

    @classmethod
    def from_bytes(cls, name: str, content: bytes, blocks: BlockCache | None = None) -> Self:
        """Return the table of a whole file.

        Raises:
            CorruptDataError: the bytes are not the end of a table.
        """
        return cls.open(name, len(content), content, lambda _offset, _length: b"", blocks)

    @abstractmethod
    def _held_form(self, block: Block) -> tuple[B, int]:
        """Return the held form of a block, and the bytes of memory that it takes.

        Raises:
            ValueError: its records are not what the table should hold.
        """

    @property
    def properties(self) -> Mapping[str, bytes]:
        """The table's properties, decoded at each call, because callers seldom need them.

        Raises:
            CorruptDataError: they had to be read, and are not what was written.
        """
        return self._decode(self._properties, _decode_properties, 0, self.size_bytes)

    @property
    def memory_bytes(self) -> int:
        """The memory of the table, about, without the blocks and partitions in caches."""
        if self._indexes is None:
            index_bytes = decoded_bytes(self._layout, len(self._partitions))
        else:
            index_bytes = top_bytes(self._bounds)
        stated_bytes = sum(len(key) for key in self.stated_keys if key)
        return _TABLE_BYTES + 2 * len(self.name) + len(self._tail) + stated_bytes + index_bytes

    def give_up_partition(self, number: int) -> bool:
        """Drop the partition, unless it was used since its last turn; return whether it is gone."""
        partition = self._partitions[number]
        if partition is not None and 1 in partition.used:
            partition.used = bytearray(len(partition.bounds))
            return False
        self._partitions[number] = None
        return True

    def _places_from(self, start: bytes) -> Iterator[tuple[Partition[B], int]]:
        """Yield the places of the blocks that may have keys from start on, in order."""
        first = bisect_left(self._bounds, start)
        for number in range(first, len(self._bounds)):
            partition = self._partitions[number] or self._load_partition(number)
            bounds = partition.bounds
            for at in range(bisect_left(bounds, start) if number == first else 0, len(bounds)):
                yield partition, at

    def _held(self, partition: Partition[B], at: int) -> B:
        """Return the held form of the block, which is read if it is not held."""
        held = partition.held[at]
        if held is None:
            return self._load_block(partition, at)
        partition.used[at] = 1
        return held

    def _open_ends(self) -> None:
        """Read footer, metaindex, properties and the top of the index."""
        metaindex, index = self._footer()
        handle = self._meta_handle(PROPERTIES_BLOCK)
        if handle is None:
            self._fail(metaindex.offset, "the metaindex names no properties")
        properties = self._decode(handle, _decode_properties, 0, metaindex.offset)
        self._properties = handle
        self.stated_keys = properties.get("min_key"), properties.get("max_key")
        self._layout = self._check(handle.offset, read_layout, properties)
        if self._layout.index_type == INDEX_TYPE_TWO_LEVEL:
            self._bounds, self._handles = self._decode(
                index, decode_index, self._layout.data_bytes, handle.offset
            )
            self._partitions = [None] * len(self._handles)
        else:
            self._handles = [index.encode()]
            self._partitions = [None]
            _, (bounds, handles) = self._read_partition(0)
            self._bounds = bounds[-1:]
            self._hold_partition(0, Partition(bounds, handles, None))

    def _footer(self) -> tuple[Handle, Handle]:
        """Return the handles of metaindex and index."""
        offset = self.size_bytes - FOOTER_BYTES
        return self._check(offset, decode_footer, self._tail[-FOOTER_BYTES:])

    def _meta_handle(self, name: bytes) -> Handle | None:
        """Return the handle of the meta block of that name, or None."""
        metaindex, _ = self._footer()
        names, handles = self._decode(metaindex, decode_block, 0, self.size_bytes - FOOTER_BYTES)
        if name not in names:
            return None
        handle, _ = self._check(metaindex.offset, read_handle, handles[names.index(name)])
        return handle

    def meta_block(self, name: str) -> bytes | None:
        """Return the meta block that the writer was given under that name, or None.

        Raises:
            CorruptDataError: it is not what was written.
        """
        handle = self._meta_handle(name.encode())
        if handle is None:
            return None
        return self._decode(handle, bytes, self._layout.data_bytes, self._footer()[0].offset)

    def _forget_data(self) -> None:
        """Drop what the tail has before the index, unless the tail is the whole file.

        Only while no other thread has the table.
        """
        index_offset = self._handle(self._handles[0]).offset
        if self._tail_offset and self._tail_offset < index_offset <= self.size_bytes:
            self._tail = self._tail[index_offset - self._tail_offset :]
            self._tail_offset = index_offset

    def _read_partition(self, number: int) -> tuple[int, Block]:
        """Read a block of the index; return its offset, its bounds and its encoded handles."""
        handle = self._handle(self._handles[number])
        found = self._decode(handle, decode_index, self._layout.data_bytes, self.size_bytes)
        return handle.offset, found

    def _load_partition(self, number: int) -> Partition[B]:
        offset, (bounds, handles) = self._read_partition(number)
        if bounds[-1] != self._bounds[number]:
            self._fail(offset, "an index partition ends at another key than the index states")
        floor = self._bounds[number - 1] if number else None
        return self._hold_partition(number, Partition(bounds, handles, floor))

    def _hold_partition(self, number: int, partition: Partition[B]) -> Partition[B]:
        """Hold the partition if the cache admits it; return the held one, or else this one."""
        held = self._partitions[number]
        if held is not None:
            return held  # another thread was faster
        if self._indexes is None or self._indexes.admits_partition(
            self, number, partition.memory_bytes
        ):
            self._partitions[number] = partition
        return partition

    def _load_block(self, partition: Partition[B], at: int, raw: bytes | None = None) -> B:
        """Read the block, unless its raw form is given, and hold it; return the held form."""
        return self._hold_block(partition, at, self._read_block(partition, at, raw))

    def _hold_block(self, partition: Partition[B], at: int, block: Block) -> B:
        """Return the held form of the block; hold it if there is a cache."""
        try:
            held, size_bytes = self._held_form(block)
        except ValueError as e:
            self._fail(self._handle(partition.handles[at]).offset, str(e))
        if self._blocks is not None:
            self._blocks.hold(partition, at, held, size_bytes)
        return held

    def _held_raw(self, partition: Partition[B], at: int) -> bytes | None:
        """Return the data block's raw form, if that is held."""
        place = partition.raw[at]
        return None if place is None else place.raw

    def _read_raw(self, partition: Partition[B], at: int) -> bytes:
        """Read a data block and return its raw form; only the checksum is verified."""
        handle = self._handle(partition.handles[at])
        return self._check(
            handle.offset, open_block, self._stored(handle, 0, self._layout.data_bytes)
        )

    def _read_block(self, partition: Partition[B], at: int, raw: bytes | None = None) -> Block:
        """Return the records of a data block, checked."""
        raw = raw or self._held_raw(partition, at) or self._read_raw(partition, at)
        try:
            block = decode_records(raw)
        except ValueError as e:
            self._fail(self._handle(partition.handles[at]).offset, str(e))
        keys = block.keys
        if keys:
            floor = partition.floor_of(at)
            if keys[-1] > partition.bounds[at] or (floor is not None and keys[0] <= floor):
                offset = self._handle(partition.handles[at]).offset
                self._fail(offset, "a block holds keys outside its bounds")
        return block

    def _handle(self, encoded: bytes) -> Handle:
        handle, _ = self._check(0, read_handle, encoded)
        return handle

    def _decode(self, handle: Handle, decode: Callable[[bytes], T], low: int, high: int) -> T:
        """Return the decoded block at handle, which must lie between the offsets low and high."""
        stored = self._stored(handle, low, high)
        try:
            return decode(open_block(stored))
        except ValueError as e:
            raise CorruptDataError(f"{self.name}: offset {handle.offset}: {e}") from e

    def _stored(self, handle: Handle, low: int, high: int) -> bytes:
        """Return the stored bytes of the block at handle, unverified."""
        offset, length = handle.offset, handle.end - handle.offset
        if offset < low or handle.end > high:
            self._fail(offset, f"a block of {length} bytes is not between {low} and {high}")
        if offset >= self._tail_offset:
            at = offset - self._tail_offset
            stored = self._tail[at : at + length]
        else:
            stored = self._read(offset, length)
        if len(stored) != length:
            self._fail(offset, f"read {len(stored)} bytes instead of {length}")
        return stored

    def _check(self, offset: int, decode: Callable[[S], T], data: S) -> T:
        """Return the decoded data; report a failure as corruption at that offset."""
        try:
            return decode(data)
        except ValueError as e:
            raise CorruptDataError(f"{self.name}: offset {offset}: {e}") from e

    def _fail(self, offset: int, reason: str) -> NoReturn:
        raise CorruptDataError(f"{self.name}: offset {offset}: {reason}")


def _decode_properties(raw: bytes) -> dict[str, bytes]:
    names, values = decode_block(raw)
    return dict(zip([name.decode() for name in names], values, strict=True))
