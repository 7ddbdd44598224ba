"""Merges of what their user saw: resolutions of conflicts, and required heads."""

from functools import partial

import pytest

from graveler.errors import InvalidInputError, MergeConflictError, PreconditionFailedError
from graveler.limits import RESOLUTIONS_MAX
from graveler.model.tasks import TaskSettings
from graveler.operations import branches, commits, merges, pulls, writes
from tests.support.fakes.tasks import run_all
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import (
    REPO,
    commit,
    content,
    history,
    new_lake,
    paths,
    upload,
)

CHANGED = {b"both": b"S", b"gone there": b"S", b"new": b"S"}
CHOICES = ["source-wins", "dest-wins"]


@pytest.fixture
def world():
    """Conflicts of dev with main at `both`, `gone here`, `gone there` and `new`."""
    world = new_lake()
    engine = world.engine()
    for path in (b"both", b"gone here", b"gone there", b"kept"):
        upload(engine, path, b"0")
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    for path, data in CHANGED.items():
        upload(engine, path, data, "dev")
    writes.delete(engine, REPO, "dev", b"gone here")
    upload(engine, b"alone", b"S", "dev")
    commit(engine, "dev")
    for path in (b"both", b"gone here", b"new"):
        upload(engine, path, b"D")
    writes.delete(engine, REPO, "main", b"gone there")
    commit(engine)
    return world


def heads(engine):
    return [commits.get(engine, REPO, ref).id for ref in ("dev", "main")]


def resolved(choice):
    return dict.fromkeys(["both", "gone here", "gone there", "new"], choice)


def merge(engine, **options):
    return merges.merge(engine, REPO, "dev", "main", merges.MergeRequest("ann", **options))


def by_task(world, **options):
    world.task_settings = TaskSettings(slices_at_once=2)
    request = merges.MergeRequest("ann", **options)
    task = merges.start_merge(world.engine(), REPO, "dev", "main", request)
    run_all(world.task_queue, world.engine())
    return commits.task_status(world.engine(), REPO, task.id, task.kind)


@pytest.mark.parametrize("choice", CHOICES)
def test_choices_for_all_conflicts_are_the_strategy(world, choice):
    other = world.fork()
    made = merge(world.engine(), resolutions=resolved(choice))
    assert made.metarange_id == merge(other.engine(), strategy=choice).metarange_id
    assert made.metadata == {".lakefs.merge.strategy": "default"}


def test_each_conflict_takes_the_chosen_side_in_one_commit_of_both(world):
    engine = world.engine()
    dev, main = heads(engine)
    choices = resolved("dest-wins") | {"both": "source-wins", "gone here": "source-wins"}
    made = merge(engine, resolutions=choices)
    assert made.parents == (main, dev)
    assert history(engine, "main")[0] == made.id
    assert paths(engine, "main") == [b"alone", b"both", b"kept", b"new"]
    assert content(engine, "main", b"both") == b"S"
    assert content(engine, "main", b"new") == b"D"


def test_the_strategy_settles_the_conflicts_without_a_choice(world):
    merge(world.engine(), strategy="dest-wins", resolutions={"both": "source-wins"})
    assert content(world.engine(), "main", b"both") == b"S"
    assert content(world.engine(), "main", b"new") == b"D"


def test_a_conflict_without_a_choice_refuses_the_merge(world):
    choices = resolved("source-wins")
    del choices["new"]
    with pytest.raises(MergeConflictError, match="both sides changed 'new' differently"):
        merge(world.engine(), resolutions=choices)


def test_a_refused_merge_names_the_first_conflicts_and_counts_the_others(world):
    named = "both sides changed 'both', 'gone here', 'gone there'"
    with pytest.raises(MergeConflictError, match=f"{named} and at least 1 more path differently"):
        merge(world.engine())
    with pytest.raises(MergeConflictError, match=f"{named} differently"):
        merge(world.engine(), resolutions={"new": "source-wins"})


@pytest.mark.parametrize("path", ["alone", "kept", "absent"])
def test_a_choice_for_what_is_no_conflict_is_refused(world, path):
    before = heads(world.engine())
    with pytest.raises(InvalidInputError, match=f"'{path}' is not in conflict"):
        merge(world.engine(), resolutions=resolved("source-wins") | {path: "source-wins"})
    assert heads(world.engine()) == before


def test_too_many_choices_are_refused(world):
    many = {f"p{number}": "source-wins" for number in range(RESOLUTIONS_MAX + 1)}
    with pytest.raises(InvalidInputError, match="at most 1000 resolutions"):
        merge(world.engine(), resolutions=many)
    with pytest.raises(InvalidInputError, match="too large"):
        merge(world.engine(), resolutions={"p" * 400_000: "source-wins"})


def test_a_merge_by_a_task_takes_the_choices(world):
    choices = resolved("dest-wins") | {"new": "source-wins"}
    other = world.fork()
    _, made = by_task(world, resolutions=choices)
    assert made.metarange_id == merge(other.engine(), resolutions=choices).metarange_id


def test_a_pull_request_is_merged_with_choices_and_options(world):
    engine = world.engine()
    _, main = heads(engine)
    pull = pulls.create(engine, REPO, pulls.NewPullRequest("ann", "dev", "main", "title"))
    request = merges.MergeRequest(
        "bob", "mine", squash=True, resolutions=resolved("source-wins"), if_match=(main,)
    )
    made = pulls.merge(engine, REPO, pull.id, request)
    assert (made.message, made.committer, made.parents) == ("mine", "bob", (main,))
    assert pulls.get(engine, REPO, pull.id).merged_commit_id == made.id


@pytest.mark.parametrize("is_pull", [False, True])
@pytest.mark.parametrize("moved", ["source", "destination"])
def test_a_merge_of_other_commits_than_were_seen_changes_nothing(world, moved, is_pull):
    engine = world.engine()
    dev, main = heads(engine)
    pull = pulls.create(engine, REPO, pulls.NewPullRequest("ann", "dev", "main", "title"))
    upload(engine, b"later", b"1", "dev" if moved == "source" else "main")
    commit(engine, "dev" if moved == "source" else "main")
    before = heads(engine)
    request = merges.MergeRequest(
        "ann", strategy="source-wins", source_commit_id=dev, if_match=(main,)
    )
    merged = partial(pulls.merge, engine, REPO, pull.id)
    if not is_pull:
        merged = partial(merges.merge, engine, REPO, "dev", "main")
    with pytest.raises(PreconditionFailedError, match="look at it, and repeat"):
        merged(request)
    with pytest.raises(PreconditionFailedError):
        merges.start_merge(engine, REPO, "dev", "main", request)
    assert heads(engine) == before
    assert pulls.get(engine, REPO, pull.id).closed_time_ns is None


def test_a_merge_that_loses_the_race_for_the_head_is_refused(world):
    _, main = heads(world.engine())

    def meanwhile(name, call):
        if name == "refs.move_branch" and commits.get(world.engine(), REPO, "main").id == main:
            upload(world.engine(), b"later", b"1")
            commit(world.engine())
        return call()

    around = engine_around(world.engine(), meanwhile)
    with pytest.raises(PreconditionFailedError, match="the head of branch 'main' is now"):
        merge(around, strategy="source-wins", if_match=(main,))
    assert paths(world.engine(), "main") == [b"both", b"gone here", b"kept", b"later", b"new"]


def test_the_head_of_a_merge_by_a_task_must_be_the_one_that_was_seen(world):
    dev, main = heads(world.engine())
    world.task_settings = TaskSettings()
    options = {"strategy": "source-wins", "source_commit_id": dev, "if_match": (main,)}
    request = merges.MergeRequest("ann", **options)
    task = merges.start_merge(world.engine(), REPO, "dev", "main", request)
    upload(world.engine(), b"later", b"1")
    last = commit(world.engine())
    run_all(world.task_queue, world.engine())
    task, made = commits.task_status(world.engine(), REPO, task.id, task.kind)
    assert made is None
    assert task.failure.code == PreconditionFailedError.code
    assert commits.get(world.engine(), REPO, "main").id == last.id


def test_a_hard_reset_of_another_head_than_was_seen_changes_nothing(world):
    engine = world.engine()
    dev, main = heads(engine)
    with pytest.raises(PreconditionFailedError, match=main):
        branches.hard_reset(engine, REPO, "main", ref="main~1", if_match=(dev,))
    assert heads(engine) == [dev, main]
    branches.hard_reset(engine, REPO, "main", ref="main~1", if_match=(dev, main))
    assert heads(engine) != [dev, main]
