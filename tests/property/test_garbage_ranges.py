"""Reading the versions of ranges one after the other misses nothing that any of them names."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.entries import entry_value, record_range
from graveler.errors import CorruptDataError
from graveler.model import EMPTY_METARANGE, AddressType, Change, Entry, MetaRangeID, RangeHeader
from graveler.retention.liveness import live_addresses
from graveler.retention.ranges import BLOCKS_MAX, MetarangeReader, RangeReader
from graveler.sstable import Table, TableInMemory
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


def metaranges(
    files: MemoryCommittedFiles,
    edits: list[dict[int, int]],
    keys: int = KEYS,
    records_per_range: int | None = None,
) -> list[MetaRangeID]:
    """The content of all commits of a history that begins with so many keys."""
    committed = Committed(files, breaking=Breaking(records_per_range or keys // 3))
    content = MetaRange(committed, NAMESPACE, EMPTY_METARANGE)
    made = []
    for edit in [dict.fromkeys(range(keys), 1), *edits]:
        changes = [change(number, version) for number, version in sorted(edit.items())]
        applied = apply_changes(committed, content, iter(changes))
        content = MetaRange(committed, NAMESPACE, applied.metarange_id)
        made += [content.id] if content.id else []
    return made


def headers_of(files: MemoryCommittedFiles, metarange_id: MetaRangeID) -> dict[str, RangeHeader]:
    """All ranges of a metarange, read by itself."""
    table = Table.from_bytes(metarange_id, files.read_all(NAMESPACE, metarange_id))
    return {header.id: header for header in (record_range(value) for _, value in table.scan())}


def history(
    files: MemoryCommittedFiles, edits: list[dict[int, int]], keys: int = KEYS
) -> dict[str, RangeHeader]:
    """The ranges of all commits of such a history."""
    headers: dict[str, RangeHeader] = {}
    for metarange_id in metaranges(files, edits, keys):
        headers |= headers_of(files, metarange_id)
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


@given(EDITS, st.randoms(use_true_random=False), st.sampled_from([1, 3, BLOCKS_MAX]))
def test_metaranges_in_any_order_name_every_range(
    edits: list[dict[int, int]], random: Random, blocks_max: int
) -> None:
    files = MemoryCommittedFiles()
    ids = metaranges(files, edits, records_per_range=2)
    random.shuffle(ids)
    reader = MetarangeReader(files.read_all, NAMESPACE, blocks_max)
    found = {header.id: header for each in ids for header in reader.headers(each)}
    expected = [headers_of(files, each) for each in ids]
    assert found == {name: header for each in expected for name, header in each.items()}


def test_blocks_that_metaranges_share_are_not_read_again() -> None:
    files = MemoryCommittedFiles()
    ids = metaranges(files, [{700: 2}, {1200: 2}], keys=2000, records_per_range=2)
    reader = MetarangeReader(files.read_all, NAMESPACE)
    first, second, third = (len(reader.headers(each)) for each in ids)
    assert 0 < second < first / 4
    assert 0 < third < first / 4
    assert reader.headers(ids[1]) == []


def test_damage_in_a_block_is_seen_in_each_metarange() -> None:
    """One that was read before vouches for equal bytes alone."""
    files = MemoryCommittedFiles()
    whole, other = metaranges(files, [{700: 2}], keys=2000, records_per_range=2)
    content = files.read_all(NAMESPACE, other)
    blocks = TableInMemory.from_bytes(other, content)
    for at in range(0, blocks.extent(len(blocks) - 1)[1], 997):
        damaged = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        files.files[NAMESPACE, other] = damaged
        reader = MetarangeReader(files.read_all, NAMESPACE)
        reader.headers(whole)
        with pytest.raises(CorruptDataError, match=other):
            reader.headers(other)


def test_a_metarange_that_is_read_again_after_a_failure_names_every_range() -> None:
    files = MemoryCommittedFiles()
    (name,) = metaranges(files, [], keys=2000, records_per_range=2)
    content = files.read_all(NAMESPACE, name)
    table = TableInMemory.from_bytes(name, content)
    at, _ = table.extent(len(table) - 1)
    files.files[NAMESPACE, name] = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    reader = MetarangeReader(files.read_all, NAMESPACE)
    with pytest.raises(CorruptDataError, match=name):
        reader.headers(name)
    files.files[NAMESPACE, name] = content
    assert {header.id for header in reader.headers(name)} == set(headers_of(files, name))
