"""The two levels of committed data, ranges and metaranges, and where a range or a block ends.

Ranges hold records of objects, metaranges records of ranges. Both are files of sorted records. One
formula gives their IDs, and the same code writes, changes and compares them. This module holds the
differences.
"""

from collections.abc import Callable

from msgspec import Struct

from graveler.entries import value_identity


class Level(Struct, frozen=True):
    """One kind of file."""

    kind: str  # its property `type`
    identity: Callable[[bytes], bytes]  # the part of a stored value that its record's ID covers
    block_records: int  # of a data block, on average; a power of two
    stores_summary: bool  # whether large files hold their summary


def _whole_value(stored: bytes) -> bytes:
    return stored


RANGES = Level("ranges", _whole_value, 16, stores_summary=True)
# A range is identified by its ID. Its record is short: 32 of them fill a block of about 4 KiB. A
# metarange holds no summary: each commit writes one, and summing one up is soon done.
METARANGES = Level("metaranges", value_identity, 32, stores_summary=False)


def ends_block(hash_of_key: bytes, level: Level) -> bool:
    """Return whether a data block ends after the key with that hash, whatever keys follow."""
    return not hash_of_key[8] & (level.block_records - 1)


def ends_range(hash_of_key: bytes, raggedness_records: int) -> bool:
    """Return whether a range ends after the key with that hash, whatever keys follow."""
    return int.from_bytes(hash_of_key[:8], "big") % raggedness_records == 0
