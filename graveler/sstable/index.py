"""The index of an open table: the positions of its data blocks, and the blocks that are held.

Bounds are users' keys: block i holds the keys k with bound[i-1] < k <= bound[i]. So `bisect_left`
finds the only block that can hold a key. Bounds are shortened: a key that equals a bound may be in
no block, but is never in the next one.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from graveler.sstable.block import Block, check_ascending, decode_block
from graveler.sstable.format import (
    INDEX_TYPE_SINGLE,
    INDEX_TYPE_TWO_LEVEL,
    TRAILER_BYTES,
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

# The memory that decoding adds to an entry of an index. Bound, handle and block need objects and
# places. The stored trailer, lengths and restart point go.
_ENTRY_BYTES = 88
# The stored trailer, lengths, restart point and handle of an entry.
_STORED_ENTRY_BYTES = 21
# A partition's list objects, and its place in the table.
_PARTITION_BYTES = 600


class Layout(NamedTuple):
    """The facts about a table's other blocks that its properties state."""

    index_type: int
    index_bytes: int  # before compression
    data_bytes: int  # all data blocks, which are at the start of the file
    data_blocks: int


class RawBlock(Protocol):
    """A block that is held in its encoded form."""

    raw: bytes | None  # None once it is not needed any more


class Partition(Generic[B]):
    """One decoded block of an index: neighbouring data blocks of a table, in parallel lists.

    Handles stay encoded until their block is read. Decoding them would be most of the work, and
    most are never used. held has the decoded blocks, raw the encoded ones. used has a 1 for each
    block that was used since its last turn in `BlockCache`. Every reader of a block sets it.
    """

    __slots__ = ("__weakref__", "bounds", "floor", "handles", "held", "raw", "used")

    def __init__(self, bounds: list[bytes], handles: list[bytes], floor: bytes | None) -> None:
        self.bounds = bounds
        self.handles = handles
        self.floor = floor  # the bound before the first; None in a table's first partition
        self.held: list[B | None] = [None] * len(bounds)
        self.raw: list[RawBlock | None] = [None] * len(bounds)
        self.used = bytearray(len(bounds))

    @property
    def memory_bytes(self) -> int:
        """The memory of the partition, about, without the blocks."""
        return top_bytes(self.bounds) + _PARTITION_BYTES

    def floor_of(self, at: int) -> bytes | None:
        """Return a key less than every key of the block."""
        return self.bounds[at - 1] if at else self.floor


def decode_index(raw: bytes) -> Block:
    """Return bounds as users' keys, and the handles of their blocks, still encoded.

    Raises:
        ValueError: the bytes are no block of an index.
    """
    keys, handles = decode_block(raw)
    if not keys or len(min(keys, key=len)) < TRAILER_BYTES:
        raise ValueError("an index block is empty or has keys without trailers")
    bounds = [key[:-TRAILER_BYTES] for key in keys]
    check_ascending(bounds)
    return Block(bounds, handles)


def read_layout(properties: Mapping[str, bytes]) -> Layout:
    """Return the layout of a table with these properties.

    Raises:
        ValueError: the table has features that this reader does not know.
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
    """Return the memory of a completely decoded index, about, without the blocks."""
    entries = layout.data_blocks + partitions  # the top of the index has an entry for each
    return layout.index_bytes + _ENTRY_BYTES * entries + _PARTITION_BYTES * partitions


def top_bytes(bounds: Sequence[bytes]) -> int:
    """Return the memory of the top of an index, about, without its partitions."""
    return sum(map(len, bounds)) + (_ENTRY_BYTES + _STORED_ENTRY_BYTES) * len(bounds)
