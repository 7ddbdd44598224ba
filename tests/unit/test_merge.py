"""Merges give what lakeFS gives, and the right thing where lakeFS is known to be wrong."""

import json
from pathlib import Path

import pytest

from graveler.errors import InvalidInputError, MergeConflictError
from graveler.merge import check_strategy, merge
from graveler.model import EMPTY_METARANGE
from tests.support.checks.cases import for_each
from tests.support.worlds.model import (
    BREAKINGS,
    committed_in_memory,
    opened,
    read,
    token_records,
    write,
)

VECTORS = Path(__file__).parents[1] / "golden" / "vectors"
CASES = json.loads((VECTORS / "merges.json").read_text())


@pytest.mark.parametrize("breaking", BREAKINGS, ids=str)
@for_each("case", CASES, ids=lambda case: case["name"])
def test_a_merge_gives_what_lakefs_gives(case, breaking):
    committed, _ = committed_in_memory(breaking)
    base, source, destination = (
        write(committed, token_records(case[side])) for side in ("base", "source", "dest")
    )
    if case["base_metarange_empty_id"]:
        base = opened(committed, EMPTY_METARANGE)
    error = case["naive_error"] if case["quirk"] else case["error"]
    if error == "conflict":
        with pytest.raises(MergeConflictError):
            merge(committed, base, source, destination, case["strategy"])
        return
    merged = merge(committed, base, source, destination, case["strategy"])
    if error == "no_changes":
        # Which of these is an error is the operation's business; there is nothing to merge.
        assert base.id == source.id
        assert merged.metarange_id == destination.id
        return
    expected = token_records(case.get("naive_result", case["result"]))
    if case["name"].startswith("same-ident-diff-addr-dst/big/"):
        # Equal content everywhere, and lakeFS's address depends on where its ranges break. Here the
        # destination's record stays when the source changed nothing, as with its smaller ranges.
        expected |= token_records({"a": case["dest"]["a"]})
    assert read(opened(committed, merged.metarange_id)) == expected


@for_each(
    ("base", "source", "destination", "result"),
    [
        ("A", "A", "A", "A"),
        ("A", "B", "B", "B"),
        ("A", "B", "C", "conflict"),
        ("A", "A", "B", "B"),
        ("A", "B", "A", "B"),
        ("A", "", "", ""),
        ("A", "B", "", "conflict"),
        ("A", "", "B", "conflict"),
        ("A", "A", "", ""),
        ("A", "", "A", ""),
        ("", "B", "B", "B"),
        ("", "B", "C", "conflict"),
        ("", "B", "", "B"),
        ("", "", "B", "B"),
    ],
)
@for_each("strategy", ["", "source-wins", "dest-wins"])
def test_the_merge_table_holds(base, source, destination, result, strategy):
    committed, _ = committed_in_memory()
    base_records, source_records, destination_records = (
        write(committed, token_records({"k": content} if content else {}))
        for content in (base, source, destination)
    )
    three = (base_records, source_records, destination_records)
    if result == "conflict" and strategy:
        result = source if strategy == "source-wins" else destination
    if result == "conflict":
        with pytest.raises(MergeConflictError, match="'k'"):
            merge(committed, *three, strategy)
        return
    merged = merge(committed, *three, strategy)
    expected = token_records({"k": result} if result else {})
    assert read(opened(committed, merged.metarange_id)) == expected


def test_a_destination_that_has_not_moved_takes_the_source_as_it_is_unread():
    committed, files = committed_in_memory()
    base = write(committed, token_records({"a": "1"}))
    source = write(committed, token_records({"a": "2", "b": "3"}))
    files.reads.clear()
    assert merge(committed, base, source, base).metarange_id == source.id
    assert files.reads == []


def test_a_conflict_stores_no_metarange():
    committed, files = committed_in_memory()
    base, source, destination = (
        write(committed, token_records({"a": content, "z": content})) for content in "ABC"
    )
    before = set(files.files)
    with pytest.raises(MergeConflictError):
        merge(committed, base, source, destination)
    assert set(files.files) == before


@pytest.mark.parametrize("strategy", ["", "dest-wins", "source-wins"])
def test_known_strategies_are_accepted(strategy):
    check_strategy(strategy)


@pytest.mark.parametrize("strategy", ["ours", "none", "Source-wins"])
def test_unknown_strategies_are_refused(strategy):
    with pytest.raises(InvalidInputError, match="dest-wins"):
        check_strategy(strategy)
