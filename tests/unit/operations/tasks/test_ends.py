"""How tasks end: with an error, with progress that is true, and after whatever may pass."""

from collections import Counter
from typing import Any

import msgspec
import pytest

from graveler.errors import (
    CorruptDataError,
    MergeConflictError,
    NoChangesError,
    NotFoundError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.model.tasks import LEASE_S, TAKES_MAX, TaskMessage, TaskState
from graveler.operations import branches, commits, dumps, merges, repositories
from graveler.operations.tasks.requests import cancel, status
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import Calls, engine_around
from tests.support.faults.faults import Crash, CrashAt, FailAt, Meanwhile
from tests.support.worlds.scenarios import REPO, contents, outside, upload
from tests.support.worlds.slices import predictable_slices
from tests.support.worlds.task_scenarios import (
    SCENARIOS,
    assert_completed,
    diverged_world,
    ends,
    places,
    task_now,
)

COMMIT = SCENARIOS[0]


@pytest.fixture(autouse=True)
def small_slices():
    with predictable_slices():
        yield


def failure_of(world, task_id):
    run_all(world.task_queue, world.engine())
    task = status(world.engine(), REPO, task_id)
    assert task.state is TaskState.FAILED
    assert ends(world)[-1] == "task_failed"
    return task.failure.error


def test_a_task_that_has_nothing_to_commit_fails_as_the_request_would():
    world = diverged_world()
    engine = world.engine()
    branches.reset(engine, REPO, "main", kind="reset")
    task = commits.start_commit(engine, REPO, "main", commits.CommitRequest("m", "c"))
    error = failure_of(world, task.id)
    assert type(error) is NoChangesError
    assert error.message == "commit: no changes"


def test_a_task_that_meets_a_conflict_fails_as_the_request_would():
    world = diverged_world()
    engine = world.engine()
    for branch in ("dev", "clean"):
        upload(engine, b"c", branch.encode(), branch)
        commits.commit(engine, REPO, branch, commits.CommitRequest("m", "c"))
    before = outside(world.engine())
    task = merges.start_merge(engine, REPO, "dev", "clean", merges.MergeRequest("somebody"))
    assert type(failure_of(world, task.id)) is MergeConflictError
    assert outside(world.engine()) == before


def test_a_task_whose_branch_was_deleted_fails():
    world = diverged_world()
    engine = world.engine()
    task = merges.start_merge(engine, REPO, "dev", "clean", merges.MergeRequest("somebody"))
    branches.delete(engine, REPO, "clean")
    assert type(failure_of(world, task.id)) is NotFoundError


@pytest.mark.parametrize("landed", [False, True])
@pytest.mark.parametrize("error", [ThrottledError, UnknownOutcomeError])
@pytest.mark.parametrize("number", places(COMMIT))
def test_after_an_error_that_may_pass_the_task_is_completed(number, error, landed):
    world, message = COMMIT.begun()
    fault = FailAt(number, error("not now"), landed=landed)
    try:
        run(engine_around(world.engine(), fault), message, runner="first")
    except error:
        world.task_queue.send(message)  # the queue delivers it again
    run_all(world.task_queue, world.engine())
    world.clock.tick(LEASE_S + 1)
    run(world.engine(), message, runner="last")
    assert_completed(world, message, COMMIT)


def test_an_error_that_does_not_pass_fails_the_task():
    world, message = COMMIT.begun()

    def throttled(name, call):
        if name == "refs.move_branch":
            raise ThrottledError("slow down")
        return call()

    engine = engine_around(world.engine(), throttled)
    run_all(world.task_queue, engine)
    task = task_now(world, message)
    assert (task.state, task.failure.code) == (TaskState.FAILED, "throttled")
    assert outside(world.engine()) == COMMIT.outcomes()[0]


def test_after_a_damaged_file_a_process_reads_files_again(monkeypatch):
    """Another runner of the process, or a later task, finds a file that was repaired."""
    world, message = COMMIT.begun()
    forgotten: list[str] = []

    def damaged(name, call):
        if name == "refs.move_branch":
            raise CorruptDataError("a block is damaged")
        return call()

    engine = engine_around(world.engine(), damaged)
    monkeypatch.setattr(engine.committed, "forget", lambda: forgotten.append("files"))
    run(engine, message)
    assert task_now(world, message).state is TaskState.FAILED
    assert forgotten == ["files"]


def test_a_bug_leaves_the_task_to_the_next_runner():
    world, message = COMMIT.begun()
    engine = engine_around(world.engine(), Meanwhile(8, lambda: 1 // 0))
    with pytest.raises(ZeroDivisionError):
        run(engine, message, runner="first")
    assert not task_now(world, message).is_held(world.clock.peek_ns)
    run(world.engine(), message, runner="second")
    assert_completed(world, message, COMMIT)


def test_a_task_that_kills_its_runners_fails_and_names_the_last_one():
    world, message = COMMIT.begun()
    for number in range(TAKES_MAX):
        with pytest.raises(Crash):
            run(engine_around(world.engine(), CrashAt(8)), message, runner=f"runner-{number}")
        world.clock.tick(LEASE_S + 1)
    run_all(world.task_queue, world.engine())
    task = task_now(world, message)
    assert task.state is TaskState.FAILED
    assert f"the last one was runner-{TAKES_MAX - 1}" in task.failure.message
    assert outside(world.engine()) == COMMIT.outcomes()[0]


def test_progress_is_what_is_done_of_what_is_known():
    world = diverged_world()
    for number in range(60):
        upload(world.engine(), b"more/%02d" % number, branch="dev")
    task = commits.start_commit(world.engine(), REPO, "dev", commits.CommitRequest("m", "c"))
    run_all(world.task_queue, world.engine())
    shown: list[tuple[str, Any, Any]] = [
        (event.kind, event.detail["done"], event.detail["known"])
        for event in world.refs.events
        if event.detail.get("task_id") == task.id
    ]
    kinds = Counter(kind for kind, _, _ in shown)
    assert kinds["task_progressed"] >= 2
    assert shown[0] == ("task_started", 0, 0)
    assert shown[-1] == ("task_completed", 60, 60)
    assert all(done <= known <= 60 for _, done, known in shown)
    assert [done for _, done, _ in shown] == sorted(done for _, done, _ in shown)


def test_a_task_runs_although_its_message_was_lost():
    """The event that leads to the same message is stored with the task."""
    world = diverged_world()

    def lost(name, call):
        if name == "task_queue.send":
            raise ThrottledError("no queue")
        return call()

    engine = engine_around(world.engine(), lost)
    task = commits.start_commit(engine, REPO, "main", commits.CommitRequest("commit", "somebody"))
    assert world.task_queue.waiting == []
    started = world.refs.events[-1]
    assert (started.kind, started.detail["task_id"]) == ("task_started", task.id)
    message = msgspec.convert({"repository": started.repository, **started.detail}, TaskMessage)
    run(world.engine(), message)
    assert_completed(world, message, COMMIT)


@pytest.mark.parametrize("number", places(COMMIT))
def test_a_late_write_that_was_acknowledged_is_never_lost(number):
    """It reached a sealed token after its slice was read; the branch's version says so."""
    world, message = COMMIT.begun()
    repository = repositories.get(world.engine(), REPO)
    token = branches.get(world.engine(), REPO, "main").sealed_tokens[0]
    is_late = []

    def write_late():
        is_sealed = token in branches.get(world.engine(), REPO, "main").sealed_tokens
        if is_sealed:
            world.staging._put(token, b"b/1", None)
            world.refs.bump_version(repository, "main", token)
            is_late.append(token)

    meanwhile = Meanwhile(number, write_late)
    run(engine_around(world.engine(), meanwhile), message)
    task = task_now(world, message)
    assert task.state is TaskState.COMPLETED
    assert (b"b/1" in contents(world.engine(), "main@")) == (not is_late)


def test_a_dump_that_is_cancelled_beside_its_last_step_is_what_its_record_says():
    calls = Calls()
    world = diverged_world()
    dumps.start_dump(world.engine(), REPO, "somebody")
    run_all(world.task_queue, engine_around(world.engine(), calls))
    for number in range(1, len(calls.names) + 1):
        world = diverged_world()
        task = dumps.start_dump(world.engine(), REPO, "somebody")
        engine = world.engine()

        def cancel_it(engine=engine, task=task):
            if not status(engine, REPO, task.id).has_ended:
                cancel(engine, REPO, task.id)

        around = Meanwhile(number, cancel_it)
        run_all(world.task_queue, engine_around(world.engine(), around))
        ended = status(engine, REPO, task.id)
        assert ended.has_ended
        assert (dumps.dump_of(ended) is not None) == (ended.state is TaskState.COMPLETED)
