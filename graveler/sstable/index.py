"""The index of an open table: where its data blocks are, and what is held of them decoded.

Bounds are users' keys: block i holds the keys k with bound[i-1] < k <= bound[i], so that
`bisect_left` finds the only block that can hold a key. A key can equal a bound and be in no block
(bounds are shortened), never in the next one.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from graveler.sstable.block import check_ascending, decode_block
from graveler.sstable.format import (
    INDEX_TYPE_SINGLE,
    INDEX_TYPE_TWO_LEVEL,
    TRAILER_BYTES,
    Handle,
    read_handle,
    read_varint,
)
from graveler.sstable.properties import (
    BYTEWISE,
    COMPARATOR,
    DATA_BLOCKS,
    DATA_SIZE,
    INDEX_KEY_IS_USER_KEY,
    INDEX_SIZE,
    INDEX_TYPE,
    INDEX_VALUE_IS_DELTA_ENCODED,
)

B = TypeVar("B")

# What decoding adds to an entry of an index: the bound as an object and its place, offset, length,
# and the places of the block; less what it is stored with (trailer, lengths, restart point).
_ENTRY_BYTES = 64
# A partition's lists and arrays as objects, and its place in the table.
_PARTITION_BYTES = 600


class Layout(NamedTuple):
    """What the properties of a table say of its other blocks."""

    index_type: int
    index_bytes: int  # before compression
    data_bytes: int  # all data blocks, which lie at the start of the file
    data_blocks: int


class RawBlock(Protocol):
    """A block that is held as it was encoded."""

    raw: bytes | None  # None as soon as it is not needed any more


class Partition(Generic[B]):
    """One decoded block of an index: a stretch of a table's data blocks, in parallel lists.

    held has what is held of each block; raw has those that were not decoded yet. used has a 1 where
    either was asked for since `BlockCache` last looked; whoever takes from them sets it.
    """

    __slots__ = ("__weakref__", "bounds", "floor", "held", "lengths", "offsets", "raw", "used")

    def __init__(self, bounds: list[bytes], handles: Sequence[Handle], floor: bytes | None) -> None:
        self.bounds = bounds
        self.offsets = array("Q", [offset for offset, _ in handles])
        self.lengths = array("Q", [length for _, length in handles])
        self.floor = floor  # stands before the first bound; None before a table's first block
        self.held: list[B | None] = [None] * len(bounds)
        self.raw: list[RawBlock | None] = [None] * len(bounds)
        self.used = bytearray(len(bounds))

    def handle(self, at: int) -> Handle:
        """Where the block lies."""
        return Handle(self.offsets[at], self.lengths[at])

    def floor_of(self, at: int) -> bytes | None:
        """A key less than every key of the block."""
        return self.bounds[at - 1] if at else self.floor


def decode_index(raw: bytes) -> tuple[list[bytes], list[Handle]]:
    """Bounds in users' keys, and the handles of the blocks that they bound.

    Raises:
        ValueError: the bytes are no block of an index.
    """
    keys, values = decode_block(raw)
    if not keys or len(min(keys, key=len)) < TRAILER_BYTES:
        raise ValueError("an index block is empty or has keys without trailers")
    bounds = [key[:-TRAILER_BYTES] for key in keys]
    check_ascending(bounds)
    handles = [read_handle(value)[0] for value in values]
    if max(map(max, handles)) >> 63:
        raise ValueError("an index block has a handle beyond any file")
    return bounds, handles


def read_layout(properties: Mapping[str, bytes]) -> Layout:
    """The layout of a table with these properties.

    Raises:
        ValueError: it is of a kind that this reader does not know.
    """
    if properties.get(COMPARATOR, BYTEWISE) != BYTEWISE:
        raise ValueError(f"keys are in the order of {properties[COMPARATOR]!r}, not of their bytes")
    for name in (INDEX_KEY_IS_USER_KEY, INDEX_VALUE_IS_DELTA_ENCODED):
        if properties.get(name, b"\x00") != b"\x00":
            raise ValueError(f"index with {name}, which format version 2 does not have")
    index_type = int.from_bytes(properties.get(INDEX_TYPE, b""), "little")
    if index_type not in {INDEX_TYPE_SINGLE, INDEX_TYPE_TWO_LEVEL}:
        raise ValueError(f"index type {index_type} is neither 0 nor 2")
    index_bytes, data_bytes, data_blocks = (
        read_varint(properties.get(name, b""), 0)[0]
        for name in (INDEX_SIZE, DATA_SIZE, DATA_BLOCKS)
    )
    return Layout(index_type, index_bytes, data_bytes, data_blocks)


def decoded_bytes(layout: Layout, partitions: int) -> int:
    """About what an index takes in memory when all of it is decoded, without the blocks."""
    entries = layout.data_blocks + partitions  # which the top of the index has, too
    return layout.index_bytes + _ENTRY_BYTES * entries + _PARTITION_BYTES * partitions
