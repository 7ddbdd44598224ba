"""Tasks keep their promises when runners stop, and when equal requests meet."""

from dataclasses import replace
from math import inf

import pytest

from graveler.branches.heads import replace_token
from graveler.branches.lookup import current_branch
from graveler.errors import StillRunningError, ThrottledError
from graveler.layout import task_folder
from graveler.model.tasks import (
    LEASE_S,
    Task,
    TaskMessage,
    TaskSettings,
    TaskState,
    failed,
    taken,
)
from graveler.operations import branches, commits, dumps, merges
from graveler.operations.hooks.commits import UNSEALED
from graveler.operations.tasks import requests
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import NAMESPACE, REPO, apart, commit, content, upload

_REQUEST = commits.CommitRequest("message", "somebody")


@pytest.fixture
def impatient(engine):
    """An engine whose requests leave their work to tasks at once, and do not wait."""
    return replace(engine, task_settings=TaskSettings(request_work_s=0, request_wait_s=0))


def test_a_new_request_does_not_join_a_task_that_lacks_its_writes(world, engine, impatient):
    """Although the client of that task was asked to repeat an equal request."""
    upload(engine, b"a", b"1")
    with pytest.raises(StillRunningError) as still:
        commit(impatient)
    upload(engine, b"b", b"2")
    task = commits.start_commit(engine, REPO, "main", _REQUEST)
    assert task.id != still.value.task_id
    run_all(world.task_queue, engine)
    assert content(engine, "main@", b"b") == b"2"


def test_a_request_does_not_join_a_commit_that_has_just_sealed_without_its_writes(
    world, engine, impatient
):
    """The branch is full, so the task itself seals it."""
    for path in (b"a", b"b"):
        upload(engine, path, b"1")
        replace_token(*current_branch(engine, REPO, "main"))
    upload(engine, b"c", b"1")
    full = replace(engine, sealed_tokens_max=2)
    task = commits.start_commit(full, REPO, "main", _REQUEST)
    assert task.covers == UNSEALED
    others = []

    def write_late(name, call):
        result = call()
        if name == "refs.seal_token" and not others:
            upload(engine, b"late", b"2")
            with pytest.raises(StillRunningError) as still:
                commit(impatient)
            others.append(still.value.task_id)
        return result

    run(engine_around(full, write_late), TaskMessage(REPO, task.id))
    assert others != [task.id]
    run_all(world.task_queue, engine)
    assert content(engine, "main@", b"late") == b"2"


def test_a_runner_out_of_time_leaves_the_results_of_slices_to_the_next_one(world, engine):
    upload(engine, b"a", b"1")
    task = commits.start_commit(engine, REPO, "main", _REQUEST)
    folder = task_folder(NAMESPACE, task.id)

    def time_left_s() -> float:
        return 0 if world.objects.uris(folder) else inf

    run(engine, TaskMessage(REPO, task.id), time_left_s=time_left_s)
    assert world.objects.uris(folder)
    run_all(world.task_queue, engine)
    ended, made = commits.task_status(engine, REPO, task.id, task.kind)
    assert ended.state is TaskState.COMPLETED
    assert made is not None
    assert not world.objects.uris(folder)


def test_messages_about_a_held_task_do_not_multiply(world, engine):
    upload(engine, b"a", b"1")
    task = commits.start_commit(engine, REPO, "main", _REQUEST)
    for _ in range(20):
        assert commits.start_commit(engine, REPO, "main", _REQUEST).id == task.id
    repository = engine.refs.repository(REPO)
    held = taken(engine.refs.task(repository, task.id), "holder", world.clock.peek_ns + 10**12)
    engine.refs.replace_task(repository, task, held)
    engine.task_queue.send(TaskMessage(REPO, task.id, "holder"))
    engine.task_queue.send(TaskMessage(REPO, task.id, "one that lost the task"))
    waiting, world.task_queue.waiting = world.task_queue.waiting, []
    for _, message in waiting:
        run(engine, message)
    assert [message.runner for _, message in world.task_queue.waiting] == ["holder"]


def test_a_store_that_fails_for_minutes_does_not_fail_a_task(world, engine):
    upload(engine, b"a", b"1")
    task = commits.start_commit(engine, REPO, "main", _REQUEST)
    until_ns = world.clock.peek_ns + 180 * 10**9

    def slow_down(name, call):
        if name.startswith("objects.") and world.clock.peek_ns < until_ns:
            raise ThrottledError("slow down")
        return call()

    while world.task_queue.waiting:
        world.task_queue.waiting.sort(key=lambda each: each[0])
        due_ns, message = world.task_queue.waiting.pop(0)
        world.clock.tick(max(0, (due_ns - world.clock.peek_ns) // 10**9))
        run(engine_around(engine, slow_down), message, runner=f"runner of {due_ns}")
    ended, _ = commits.task_status(engine, REPO, task.id, task.kind)
    assert ended.state is TaskState.COMPLETED


def test_a_cancelled_dump_is_not_completed(world, engine):
    task = dumps.start_dump(engine, REPO, "ann")

    def cancel_late(name, call):
        result = call()
        if name == "objects.put":  # the manifest, which comes last
            requests.cancel(engine, REPO, task.id)
        return result

    run(engine_around(engine, cancel_late), TaskMessage(REPO, task.id))
    assert requests.status(engine, REPO, task.id).state is TaskState.CANCELLED
    assert world.refs.events[-1].kind == "task_cancelled"


@pytest.mark.parametrize(
    "change",
    [
        lambda task, now_ns: taken(task, "another", now_ns),
        lambda task, now_ns: failed(task, ThrottledError("too many runners"), now_ns),
    ],
    ids=["taken", "ended"],
)
def test_a_runner_that_was_frozen_leaves_a_task_as_another_left_it(world, engine, change):
    upload(engine, b"a", b"1")
    task = commits.start_commit(engine, REPO, "main", _REQUEST)
    head = branches.get(engine, REPO, "main").commit_id
    left: list[Task] = []

    def freeze(name, call):
        if name == "refs.move_branch" and not left:
            world.clock.tick(LEASE_S + 1)
            repository = engine.refs.repository(REPO)
            now = engine.refs.task(repository, task.id)
            changed = change(now, world.clock.peek_ns)
            left.append(engine.refs.replace_task(repository, now, changed))
        return call()

    assert run(engine_around(engine, freeze), TaskMessage(REPO, task.id)) == left[0]
    assert branches.get(engine, REPO, "main").commit_id == head


def test_a_merge_that_changes_nothing_is_left_to_a_task_as_well(world, engine):
    apart(engine, source={"a": "1"}, destination={"a": "2"})
    impatient = replace(engine, task_settings=TaskSettings(request_work_s=0, request_wait_s=0))
    request = merges.MergeRequest("somebody", strategy="dest-wins", allow_empty=True)
    with pytest.raises(StillRunningError):
        merges.merge(impatient, REPO, "source", "main", request)


def test_dumps_of_two_users_are_two(engine):
    impatient = replace(engine, task_settings=TaskSettings(request_work_s=0, request_wait_s=0))
    for user in ("ann", "bob"):
        with pytest.raises(StillRunningError):
            dumps.dump(impatient, REPO, user)
    assert len(requests.list_page(engine, REPO, "", 10).results) == 2
