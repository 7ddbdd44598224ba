"""The work of an export is exactly the keys in which the head differs from any of its bases."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graveler.committed.store import Breaking
from graveler.export.record import Progress
from graveler.export.slices import slices_of
from graveler.export.work import ExportWork
from tests.support.worlds.model import Records, committed_in_memory, differences, write
from tests.support.worlds.strategies import breakings, paths, records, variants

heads = records.flatmap(
    lambda head: st.tuples(st.just(head), st.lists(variants(head), min_size=1, max_size=3))
)
Sides = tuple[Records, list[Records]]


def work_of(sides: Sides, breaking: Breaking) -> ExportWork:
    committed, _ = committed_in_memory(breaking)
    head, bases = sides
    return ExportWork(write(committed, head), [write(committed, base) for base in bases])


def expected(sides: Sides) -> list[tuple[bytes, bytes | None]]:
    head, bases = sides
    changed = {key for base in bases for key, _, _ in differences(base, head)}
    return [(key, head.get(key)) for key in sorted(changed)]


@given(heads, breakings)
def test_every_key_that_differs_from_any_base_is_yielded_once_and_in_order(sides, breaking):
    work = work_of(sides, breaking)
    assert list(work.changes()) == expected(sides)


@given(heads, breakings, paths | st.just(b""), st.none() | paths)
def test_changes_between_two_keys_are_those_of_all_changes(sides, breaking, start, end):
    found = list(work_of(sides, breaking).changes(start, end))
    assert found == [
        each for each in expected(sides) if start <= each[0] and (end is None or each[0] < end)
    ]


@given(heads, breakings, st.integers(1, 5))
def test_pauses_leave_nothing_out(sides, breaking, objects):
    pauses: list[int] = []
    work = replace(work_of(sides, breaking), pause=lambda: pauses.append(1))
    with patch("graveler.export.work._OBJECTS_BETWEEN_PAUSES", objects):
        assert list(work.changes()) == expected(sides)
    assert len(pauses) == len(list(work.ends(b"", objects)))
    # Each slice between two of them has at least this many objects on one side.
    assert len(pauses) * objects <= sum(map(len, (sides[0], *sides[1])))


@given(heads, breakings, st.integers(1, 9), st.none() | paths)
def test_slices_cover_what_is_left_of_the_work(sides, breaking, objects_min, after):
    work = work_of(sides, breaking)
    progress = Progress(after=after or b"", pieces=3)
    slices = slices_of(work, progress, objects_min)
    found = [each for s in slices for each in work.changes(s.start, s.end)]
    assert found == [each for each in expected(sides) if not after or each[0] > after]
    assert [s.piece for s in slices] == list(range(3, 3 + len(slices)))


@given(records, breakings)
def test_without_an_exported_commit_everything_is_copied(head, breaking):
    work = work_of((head, [{}]), breaking)
    assert list(work.changes()) == sorted(head.items())
    assert work.count() == work.head.count() == len(head)


@given(heads, breakings)
def test_the_work_is_counted(sides, breaking):
    if all(sides[1]):
        assert work_of(sides, breaking).count() == len(expected(sides))
