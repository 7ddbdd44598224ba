"""The two levels of committed data: ranges hold records of objects, metaranges of ranges.

Both are files of sorted records under one formula of IDs, written, changed and compared by the
same code. What differs between them is said here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from graveler.entries import value_identity


@dataclass(frozen=True, slots=True)
class Level:
    """One kind of file."""

    kind: str  # its property `type`
    identity: Callable[[bytes], bytes]  # what of a stored value counts for its record's ID
    block_records: int  # of a data block, on average; a power of two


def _whole_value(stored: bytes) -> bytes:
    return stored


RANGES = Level("ranges", _whole_value, 16)
# A range is told by its ID. Its records are short, so that 32 of them fill a block of 4 KiB or so.
METARANGES = Level("metaranges", value_identity, 32)
