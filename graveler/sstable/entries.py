"""Data blocks compared and changed as bytes, so that few of their records are decoded.

Theory of operation. Two versions of a block mostly differ in one or two records. Equal entries
behind equal keys hold equal records. So the comparison begins at a restart point and skips equal
bytes. It decodes a pair of records only where the bytes differ. A new value leaves the keys of its
block as they are, and so the bytes of all other entries.

Entries that are not decoded are not checked either. The block's checksum proves that they are what
was written. The same holds for equal blocks of two files and for blocks that a commit copies.
"""

from collections.abc import Sequence
from struct import pack, unpack_from
from typing import NamedTuple

from graveler.sstable.block import check_ascending
from graveler.sstable.format import RECORD_TRAILER, TRAILER_BYTES, VARINT, read_varint

# A user's key with its value in two blocks; None if a block has no such record.
Pair = tuple[bytes, bytes | None, bytes | None]

# The first different byte is found to this precision, which is less than an entry.
_PRECISION_BYTES = 32


def _read_parts(raw: bytes) -> tuple[int, tuple[int, ...]]:
    """Return where the entries of a block end, and where those at its restart points begin.

    Raises:
        ValueError: the bytes are no block.
    """
    count = int.from_bytes(raw[-4:], "little")
    end = len(raw) - 4 - 4 * count
    if end < 0:
        raise ValueError("a block is shorter than its list of restart points")
    return end, unpack_from(f"<{count}I", raw, end)


def _read_entry(raw: bytes, end: int, at: int, key: bytes) -> tuple[bytes, int, int]:
    """Return the stored key of the entry at `at`, where its value begins, and where it ends.

    key is the stored key before it, or empty if the entry is at a restart point.

    Raises:
        ValueError: there is no such entry before end.
    """
    shared, unshared, length, high = raw[at : at + 4]
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
    after = value_at + length
    if after > end:
        raise ValueError("an entry runs over the end of its block")
    return key[:shared] + raw[at:value_at], value_at, after


def _count_equal_bytes(one: bytes, at: int, other: bytes, other_at: int, most: int) -> int:
    """Return how many bytes from the two positions on are equal, up to most, or a few less."""
    equal = 0
    while most - equal > _PRECISION_BYTES:
        middle = equal + most >> 1
        if one[at + equal : at + middle] == other[other_at + equal : other_at + middle]:
            equal = middle
        else:
            most = middle
    return equal


class _Side:
    """The position in one of two blocks, at the start of an entry."""

    __slots__ = ("at", "end", "key", "raw", "restarts")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.end, self.restarts = _read_parts(raw)
        self.at = 0
        self.key = b""  # as stored, of the entry before

    def skip_equal(self, other: "_Side") -> None:
        """Move both behind entries of equal bytes; the keys before them must be equal."""
        begin, moved = self.at, other.at - self.at
        most = min(self.end - begin, other.end - other.at)
        until = begin + _count_equal_bytes(self.raw, begin, other.raw, other.at, most)
        # Both sides must be able to go on there without the key before.
        points = [at for at in self.restarts if at <= until and at + moved in other.restarts]
        if points and points[-1] > begin:
            self.at, self.key = points[-1], b""
        raw, at, key = self.raw, self.at, self.key
        while at < until:  # as _read_entry, which would take longer than all else here
            position = at + 3
            shared, unshared, length, high = raw[at : at + 4]
            if length > 0x7F:
                length += high - 1 << 7
                position += 1
            value_at = position + unshared
            after = value_at + length
            if after > until or shared | unshared | high > 0x7F or shared > len(key):
                break  # the entry differs, or is an unusual one
            key = key[:shared] + raw[position:value_at]
            at = after
        self.at, self.key = at, key
        other.at, other.key = self.at + moved, self.key

    def take(self) -> tuple[bytes, bytes]:
        """Return the next record, by the user's key, and move behind its entry.

        Raises:
            ValueError: it is no plain value.
        """
        self.key, value_at, after = _read_entry(self.raw, self.end, self.at, self.key)
        self.at = after
        if not self.key.endswith(RECORD_TRAILER):
            raise ValueError("a record is not a plain value of sequence 0")
        return self.key[:-TRAILER_BYTES], self.raw[value_at:after]


def differing_records(left_raw: bytes, right_raw: bytes) -> list[Pair]:
    """Return the records in which two data blocks differ, by key.

    Raises:
        ValueError: what had to be decoded is no data block of plain values.
    """
    left, right = _Side(left_raw), _Side(right_raw)
    one = other = None  # the next record of each side, if it is decoded
    found: list[Pair] = []
    while True:
        if one is None and other is None and left.key == right.key:
            if left_raw[left.at : left.end] == right_raw[right.at : right.end]:
                break
            left.skip_equal(right)
        if one is None and left.at < left.end:
            one = left.take()
        if other is None and right.at < right.end:
            other = right.take()
        if one is not None and other is not None and one[0] == other[0]:
            if one[1] != other[1]:
                found.append((one[0], one[1], other[1]))
            one = other = None
        elif one is not None and (other is None or one[0] < other[0]):
            found.append((*one, None))
            one = None
        elif other is not None:
            found.append((other[0], None, other[1]))
            other = None
        else:
            break
    check_ascending([key for key, _, _ in found])
    return found


class Replaced(NamedTuple):
    """A data block with new values, and what it had in their places."""

    raw: bytes
    places: list[int]  # the numbers of the records in the block
    values: list[bytes]

    @property
    def records_max(self) -> int:
        """The number of records, or more if keys or values hold what ends a stored key."""
        return self.raw.count(RECORD_TRAILER)


def replace_values(raw: bytes, records: Sequence[tuple[bytes, bytes]]) -> Replaced | None:
    """Return the data block with new values; None if it does not hold all of their keys.

    The bytes are those of encoding all records again.

    Args:
        raw: the block.
        records: users' keys, ascending, with their new values; at least one.

    Raises:
        ValueError: what had to be decoded is no data block.
    """
    end, restarts = _read_parts(raw)
    pieces: list[bytes] = []
    places: list[int] = []
    values: list[bytes] = []
    moves: list[tuple[int, int]] = []  # behind an offset, entries move by so many bytes
    copied = at = place = grown_bytes = 0
    stored = b""
    for key, value in records:
        wanted = key + RECORD_TRAILER
        while stored != wanted:
            if at >= end:
                return None
            begin = at
            stored, value_at, at = _read_entry(raw, end, begin, stored)
            place += 1
        _, head_end = read_varint(raw, begin)
        unshared, head_end = read_varint(raw, head_end)
        length = VARINT[len(value)]
        pieces += raw[copied:head_end], length, raw[value_at - unshared : value_at], value
        grown_bytes += head_end + len(length) + unshared + len(value) - at
        copied = at
        places.append(place - 1)
        values.append(raw[value_at:at])
        moves.append((begin, grown_bytes))
    pieces.append(raw[copied:end])
    if grown_bytes or any(by for _, by in moves):
        restarts = tuple(
            restart + max((move for move in moves if move[0] < restart), default=(0, 0))[1]
            for restart in restarts
        )
    pieces.append(pack(f"<{len(restarts) + 1}I", *restarts, len(restarts)))
    return Replaced(b"".join(pieces), places, values)
