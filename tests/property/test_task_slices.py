"""What a task does by slices is what a request does in one pass, wherever it is cut."""

from collections.abc import Mapping
from itertools import cycle

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graveler.committed.store import Breaking
from graveler.engine import Engine
from graveler.model.tasks import TaskSettings, TaskState
from graveler.operations import branches, commits, diffs, merges, repositories, writes
from graveler.operations.links import StoredData, stage
from graveler.operations.tasks.requests import status
from graveler.staging.listing import PageQuery
from tests.support.fakes.engines import MemoryWorld, memory_world
from tests.support.fakes.tasks import run_all
from tests.support.worlds.slices import slices_of

REPO = "lake"
STRATEGIES = ("source-wins", "dest-wins")

# What is staged at a path: an object with that checksum, or a deletion.
Changes = Mapping[bytes, str | None]

PATHS = st.integers(0, 150).map(lambda number: b"%03d" % number)
CHANGES = st.dictionaries(PATHS, st.sampled_from(["a", "b", None]), max_size=60)
BREAKINGS = st.sampled_from([Breaking(2), Breaking(5), Breaking(3, bytes_max=400), Breaking(40)])
WEIGHTS = st.sampled_from([1, 5, 210, 450])


def new_world(breaking: Breaking, base: Changes) -> MemoryWorld:
    world = memory_world(breaking)
    repositories.create(world.engine(), name=REPO, storage_namespace="s3://bucket/lake")
    stage_all(world.engine(), "main", base)
    commit(world.engine(), "main")
    return world


def stage_all(engine: Engine, branch: str, changes: Changes) -> None:
    for path, checksum in changes.items():
        if checksum is None:
            writes.delete_many(engine, REPO, branch, [path])
        else:
            stage(engine, REPO, branch, path, StoredData("s3://elsewhere/x", checksum, 1))


def request(branch: str) -> commits.CommitRequest:
    return commits.CommitRequest(f"on {branch}", "somebody", allow_empty=True, date_s=7)


def commit(engine: Engine, branch: str) -> str:
    return commits.commit(engine, REPO, branch, request(branch)).metarange_id


def result_of_task(world: MemoryWorld, task_id: str, weight: int) -> str:
    """Run the task by slices; return the metarange of its commit."""
    with slices_of(weight):
        run_all(world.task_queue, world.engine())
    task = status(world.engine(), REPO, task_id)
    assert task.state is TaskState.COMPLETED
    assert task.done == task.known
    jobs = [uri for uri in world.objects.uris() if "/_lakefs/tasks/" in uri]
    assert jobs == []
    return commits.get(world.engine(), REPO, task.result["commit_id"]).metarange_id


@given(
    breaking=BREAKINGS,
    weight=WEIGHTS,
    at_once=st.sampled_from([1, 3]),
    base=CHANGES,
    staged=st.lists(CHANGES, min_size=1, max_size=3),
)
def test_a_commit_by_slices_is_the_commit_in_one_pass(breaking, weight, at_once, base, staged):
    world = new_world(breaking, base)
    for number, changes in enumerate(staged):
        if number:
            commits.start_commit(world.engine(), REPO, "main", request("sealed"))
            world.task_queue.waiting.clear()  # it only seals what was staged before
        stage_all(world.engine(), "main", changes)
    plain = world.fork()
    world.task_settings = TaskSettings(slices_at_once=at_once)
    task = commits.start_commit(world.engine(), REPO, "main", request("main"))
    expected = commit(plain.engine(), "main")
    assert result_of_task(world, task.id, weight) == expected


@given(
    breaking=BREAKINGS,
    weight=WEIGHTS,
    at_once=st.sampled_from([1, 3]),
    base=CHANGES,
    steps=st.lists(st.tuples(CHANGES, CHANGES), min_size=1, max_size=3),
    strategy=st.sampled_from(STRATEGIES),
    chosen=st.booleans(),
)
def test_a_merge_by_slices_is_the_merge_in_one_pass(
    breaking, weight, at_once, base, steps, strategy, chosen
):
    """Between two steps, the branches are merged into each other at once."""
    world = new_world(breaking, base)
    branches.create(world.engine(), REPO, name="dev", source="main")
    asked = merges.MergeRequest("somebody", strategy=strategy, allow_empty=True)
    for number, changes_of_both in enumerate(steps):
        heads = {name: commits.get(world.engine(), REPO, name).id for name in ("main", "dev")}
        for branch, other, changes in zip(heads, ("dev", "main"), changes_of_both, strict=True):
            if number:
                merges.merge(world.engine(), REPO, heads[other], branch, asked)
            stage_all(world.engine(), branch, changes)
            commit(world.engine(), branch)
    plain = world.fork()
    if chosen:
        found = diffs.between_refs(plain.engine(), REPO, "main", "dev", PageQuery(1000)).results
        paths = [each.path.decode() for each in found if each.kind == "conflict"]
        wins = dict(zip(paths, cycle(STRATEGIES), strict=False))
        asked = replace(asked, strategy="", resolutions=wins)
    world.task_settings = TaskSettings(slices_at_once=at_once)
    task = merges.start_merge(world.engine(), REPO, "dev", "main", asked)
    expected = merges.merge(plain.engine(), REPO, "dev", "main", asked)
    assert result_of_task(world, task.id, weight) == expected.metarange_id
