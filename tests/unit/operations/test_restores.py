"""Restores and deletions of prefixes: a branch gets what a commit has there, or nothing."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest

from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.errors import ForbiddenError, GoneError, InvalidInputError, NotFoundError
from graveler.model import Commit, ProtectionRule
from graveler.model.tasks import LEASE_S, Task, TaskMessage, TaskState
from graveler.operations import branches, objects, repositories, writes
from graveler.operations.prefixes import walk
from graveler.operations.prefixes.restoring import start_deletion, start_restore
from graveler.operations.tasks.requests import status
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import Calls, engine_around
from tests.support.faults.faults import Crash
from tests.support.worlds.lake import REPO, commit, content, paths, upload

OLD = {b"a/1": b"1", b"a/2": b"2", b"a/3": b"3", b"a/4": b"4"}


@pytest.fixture(autouse=True)
def _small_steps() -> Iterator[None]:
    """Stage at most two changes in a step, and read at most three paths at once."""
    with patch.object(walk, "CHANGES_TOGETHER_MAX", 2), patch.object(walk, "PAGE_PATHS", 3):
        yield


@pytest.fixture
def old(world: MemoryWorld) -> Commit:
    """A commit of OLD; since then a path is changed, one deleted and one added, in two ways each."""
    engine = world.engine()
    for path, data in OLD.items():
        upload(engine, path, data, metadata={"k": "v"})
    upload(engine, b"a", b"beside")
    made = commit(engine)
    upload(engine, b"a/1", b"committed")
    writes.delete(engine, REPO, "main", b"a/2")
    upload(engine, b"a/new", b"committed")
    upload(engine, b"b", b"beside")
    commit(engine)
    upload(engine, b"a/3", b"staged")
    writes.delete(engine, REPO, "main", b"a/4")
    upload(engine, b"a/newer", b"staged")
    return made


def restore(engine: Engine, ref: str, prefix: str = "a/") -> Task:
    return start_restore(engine, REPO, "main", prefix, "ann", ref=ref)


def delete(engine: Engine, prefix: str = "a/") -> Task:
    return start_deletion(engine, REPO, "main", prefix, "ann")


def ended(world: MemoryWorld, task: Task) -> Task:
    run_all(world.task_queue, world.engine())
    return status(world.engine(), REPO, task.id)


def found(engine: Engine) -> dict[bytes, bytes]:
    return {path: content(engine, "main", path) for path in paths(engine, "main")}


BESIDE = {b"a": b"beside", b"b": b"beside"}


def test_a_restored_prefix_is_what_the_commit_has(world: MemoryWorld, old: Commit) -> None:
    engine = world.engine()
    task = ended(world, restore(engine, "main~1"))
    assert (task.state, task.result) == (TaskState.COMPLETED, {"changed": "6"})
    assert found(engine) == OLD | BESIDE
    was, now = (objects.stat(engine, REPO, ref, b"a/1") for ref in (old.id, "main"))
    assert now == was
    commit(engine)
    assert found(engine) == OLD | BESIDE


def test_the_whole_branch_may_be_restored(world: MemoryWorld, old: Commit) -> None:
    ended(world, restore(world.engine(), old.id, ""))
    assert found(world.engine()) == OLD | {b"a": b"beside"}


def test_what_is_as_the_commit_has_it_is_not_staged(world: MemoryWorld, old: Commit) -> None:
    engine = world.engine()
    ended(world, restore(engine, old.id))
    assert ended(world, restore(engine, old.id)).result == {"changed": "0"}


def test_a_deleted_prefix_has_no_objects(world: MemoryWorld, old: Commit) -> None:
    task = ended(world, delete(world.engine()))
    assert (task.state, task.result) == (TaskState.COMPLETED, {"changed": "4"})
    assert found(world.engine()) == BESIDE
    commit(world.engine())
    assert found(world.engine()) == BESIDE


@pytest.mark.parametrize("prefix", ["nothing/", "a/new"])
def test_a_prefix_that_the_commit_lacks_is_not_emptied(
    world: MemoryWorld, old: Commit, prefix: str
) -> None:
    before = found(world.engine())
    with pytest.raises(NotFoundError, match="no object begins with"):
        restore(world.engine(), old.id, prefix)
    assert found(world.engine()) == before
    assert world.task_queue.waiting == []


def test_bad_requests_start_no_task(world: MemoryWorld, old: Commit) -> None:
    engine = world.engine()
    with pytest.raises(NotFoundError):
        restore(engine, "nothing")
    with pytest.raises(NotFoundError):
        delete(engine, "nothing/")
    with pytest.raises(InvalidInputError, match="at most 1024 bytes"):
        delete(engine, "x" * 1025)
    repositories.set_protection_rules(engine, REPO, [ProtectionRule("main")])
    with pytest.raises(ForbiddenError):
        restore(engine, old.id)
    with pytest.raises(ForbiddenError):
        delete(engine)
    assert world.task_queue.waiting == []


def test_a_branch_that_was_protected_meanwhile_takes_nothing(
    world: MemoryWorld, old: Commit
) -> None:
    task, before = restore(world.engine(), old.id), found(world.engine())
    repositories.set_protection_rules(world.engine(), REPO, [ProtectionRule("main")])
    assert ended(world, task).state is TaskState.FAILED
    assert found(world.engine()) == before


def test_the_commit_stays_the_source_however_its_ref_moves(world: MemoryWorld, old: Commit) -> None:
    branches.create(world.engine(), REPO, name="good", source=old.id)
    task = restore(world.engine(), "good")
    upload(world.engine(), b"a/1", b"later", "good")
    commit(world.engine(), "good")
    branches.delete(world.engine(), REPO, "good")
    assert task.covers == old.id
    ended(world, task)
    assert found(world.engine()) == OLD | BESIDE


@pytest.mark.parametrize("is_after", [False, True])
def test_a_runner_that_dies_anywhere_is_followed_by_one_that_goes_on(
    world: MemoryWorld, old: Commit, is_after: bool
) -> None:
    task = restore(world.engine(), old.id)
    counted = Calls()
    run(engine_around(world.fork().engine(), counted), TaskMessage(REPO, task.id))
    for place in range(len(counted.names)):
        fork, calls = world.fork(), 0

        def dying(name: str, call: Callable[[], Any], at: int = place) -> Any:
            nonlocal calls
            calls += 1
            if calls == at + 1:
                if is_after:
                    call()
                raise Crash(name)
            return call()

        with suppress(Crash):
            run(engine_around(fork.engine(), dying), TaskMessage(REPO, task.id))
        fork.clock.tick(LEASE_S + 1)
        run(fork.engine(), TaskMessage(REPO, task.id), runner="next")
        assert status(fork.engine(), REPO, task.id).result == {"changed": "6"}, place
        assert found(fork.engine()) == OLD | BESIDE, place


def test_writes_beside_a_restore_are_kept_or_restored(world: MemoryWorld, old: Commit) -> None:
    """Between two steps, a path that is done is written, and one that is not."""
    task, steps = restore(world.engine(), old.id), []

    def meanwhile(name: str, call: Callable[[], Any]) -> Any:
        if name == "staging.stage_step":
            steps.append(name)
            if len(steps) == 2:
                upload(world.engine(), b"a/1", b"later")
                upload(world.engine(), b"a/4", b"earlier")
                commit(world.engine())
        return call()

    run_all(world.task_queue, engine_around(world.engine(), meanwhile))
    assert status(world.engine(), REPO, task.id).state is TaskState.COMPLETED
    assert found(world.engine()) == OLD | BESIDE | {b"a/1": b"later"}


def test_data_that_a_collection_deleted_end_the_task(world: MemoryWorld, old: Commit) -> None:
    gone = objects.stat(world.engine(), REPO, old.id, b"a/3").physical_address
    world.clock.tick(2 * 24 * 60 * 60)
    world.objects.delete_many([gone])
    task, before = ended(world, restore(world.engine(), old.id)), found(world.engine())
    assert task.failure is not None
    assert isinstance(task.failure.error, GoneError)
    assert before[b"a/3"] == b"staged"


def test_old_data_are_claimed_before_they_are_staged(world: MemoryWorld, old: Commit) -> None:
    engine = world.engine()
    address = objects.stat(engine, REPO, old.id, b"a/1").entry.address
    world.clock.tick(2 * 24 * 60 * 60)
    calls: list[str] = []

    def noting(name: str, call: Callable[[], Any]) -> Any:
        if name in {"refs.claim_addresses", "staging.stage_step"}:
            calls.append(name)
        return call()

    restore(engine, old.id)
    run_all(world.task_queue, engine_around(engine, noting))
    assert calls[0] == "refs.claim_addresses"
    assert address in engine.refs.claimed_addresses(read_repository(engine, REPO).record)
