"""Staged changes hide what is committed, the newest first, wherever a reader jumps."""

from graveler.diff.two_way import Difference
from graveler.staging.overlay import (
    effective_changes,
    live_records,
    newest_changes,
    overlaid_differences,
)
from tests.support.worlds.model import committed_in_memory, token_records, token_value, write

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
