"""After two branches were merged into each other at once, merges lose nothing of either side."""

from dataclasses import replace
from functools import cache

import pytest

from graveler.errors import InvalidInputError, MergeConflictError, StillRunningError
from graveler.model.tasks import TaskSettings
from graveler.operations import branches, diffs, merge_bases, merges, pulls, replays, writes
from graveler.staging.listing import PageQuery
from tests.support.checks.cases import for_each
from tests.support.fakes.tasks import run_all
from tests.support.worlds.lake import (
    REPO,
    apart,
    commit,
    content,
    cross,
    named,
    new_lake,
    paths,
    upload,
)

# There are two best common ancestors. A merge that takes one of them fails in one direction.
DIRECTIONS = [("source", "main"), ("main", "source")]


def crossed_lake():
    """The base's a; b, which main and source conflicted on; s of source and d of main."""
    return _crossed_lake().anew()


@cache
def _crossed_lake():
    world = new_lake()
    apart(world.engine(), source={"b": "S", "s": "S"}, destination={"b": "M", "d": "D"})
    cross(world.engine(), "source-wins")
    return world


@pytest.fixture
def engine():
    return crossed_lake().engine()


def by_task(world, source, branch):
    merges.start_merge(world.engine(), REPO, source, branch, merges.MergeRequest("somebody"))
    run_all(world.task_queue, world.engine())


def by_a_request_that_leaves_it_to_a_task(world, source, branch):
    world.task_settings = TaskSettings(request_work_s=0, request_wait_s=0)
    with pytest.raises(StillRunningError):
        merge(world.engine(), source, branch)
    run_all(world.task_queue, world.engine())


def by_pull_request(world, source, branch):
    asked = pulls.NewPullRequest("somebody", source, branch, "title")
    pulls.merge(
        world.engine(),
        REPO,
        pulls.create(world.engine(), REPO, asked).id,
        merges.MergeRequest("somebody"),
    )


def merge(engine, source, branch, strategy=""):
    request = merges.MergeRequest("somebody", strategy=strategy)
    return merges.merge(engine, REPO, source, branch, request)


def compared(engine, branch, source, after=b"", amount=10):
    page = diffs.between_refs(engine, REPO, branch, source, PageQuery(amount, after=after))
    return [(each.kind, each.path) for each in page.results], page.next_after


def listed(engine, branch):
    return {path: content(engine, branch, path) for path in paths(engine, branch)}


@for_each(("source", "branch"), DIRECTIONS)
@for_each("path", [b"a", b"d", b"s"])
def test_a_merge_deletes_what_the_source_deleted_and_a_comparison_shows_it(source, branch, path):
    engine = crossed_lake().engine()
    writes.delete(engine, REPO, source, path)
    assert compared(engine, branch, f"{source}$") == ([("removed", path)], b"")
    commit(engine, source)
    assert compared(engine, branch, source) == ([("removed", path)], b"")
    merge(engine, source, branch)
    assert paths(engine, branch) == sorted({b"a", b"b", b"d", b"s"} - {path})


@for_each(
    "way",
    [by_task, by_a_request_that_leaves_it_to_a_task, by_pull_request],
    ids=lambda way: way.__name__,
)
def test_tasks_and_pull_requests_merge_likewise(way):
    world = crossed_lake()
    for path in (b"d", b"s"):
        writes.delete(world.engine(), REPO, "source", path)
    commit(world.engine(), "source")
    way(world, "source", "main")
    assert paths(world.engine(), "main") == [b"a", b"b"]


@for_each(("source", "branch"), DIRECTIONS)
@for_each("undone", ["main^1", "main^2"])
def test_a_merge_undoes_what_the_source_reverted(source, branch, undone):
    world = new_lake()
    engine = world.engine()
    apart(engine, source={"s": "S"}, destination={"a": "D"})
    cross(engine)
    request = replays.RevertRequest(named(engine, undone), "somebody")
    replays.revert(engine, REPO, source, request)
    merge(engine, source, branch)
    assert listed(engine, branch) == (
        {b"a": b"A", b"s": b"S"} if undone == "main^1" else {b"a": b"D"}
    )


@for_each("text", [b"X", None])
def test_where_the_crossed_merges_conflicted_two_sides_that_differ_conflict(text):
    """Crossing merges settled b for S. Nobody knows which side of a difference is the newer one."""
    engine = crossed_lake().engine()

    def change(branch):
        if text is None:
            writes.delete(engine, REPO, branch, b"b")
        else:
            upload(engine, b"b", text, branch)
        upload(engine, branch.encode(), b"N", branch)
        commit(engine, branch)

    change("source")
    assert compared(engine, "main", "source") == ([("conflict", b"b"), ("added", b"source")], b"")
    with pytest.raises(MergeConflictError):
        merge(engine, "source", "main")
    before = listed(engine, "main")
    for name in ("wins", "loses", "agrees"):
        branches.create(engine, REPO, name=name, source="main")
    merge(engine, "source", "wins", "dest-wins")
    assert listed(engine, "wins") == before | {b"source": b"N"}
    merge(engine, "source", "loses", "source-wins")
    assert listed(engine, "loses") == listed(engine, "source")
    change("agrees")
    merge(engine, "source", "agrees")
    assert listed(engine, "agrees") == listed(engine, "source") | {b"agrees": b"N"}


def test_a_merge_joins_equal_branches_after_a_crossing_and_the_next_has_nothing_to_do(engine):
    assert compared(engine, "main", "source") == ([], b"")
    base = merge_bases.find(engine, REPO, "source", "main").base_id
    assert base in {named(engine, "main^1"), named(engine, "main^2")}
    before = listed(engine, "main")
    merge(engine, "source", "main")
    assert listed(engine, "main") == before
    with pytest.raises(InvalidInputError, match="no changes"):
        merge(engine, "main", "source")


def test_pages_of_a_comparison_miss_nothing_and_show_nothing_twice(engine):
    for number in range(20):
        upload(engine, b"%02d" % number, b"data", "source")
    writes.delete(engine, REPO, "source", b"d")
    writes.delete(engine, REPO, "source", b"s")
    commit(engine, "source")
    whole, _ = compared(engine, "main", "source", amount=100)
    assert len(whole) == 22
    hurry = TaskSettings(request_work_s=0, request_wait_s=0)
    for pages, amount in ((engine, 3), (replace(engine, task_settings=hurry), 100)):
        found, after = [], b""
        while True:
            rows, next_after = compared(pages, "main", "source", after, amount)
            found += rows
            if not next_after:
                break
            assert next_after > after
            after = next_after
        assert found == whole
