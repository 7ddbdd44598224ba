"""The reference of concepts: tags, ref expressions, histories."""

from itertools import pairwise

import lakefs
import pytest
from lakefs.exceptions import ConflictException
from lakefs_sdk import models

from graveler.identity import make_commit
from graveler.model import Commit, MetaRangeID
from tests.seeds.clients import commit, files
from tests.seeds.statements import COLON, said, shows

pytestmark = pytest.mark.server

STATEMENTS = {
    "000.20": said("a ref. Examples of refs include tags, branch names, and expressions"),
    "000.30": said("A tag is an immutable pointer to a single commit"),
    "000.31": said("Tags have readable names …, a repository can be read from any tag"),
    "000.32": said("Example tags: v2.3, dev:jane-before-v2.3-merge", but=COLON),
    "000.33": said("all ~ and ^ examples at the end of that section will work unchanged"),
    "000.34": said("A branch or a tag are ref expressions"),
    "000.35": said("<ref>^ is a ref expression referring to its first parent"),
    "000.36": said("<ref>^N … its N'th parent; … <ref>^1 is the same as <ref>^"),
    "000.37": said("<ref>~ … its first parent; … the same as <ref>^"),
    "000.38": said(
        "<ref>~N is the same as <ref>^^...^ with N consecutive carets",
        "tests/property/test_history.py::test_modifiers_climb_parent_by_parent",
    ),
    "000.39": said("the list of commits from the branch tip through the first parent"),
    "000.40": said("Histories go back in time"),
}

# Commits in gitrevisions(7), each with its parents.
GIT_COMMITS = {
    **dict.fromkeys("GHIJ", ""),
    "D": "GH",
    "E": "",
    "F": "IJ",
    "B": "DEF",
    "C": "F",
    "A": "BC",
}
GIT_EXAMPLES = {
    "A": ["A^0"],
    "B": ["A^", "A^1", "A~1"],
    "C": ["A^2"],
    "D": ["A^^", "A^1^1", "A~2"],
    "E": ["B^2", "A^^2"],
    "F": ["B^3", "A^^3"],
    "G": ["A^^^", "A^1^1^1", "A~3"],
    "H": ["D^2", "B^^2", "A^^^2", "A~2^2"],
    "I": ["F^", "B^3^", "A^^3^"],
    "J": ["F^2", "B^3^2", "A^^3^2"],
}


@pytest.fixture(scope="module")
def main(repository: lakefs.Repository) -> lakefs.Branch:
    """A branch with four commits over the first one, and a merge over them."""
    made = repository.branch("main")
    for number in range(4):
        commit(made, p=str(number))
    source = repository.branch("source").create("main~1", exist_ok=False)
    commit(source, q="source")
    source.merge_into(made)
    return made


def named(repository: lakefs.Repository, *refs: str) -> list[str]:
    return [repository.ref(ref).get_commit().id for ref in refs]


@shows("000.30", "000.31", "000.32")
def test_a_tag_names_one_commit_for_ever(repository, main):
    for name, ref in (("v2.3", "main~1"), ("dev:jane-before-v2.3-merge", "main~2")):
        tag = repository.tag(name).create(ref)
        with pytest.raises(ConflictException):
            repository.tag(name).create("main")
        assert named(repository, name) == named(repository, ref)
        assert files(tag) == files(repository.ref(ref))


@shows("000.20", "000.34", "000.35", "000.36", "000.37", "000.38")
def test_expressions_climb_from_a_branch_a_tag_or_a_commit(repository, main):
    repository.tag("v1").create(main)
    line = named(repository, "main", "main^", "main^^", "main^^^", "main^^^^", "main^^^^^")
    assert len(set(line)) == 6
    for base in ("main", "v1", line[0], line[0][:12], "main~0"):
        assert named(repository, base) == line[:1]
        assert named(repository, f"{base}^", f"{base}^1", f"{base}~", f"{base}~1") == line[1:2] * 4
        climbed = named(repository, *(f"{base}~{number}" for number in range(6)))
        assert climbed == line
    assert named(repository, "main^2") == named(repository, "source")


@shows("000.33")
def test_the_examples_of_git_name_what_they_name_in_git(clients, repository, main):
    content = MetaRangeID(main.get_commit().meta_range_id)
    made: dict[str, Commit] = {}
    for number, (name, parents) in enumerate(GIT_COMMITS.items(), 1):
        made[name] = make_commit(
            committer="somebody",
            message=name,
            metarange_id=content,
            creation_date=1_700_000_000 + number,
            metadata={},
            parents=[made[each].id for each in parents],
            generation=1 + max((made[each].generation for each in parents), default=0),
        )
        clients.lakefs.sdk_client.internal_api.create_commit_record(
            repository.id, record(made[name])
        )
    for name in "ABDF":
        repository.tag(name).create(made[name].id)
    for name, examples in GIT_EXAMPLES.items():
        for expression in examples:
            assert named(repository, expression) == [made[name].id], expression


def record(made: Commit) -> models.CommitRecordCreation:
    return models.CommitRecordCreation(
        commit_id=made.id,
        version=made.version,
        committer=made.committer,
        message=made.message,
        metarange_id=made.metarange_id,
        creation_date=made.creation_date,
        parents=list(made.parents),
        metadata={},
        generation=made.generation,
    )


@shows("000.39", "000.40")
def test_a_history_goes_back_through_first_parents(repository, main):
    found = list(main.log(first_parent=True))
    assert [each.id for each in found] == named(
        repository, *(f"main~{number}" for number in range(len(found)))
    )
    assert all(later.creation_date >= earlier.creation_date for later, earlier in pairwise(found))
    assert all(later.parents[0] == earlier.id for later, earlier in pairwise(found))
    assert named(repository, "source")[0] not in [each.id for each in found]
    assert found[-1].parents == []
