"""Commits have the IDs that lakeFS gives them."""

from msgspec.structs import replace

from graveler.identity import commit_id
from graveler.model import Commit
from tests.support.checks.cases import for_each
from tests.unit.refs.graphs import commit_of_vector, vectors

CASES = [
    *vectors("commits"),
    *vectors("refs")["resolve"]["commits"],
    *(case for graph in vectors("refs")["dag"] for case in graph["commits"]),
]


def id_of(commit: Commit) -> str:
    return commit_id(
        committer=commit.committer,
        message=commit.message,
        metarange_id=commit.metarange_id,
        creation_date=commit.creation_date,
        metadata=commit.metadata,
        parents=commit.parents,
    )


@for_each("case", CASES, ids=lambda case: case["name"])
def test_a_commit_has_the_id_that_lakefs_gives_it(case):
    assert id_of(commit_of_vector(case)) == case["id"]


def test_generation_and_version_do_not_change_the_id():
    commit = commit_of_vector(CASES[1])
    assert id_of(replace(commit, generation=99, version=0)) == commit.id
