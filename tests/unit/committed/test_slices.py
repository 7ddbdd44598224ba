"""A large change is cut where its ranges end anyway, and a slice that fails leaves nothing behind."""

from collections.abc import Sequence

import pytest

from graveler.committed.apply import apply_slice, assemble
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import RANGE_WEIGHT, Slice, plan
from graveler.committed.store import Breaking, Committed
from graveler.committed.writer import breaks_after
from graveler.model import EMPTY_METARANGE, Change
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import (
    NAMESPACE,
    committed_in_memory,
    opened,
    read,
    token_value,
    write,
)

FEW = Breaking(10)


def key(number: int) -> bytes:
    return b"k%06d" % number


def puts(numbers: range) -> list[tuple[bytes, bytes]]:
    return [(key(number), token_value(f"new{number}")) for number in numbers]


def changes_of(changes: Sequence[Change]):
    return lambda start, end: (
        each for each in changes if start <= each[0] and (end is None or each[0] < end)
    )


def slices(base: MetaRange, changes: Sequence[Change], weight: int = 1) -> list[Slice]:
    return list(plan(base, FEW, changes_of(changes), slice_weight=weight))


def test_a_change_that_is_small_is_one_slice():
    committed, _ = committed_in_memory(FEW)
    base = write(committed, dict(puts(range(200))))
    assert slices(base, puts(range(3)), RANGE_WEIGHT + 4) == [Slice()]


def test_an_import_into_nothing_is_cut_where_its_ranges_end():
    committed, _ = committed_in_memory(FEW)
    changes = puts(range(300))
    ends = [key for key, _ in changes if breaks_after(key, FEW)]
    assert [each.end for each in slices(opened(committed, EMPTY_METARANGE), changes)] == [
        *(end + b"\x00" for end in ends),
        None,
    ]


def test_a_change_is_cut_behind_the_ranges_that_it_touches():
    committed, _ = committed_in_memory(FEW)
    base = write(committed, dict(puts(range(0, 600, 2))))
    headers = list(base.headers())
    changes = [(header.min_key, token_value("new")) for header in headers[:5]]
    ends = [each.end for each in slices(base, changes)]
    assert ends == [header.max_key + b"\x00" for header in headers[:4]] + [None]


def test_there_is_no_cut_behind_a_range_that_loses_its_end():
    committed, _ = committed_in_memory(FEW)
    base = write(committed, dict(puts(range(0, 600, 2))))
    first, second, *_ = base.headers()
    changes: Sequence[Change] = [(first.max_key, None), (second.max_key, token_value("new"))]
    assert slices(base, [*changes, (b"z", None)]) == [
        Slice(b"", second.max_key + b"\x00"),
        Slice(second.max_key + b"\x00"),
    ]


def test_a_plan_asks_for_the_changes_only_once_and_at_cuts():
    """So that it takes no more memory than a slice, and no more time than a pass."""
    committed, _ = committed_in_memory(FEW)
    base = write(committed, dict(puts(range(0, 600, 2))))
    changes = changes_of(puts(range(1, 600, 2)))
    asked = []

    def counted(start: bytes, end: bytes | None):
        asked.append((start, end))
        return changes(start, end)

    cuts = len(list(plan(base, FEW, counted, slice_weight=RANGE_WEIGHT + 20)))
    assert asked[0] == (b"", None)
    assert all(end == start + b"\x00" for start, end in asked[1:])
    assert cuts > 5
    assert len(asked) < 3 * cuts


class FullDisk(MemoryCommittedFiles):
    """Takes no files any more, once it is full."""

    is_full = False

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        if self.is_full:
            raise OSError("no space left")
        return super().write(namespace, file_id, content)


def test_a_slice_that_fails_has_no_result_and_another_try_has():
    files = FullDisk()
    committed = Committed(files, breaking=FEW)
    base = write(committed, dict(puts(range(0, 600, 2))))
    changes = changes_of(puts(range(1, 600, 2)))
    parts = list(plan(base, FEW, changes, slice_weight=1000))
    assert len(parts) > 2

    def made(part: Slice):
        fresh = Committed(files, breaking=FEW)
        there = MetaRange(fresh, NAMESPACE, base.id)
        return apply_slice(fresh, there, part, changes(part.start, part.end))

    results = [made(part) for part in parts[:-1]]
    files.is_full = True
    with pytest.raises(OSError, match="no space"):
        made(parts[-1])
    files.is_full = False
    results.append(made(parts[-1]))
    files.is_full = True
    with pytest.raises(OSError, match="no space"):
        assemble(committed, base, results)
    files.is_full = False
    after = opened(committed, assemble(committed, base, results).metarange_id)
    assert read(after) == dict(puts(range(0, 600, 2))) | dict(puts(range(1, 600, 2)))
