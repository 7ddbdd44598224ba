"""Separators: short keys that the index stores in place of the last key of a block.

The rules are LevelDB's. Any valid separator gives correct reads, but the choice decides the bytes.
"""

from graveler.sstable.block import shared_prefix_length
from graveler.sstable.format import EMPTY_TRAILER, RECORD_TRAILER, SEPARATOR_TRAILER


def separator(last: bytes, following: bytes) -> bytes:
    """Return the stored key that bounds a block: last <= separator < following, in users' keys.

    If possible, it is shortened to the common prefix and last's next byte plus one.
    """
    common = shared_prefix_length(last, following)
    if common == len(last):
        return last + RECORD_TRAILER
    # Raise the byte after the common prefix if the result is below following. Otherwise keep that
    # byte and raise a later one.
    if common < len(following) - 1 or last[common] + 1 < following[common]:
        return _raised(last, common)
    return _raised(last, common + 1)


def successor(last: bytes | None) -> bytes:
    """Return the stored key that bounds a table's last block; last is None without records."""
    return EMPTY_TRAILER if last is None else _raised(last, 0)


def _raised(key: bytes, start: int) -> bytes:
    """Raise the first byte from start on that is not 0xff, and cut the key behind it."""
    for position in range(start, len(key)):
        if key[position] != 0xFF:
            return key[:position] + bytes([key[position] + 1]) + SEPARATOR_TRAILER
    return key + RECORD_TRAILER
