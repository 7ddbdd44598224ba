"""Diffs show exactly what differs, in pages or whole, and leave equal ranges unread."""

from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.diff.two_way import diff
from tests.support.worlds.model import (
    NAMESPACE,
    Records,
    committed_in_memory,
    differences,
    write,
)
from tests.support.worlds.strategies import breakings, paths, records, tight_breakings, variants

pairs = records.flatmap(lambda left: st.tuples(st.just(left), variants(left)))
any_breaking = breakings | tight_breakings


@given(pairs, any_breaking, any_breaking)
def test_a_diff_is_what_dictionaries_say(
    both: tuple[Records, Records], one: Breaking, other: Breaking
) -> None:
    _, files = committed_in_memory()
    left = write(Committed(files, breaking=one), both[0])
    right = write(Committed(files, breaking=other), both[1])
    found = [(each.key, each.left, each.right) for each in diff(left, right)]
    assert found == differences(*both)


@given(pairs, any_breaking, paths | st.just(b""), st.none() | paths)
def test_a_part_of_a_diff_is_that_part(
    both: tuple[Records, Records], breaking: Breaking, start: bytes, end: bytes | None
) -> None:
    committed, _ = committed_in_memory(breaking)
    left, right = (write(committed, side) for side in both)
    found = [(each.key, each.left, each.right) for each in diff(left, right, start, end)]
    expected = differences(*both)
    assert found == [e for e in expected if start <= e[0] and (end is None or e[0] < end)]


@given(pairs, any_breaking)
def test_a_diff_reads_no_range_that_both_sides_share(
    both: tuple[Records, Records], breaking: Breaking
) -> None:
    committed, files = committed_in_memory(breaking)
    left, right = (write(committed, side) for side in both)
    left_ids = {header.id for header in left.headers()}
    right_ids = {header.id for header in right.headers()}
    fresh = Committed(files, breaking=breaking)
    files.reads.clear()
    list(diff(MetaRange(fresh, NAMESPACE, left.id), MetaRange(fresh, NAMESPACE, right.id)))
    was_read = {file_id for _, file_id in files.reads}
    # Ranges broken by size may share an ID at different places, where they must be read.
    if breaking.bytes_max > 1000:
        assert not was_read & left_ids & right_ids
    if left.id == right.id:
        assert not was_read


@given(pairs, any_breaking)
def test_turned_around_a_diff_is_turned_around(
    both: tuple[Records, Records], breaking: Breaking
) -> None:
    committed, _ = committed_in_memory(breaking)
    left, right = (write(committed, side) for side in both)
    there = [(each.key, each.left, each.right) for each in diff(left, right)]
    back = [(each.key, each.right, each.left) for each in diff(right, left)]
    assert there == back
