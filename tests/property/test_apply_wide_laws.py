"""Commits, merges and diffs of ranges that have many blocks, most of which do not change."""

from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, CacheSizes, Committed
from graveler.diff.two_way import diff
from graveler.errors import MergeConflictError
from graveler.merge import merge
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import (
    NAMESPACE,
    Conflict,
    Records,
    changes_between,
    committed_in_memory,
    differences,
    merged,
    opened,
    read,
    write,
)
from tests.support.worlds.strategies import wide_breakings, wide_records, wide_variants

rows = wide_records().flatmap(
    lambda base: st.tuples(st.just(base), wide_variants(base), wide_variants(base))
)
tight_breakings = st.builds(Breaking, st.just(300), bytes_max=st.sampled_from([2000, 9000]))


def check_headers(metarange: MetaRange) -> None:
    """A metarange says of its ranges what they hold."""
    for header in metarange.headers():
        end = header.max_key + b"\x00"
        keys = [key for key, _ in metarange.records(header.min_key, end)]
        assert (header.min_key, header.max_key) == (keys[0], keys[-1])
        assert header.count == len(keys)


@given(rows, wide_breakings | tight_breakings)
def test_a_row_of_commits_arrives_at_the_content_and_its_id(
    row: tuple[Records, ...], breaking: Breaking
) -> None:
    committed, files = committed_in_memory(breaking)
    head, before = write(committed, row[0]), row[0]
    for target in (*row[1:], row[0]):
        changed = changes_between(before, target)
        made = apply_changes(committed, head, changed)
        assert made.total == len(changed)
        head, before = opened(committed, made.metarange_id), target
        # Read by who wrote it, and by who finds it.
        assert read(head) == target
        found = MetaRange(Committed(files), NAMESPACE, head.id)
        assert read(found) == target
        assert all(found.get(key) == value for key, value in target.items())
        check_headers(found)
        if breaking.raggedness_records != 300:
            scratch, _ = committed_in_memory(breaking)
            assert head.id == write(scratch, target).id


@given(rows, wide_breakings)
def test_other_forms_of_the_same_ranges_are_read_in_their_form(
    row: tuple[Records, ...], breaking: Breaking
) -> None:
    """One process writes afresh what another wrote by changing; both keep reading."""
    files = MemoryCommittedFiles()
    caches = CacheSizes(2**16, 2**16, 2**16)
    one, other = (Committed(files, breaking=breaking, caches=caches) for _ in range(2))
    base, target, _ = row
    changed = changes_between(base, target)
    made = apply_changes(one, write(one, base), changed)
    afresh = write(other, target)
    assert afresh.id == made.metarange_id
    for committed in (one, other):
        found = opened(committed, afresh.id)
        assert read(found) == target
        assert all(found.get(key) == value for key, value in target.items())
        back = apply_changes(committed, found, changes_between(target, base))
        assert read(opened(committed, back.metarange_id)) == base


@given(rows, wide_breakings | tight_breakings, st.sampled_from(["", "source-wins", "dest-wins"]))
def test_a_merge_of_wide_ranges_is_what_the_table_says(
    row: tuple[Records, Records, Records], breaking: Breaking, strategy: str
) -> None:
    committed, _ = committed_in_memory(breaking)
    base, source, destination = (write(committed, side) for side in row)
    expected: Records | None = None
    try:
        expected = merged(*row, strategy)
    except Conflict:
        expected = None
    found: Records | None = None
    try:
        made = merge(committed, base, source, destination, strategy)
        found = read(opened(committed, made.metarange_id))
    except MergeConflictError:
        found = None
    assert found == expected


@given(rows, wide_breakings | tight_breakings, st.integers(0, 1000))
def test_a_diff_of_wide_ranges_is_what_dictionaries_say(
    row: tuple[Records, Records, Records], breaking: Breaking, start: int
) -> None:
    committed, _ = committed_in_memory(breaking)
    base = write(committed, row[0])
    changed = changes_between(row[0], row[1])
    made = apply_changes(committed, base, changed)
    after, scratch = opened(committed, made.metarange_id), write(committed, row[2])
    for left, right, expected in (
        (base, after, differences(row[0], row[1])),
        (after, scratch, differences(row[1], row[2])),
    ):
        found = [(each.key, each.left, each.right) for each in diff(left, right)]
        assert found == expected
        first = b"k%05d" % start
        part = [(each.key, each.left, each.right) for each in diff(left, right, first)]
        assert part == [each for each in expected if each[0] >= first]
