"""A change made in slices is the change made in one pass, wherever it was cut, and whoever did it."""

import json
from collections.abc import Iterator
from functools import partial

from hypothesis import event, given
from hypothesis import strategies as st

from graveler.committed.apply import apply_changes, apply_slice, assemble
from graveler.committed.counts import Counts
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import Slice, SliceResult, plan
from graveler.committed.store import Breaking, Committed
from graveler.committed.writer import breaks_after
from graveler.merge import merge_changes, plan_merge
from graveler.model import Change, MetaRangeID
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import (
    NAMESPACE,
    Records,
    applied,
    changes_between,
    committed_in_memory,
    id_of,
    merged,
    opened,
    read,
    write,
    write_as_lakefs,
)
from tests.support.worlds.strategies import (
    breakings,
    paths,
    records,
    tight_breakings,
    values,
    wide_breakings,
    wide_records,
    wide_variants,
)

weights = st.sampled_from([1, 1, 1, 210, 450])
few_changes = st.dictionaries(paths, st.none() | values, max_size=40).map(
    lambda chosen: sorted(chosen.items())
)


@st.composite
def many_changes(draw: st.DrawFn, of: Records) -> list[Change]:
    """Changes all over wide records: each key, or one beside it, may be put or deleted."""
    random = draw(st.randoms(use_true_random=False))
    rate, deletions = draw(st.sampled_from([0.02, 0.3, 1])), draw(st.sampled_from([0.1, 0.5, 0.9]))
    chosen = [b"k%05d" % n for n in range(2 * len(of) + 200) if random.random() < rate]
    value = draw(values)
    return [(key, None if random.random() < deletions else value) for key in chosen]


narrow = st.tuples(records, few_changes, breakings | tight_breakings)
tight = st.builds(Breaking, st.sampled_from([5, 40, 300]), bytes_max=st.sampled_from([900, 9000]))
wide = wide_records().flatmap(
    lambda base: st.tuples(
        st.just(base),
        wide_variants(base).map(lambda target: changes_between(base, target)) | many_changes(base),
        wide_breakings | tight | st.just(Breaking(5)),
    )
)


def between(changes: list[Change], start: bytes, end: bytes | None) -> Iterator[Change]:
    return (each for each in changes if start <= each[0] and (end is None or each[0] < end))


def as_json(data: dict[str, object]) -> dict[str, object]:
    """What another process gets to see of it."""
    return json.loads(json.dumps(data))


def in_slices(
    files: MemoryCommittedFiles,
    base_id: MetaRangeID,
    changes: list[Change],
    breaking: Breaking,
    weight: int,
) -> tuple[MetaRangeID, Counts, int]:
    """The metarange made by processes that share nothing but the files, the last slice first."""

    def fresh() -> tuple[Committed, MetaRange]:
        committed = Committed(files, breaking=breaking)
        return committed, MetaRange(committed, NAMESPACE, base_id)

    committed, base = fresh()
    parts = list(plan(base, breaking, partial(between, changes), slice_weight=weight))
    assert parts[0].start == b""
    assert parts[-1].end is None
    assert [part.end for part in parts[:-1]] == [part.start for part in parts[1:]]
    results = []
    for part in reversed(parts):
        carried = Slice.from_json(as_json(part.to_json()))
        assert carried == part
        mine = between(changes, carried.start, carried.end)
        result = apply_slice(*fresh(), carried, mine)
        results.append(SliceResult.from_json(as_json(result.to_json())))
        assert results[-1] == result
    made = assemble(committed, base, reversed(results))
    event(f"{min(len(parts), 5)} slices")
    return made.metarange_id, made.counts, len(parts)


@given(narrow | wide, weights)
def test_slices_make_what_one_pass_makes(
    change: tuple[Records, list[Change], Breaking], weight: int
) -> None:
    base, changes, breaking = change
    files = MemoryCommittedFiles()
    committed = Committed(files, breaking=breaking)
    old = write(committed, base)
    once = apply_changes(committed, old, changes)
    found, counts, _ = in_slices(files, old.id, changes, breaking, weight)
    assert found == once.metarange_id
    assert counts == once.counts
    expected = applied(base, changes)
    assert read(opened(committed, found)) == expected
    if breaking.bytes_max > 10_000 and once.total:
        assert found == id_of(expected, breaking)


@given(narrow | wide, st.data(), weights)
def test_slices_make_what_one_pass_makes_of_files_that_lakefs_wrote(
    change: tuple[Records, list[Change], Breaking],
    data: st.DataObject,
    weight: int,
) -> None:
    base, changes, breaking = change
    files = MemoryCommittedFiles()
    ends = data.draw(st.sets(st.sampled_from(sorted(base)), max_size=8)) if base else set()
    base_id = write_as_lakefs(files, base, ends)
    committed = Committed(files, breaking=breaking)
    old = opened(committed, base_id)
    assert read(old) == base
    once = apply_changes(committed, old, changes)
    found, counts, _ = in_slices(files, base_id, changes, breaking, weight)
    assert found == once.metarange_id
    assert counts == once.counts
    assert read(opened(committed, found)) == applied(base, changes)


@given(
    wide_records(),
    st.dictionaries(st.integers(0, 1200).map(lambda n: b"k%05d" % n), values, max_size=400),
    st.integers(2, 40).map(Breaking),
)
def test_additions_are_cut_wherever_they_end_ranges(
    base: Records, added: Records, breaking: Breaking
) -> None:
    """Also inside a range that holds all of the base, or where there is none."""
    files = MemoryCommittedFiles()
    base_id = write_as_lakefs(files, base, ())
    changes: list[Change] = sorted(added.items())
    committed = Committed(files, breaking=breaking)
    once = apply_changes(committed, opened(committed, base_id), changes)
    found, _, count = in_slices(files, base_id, changes, breaking, 1)
    assert found == once.metarange_id
    ends = [key for key in added if key not in base and breaks_after(key, breaking)]
    assert count == 1 + len(ends)


three_sides = wide_records().flatmap(
    lambda base: st.tuples(st.just(base), wide_variants(base), wide_variants(base))
)


@given(three_sides, wide_breakings | tight, st.sampled_from(["source-wins", "dest-wins"]))
def test_a_merge_in_slices_is_the_merge(
    sides: tuple[Records, Records, Records], breaking: Breaking, strategy: str
) -> None:
    committed, _ = committed_in_memory(breaking)
    base, source, destination = (write(committed, side) for side in sides)
    three = (base, source, destination)
    changes = partial(merge_changes, *three, strategy)
    once = apply_changes(committed, destination, changes())
    parts = list(plan_merge(committed, *three, strategy, slice_weight=1))
    event(f"{min(len(parts), 5)} slices")
    results = [
        apply_slice(committed, destination, part, changes(part.start, part.end)) for part in parts
    ]
    assert assemble(committed, destination, results) == once
    if sides[0] != sides[2]:
        assert read(opened(committed, once.metarange_id)) == merged(*sides, strategy)
