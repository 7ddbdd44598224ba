"""A client that waits gets the outcome of its task, wherever the refs of its request point by now."""

import pytest

from graveler.errors import NotFoundError, StillRunningError
from graveler.model import Commit
from graveler.model.tasks import TaskSettings
from graveler.operations import branches, dumps, merges, replays
from graveler.operations.tasks.waiting import FIRST_REQUEST, ClientWait
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run_all
from tests.support.worlds import scenarios
from tests.support.worlds.dumps import make_bare, refs_of
from tests.support.worlds.lake import REPO, commit, history, new_lake, paths, upload
from tests.support.worlds.task_scenarios import IMPATIENT, diverged_world

MERGE = merges.MergeRequest("somebody")
BY_HAND = TaskSettings()


@pytest.fixture
def world() -> MemoryWorld:
    """Commits of `1` to `4` on main; a branch dev with another one, from before `4`."""
    world = new_lake()
    engine = world.engine()
    for path in (b"1", b"2", b"3"):
        upload(engine, path, path)
        commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"dev", b"dev", "dev")
    commit(engine, "dev")
    upload(engine, b"4", b"4")
    commit(engine)
    world.task_settings = IMPATIENT
    return world


def revert(world: MemoryWorld, wait: ClientWait) -> Commit:
    request = replays.RevertRequest("main~1", "somebody")
    return replays.revert(world.engine(), REPO, "main", request, wait)


def merge(world: MemoryWorld, wait: ClientWait) -> Commit:
    return merges.merge(world.engine(), REPO, "dev", "main", MERGE, wait)


def run_tasks(world: MemoryWorld) -> None:
    run_all(world.task_queue, world.engine())


@pytest.mark.parametrize("is_named", [True, False], ids=["redirected", "repeated"])
def test_a_commit_before_the_head_is_reverted_once(world, is_named):
    with pytest.raises(StillRunningError) as still:
        revert(world, ClientWait(is_last=not is_named))
    run_tasks(world)
    made = revert(world, ClientWait(still.value.task_id) if is_named else FIRST_REQUEST)
    assert history(world.engine(), "main")[0] == made.id
    assert paths(world.engine(), "main") == [b"1", b"2", b"4"]
    assert len(history(world.engine(), "main")) == 6


@pytest.mark.parametrize("source", ["moved", "deleted"])
def test_a_merge_is_made_once_whatever_happens_to_its_source(world, source):
    with pytest.raises(StillRunningError) as still:
        merge(world, ClientWait(is_last=False))
    world.task_settings = BY_HAND
    if source == "moved":
        upload(world.engine(), b"later", b"later", "dev")
        commit(world.engine(), "dev")
    else:
        branches.delete(world.engine(), REPO, "dev")
    world.task_settings = IMPATIENT
    run_tasks(world)
    made = merge(world, ClientWait(still.value.task_id))
    assert history(world.engine(), "main")[0] == made.id
    assert paths(world.engine(), "main") == [b"1", b"2", b"3", b"4", b"dev"]


def test_a_new_merge_of_a_source_that_moved_is_another_one(world):
    with pytest.raises(StillRunningError):
        merge(world, ClientWait(is_last=False))
    world.task_settings = BY_HAND
    upload(world.engine(), b"later", b"later", "dev")
    commit(world.engine(), "dev")
    world.task_settings = IMPATIENT
    with pytest.raises(StillRunningError):
        merge(world, ClientWait(is_last=False))
    run_tasks(world)
    assert b"later" in paths(world.engine(), "main")


def test_a_merge_of_a_missing_source_is_refused_at_once(world):
    with pytest.raises(NotFoundError):
        merges.merge(world.engine(), REPO, "nothing", "main", MERGE)
    assert not world.task_queue.waiting


@pytest.mark.parametrize("is_named", [True, False], ids=["redirected", "repeated"])
def test_a_restore_that_ended_meanwhile_is_a_success(is_named):
    world = diverged_world()
    dumped = dumps.dump(world.engine(), scenarios.REPO)
    make_bare(world.engine())
    world.task_settings = IMPATIENT
    with pytest.raises(StillRunningError) as still:
        dumps.restore(world.engine(), "bare", dumped, wait=ClientWait(is_last=not is_named))
    run_tasks(world)
    wait = ClientWait(still.value.task_id) if is_named else FIRST_REQUEST
    dumps.restore(world.engine(), "bare", dumped, wait=wait)
    assert refs_of(world.engine(), "bare") == refs_of(world.engine(), scenarios.REPO)
