"""Applying changes gives the content that a dictionary would, under the ID of that content."""

from hypothesis import given
from hypothesis import strategies as st

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.model import EMPTY_METARANGE, Change
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import (
    NAMESPACE,
    Records,
    applied,
    changes_between,
    committed_in_memory,
    opened,
    read,
    write,
)
from tests.support.worlds.strategies import (
    breakings,
    paths,
    records,
    tight_breakings,
    values,
    variants,
)

changes = st.dictionaries(paths, st.none() | values, max_size=30).map(
    lambda chosen: sorted(chosen.items())
)
any_breaking = breakings | tight_breakings


@given(records, changes, any_breaking)
def test_a_commit_holds_what_the_changes_say(
    base: Records, changed: list[Change], breaking: Breaking
) -> None:
    committed, _ = committed_in_memory(breaking)
    old = write(committed, base)
    made = apply_changes(committed, old, changed)
    expected = applied(base, changed)
    assert read(opened(committed, made.metarange_id)) == expected
    assert made.counts.added == len(expected.keys() - base.keys())
    assert made.counts.removed == len(base.keys() - expected.keys())
    assert made.counts.changed == sum(base[k] != expected[k] for k in base.keys() & expected.keys())
    if not made.total:
        assert made.metarange_id == old.id


@given(records.flatmap(lambda base: st.tuples(st.just(base), variants(base))), breakings)
def test_the_way_to_a_content_leaves_no_trace_in_its_id(
    both: tuple[Records, Records], breaking: Breaking
) -> None:
    base, target = both
    committed, _ = committed_in_memory(breaking)
    changed = changes_between(base, target)
    made = apply_changes(committed, write(committed, base), changed)
    assert read(opened(committed, made.metarange_id)) == target
    assert made.metarange_id == write(committed, target).id


@given(st.lists(changes, min_size=1, max_size=6), breakings)
def test_a_row_of_commits_arrives_where_one_commit_does(
    row: list[list[Change]], breaking: Breaking
) -> None:
    committed, _ = committed_in_memory(breaking)
    head, expected = opened(committed, EMPTY_METARANGE), {}
    for changed in row:
        head = opened(committed, apply_changes(committed, head, changed).metarange_id)
        expected = applied(expected, changed)
    assert read(head) == expected
    if head.id:
        assert head.id == write(committed, expected).id


@given(records, changes, any_breaking, any_breaking)
def test_ranges_that_break_by_other_rules_are_no_obstacle(
    base: Records, changed: list[Change], theirs: Breaking, ours: Breaking
) -> None:
    """As after a change of the settings, or over ranges that lakeFS wrote."""
    files = MemoryCommittedFiles()
    old = write(Committed(files, breaking=theirs), base)
    committed = Committed(files, breaking=ours)
    made = apply_changes(committed, MetaRange(committed, NAMESPACE, old.id), changed)
    assert read(opened(committed, made.metarange_id)) == applied(base, changed)


@given(records, changes, any_breaking)
def test_a_commit_reads_only_ranges_that_its_changes_touch(
    base: Records, changed: list[Change], breaking: Breaking
) -> None:
    committed, files = committed_in_memory(breaking)
    old = write(committed, base)
    headers = list(old.headers())
    fresh = Committed(files, breaking=breaking)
    files.reads.clear()
    apply_changes(fresh, MetaRange(fresh, NAMESPACE, old.id), changed)
    was_read = {file_id for _, file_id in files.reads}
    for number, header in enumerate(headers):
        before = headers[number - 1].max_key if number else b""
        may_be_read = (
            # A change falls into it, or into the gap before it, where it belongs to this range;
            any(before < key <= header.max_key for key, _ in changed)
            # or what was before it runs on into it;
            or any(key == before and value is None for key, value in changed)
            or headers[number - 1].id in was_read
            # or it is the last, and goes on.
            or number == len(headers) - 1
        )
        assert header.id not in was_read or may_be_read
