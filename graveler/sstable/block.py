"""Blocks: sorted entries with their prefixes shared, then the offsets of the restart points.

    entry   = varint shared, varint unshared, varint value length, key suffix, value
    block   = entries, restart offsets (u32 each), number of restarts (u32)

`shared` counts the bytes that a key takes over from the key before it; a restart point is an entry
that takes over none.
"""

from collections.abc import Iterable
from itertools import islice, takewhile
from operator import eq, lt
from struct import pack
from typing import NamedTuple

from graveler.sstable.format import RECORD_TRAILER, TRAILER_BYTES, VARINT, read_varint


class Block(NamedTuple):
    """Records as two parallel lists in key order, so that callers can work at the speed of C."""

    keys: list[bytes]
    values: list[bytes]

    @property
    def memory_bytes(self) -> int:
        """About what the block takes in memory: objects, and the lists that point to them."""
        payload = sum(map(len, self.keys)) + sum(map(len, self.values))
        return payload + 84 * len(self.keys) + 200


def shared_prefix_length(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    return sum(1 for _ in takewhile(bool, map(eq, one, other)))


def encode_block(entries: Iterable[tuple[bytes, bytes]], *, share_prefixes: bool = False) -> bytes:
    """A block of entries already in order: all restart points, or only the first one.

    Data blocks restart at every 16th entry and are encoded by the writer's own loop.
    """
    parts: list[bytes] = []
    restarts: list[int] = []
    size_bytes = 0
    previous: bytes | None = None
    for key, value in entries:
        shared = 0
        if share_prefixes and previous is not None:
            shared = shared_prefix_length(previous, key)
        else:
            restarts.append(size_bytes)
        suffix = key[shared:]
        entry = VARINT[shared] + VARINT[len(suffix)] + VARINT[len(value)] + suffix + value
        parts.append(entry)
        size_bytes += len(entry)
        previous = key
    parts.append(encode_restarts(restarts))
    return b"".join(parts)


def encode_restarts(restarts: list[int]) -> bytes:
    """The end of a block; one without entries has one restart point all the same."""
    offsets = restarts or [0]
    return pack(f"<{len(offsets) + 1}I", *offsets, len(offsets))


def decode_block(raw: bytes) -> Block:
    """Keys as they are stored, and values.

    The common case of small lengths is told by one comparison, and the ends are checked once:
    anything that runs over the end of the entries misses that end exactly.

    Raises:
        ValueError: the bytes are no block.
    """
    end = len(raw) - 4 - 4 * int.from_bytes(raw[-4:], "little")
    if end < 0:
        raise ValueError("a block is shorter than its list of restart points")
    keys: list[bytes] = []
    values: list[bytes] = []
    add_key, add_value = keys.append, values.append
    key = b""
    at = 0
    while at < end:
        shared, unshared, length = raw[at], raw[at + 1], raw[at + 2]
        if shared | unshared < 0x80 and (length < 0x80 or raw[at + 3] < 0x80):
            if length < 0x80:
                at += 3
            else:
                length += raw[at + 3] - 1 << 7
                at += 4
        else:
            shared, at = read_varint(raw, at)
            unshared, at = read_varint(raw, at)
            length, at = read_varint(raw, at)
        if shared > len(key):
            raise ValueError("a key shares more than the key before it has")
        value_at = at + unshared
        key = key[:shared] + raw[at:value_at]
        at = value_at + length
        add_key(key)
        add_value(raw[value_at:at])
    if at != end:
        raise ValueError("an entry runs over the end of its block")
    return Block(keys, values)


def decode_records(raw: bytes) -> Block:
    """The records of a data block: users' keys, strictly ascending.

    Raises:
        ValueError: the bytes are no data block of plain values.
    """
    stored, values = decode_block(raw)
    keys = [key[:-TRAILER_BYTES] for key in stored if key.endswith(RECORD_TRAILER)]
    if len(keys) != len(stored):
        raise ValueError("a record is not a plain value of sequence 0")
    check_ascending(keys)
    return Block(keys, values)


def check_ascending(keys: list[bytes]) -> None:
    """Raise ValueError unless each key is greater than the one before it."""
    if not all(map(lt, keys, islice(keys, 1, None))):
        raise ValueError("keys are out of order")
