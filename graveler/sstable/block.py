"""Blocks: sorted entries with shared key prefixes, then the offsets of the restart points.

    entry   = varint shared, varint unshared, varint value length, key suffix, value
    block   = entries, restart offsets (u32 each), number of restarts (u32)

`shared` is the length of the prefix that a key shares with the key before it. An entry that shares
none is a restart point. Source: LevelDB's table format, as pebble writes it
(docs/formats/sstable.md).
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, islice, takewhile
from operator import eq, lt
from struct import Struct, pack
from typing import NamedTuple

from graveler.sstable.format import RECORD_TRAILER, TRAILER_BYTES, VARINT, read_varint

# The first bytes of an entry; the restart points behind the last entry have at least as many.
_HEAD = Struct("4B")

RESTART_INTERVAL_MASK = 15  # every 16th record of a data block is a restart point


class Block(NamedTuple):
    """Records as two parallel lists in key order, which built-in functions process fast."""

    keys: list[bytes]
    values: list[bytes]

    @property
    def memory_bytes(self) -> int:
        """The memory of the block, about: the objects and the two lists."""
        payload = sum(map(len, self.keys)) + sum(map(len, self.values))
        return payload + 84 * len(self.keys) + 200


class BlockSize(NamedTuple):
    """The size of a data block, for the properties of its table."""

    records: int
    key_bytes: int  # stored keys, trailers included
    value_bytes: int

    @classmethod
    def of(cls, keys: Sequence[bytes], values: Sequence[bytes]) -> "BlockSize":
        """Return the size of a block of these records."""
        count = len(keys)
        return cls(count, sum(map(len, keys)) + count * TRAILER_BYTES, sum(map(len, values)))


def shared_prefix_length(one: bytes, other: bytes) -> int:
    """Return the length of the longest common prefix."""
    return sum(1 for _ in takewhile(bool, map(eq, one, other)))


def encode_block(entries: Iterable[tuple[bytes, bytes]], *, share_prefixes: bool = False) -> bytes:
    """Return a block of sorted entries; every entry is a restart point, or only the first.

    encode_records, or the writer's own loop, encodes data blocks.
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


def encode_records(keys: Sequence[bytes], values: Sequence[bytes]) -> bytes:
    """Return a data block of records; every 16th is a restart point.

    The length of a shared prefix comes from integers; `graveler.sstable.writer` explains how. The
    writer's own loop repeats this encoding, because a shared function costs 10 % of the time.

    Raises:
        ValueError: the keys do not ascend strictly.
    """
    varint, trailer, from_bytes = VARINT, RECORD_TRAILER, int.from_bytes
    parts: list[bytes] = []
    restarts: list[int] = []
    check_ascending(keys)
    size_bytes = last_length = last_number = 0
    for count, (key, value) in enumerate(zip(keys, values, strict=True)):
        number = from_bytes(key + b"\x01", "little")
        length = len(key)
        if count & RESTART_INTERVAL_MASK:
            difference = number ^ last_number
            shared = (difference & -difference).bit_length() - 1 >> 3
            if shared > last_length:
                shared = min(shared, last_length + TRAILER_BYTES, length)
            suffix = key[shared:] + trailer
        else:
            shared = 0
            suffix = key + trailer
            restarts.append(size_bytes)
        entry = varint[shared] + varint[len(suffix)] + varint[len(value)] + suffix + value
        parts.append(entry)
        size_bytes += len(entry)
        last_length, last_number = length, number
    parts.append(encode_restarts(restarts))
    return b"".join(parts)


def join_block(entries: Sequence[bytes]) -> bytes:
    """Return a block of encoded entries that are all restart points."""
    offsets = list(accumulate(map(len, entries), initial=0))
    return b"".join(entries) + encode_restarts(offsets[:-1])


def encode_restarts(restarts: list[int]) -> bytes:
    """Return the end of a block; a block without entries has one restart point as well."""
    offsets = restarts or [0]
    return pack(f"<{len(offsets) + 1}I", *offsets, len(offsets))


def decode_block(raw: bytes) -> Block:
    """Return the stored keys and the values of a block.

    One comparison recognizes the common case of small lengths. The end is checked once: if any
    entry runs over it, the last position differs from it.

    Raises:
        ValueError: the bytes are no block.
    """
    end = len(raw) - 4 - 4 * int.from_bytes(raw[-4:], "little")
    if end < 0:
        raise ValueError("a block is shorter than its list of restart points")
    keys: list[bytes] = []
    values: list[bytes] = []
    add_key, add_value, head = keys.append, values.append, _HEAD.unpack_from
    key = b""
    at = 0
    while at < end:
        shared, unshared, length, high = head(raw, at)
        if shared | unshared < 0x80 and (length < 0x80 or high < 0x80):
            if length < 0x80:
                at += 3
            else:
                length += high - 1 << 7
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
    """Return the records of a data block: users' keys, strictly ascending.

    Raises:
        ValueError: the bytes are no data block of plain values.
    """
    stored, values = decode_block(raw)
    keys = [key[:-TRAILER_BYTES] for key in stored]
    # One comparison of all trailers; a key that is shorter than a trailer makes it fail as well.
    if keys and b"".join(stored) != RECORD_TRAILER.join([*keys, b""]):
        raise ValueError("a record is not a plain value of sequence 0")
    check_ascending(keys)
    return Block(keys, values)


def find_record(raw: bytes, key: bytes) -> bytes | None:
    """Return the value of the user's key in a data block, decoding no more than that takes.

    The loop is decode_block's, without other values. None does not prove that the key is missing:
    the order of the keys is not checked.

    Raises:
        ValueError: the bytes are no block.
    """
    end = len(raw) - 4 - 4 * int.from_bytes(raw[-4:], "little")
    wanted = key + RECORD_TRAILER
    found = b""
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
        value_at = at + unshared
        found = found[:shared] + raw[at:value_at]
        at = value_at + length
        if found == wanted:
            if at > end:
                raise ValueError("an entry runs over the end of its block")
            return raw[value_at:at]
    return None


def check_ascending(keys: Sequence[bytes]) -> None:
    """Check that each key is greater than the one before it.

    Raises:
        ValueError: one is not.
    """
    if not all(map(lt, keys, islice(keys, 1, None))):
        raise ValueError("keys are out of order")
