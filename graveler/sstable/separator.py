"""Separators: short keys that the index stores in place of the last key of a block.

LevelDB's rules. Which of the valid separators is taken changes no answer, but decides the bytes.
"""

from graveler.sstable.block import shared_prefix_length
from graveler.sstable.format import EMPTY_TRAILER, RECORD_TRAILER, SEPARATOR_TRAILER


def separator(last: bytes, following: bytes) -> bytes:
    """Return the stored key that bounds a block: last <= separator < following, in users' keys.

    Shortened to the common prefix and one byte more than last's where a shorter one exists.
    """
    common = shared_prefix_length(last, following)
    if common == len(last):
        return last + RECORD_TRAILER
    # The byte after the common prefix can be raised if that stays below following; otherwise it
    # must stay as it is, and any later byte will do.
    if common < len(following) - 1 or last[common] + 1 < following[common]:
        return _raised(last, common)
    return _raised(last, common + 1)


def successor(last: bytes | None) -> bytes:
    """The stored key that bounds the last block of a table; last is None if it has no records."""
    return EMPTY_TRAILER if last is None else _raised(last, 0)


def _raised(key: bytes, start: int) -> bytes:
    """Key cut after its first byte from start on that is not 0xff, and that byte raised by one."""
    for position in range(start, len(key)):
        if key[position] != 0xFF:
            return key[:position] + bytes([key[position] + 1]) + SEPARATOR_TRAILER
    return key + RECORD_TRAILER
