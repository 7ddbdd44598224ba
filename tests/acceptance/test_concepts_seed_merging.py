"""The reference of concepts on merging, sentence by sentence, as in `test_concepts_seed`."""

import pytest

from graveler.errors import MergeConflictError
from graveler.operations import merges
from graveler.operations.engine import Engine
from tests.support.lake import (
    REPO,
    apart,
    commit,
    content,
    merge,
    named,
    new_lake,
    paths,
    upload,
)


@pytest.fixture
def engine() -> Engine:
    return new_lake().engine()


def test_merging_integrates_changes_from_a_branch_into_another(engine):
    """Merging is the way to integrate changes from a branch into another branch."""
    apart(engine, source={"b": "B", "a": "A2"}, destination={"c": "C"})
    merge(engine)
    assert paths(engine, "main") == [b"a", b"b", b"c"]
    assert content(engine, "main", b"a") == b"A2"
    assert paths(engine, "source") == [b"a", b"b"]


def test_the_result_is_a_commit_with_destination_and_source_as_parents(engine):
    """The result of a merge is a new commit, with the destination as the first parent and the
    source as the second."""
    apart(engine, source={"b": "B"}, destination={"c": "C"})
    expected = (named(engine, "main"), named(engine, "source"))
    made = merge(engine)
    assert made.parents == expected
    assert named(engine, "main") == made.id


def test_the_merge_base_is_the_nearest_common_parent(engine):
    """lakeFS first finds the merge base the nearest common parent of the two commits."""
    apart(engine, source={"b": "B"}, destination={"c": "C"})
    assert merges.merge_base(engine, REPO, "source", "main")[2] == named(engine, "main~1")
    merged = named(engine, "source")
    merge(engine)
    upload(engine, b"d", b"D", "source")
    commit(engine, "source")
    assert merges.merge_base(engine, REPO, "source", "main")[2] == merged


TABLE = [
    ("A", "A", "A", "A", "Unchanged file"),
    ("A", "B", "B", "B", "Files changed on both sides in same way"),
    ("A", "B", "C", "conflict", "Files changed on both sides differently"),
    ("A", "A", "B", "B", "File changed only on one branch"),
    ("A", "B", "A", "B", "File changed only on one branch"),
    ("A", "X", "X", "X", "Files deleted on both sides"),
    ("A", "B", "X", "conflict", "File changed on one side, deleted on the other"),
    ("A", "X", "B", "conflict", "File changed on one side, deleted on the other"),
    ("A", "A", "X", "X", "File deleted on one side"),
    ("A", "X", "A", "X", "File deleted on one side"),
]


def result_of(engine: Engine) -> str:
    return content(engine, "main", b"a").decode() if b"a" in paths(engine, "main") else "X"


def changes(side: str) -> dict[str, str]:
    return {} if side == "A" else {"a": side.replace("X", "")}


@pytest.mark.parametrize(("base", "source", "destination", "result", "comment"), TABLE)
def test_a_three_way_merge_follows_the_table(engine, base, source, destination, result, comment):
    """It can now perform a three-way merge, by examining the presence and identity of files in
    each commit. "A", "B" and "C" are possible file contents, "X" is a missing file."""
    apart(engine, source=changes(source), destination=changes(destination))
    if result == "conflict":
        before = named(engine, "main")
        with pytest.raises(MergeConflictError):
            merge(engine)
        assert named(engine, "main") == before
    else:
        merge(engine)
        assert result_of(engine) == result, comment


CONFLICTS = [row for row in TABLE if row[3] == "conflict"]


@pytest.mark.parametrize(("base", "source", "destination", "result", "comment"), CONFLICTS)
def test_dest_wins_picks_the_destination(engine, base, source, destination, result, comment):
    """dest-wins - in case of a conflict, merge will pick the destination object."""
    apart(engine, source=changes(source) | {"s": "S"}, destination=changes(destination))
    merge(engine, "dest-wins")
    assert result_of(engine) == destination
    assert content(engine, "main", b"s") == b"S"


@pytest.mark.parametrize(("base", "source", "destination", "result", "comment"), CONFLICTS)
def test_source_wins_picks_the_source(engine, base, source, destination, result, comment):
    """source-wins - in case of a conflict, merge will pick the source object."""
    apart(engine, source=changes(source), destination=changes(destination) | {"d": "D"})
    merge(engine, "source-wins")
    assert result_of(engine) == source
    assert content(engine, "main", b"d") == b"D"


def test_a_strategy_affects_all_the_objects_in_the_merge(engine):
    """If the strategy is set, it will affect all the objects in the merge."""
    apart(engine, source={"a": "1", "b": "1"}, destination={"a": "2", "b": "2"})
    merge(engine, "source-wins")
    assert [content(engine, "main", path) for path in (b"a", b"b")] == [b"1", b"1"]


def test_files_are_merged_whole(engine):
    """As a format-agnostic system, lakeFS currently merges by complete files."""
    apart(engine, source={"t": "same line\nsource"}, destination={"t": "same line\ndestination"})
    with pytest.raises(MergeConflictError):
        merge(engine)
