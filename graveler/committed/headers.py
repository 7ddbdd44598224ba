"""An open metarange file: the headers of its ranges, decoded once per block."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from graveler.entries import record_range
from graveler.errors import CorruptDataError
from graveler.model import RangeHeader
from graveler.sstable import Block, OpenTable

# The property that names the kind of refs in a dump's file; files of objects have none.
ENTITY = "entity"

# The objects of a header beside its keys and texts: the record, two integers, the list's item.
_HEADER_BYTES = 430


class FoundRange(NamedTuple):
    """A range, in the form that lookups need."""

    min_key: bytes
    name: str  # of its file in the caches
    header: RangeHeader


class Headers(NamedTuple):
    """The ranges of one block of a metarange, by their last keys."""

    max_keys: list[bytes]
    ranges: list[FoundRange]


class HeaderTable(OpenTable[Headers]):
    """The ranges of a metarange."""

    __slots__ = ()

    @property
    def is_of_dump(self) -> bool:
        """Whether the ranges hold refs instead of objects.

        Raises:
            CorruptDataError: as `properties`.
        """
        return ENTITY in self.properties

    def _held_form(self, block: Block) -> tuple[Headers, int]:
        folder = self.name.rpartition("/")[0]
        ranges: list[FoundRange] = []
        size_bytes = 2 * block.keys.__sizeof__() + 200
        last = None
        for key, value in zip(*block, strict=True):
            header = decode_header(key, value)
            if last is not None and header.min_key <= last:
                raise ValueError(f"the ranges up to {last!r} and {key!r} overlap")
            last = key
            name = f"{folder}/{header.id}"
            ranges.append(FoundRange(header.min_key, name, header))
            size_bytes += _HEADER_BYTES + 2 * len(key) + len(header.min_key) + len(name)
        return Headers(block.keys, ranges), size_bytes

    def find(self, key: bytes) -> FoundRange | None:
        """Return the only range that can hold the key: the first that does not end before it.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        # Every lookup runs this: `_held`, inlined.
        number = bisect_left(self._bounds, key)
        if number == len(self._bounds):
            return None
        partition = self._partitions[number] or self._load_partition(number)
        at = bisect_left(partition.bounds, key)
        held = partition.held[at]
        if held is None:
            held = self._load_block(partition, at)
        else:
            partition.used[at] = 1
        max_keys, ranges = held
        at = bisect_left(max_keys, key)
        if at < len(ranges):
            return ranges[at]
        # The key is between the block's last key and its bound: the next block has the range.
        return next(self.ranges(key), None)

    def ranges(self, start: bytes = b"") -> Iterator[FoundRange]:
        """Yield the ranges that may hold keys from start on, in order.

        Raises:
            CorruptDataError: a block that had to be read is not what was written.
        """
        for place in self._places_from(start):
            max_keys, ranges = self._held(*place)
            yield from ranges[bisect_left(max_keys, start) :]


def check_records(header: RangeHeader, first: bytes, last: bytes, count: int) -> None:
    """Check that a range holds the records that its metarange claims, by its ends and their number.

    Raises:
        CorruptDataError: it does not; the message does not name the file.
    """
    if (first, last, count) != (header.min_key, header.max_key, header.count):
        raise CorruptDataError(
            f"the file holds {count} records from {first!r} to {last!r}, but its metarange claims "
            f"{header.count} from {header.min_key!r} to {header.max_key!r}"
        )


def decode_header(key: bytes, value: bytes) -> RangeHeader:
    """Return the header that a metarange's record holds.

    Raises:
        ValueError: the record holds no header, or another range's.
    """
    try:
        header = record_range(value)
    except CorruptDataError as e:
        raise ValueError(str(e)) from e
    if not header.min_key <= header.max_key == key:
        raise ValueError(f"the range up to {key!r} claims {header.min_key!r} to {header.max_key!r}")
    return header
