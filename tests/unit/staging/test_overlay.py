"""Staged changes hide what is committed, the newest first, wherever a reader jumps."""

from collections.abc import Iterator

import pytest

from graveler.diff.two_way import Difference
from graveler.model import Change
from graveler.staging.overlay import (
    StagedChanges,
    effective_changes,
    live_records,
    newest_changes,
    overlaid_differences,
)
from tests.support.model import committed_in_memory, token_records, token_value, write

A, B = token_value("A"), token_value("B")


def test_the_newest_change_of_a_path_wins():
    newest = [(b"a", b"1"), (b"c", None)]
    older = [(b"a", b"2"), (b"b", b"2"), (b"c", b"2")]
    oldest = [(b"b", None), (b"d", b"3")]
    expected = [(b"a", b"1"), (b"b", b"2"), (b"c", None), (b"d", b"3")]
    assert list(newest_changes([newest, older, oldest])) == expected
    assert list(newest_changes([])) == []


def test_staged_values_replace_and_tombstones_hide_committed_records():
    committed = [(b"b", A), (b"d", A), (b"f", A)]
    changes = [(b"a", B), (b"b", B), (b"c", None), (b"d", None), (b"g", B), (b"h", None)]
    assert list(live_records(iter(changes), iter(committed))) == [
        (b"a", B),
        (b"b", B),
        (b"f", A),
        (b"g", B),
    ]
    assert list(live_records(iter([]), iter(committed))) == committed


class Scans:
    """What a store holds, and from where it was asked."""

    def __init__(self, amount: int) -> None:
        self.changes: list[Change] = [(b"%06d" % number, b"x") for number in range(amount)]
        self.starts: list[bytes] = []

    def __call__(self, start: bytes) -> Iterator[Change]:
        self.starts.append(start)
        return iter([change for change in self.changes if change[0] >= start])


def first_after_jumps(scans: Scans, jumps: list[int]) -> list[bytes | None]:
    staged = StagedChanges(scans, b"")
    return [next((path for path, _ in staged.from_path(b"%06d" % to)), None) for to in jumps]


@pytest.mark.parametrize(
    "jumps", [[0, 999, 1000], [0, 1000], [500, 1200, 2999], [0, 500, 1500, 2100], [0, 2999, 3000]]
)
def test_jumps_of_any_length_arrive(jumps):
    found = first_after_jumps(Scans(3000), jumps)
    assert found == [b"%06d" % to if to < 3000 else None for to in jumps]


def test_short_jumps_ask_the_store_once():
    scans = Scans(3000)
    first_after_jumps(scans, list(range(0, 999, 100)))
    assert scans.starts == [b""]


def test_behind_the_last_change_the_store_is_not_asked_again():
    scans = Scans(10)
    assert first_after_jumps(scans, [5, 20, 30]) == [b"000005", None, None]
    assert scans.starts == [b""]


def test_only_changes_that_change_the_commit_are_effective():
    committed, _ = committed_in_memory()
    head = write(committed, token_records({"a": "A", "b": "A@here", "c": "A", "f": "F"}))
    changes = [
        (b"a", token_value("B")),
        (b"b", token_value("A@there")),
        (b"c", None),
        (b"d", None),
        (b"e", token_value("E")),
        (b"f", token_value("F")),
    ]
    assert list(effective_changes(changes, head)) == [
        Difference(b"a", token_value("A"), token_value("B")),
        Difference(b"b", token_value("A@here"), token_value("A@there")),
        Difference(b"c", token_value("A"), None),
        Difference(b"e", None, token_value("E")),
    ]


def test_staged_changes_replace_committed_differences():
    committed, _ = committed_in_memory()
    base = write(committed, token_records({"a": "A", "b": "A", "c": "A"}))
    differences = [Difference(b"a", A, B), Difference(b"b", A, B), Difference(b"d", None, B)]
    changes = [(b"a", None), (b"b", A), (b"c", B), (b"x", B)]
    assert list(overlaid_differences(iter(differences), iter(changes), base)) == [
        Difference(b"a", A, None),
        Difference(b"c", A, B),
        Difference(b"d", None, B),
        Difference(b"x", None, B),
    ]
