"""Read the addresses in commits: every metarange and every range, whole and once.

Nothing is cached, and everything is checked: an overlooked record costs a live object.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256

from graveler.committed.headers import check_records
from graveler.entries import record_range
from graveler.errors import in_file
from graveler.layout import committed_uri
from graveler.model import MetaRangeID, RangeHeader
from graveler.retention.liveness import live_addresses
from graveler.sstable import TableInMemory

# A committed file's content, by namespace and ID.
ReadFile = Callable[[str, str], bytes]

# The blocks that a reader of metaranges remembers: 100 MB of digests.
BLOCKS_MAX = 1_000_000


class MetarangeReader:
    """Reads metaranges one after the other, in any order.

    The metaranges of branches and commits share most of their blocks. A block with the same bytes
    as an earlier one describes the same ranges. They were returned, so the block is not decoded
    again. blocks_max bounds the memory.
    """

    def __init__(self, read_file: ReadFile, namespace: str, blocks_max: int = BLOCKS_MAX) -> None:
        self._read_file = read_file
        self._namespace = namespace
        self._blocks_max = blocks_max
        self._decoded: set[bytes] = set()

    def headers(self, metarange_id: MetaRangeID) -> list[RangeHeader]:
        """Return the ranges of a metarange, without those of blocks that were read before.

        Raises:
            GravelerError: the file is missing, damaged, or not permitted to read; the message names
                it.
        """
        name = committed_uri(self._namespace, metarange_id)
        found: list[RangeHeader] = []
        new: set[bytes] = set()
        with in_file(name):
            content = self._read_file(self._namespace, metarange_id)
            table = TableInMemory.from_bytes(name, content)
            for at in range(len(table)):
                begin, end = table.extent(at)
                digest = sha256(content[begin:end]).digest()
                if digest in self._decoded:
                    continue
                found += map(record_range, table.block(at).values)
                new.add(digest)
        # If a block is damaged, nothing is returned: then remember none of the others.
        if len(self._decoded) + len(new) > self._blocks_max:
            self._decoded.clear()
        self._decoded |= new
        return found


class RangeReader:
    """Reads ranges one after the other, fastest in the order of their first keys.

    Ranges with close first keys are often versions of one range. A commit that changed a few
    objects left the other blocks unchanged. A block with the same bytes in the range before holds
    the same entries. Their addresses were returned, so the block is not decoded again.
    """

    def __init__(self, read_file: ReadFile, namespace: str) -> None:
        self._read_file = read_file
        self._namespace = namespace
        self._last: _Read | None = None

    def addresses(self, header: RangeHeader) -> Iterator[str]:
        """Yield the addresses in the namespace's data that the range's entries keep alive.

        Addresses that the range before keeps alive may be left out.

        Raises:
            GravelerError: as MetarangeReader, or the range differs from its metarange's header.
        """
        name = committed_uri(self._namespace, header.id)
        with in_file(name):
            content = self._read_file(self._namespace, header.id)
            read = _Read(TableInMemory.from_bytes(name, content))
            yield from live_addresses(self._namespace, read.new_values(self._last))
            read.check(header)
        self._last = read


class _Read:
    """A range, and the number of records in each block that was visited."""

    def __init__(self, table: TableInMemory) -> None:
        self._table = table
        self._counts: list[int] = []
        self._first = self._last = b""

    def new_values(self, before: "_Read | None") -> Iterator[bytes]:
        """Yield the values of the blocks that the range before does not have."""
        table, counts = self._table, self._counts
        end = len(table)
        while len(counts) < end:
            at = len(counts)
            # Always decode the first and last block: `check` needs their keys.
            if before is not None and 0 < at < end - 1:
                counts += before.counts_of_equal(table, at)[: end - 1 - at]
            if len(counts) == at:
                keys, values = table.block(at)
                counts.append(len(keys))
                if keys:
                    self._first = self._first or keys[0]
                    self._last = keys[-1]
                yield from values

    def counts_of_equal(self, other: TableInMemory, other_at: int) -> list[int]:
        """Return the counts of the blocks here that equal the other's from other_at on."""
        at = self._table.find(other.bounds[other_at])
        if at == len(self._table):
            return []
        equal = other.equal_blocks(other_at, self._table, at)
        return self._counts[at : at + equal]

    def check(self, header: RangeHeader) -> None:
        """Check that this is the range that the header describes.

        Raises:
            CorruptDataError: it is not.
        """
        check_records(header, self._first, self._last, sum(self._counts))
