"""Reading the versions of ranges one after the other misses nothing that any of them names."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.entries import entry_value
from graveler.model import EMPTY_METARANGE, AddressType, Change, Entry, RangeHeader
from graveler.retention.liveness import live_addresses
from graveler.retention.ranges import RangeReader, read_metarange
from graveler.sstable import Table
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.lake import NAMESPACE

KEYS = 200


def change(number: int, version: int) -> Change:
    """A new object at one of the keys, or none any more."""
    key = b"%06d" % number
    if version == 0:
        return key, None
    address = f"data/p/{number}-{version}"
    return key, entry_value(Entry(address, AddressType.RELATIVE, 1, address, 1))


def history(
    files: MemoryCommittedFiles, edits: list[dict[int, int]], keys: int = KEYS
) -> dict[str, RangeHeader]:
    """The ranges of all commits of a history that begins with so many keys."""
    committed = Committed(files, breaking=Breaking(keys // 3))
    content = MetaRange(committed, NAMESPACE, EMPTY_METARANGE)
    headers: dict[str, RangeHeader] = {}
    for edit in [dict.fromkeys(range(keys), 1), *edits]:
        changes = [change(number, version) for number, version in sorted(edit.items())]
        applied = apply_changes(committed, content, iter(changes))
        content = MetaRange(committed, NAMESPACE, applied.metarange_id)
        for header in read_metarange(files.read_all, NAMESPACE, content.id) if content.id else ():
            headers[header.id] = header
    return headers


def all_addresses(files: MemoryCommittedFiles, headers: dict[str, RangeHeader]) -> set[str]:
    """What all ranges name, each of them read by itself."""
    return {
        address
        for range_id in headers
        for address in live_addresses(
            NAMESPACE,
            (
                value
                for _, value in Table.from_bytes(
                    range_id, files.read_all(NAMESPACE, range_id)
                ).scan()
            ),
        )
    }


EDITS = st.lists(
    st.dictionaries(st.integers(0, KEYS - 1), st.integers(0, 3), min_size=1, max_size=12),
    max_size=6,
)


@given(EDITS, st.randoms(use_true_random=False))
def test_nothing_is_missed_in_any_order(edits: list[dict[int, int]], random: Random) -> None:
    files = MemoryCommittedFiles()
    headers = history(files, edits)
    ordered = list(headers.values())
    random.shuffle(ordered)
    reader = RangeReader(files.read_all, NAMESPACE)
    found = {address for header in ordered for address in reader.addresses(header)}
    assert found == all_addresses(files, headers)


def test_equal_blocks_of_versions_are_not_read_again() -> None:
    files = MemoryCommittedFiles()
    headers = history(files, [{2500: version} for version in (2, 3)], keys=5000)
    ordered = sorted(headers.values(), key=lambda header: (header.min_key, header.id))
    reader = RangeReader(files.read_all, NAMESPACE)
    told = [address for header in ordered for address in reader.addresses(header)]
    assert set(told) == all_addresses(files, headers)
    again = 2 * 3 * 2 * 64  # two versions' blocks: the ends, and the one that differs
    assert len(told) < 5000 + again < sum(header.count for header in ordered)
