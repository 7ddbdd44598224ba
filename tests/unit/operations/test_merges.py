"""Merge, revert and cherry-pick: what they require, record and refuse."""

import pytest

from graveler.errors import ConflictError, ForbiddenError, InvalidInputError, MergeConflictError
from graveler.model import ProtectionRule
from graveler.operations import (
    branches,
    commits,
    diffs,
    merges,
    replays,
    repositories,
    tags,
    writes,
)
from graveler.staging.listing import PageQuery
from tests.support.worlds.lake import REPO, apart, commit, content, history, named, paths, upload


@pytest.fixture
def forked(engine):
    """Two branches, `source` and `main`, each with its own change."""
    apart(engine, source={"s": "S"}, destination={"d": "D"})


def merge(engine, source="source", **options):
    request = merges.MergeRequest("somebody", **options)
    return merges.merge(engine, REPO, source, "main", request)


def revert(engine, ref, **options):
    return replays.revert(engine, REPO, "main", replays.RevertRequest(ref, "somebody", **options))


def pick(engine, ref, **options):
    request = replays.CherryPickRequest(ref, "picker", **options)
    return replays.cherry_pick(engine, REPO, "main", request)


@pytest.mark.parametrize(
    ("strategy", "told"),
    [("", "default"), ("dest-wins", "dest-wins"), ("source-wins", "source-wins")],
)
def test_a_merge_commit_says_how_it_was_made(engine, forked, strategy, told):
    upload(engine, b"t", b"T", "source")
    commit(engine, "source")
    head, source = commits.get(engine, REPO, "main"), commits.get(engine, REPO, "source")
    metadata = {"k": "v", ".lakefs.merge.strategy": "mine"}
    made = merge(engine, strategy=strategy, metadata=metadata)
    assert made.message == "Merge 'source' into 'main'"
    assert made.metadata == {"k": "v", ".lakefs.merge.strategy": told}
    assert (made.parents, made.committer) == ((head.id, source.id), "somebody")
    assert (head.generation, source.generation, made.generation) == (3, 4, 5)


def test_a_merge_publishes_one_event(world, engine, forked):
    made = merge(engine, message="mine")
    (event,) = [each for each in world.refs.events if each.kind == "merge_completed"]
    assert event.detail["commit_id"] == made.id
    assert event.detail["source_commit_id"] == named(engine, "source")
    assert made.message == "mine"


def test_a_squash_leaves_the_source_out_of_history(engine, forked):
    head = commits.get(engine, REPO, "main")
    made = merge(engine, squash=True)
    assert made.parents == (head.id,)
    assert named(engine, "source") not in history(engine, "main")
    assert paths(engine, "main") == [b"a", b"d", b"s"]


def test_an_unchanged_source_is_not_merged_unless_forced(engine, forked):
    tags.create(engine, REPO, name="old", ref="main~1")
    for source in ("old", "main", "main~1"):
        with pytest.raises(InvalidInputError, match="no changes"):
            merge(engine, source)
    before = paths(engine, "main")
    assert merge(engine, "old", allow_empty=True).parents[1] == named(engine, "old")
    assert merge(engine, "old", force=True).parents[1] == named(engine, "old")
    assert paths(engine, "main") == before


def test_an_unknown_strategy_is_refused_before_anything_else(engine):
    with pytest.raises(InvalidInputError, match="strategy"):
        merge(engine, "nowhere", strategy="ours")


def test_uncommitted_changes_of_the_destination_refuse_a_merge(engine, forked):
    upload(engine, b"x", b"staged")
    for change in (merge, lambda engine: revert(engine, "main"), lambda e: pick(e, "source")):
        with pytest.raises(InvalidInputError, match="uncommitted"):
            change(engine)
    branches.reset(engine, REPO, "main", kind="reset")
    merge(engine)


def test_staged_entries_without_effect_allow_a_merge_and_do_not_come_back(engine, forked):
    writes.delete_many(engine, REPO, "main", [b"s"])  # where nothing is yet
    merge(engine)
    assert content(engine, "main", b"s") == b"S"
    assert diffs.uncommitted(engine, REPO, "main", PageQuery(10)).results == []


def test_uncommitted_changes_of_the_source_are_not_merged(engine, forked):
    upload(engine, b"later", b"staged", "source")
    merge(engine)
    assert b"later" not in paths(engine, "main")


def test_a_conflict_changes_nothing(engine):
    apart(engine, source={"a": "1", "s": "S"}, destination={"a": "2"})
    before = branches.get(engine, REPO, "main").commit_id
    with pytest.raises(MergeConflictError, match="'a'"):
        merge(engine)
    assert branches.get(engine, REPO, "main").commit_id == before
    assert paths(engine, "main") == [b"a"]


def test_a_protected_branch_takes_merges_and_a_read_only_repository_does_not(world, engine):
    apart(engine, source={"s": "S"}, destination={"d": "D"})
    repositories.set_protection_rules(engine, REPO, [ProtectionRule("main")])
    merge(engine)
    repositories.create(
        engine, name="frozen", storage_namespace="s3://bucket/frozen", read_only=True
    )
    request = merges.MergeRequest("somebody")
    with pytest.raises(ForbiddenError, match="read-only"):
        merges.merge(engine, "frozen", "main", "main", request)


def test_an_object_deleted_after_a_merge_stays_deleted_after_the_next(engine):
    apart(engine, source={"s": "S"}, destination={"d": "D"})
    merge(engine)
    writes.delete(engine, REPO, "main", b"s")
    commit(engine)
    upload(engine, b"t", b"T", "source")
    commit(engine, "source")
    merge(engine)
    assert paths(engine, "main") == [b"a", b"d", b"t"]


# Revert


def test_a_revert_undoes_one_commit_and_keeps_the_later_ones(engine):
    for path in (b"a", b"b", b"c"):
        upload(engine, path, path)
        commit(engine)
    made = revert(engine, "main~1")
    assert paths(engine, "main") == [b"a", b"c"]
    assert made.message == "Revert main~1"
    assert len(made.parents) == 1
    assert revert(engine, made.id, message="back", metadata={"k": "v"}).message == "back"
    assert paths(engine, "main") == [b"a", b"b", b"c"]


def test_a_revert_of_objects_changed_since_is_a_conflict(engine):
    for text in (b"1", b"2", b"3"):
        upload(engine, b"a", text)
        commit(engine)
    with pytest.raises(MergeConflictError):
        revert(engine, "main~1")


def test_a_revert_that_changes_nothing_is_refused_unless_allowed(engine):
    upload(engine, b"a", b"1")
    commit(engine)
    upload(engine, b"b", b"1")
    undone = commit(engine)
    revert(engine, undone.id)
    with pytest.raises(InvalidInputError, match="no changes"):
        revert(engine, undone.id)
    assert revert(engine, undone.id, allow_empty=True).metarange_id


def test_a_merge_commit_is_reverted_against_a_chosen_parent(engine, forked):
    merged = merge(engine)
    with pytest.raises(
        ConflictError, match="1-based parent number for reverting merge commit: 1 to 2"
    ):
        revert(engine, merged.id)
    with pytest.raises(InvalidInputError, match="parent 3"):
        revert(engine, merged.id, parent_number=3)
    revert(engine, merged.id, parent_number=1)
    assert paths(engine, "main") == [b"a", b"d"]


def test_the_first_commit_cannot_be_undone(engine):
    upload(engine, b"a", b"1")
    commit(engine)
    with pytest.raises(InvalidInputError, match=r"parents of .*: 0"):
        revert(engine, "main~1")


@pytest.mark.parametrize("number", [2, -1])
def test_a_parent_number_without_a_parent_is_refused(engine, forked, number):
    with pytest.raises(InvalidInputError, match=r"parents of .*: 1"):
        revert(engine, "main", parent_number=number)


# Cherry-pick


def test_a_cherry_pick_repeats_one_commit_and_records_its_origin(engine, forked):
    upload(engine, b"t", b"T", "source")
    picked = commit(engine, "source", message="picked", metadata={"k": "v", "o": "old"})
    made = pick(engine, "source", metadata={"o": "new"})
    assert paths(engine, "main") == [b"a", b"d", b"t"]
    assert made.message == "picked"
    assert made.committer == "picker"
    assert made.metadata == {
        "k": "v",
        "o": "new",
        "cherry-pick-origin": picked.id,
        "cherry-pick-committer": "somebody",
    }
    assert pick(engine, "source~1", message="mine").message == "mine"


def test_a_merge_commit_is_picked_against_a_chosen_parent(engine, forked):
    merged = merge(engine)
    branches.hard_reset(engine, REPO, "main", ref="main~2")
    with pytest.raises(InvalidInputError, match="parent number"):
        pick(engine, merged.id)
    pick(engine, merged.id, parent_number=1)
    assert paths(engine, "main") == [b"a", b"s"]


def test_picking_changes_the_branch_has_makes_an_empty_commit(engine, forked):
    first = pick(engine, "source")
    again = pick(engine, "source")
    assert again.parents == (first.id,)
    assert again.metarange_id == first.metarange_id


def test_a_commit_that_changed_nothing_cannot_be_picked(engine, forked):
    commit(engine, "source", allow_empty=True)
    with pytest.raises(InvalidInputError, match="update branch: no changes"):
        pick(engine, "source")


def test_picking_objects_the_branch_changed_differently_is_a_conflict(engine):
    apart(engine, source={"a": "1"}, destination={"a": "2"})
    with pytest.raises(MergeConflictError):
        pick(engine, "source")
