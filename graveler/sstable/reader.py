"""Reading a table: opened from its last bytes, then one read per block that is not at hand.

Theory of operation
-------------------
Footer, properties and index lie at the end of the file. A tail of `TAIL_BYTES` holds all of them
for the ranges that we write, so a cold lookup is two reads: the tail and one block. Whatever does
not lie in the tail is read through the callback, when it is needed.

The index is two levels here, always: an index of a single block is one partition under a top with
one bound. A partition is decoded when a key first falls into it. Bounds are users' keys: block i
holds the keys k with bound[i-1] < k <= bound[i], so that `bisect_left` finds the only block that
can hold a key. A key can equal a bound and be in no block (bounds are shortened), never in the
next one.

Every block is checked when it is read: its checksum, the order of its keys, and that they stay
within its bounds; handles must lie where the file has blocks of that kind. Failing any of these
raises CorruptDataError. Decoded blocks go through the caller's cache and are not checked again.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple, NoReturn, Protocol, TypeVar

from graveler.errors import CorruptDataError
from graveler.sstable.block import Block, check_ascending, decode_block, decode_records
from graveler.sstable.format import (
    FOOTER_BYTES,
    INDEX_TYPE_SINGLE,
    INDEX_TYPE_TWO_LEVEL,
    TRAILER_BYTES,
    Handle,
    decode_footer,
    open_block,
    read_handle,
    read_varint,
    verify_block,
)
from graveler.sstable.properties import (
    BYTEWISE,
    COMPARATOR,
    DATA_BLOCKS,
    DATA_SIZE,
    INDEX_KEY_IS_USER_KEY,
    INDEX_TYPE,
    INDEX_VALUE_IS_DELTA_ENCODED,
)

# Enough for footer, properties and index of a range of several MiB, in one request.
TAIL_BYTES = 64 * 1024

BlockId = tuple[str, int]  # the file's name, and the block's offset in it
ReadBytes = Callable[[int, int], bytes]  # offset, length
S = TypeVar("S")
T = TypeVar("T")

# What an open table's properties and one decoded entry of its index take in memory; measured as
# 7.4 KB and 220 bytes for bounds of 30 bytes, and rounded up for longer ones.
_OPEN_TABLE_BYTES = 8_000
_INDEX_ENTRY_BYTES = 300

_NO_RECORDS = Block([], [])


class BlockCache(Protocol):
    """Keeps decoded blocks as long as it likes; `graveler.cache.BoundedCache` is one."""

    def get(self, block_id: BlockId, /) -> Block | None:
        """The block, if it is held."""

    def put(self, block_id: BlockId, block: Block, size_bytes: int, /) -> None:
        """Hold the block, which takes so much memory."""


class _NoCache:
    def get(self, _block_id: BlockId, /) -> None:
        return None

    def put(self, _block_id: BlockId, _block: Block, _size_bytes: int, /) -> None:
        return None


class BlockIndex(NamedTuple):
    """Where data blocks are, of a table or of one partition of its index: parallel lists.

    Block i holds the keys k with bounds[i-1] < k <= bounds[i]; floor stands before the first bound.
    """

    bounds: list[bytes]
    ids: list[BlockId]
    lengths: list[int]
    floor: bytes | None  # None before a table's first block


class _Layout(NamedTuple):
    """What the properties say of the file's other blocks."""

    index_type: int
    data_bytes: int  # all data blocks, which lie at the start of the file
    data_blocks: int


class Table:
    """An open table: immutable, and safe to share between threads."""

    def __init__(
        self, name: str, size_bytes: int, tail: bytes, read: ReadBytes, blocks: BlockCache | None
    ) -> None:
        self.name = name
        self.size_bytes = size_bytes
        self.properties: Mapping[str, bytes] = {}
        self._tail = tail
        self._tail_offset = size_bytes - len(tail)
        self._read = read
        cache: BlockCache = _NoCache() if blocks is None else blocks
        self._cached, self._keep = cache.get, cache.put
        self._layout = _Layout(INDEX_TYPE_SINGLE, 0, 0)
        self._bounds: list[bytes] = []
        self._handles: list[Handle] = []
        self._partitions: list[BlockIndex | None] = []

    @classmethod
    def open(
        cls,
        name: str,
        size_bytes: int,
        tail: bytes,
        read: ReadBytes,
        blocks: BlockCache | None = None,
    ) -> "Table":
        """The table of a file, of which tail holds the last bytes (TAIL_BYTES, or all of them).

        read(offset, length) answers with exactly those bytes of the file. The name tells files
        apart in the block cache, and in messages.

        Raises:
            CorruptDataError: the bytes are not the end of a table.
        """
        table = cls(name, size_bytes, tail, read, blocks)
        if size_bytes < FOOTER_BYTES:
            table._fail(0, f"{size_bytes} bytes are too few for an SSTable")
        if not FOOTER_BYTES <= len(tail) <= size_bytes:
            table._fail(0, f"{len(tail)} bytes are not the end of a file of {size_bytes}")
        table._open_ends()
        return table

    @classmethod
    def from_bytes(cls, name: str, content: bytes, blocks: BlockCache | None = None) -> "Table":
        """The table of a whole file.

        Raises:
            CorruptDataError: the bytes are not the end of a table.
        """
        return cls.open(name, len(content), content, lambda _offset, _length: b"", blocks)

    @property
    def index_size_bytes(self) -> int:
        """About what the table itself takes in memory, its whole index decoded: no blocks."""
        return len(self._tail) + _OPEN_TABLE_BYTES + _INDEX_ENTRY_BYTES * self._layout.data_blocks

    def get(self, key: bytes) -> bytes | None:
        """The value of the key, or None.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        keys, values = self._block_for(key)
        found = bisect_left(keys, key)
        if found < len(keys) and keys[found] == key:
            return values[found]
        return None

    def seek_ge(self, key: bytes) -> tuple[bytes, bytes] | None:
        """The first record whose key is not less, or None.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        keys, values = self._block_for(key)
        found = bisect_left(keys, key)
        if found < len(keys):
            return keys[found], values[found]
        for keys, values in self.blocks(key):
            return keys[0], values[0]
        return None

    def blocks(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Block]:
        """The records with start <= key < end, in order, block by block; no block is empty.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        first = bisect_left(self._bounds, start)
        for index in range(first, len(self._bounds)):
            partition = self._partitions[index] or self._load_partition(index)
            bounds, ids = partition.bounds, partition.ids
            for at in range(bisect_left(bounds, start) if index == first else 0, len(ids)):
                block = self._cached(ids[at]) or self._load_block(partition, at)
                keys, values = block
                if start:
                    low = bisect_left(keys, start)
                    if low:
                        keys, values = block = Block(keys[low:], values[low:])
                if end is not None and bounds[at] >= end:
                    high = bisect_left(keys, end)
                    if high:
                        yield Block(keys[:high], values[:high])
                    return
                if keys:
                    yield block

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """The records with start <= key < end, in order.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        for keys, values in self.blocks(start, end):
            yield from zip(keys, values, strict=True)

    def index(self) -> BlockIndex:
        """Every data block of the table, in order.

        Raises:
            CorruptDataError: the index is not what was written.
        """
        loaded = [each or self._load_partition(at) for at, each in enumerate(self._partitions)]
        if len(loaded) == 1:
            return loaded[0]
        bounds, ids, lengths, _ = zip(*loaded, strict=True)
        return BlockIndex(
            list(chain.from_iterable(bounds)),
            list(chain.from_iterable(ids)),
            list(chain.from_iterable(lengths)),
            None,
        )

    def stored_block(self, index: BlockIndex, at: int) -> bytes:
        """A data block as it is stored, its checksum verified.

        Raises:
            CorruptDataError: it is not what was written.
        """
        stored = self.unverified_block(index, at)
        self._check(index.ids[at][1], verify_block, stored)
        return stored

    def unverified_block(self, index: BlockIndex, at: int) -> bytes:
        """A data block as it is stored, good enough to be compared with another.

        Raises:
            CorruptDataError: it does not lie where tables have them.
        """
        handle = Handle(index.ids[at][1], index.lengths[at])
        return self._stored(handle, 0, self._layout.data_bytes)

    def block(self, index: BlockIndex, at: int) -> Block:
        """The records of one data block.

        Raises:
            CorruptDataError: it is not what was written.
        """
        return self._cached(index.ids[at]) or self._load_block(index, at)

    def _block_for(self, key: bytes) -> Block:
        """The only block that can hold the key."""
        index = bisect_left(self._bounds, key)
        if index == len(self._bounds):
            return _NO_RECORDS
        partition = self._partitions[index] or self._load_partition(index)
        at = bisect_left(partition.bounds, key)
        return self._cached(partition.ids[at]) or self._load_block(partition, at)

    def _open_ends(self) -> None:
        """Read footer, metaindex, properties and the top of the index."""
        footer_offset = self.size_bytes - FOOTER_BYTES
        metaindex, index = self._check(footer_offset, decode_footer, self._tail[-FOOTER_BYTES:])
        metas = self._decode(metaindex, decode_block, 0, footer_offset)
        handles = dict(zip(*metas, strict=True))
        if b"rocksdb.properties" not in handles:
            self._fail(metaindex.offset, "the metaindex names no properties")
        handle, _ = self._check(metaindex.offset, read_handle, handles[b"rocksdb.properties"])
        self.properties = self._decode(handle, _decode_properties, 0, metaindex.offset)
        self._layout = self._check(handle.offset, _read_layout, self.properties)
        if self._layout.index_type == INDEX_TYPE_TWO_LEVEL:
            self._bounds, self._handles = self._decode(
                index, _decode_index, self._layout.data_bytes, handle.offset
            )
            self._partitions = [None] * len(self._handles)
        else:
            self._handles = [index]
            self._partitions = [None]
            self._bounds = [self._load_partition(0).bounds[-1]]

    def _load_partition(self, index: int) -> BlockIndex:
        handle = self._handles[index]
        bounds, handles = self._decode(
            handle, _decode_index, self._layout.data_bytes, self.size_bytes
        )
        if self._bounds and bounds[-1] != self._bounds[index]:
            self._fail(handle.offset, "an index partition ends at another key than the index says")
        partition = BlockIndex(
            bounds,
            [(self.name, offset) for offset, _ in handles],
            [length for _, length in handles],
            self._bounds[index - 1] if index else None,
        )
        self._partitions[index] = partition
        return partition

    def _load_block(self, index: BlockIndex, at: int) -> Block:
        bounds, ids, lengths, floor = index
        handle = Handle(ids[at][1], lengths[at])
        block = self._decode(handle, decode_records, 0, self._layout.data_bytes)
        keys = block.keys
        if at:
            floor = bounds[at - 1]
        if keys and (keys[-1] > bounds[at] or (floor is not None and keys[0] <= floor)):
            self._fail(handle.offset, "a block holds keys outside its bounds")
        self._keep(ids[at], block, block.memory_bytes)
        return block

    def _decode(self, handle: Handle, decode: Callable[[bytes], T], low: int, high: int) -> T:
        """The decoded block at handle, which must lie between the offsets low and high."""
        stored = self._stored(handle, low, high)
        return self._check(handle.offset, lambda raw: decode(open_block(raw)), stored)

    def _stored(self, handle: Handle, low: int, high: int) -> bytes:
        """The block at handle as it is stored, unverified."""
        offset, length = handle.offset, handle.end - handle.offset
        if offset < low or handle.end > high:
            self._fail(offset, f"a block of {length} bytes does not lie between {low} and {high}")
        if offset >= self._tail_offset:
            at = offset - self._tail_offset
            stored = self._tail[at : at + length]
        else:
            stored = self._read(offset, length)
        if len(stored) != length:
            self._fail(offset, f"{len(stored)} bytes were read where there are {length}")
        return stored

    def _check(self, offset: int, decode: Callable[[S], T], data: S) -> T:
        """What the data decode to; failing to is corruption at that offset."""
        try:
            return decode(data)
        except ValueError as e:
            raise CorruptDataError(f"{self.name}: offset {offset}: {e}") from e

    def _fail(self, offset: int, reason: str) -> NoReturn:
        raise CorruptDataError(f"{self.name}: offset {offset}: {reason}")


def _decode_properties(raw: bytes) -> dict[str, bytes]:
    names, values = decode_block(raw)
    return dict(zip([name.decode() for name in names], values, strict=True))


def _decode_index(raw: bytes) -> tuple[list[bytes], list[Handle]]:
    """Bounds in users' keys, and the handles of the blocks that they bound."""
    keys, values = decode_block(raw)
    if not keys or len(min(keys, key=len)) < TRAILER_BYTES:
        raise ValueError("an index block is empty or has keys without trailers")
    bounds = [key[:-TRAILER_BYTES] for key in keys]
    check_ascending(bounds)
    return bounds, [read_handle(value)[0] for value in values]


def _read_layout(properties: Mapping[str, bytes]) -> _Layout:
    if properties.get(COMPARATOR, BYTEWISE) != BYTEWISE:
        raise ValueError(f"keys are in the order of {properties[COMPARATOR]!r}, not of their bytes")
    for name in (INDEX_KEY_IS_USER_KEY, INDEX_VALUE_IS_DELTA_ENCODED):
        if properties.get(name, b"\x00") != b"\x00":
            raise ValueError(f"index with {name}, which format version 2 does not have")
    index_type = int.from_bytes(properties.get(INDEX_TYPE, b""), "little")
    if index_type not in {INDEX_TYPE_SINGLE, INDEX_TYPE_TWO_LEVEL}:
        raise ValueError(f"index type {index_type} is neither 0 nor 2")
    data_bytes, _ = read_varint(properties.get(DATA_SIZE, b""), 0)
    data_blocks, _ = read_varint(properties.get(DATA_BLOCKS, b""), 0)
    return _Layout(index_type, data_bytes, data_blocks)
