"""Merges keep to the concepts' table, whatever the ranges, and read what differs only."""

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.errors import MergeConflictError
from graveler.merge import merge
from graveler.model import RangeHeader, RangeID
from tests.support.worlds.model import (
    NAMESPACE,
    Conflict,
    Records,
    committed_in_memory,
    differences,
    merged,
    opened,
    read,
    same_records,
    write,
)
from tests.support.worlds.strategies import breakings, records, tight_breakings, variants

Sides = tuple[Records, Records, Records]
# Base, source, destination.
sides = records.flatmap(lambda base: st.tuples(st.just(base), variants(base), variants(base)))
any_breaking = breakings | tight_breakings
strategies = st.sampled_from(["", "source-wins", "dest-wins"])


def written(committed: Committed, three: Sides) -> tuple[MetaRange, MetaRange, MetaRange]:
    base, source, destination = (write(committed, side) for side in three)
    return base, source, destination


def merge_of(three: Sides, breaking: Breaking, strategy: str = "") -> Records | None:
    """The engine's merge; None for a conflict."""
    committed, _ = committed_in_memory(breaking)
    try:
        made = merge(committed, *written(committed, three), strategy)
    except MergeConflictError:
        return None
    return read(opened(committed, made.metarange_id))


def expected_merge(three: Sides, strategy: str = "") -> Records | None:
    try:
        return merged(*three, strategy)
    except Conflict:
        return None


@given(sides, any_breaking, strategies)
def test_a_merge_is_what_the_table_says(three: Sides, breaking: Breaking, strategy: str) -> None:
    found, expected = merge_of(three, breaking, strategy), expected_merge(three, strategy)
    if found is None or expected is None:
        assert found is expected
        return
    assert same_records(found, expected)
    # A record comes from the source where it changed something, else from the destination; where
    # the destination has not moved at all, the source is taken as it is.
    if three[0] != three[2]:
        assert found == expected


@given(sides, any_breaking)
def test_merging_into_a_branch_that_has_not_moved_gives_the_source(
    three: Sides, breaking: Breaking
) -> None:
    base, source, _ = three
    assert merge_of((base, source, base), breaking) == source


@given(sides, any_breaking)
def test_merging_an_unchanged_source_gives_the_destination(
    three: Sides, breaking: Breaking
) -> None:
    base, _, destination = three
    assert merge_of((base, base, destination), breaking) == destination


@given(sides, any_breaking)
def test_merging_equals_gives_the_equal(three: Sides, breaking: Breaking) -> None:
    base, side, _ = three
    found = merge_of((base, side, side), breaking)
    assert found is not None
    assert same_records(found, side)


@given(sides, any_breaking)
def test_both_directions_conflict_or_none_and_then_agree(three: Sides, breaking: Breaking) -> None:
    base, source, destination = three
    there = merge_of((base, source, destination), breaking)
    back = merge_of((base, destination, source), breaking)
    if there is None or back is None:
        assert there is back
    else:
        assert same_records(there, back)


@given(sides, any_breaking)
def test_the_strategies_are_each_others_mirror(three: Sides, breaking: Breaking) -> None:
    base, source, destination = three
    there = merge_of((base, source, destination), breaking, "source-wins")
    back = merge_of((base, destination, source), breaking, "dest-wins")
    assert there is not None
    assert back is not None
    assert same_records(there, back)


@given(sides, breakings)
def test_a_merge_has_the_id_of_its_content(three: Sides, breaking: Breaking) -> None:
    committed, _ = committed_in_memory(breaking)
    made = merge(committed, *written(committed, three), "source-wins")
    content = read(opened(committed, made.metarange_id))
    assert made.metarange_id == write(committed, content).id


# Sides that share a range are rare.
@settings(suppress_health_check=(*settings().suppress_health_check, HealthCheck.filter_too_much))
@given(sides, breakings, strategies)
def test_ranges_that_all_three_share_are_not_read(
    three: Sides, breaking: Breaking, strategy: str
) -> None:
    committed, files = committed_in_memory(breaking)
    metaranges = written(committed, three)
    shared = set.intersection(*({header.id for header in m.headers()} for m in metaranges))
    assume(shared)
    headers = list(metaranges[2].headers())
    fresh = Committed(files, breaking=breaking)
    files.reads.clear()
    try:
        base, source, destination = (MetaRange(fresh, NAMESPACE, m.id) for m in metaranges)
        merge(fresh, base, source, destination, strategy)
    except MergeConflictError:
        return
    was_read = {file_id for _, file_id in files.reads}
    changed = [key for key, _, _ in differences(three[0], three[1])]
    previous = RangeHeader(RangeID(""), b"", b"", 0, 0)
    for header in headers:
        may_be_read = (
            header == headers[-1]  # it may go on
            # A change lies in it or before it, or the range before it lost its end.
            or any(previous.max_key <= key <= header.max_key for key in changed)
            or previous.id in was_read
        )
        assert header.id not in was_read & shared or may_be_read
        previous = header
