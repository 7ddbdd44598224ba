"""The reference of concepts on tags and ref expressions, as in `test_concepts_seed`."""

import pytest

from graveler.errors import AlreadyExistsError
from graveler.operations import commits, tags
from graveler.operations.engine import Engine
from tests.support.lake import (
    REPO,
    apart,
    commit,
    content,
    history,
    merge,
    named,
    new_lake,
    paths,
    upload,
)


@pytest.fixture
def engine() -> Engine:
    return new_lake().engine()


# Tags


def test_a_tag_is_an_immutable_pointer_to_a_single_commit(engine):
    """A tag is an immutable pointer to a single commit."""
    upload(engine, b"p", b"1")
    first = commit(engine)
    tags.create(engine, REPO, name="v1", ref="main")
    upload(engine, b"p", b"2")
    commit(engine)
    with pytest.raises(AlreadyExistsError):
        tags.create(engine, REPO, name="v1", ref="main")
    assert tags.get(engine, REPO, "v1").commit_id == first.id


@pytest.mark.parametrize("name", ["v2.3", "dev:jane-before-v2.3-merge"])
def test_a_repository_can_be_read_from_any_tag(engine, name):
    """Tags have readable names. Since tags are commits, a repository can be read from any tag.
    Example tags: v2.3, dev:jane-before-v2.3-merge."""
    upload(engine, b"p", b"1")
    commit(engine)
    tags.create(engine, REPO, name=name, ref="main")
    upload(engine, b"p", b"2")
    assert content(engine, name, b"p") == b"1"
    assert paths(engine, name) == [b"p"]


# Ref expressions


@pytest.fixture
def line(engine: Engine) -> list[str]:
    """main with four commits over the first one; their IDs, newest first."""
    for number in range(4):
        upload(engine, b"p", str(number).encode())
        commit(engine)
    tags.create(engine, REPO, name="v1", ref="main")
    return history(engine, "main")


def test_a_branch_or_a_tag_are_ref_expressions(engine, line):
    """A branch or a tag are ref expressions."""
    assert named(engine, "main") == named(engine, "v1") == line[0]


@pytest.mark.parametrize("base", ["main", "v1", "main~1"])
def test_a_caret_refers_to_the_first_parent(engine, line, base):
    """<ref>^ is a ref expression referring to its first parent; <ref>^1 is the same as <ref>^."""
    parent = line[line.index(named(engine, base)) + 1]
    assert named(engine, f"{base}^") == named(engine, f"{base}^1") == parent


def test_a_caret_with_a_number_refers_to_that_parent(engine):
    """<ref>^N is a ref expression referring to its N'th parent."""
    apart(engine, source={"b": "B"}, destination={"c": "C"})
    source, destination = named(engine, "source"), named(engine, "main")
    merge(engine)
    assert named(engine, "main^1") == destination
    assert named(engine, "main^2") == source


@pytest.mark.parametrize("base", ["main", "v1"])
def test_a_tilde_refers_to_the_first_parent(engine, line, base):
    """<ref>~ is a ref expression referring to its first parent; it is the same as <ref>^."""
    assert named(engine, f"{base}~") == named(engine, f"{base}^") == line[1]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_tilde_with_a_number_is_so_many_carets(engine, line, number):
    """<ref>~N is a ref expression referring to its N'th parent, always traversing to the first
    parent. So <ref>~N is the same as <ref>^^...^ with N consecutive carets ^."""
    assert named(engine, f"main~{number}") == named(engine, "main" + "^" * number) == line[number]


def test_a_history_goes_back_from_the_tip_through_the_first_parents(engine):
    """The history of the branch is the list of commits from the branch tip through the first
    parent of each commit. Histories go back in time."""
    apart(engine, source={"b": "B"}, destination={"c": "C"})
    merge(engine)
    found = [commits.get(engine, REPO, one) for one in history(engine, "main", first_parent=True)]
    assert [one.id for one in found[1:]] == [one.parents[0] for one in found[:-1]]
    dates = [one.creation_date for one in found]
    assert dates == sorted(dates, reverse=True)
    assert named(engine, "source") not in [one.id for one in found]
