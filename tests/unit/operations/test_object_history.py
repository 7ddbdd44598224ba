"""The history of an object: which commits are its changes, and in what order and pages."""

from unittest.mock import patch

import pytest

from graveler.errors import InvalidInputError, NotFoundError
from graveler.identity import make_commit
from graveler.operations import (
    branches,
    commit_records,
    commits,
    merges,
    object_history,
    writes,
)
from tests.support.worlds.lake import REPO, commit, upload


def changes(engine, path=b"a", ref="main", amount=100):
    """All changes, read in pages of the amount, as pairs of kind and commit message."""
    after, found = "", []
    while True:
        page = object_history.list_page(engine, REPO, ref, path, after, amount)
        assert len(page.results) <= amount
        found += page.results
        after = page.next_after
        if not after:
            return [(change.kind, change.commit.message) for change in found]


def write(engine, text, branch="main", path=b"a"):
    upload(engine, path, text.encode(), branch)
    commit(engine, branch, message=text)


def delete(engine, text, branch="main", path=b"a"):
    writes.delete(engine, REPO, branch, path)
    commit(engine, branch, message=text)


def merge(engine, source, text, branch="main", **options):
    request = merges.MergeRequest("ann", text, **options)
    return merges.merge(engine, REPO, source, branch, request)


@pytest.fixture(params=[1, 2, 100])
def amount(request):
    return request.param


def test_an_object_was_added_changed_and_removed(engine, amount):
    write(engine, "one")
    write(engine, "other", path=b"b")
    write(engine, "two")
    delete(engine, "gone")
    write(engine, "back")
    write(engine, "beside", path=b"a/beside")
    assert changes(engine, amount=amount) == [
        ("added", "back"),
        ("removed", "gone"),
        ("changed", "two"),
        ("added", "one"),
    ]
    assert changes(engine, b"b", amount=amount) == [("added", "other")]
    assert changes(engine, b"c") == []


def test_a_row_has_both_versions(engine):
    write(engine, "one")
    write(engine, "second")
    delete(engine, "gone")
    removed, changed, added = object_history.list_page(engine, REPO, "main", b"a", "", 9).results
    assert (added.left, removed.right) == (None, None)
    assert changed.left == added.right
    assert changed.right == removed.left
    assert changed.right.entry.size_bytes == len("second")


def test_a_merge_shows_the_commits_that_it_brought_and_not_itself(engine, amount):
    write(engine, "one")
    branches.create(engine, REPO, name="dev", source="main")
    write(engine, "on dev", "dev")
    write(engine, "other", path=b"b")
    merge(engine, "dev", "merge")
    assert changes(engine, amount=amount) == [("changed", "on dev"), ("added", "one")]


def test_a_side_whose_changes_were_not_taken_is_left_out(engine, amount):
    write(engine, "one")
    branches.create(engine, REPO, name="dev", source="main")
    write(engine, "dropped", "dev")
    write(engine, "kept")
    merge(engine, "dev", "merge", strategy="dest-wins")
    assert changes(engine, amount=amount) == [("changed", "kept"), ("added", "one")]


def test_of_a_resolved_conflict_the_side_that_won_is_followed(engine, amount):
    """It has what one of its parents has: only that side is followed."""
    write(engine, "one")
    branches.create(engine, REPO, name="dev", source="main")
    delete(engine, "gone", "dev")
    write(engine, "two")
    merged = merge(engine, "dev", "conflict", resolutions={"a": "source-wins"})
    assert merged.parents
    assert changes(engine, amount=amount) == [("removed", "gone"), ("added", "one")]


def test_both_sides_of_crossed_histories_come_once(engine, amount):
    write(engine, "one")
    for name in ("x", "y"):
        branches.create(engine, REPO, name=name, source="main")
        write(engine, name, name)
    merge(engine, "x", "both", "y", strategy="source-wins")
    merge(engine, "y", "back", "x", allow_empty=True)
    delete(engine, "gone", "y")
    merge(engine, "x", "again", "y", allow_empty=True, strategy="dest-wins")
    found = changes(engine, ref="y", amount=amount)
    assert found == [("removed", "gone"), ("changed", "x"), ("added", "one")]


def test_staged_changes_are_no_history(engine):
    write(engine, "one")
    upload(engine, b"a", b"staged")
    assert changes(engine) == [("added", "one")]


def test_a_page_ends_where_few_histories_are_open(engine):
    """Each branch has the object from a commit of its own, and all of them are merged."""
    write(engine, "one")
    names = [f"b{number}" for number in range(5)]
    for name in names:
        branches.create(engine, REPO, name=name, source="main")
        write(engine, f"on {name}", name)
    heads = [commits.get(engine, REPO, name) for name in names]
    own = make_commit(
        committer="ann",
        message="all",
        metarange_id=commits.get(engine, REPO, "main~1").metarange_id,
        creation_date=heads[0].creation_date + 1,
        metadata={},
        parents=[head.id for head in heads],
        generation=heads[0].generation + 1,
    )
    commit_records.create(engine, REPO, own)
    with patch.object(object_history, "_NEXT_MAX", 3):
        page = object_history.list_page(engine, REPO, own.id, b"a", "", 1)
    assert len(page.results) == 4
    assert len(page.next_after.split(",")) == 3 + 1  # and a signature
    found = changes(engine, ref=own.id)
    assert found[0] == ("removed", "all")
    assert sorted(found[1:]) == sorted(
        [("added", "one"), *(("changed", f"on {name}") for name in names)]
    )


def test_a_page_begins_at_no_commit_that_another_history_names(engine):
    write(engine, "one")
    branches.create(engine, REPO, name="secret", source="main")
    write(engine, "secret", "secret")
    write(engine, "again", "secret")
    after = object_history.list_page(engine, REPO, "secret", b"a", "", 1).next_after
    secret = after.partition(",")[0]
    for ref, path, begin in (
        ("main", b"a", after),
        ("secret", b"b", after),
        ("main", b"a", secret),
        ("secret", b"a", f"{secret},{after}"),
    ):
        with pytest.raises(InvalidInputError, match="after"):
            object_history.list_page(engine, REPO, ref, path, begin, 1)
    assert object_history.list_page(engine, REPO, "secret", b"a", after, 1).results


@pytest.mark.parametrize("after", ["x", "00" * 32, ",", "00" * 33])
def test_an_after_that_no_page_said_is_refused(engine, after):
    write(engine, "one")
    with pytest.raises(InvalidInputError, match="after"):
        object_history.list_page(engine, REPO, "main", b"a", after, 1)


def test_bad_names_are_refused(engine):
    with pytest.raises(NotFoundError):
        object_history.list_page(engine, REPO, "nothing", b"a", "", 1)
    with pytest.raises(NotFoundError):
        object_history.list_page(engine, "nothing", "main", b"a", "", 1)
    with pytest.raises(InvalidInputError):
        object_history.list_page(engine, REPO, "main", b"", "", 1)
