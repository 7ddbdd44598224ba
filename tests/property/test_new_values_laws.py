"""A commit of new values changes blocks in place, with the blocks of writing all records."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.apply import apply_changes
from graveler.committed.store import Breaking, Committed
from graveler.committed.summary import META_BLOCK
from graveler.model import Change
from graveler.sstable import TableInMemory
from graveler.sstable.properties import INDEX_SIZE
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import NAMESPACE, applied, opened, read, token_value, write

KEYS = [b"lake/table=%02d/part-%05d.parquet" % (n // 50, n) for n in range(700)]
BASE = {key: token_value(f"{n}") for n, key in enumerate(KEYS)}

# Entries with long metadata are large: some blocks then end by their size.
values = st.integers(0, 9).map(lambda n: token_value(f"new {n}")) | st.integers(1, 20_000).map(
    lambda n: token_value("long")[:33] + b"v" * n
)
new_values = st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=40)
deletions = st.dictionaries(st.sampled_from(KEYS), st.none(), max_size=3)


def ordered(changes: Mapping[bytes, bytes | None]) -> list[Change]:
    return sorted(changes.items())


@given(new_values.map(lambda new: {key: value[:400] for key, value in new.items()}))
def test_ranges_have_the_blocks_and_the_summary_of_writing_all_records(
    new: dict[bytes, bytes],
) -> None:
    breaking = Breaking(200)
    files, scratch = MemoryCommittedFiles(), MemoryCommittedFiles()
    committed = Committed(files, breaking=breaking)
    made = apply_changes(committed, write(committed, BASE), ordered(new))
    write(Committed(scratch, breaking=breaking), applied(BASE, ordered(new)))
    for (namespace, file_id), content in scratch.files.items():
        one = TableInMemory.from_bytes("once", content)
        other = TableInMemory.from_bytes("changed", files.files[namespace, file_id])
        assert one.stored_blocks(0, len(one)) == other.stored_blocks(0, len(other))
        assert one.meta_block(META_BLOCK) == other.meta_block(META_BLOCK)
        assert one.properties == {**other.properties, INDEX_SIZE: one.properties[INDEX_SIZE]}
    assert read(opened(Committed(files), made.metarange_id)) == applied(BASE, ordered(new))


@given(
    st.lists(st.tuples(new_values, deletions), min_size=1, max_size=3),
    st.sampled_from([Breaking(200), Breaking(1 << 60), Breaking(200, 12_000), Breaking(50, 3_000)]),
)
def test_new_values_of_any_size_arrive_among_deletions(
    commits: list[tuple[dict[bytes, bytes], dict[bytes, None]]], breaking: Breaking
) -> None:
    files = MemoryCommittedFiles()
    committed = Committed(files, breaking=breaking)
    head, expected = write(committed, BASE), dict(BASE)
    for new, deleted in commits:
        merged: dict[bytes, bytes | None] = {**new, **deleted}
        changes = ordered(merged)
        expected = applied(expected, changes)
        head = opened(committed, apply_changes(committed, head, changes).metarange_id)
    fresh = opened(Committed(files), head.id)
    assert read(fresh) == expected
    for header in fresh.headers():
        stored = len(files.files[NAMESPACE, header.id])
        assert breaking.bytes_max > 1 << 20 or stored < breaking.bytes_max + 80_000
