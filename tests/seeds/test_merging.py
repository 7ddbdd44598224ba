"""The reference of concepts: merging, with a file for each row of its table."""

import lakefs
import pytest
from lakefs.exceptions import ConflictException

from tests.seeds.clients import commit, files
from tests.seeds.statements import said, shows

pytestmark = pytest.mark.server

# What base, source, destination and the merge have: a file with this content, or none (X).
ROWS = {
    "AAAA": "Unchanged file",
    "ABBB": "Files changed on both sides in same way",
    "ABC!": "Files changed on both sides differently",
    "AABB": "File changed only on one branch",
    "ABAB": "File changed only on one branch",
    "AXXX": "Files deleted on both sides",
    "ABX!": "File changed on one side, deleted on the other",
    "AXB!": "File changed on one side, deleted on the other",
    "AAXX": "File deleted on one side",
    "AXAX": "File deleted on one side",
}
NUMBERS = {row: f"000.{number}" for number, row in enumerate(ROWS, 45)}
LAW = "tests/property/test_merge_laws.py::test_a_merge_is_what_the_table_says"

STATEMENTS = {
    "000.17": said("A commit with more than one parent is a merge commit … with two parents"),
    "000.41": said("Merging is the way to integrate changes from a branch into another branch"),
    "000.42": said("a new commit, with the destination as the first parent and the source …"),
    "000.43": said("lakeFS doesn't apply a diff algorithm while merging"),
    "000.44": said(
        "the merge base the nearest common parent of the two commits",
        "tests/property/test_history.py::"
        "test_merge_bases_are_the_best_common_ancestors_whichever_side_comes_first",
    ),
    **{
        NUMBERS[row]: said(f"{' '.join(row[:3])} → {row[3].replace('!', 'conflict')}: {text}", LAW)
        for row, text in ROWS.items()
    },
    "000.55": said("The API and lakectl allow passing an optional strategy flag"),
    "000.56": said("dest-wins … merge will pick the destination object"),
    "000.57": said("source-wins … merge will pick the source object"),
    "000.58": said("it will affect all the objects in the merge"),
    "000.59": said("lakeFS currently merges by complete files"),
}

CONFLICTS = [row for row in ROWS if row[3] == "!"]


def content(row: str, side: int) -> str | None:
    return None if row[side] == "X" else row[side] + "\nsame line\n"


def expected(winner: int) -> dict[str, str | None]:
    return {row: content(row, winner if row in CONFLICTS else 3) for row in ROWS}


@pytest.fixture(scope="module")
def source(repository: lakefs.Repository) -> lakefs.Branch:
    """A branch that differs from main as the table says."""
    main = repository.branch("main")
    commit(main, **{row: content(row, 0) for row in ROWS})
    made = repository.branch("source").create(main)
    for branch, side in ((made, 1), (main, 2)):
        commit(branch, **{row: content(row, side) for row in ROWS if row[side] != "A"})
    return made


@pytest.fixture
def destination(repository, source, request):
    """A branch of the test's own at main."""
    return repository.branch(request.node.name[:40]).create("main")


@shows("000.43", "000.44", "000.59", *(NUMBERS[row] for row in CONFLICTS))
def test_conflicts_refuse_a_merge_even_of_files_with_equal_lines(
    clients, repository, source, destination
):
    head = destination.head.id
    with pytest.raises(ConflictException):
        source.merge_into(destination)
    assert destination.head.id == head
    found = [each.path for each in destination.diff(source) if each.type == "conflict"]
    assert found == CONFLICTS
    base = clients.graveler(
        "find-merge-base", f"lakefs://{repository.id}/source", f"lakefs://{repository.id}/main"
    )
    assert repository.ref("main~1").get_commit().id in base


@shows("000.17", "000.41", "000.42", *(number for row, number in NUMBERS.items()))
@shows("000.55", "000.57", "000.58")
def test_a_merge_follows_the_table_and_the_source_wins_by_the_api(source, destination):
    heads = [destination.head.id, source.head.id]
    merged = source.merge_into(destination, strategy="source-wins")
    made = destination.get_commit()
    assert (made.id, made.parents) == (merged, heads)
    assert files(destination) == {row: text for row, text in expected(1).items() if text}


@shows("000.55", "000.56", "000.58")
def test_the_destination_wins_by_the_command_line(clients, repository, source, destination):
    clients.graveler(
        "merge",
        f"lakefs://{repository.id}/source",
        f"lakefs://{repository.id}/{destination.id}",
        "--strategy=dest-wins",
    )
    assert files(destination) == {row: text for row, text in expected(2).items() if text}
