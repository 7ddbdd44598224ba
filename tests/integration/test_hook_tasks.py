"""Hooks and tasks: hooks run once whoever asks, waits, dies or is delivered twice."""

from collections import Counter
from dataclasses import replace

import pytest
from msgspec import structs

from graveler.engine import Engine
from graveler.errors import HookFailedError, StillRunningError
from graveler.model import Commit
from graveler.model.hooks import HookStatus
from graveler.model.tasks import LEASE_S, TaskKind, TaskMessage, TaskSettings, TaskState
from graveler.operations import branches, commits, merges, replays
from graveler.operations.hooks import requests as hooks
from graveler.operations.tasks.requests import cancel, list_page, status
from graveler.operations.tasks.waiting import ClientWait
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.hooks import answered
from tests.support.fakes.tasks import HookMessage, run, run_all, with_hook_queue
from tests.support.faults.counting import Calls, engine_around
from tests.support.faults.faults import Crash, CrashAt
from tests.support.worlds.lake import REPO, commit, new_lake, paths, upload

ACTION = b"""
name: quality
on: {prepare-commit: , pre-commit: , post-commit: }
hooks:
- {id: first, type: webhook, properties: {url: 'https://hooks.example.com/first'}}
- {id: second, type: webhook, properties: {url: 'https://hooks.example.com/second'}}
"""
FILE = b"_lakefs_actions/quality.yaml"
REQUEST = commits.CommitRequest("message", "somebody")
EVENTS = ("prepare-commit", "pre-commit", "post-commit")


def guarded_world(action: bytes = ACTION) -> MemoryWorld:
    world = new_lake()
    world.task_settings = TaskSettings(request_work_s=4, request_wait_s=0)
    upload(world.engine(), FILE, action)
    return world


def ask(engine: Engine, wait: ClientWait | None = None) -> Commit:
    return commits.commit(engine, REPO, "main", REQUEST, wait or ClientWait())


def left(world: MemoryWorld) -> TaskMessage:
    """Ask for a commit; return the message of the task that does it."""
    with pytest.raises(StillRunningError) as waiting:
        ask(world.engine())
    return TaskMessage(REPO, waiting.value.task_id)


def asked(world: MemoryWorld) -> Counter[tuple[str, str]]:
    return Counter((str(each["event_type"]), str(each["hook_id"])) for each in world.targets.told)


def each_once() -> Counter[tuple[str, str]]:
    return Counter((event, hook) for event in EVENTS for hook in ("first", "second"))


def run_all_later(world: MemoryWorld, *, hooks_apart: bool = False) -> None:
    """Deliver everything, also what the bus delivers, after the lease of a dead runner."""
    for event in world.refs.events:
        if event.kind == "task_started":
            world.task_queue.send(TaskMessage(REPO, str(event.detail["task_id"])))
    world.clock.tick(LEASE_S + 1)
    run_all(world.task_queue, world.engine(), hooks_apart=hooks_apart)


def test_a_request_leaves_a_commit_with_hooks_to_a_task_untouched():
    world = guarded_world()
    before = branches.get(world.engine(), REPO, "main")
    left(world)
    assert branches.get(world.engine(), REPO, "main") == before
    assert world.targets.requests == []


def test_the_repeated_request_learns_the_outcome_and_hooks_run_once():
    world = guarded_world()
    left(world)
    run_all(world.task_queue, world.engine())
    made = ask(world.engine())
    assert branches.get(world.engine(), REPO, "main").commit_id == made.id
    assert asked(world) == each_once()


def test_a_client_that_lost_its_answer_gets_the_commit_although_tasks_of_its_repetitions_failed():
    """The hooks of each repetition run before it is known that nothing is left to commit."""
    world = guarded_world()

    def sent(task_id: str = "") -> str:
        with pytest.raises(StillRunningError) as waiting:
            ask(world.engine(), ClientWait(task_id, is_last=False))
        return waiting.value.task_id

    first = sent()  # its client goes away
    run_all(world.task_queue, world.engine())
    made = status(world.engine(), REPO, first).result["commit_id"]
    for _ in range(3):
        repeated = sent()
        assert repeated != first
        run_all(world.task_queue, world.engine())
        assert status(world.engine(), REPO, repeated).state is TaskState.FAILED
        assert ask(world.engine(), ClientWait(repeated, is_last=False)).id == made


def test_equal_requests_join_before_the_branch_is_sealed():
    world = guarded_world()
    first = left(world)
    upload(world.engine(), b"more", b"1")
    assert left(world) == first
    run_all(world.task_queue, world.engine())
    made = ask(world.engine())
    assert b"more" in paths(world.engine(), made.id)


def test_a_write_after_the_seal_is_in_the_next_commit():
    world = guarded_world()
    left(world)

    def write_more(request):
        if "pre-commit" in request.body.decode() and b"more" not in paths(world.engine(), "main"):
            upload(world.engine(), b"more", b"1")
        return answered()

    world.targets.answer = write_more
    run_all(world.task_queue, world.engine())
    first = branches.get(world.engine(), REPO, "main").commit_id
    assert b"more" not in paths(world.engine(), first)
    left(world)  # a new task: the first one does not include the write
    run_all(world.task_queue, world.engine())
    assert b"more" in paths(world.engine(), "main@")


def test_a_refused_commit_is_refused_for_the_repeated_request():
    world = guarded_world()
    world.targets.answer = lambda _request: answered(403)
    message = left(world)
    run_all(world.task_queue, world.engine())
    with pytest.raises(HookFailedError, match="prepare-commit hook aborted"):
        ask(world.engine(), ClientWait(message.task_id))
    assert asked(world) == Counter({("prepare-commit", "first"): 1})


def test_a_task_started_at_once_runs_the_hooks_too():
    world = guarded_world()
    commits.start_commit(world.engine(), REPO, "main", REQUEST)
    run_all(world.task_queue, world.engine())
    assert asked(world) == each_once()


def test_hooks_are_asked_again_when_another_commit_came_first():
    """They have not judged what the commit holds now, and on which head."""
    world = guarded_world()
    engine, others = world.engine(), []
    request = structs.replace(REQUEST, allow_empty=True)
    first = commits.start_commit(engine, REPO, "main", request)

    def commit_first(name, call):
        if name == "refs.move_branch" and not others:
            other = commits.start_commit(
                engine, REPO, "main", structs.replace(request, message="other")
            )
            others.append(other)
            run(engine, TaskMessage(REPO, other.id), runner="other")
        return call()

    run(engine_around(world.engine(), commit_first), TaskMessage(REPO, first.id))
    assert status(engine, REPO, first.id).state is TaskState.COMPLETED
    assert asked(world)["pre-commit", "first"] == 3


@pytest.mark.parametrize("kind", ["merge", "revert"])
def test_hooks_judge_a_merge_and_a_revert_on_the_head_that_becomes_the_parent(kind):
    world = new_lake()
    engine = replace(world.engine(), ignores_actions=True)
    upload(engine, FILE, ACTION.replace(b"pre-commit", f"pre-{kind}".encode()))
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    for branch in ("main", "dev"):
        upload(engine, branch.encode(), b"1", branch)
        commit(engine, branch)
    if kind == "merge":
        request = merges.MergeRequest("somebody")
        task_id = merges.start_merge(world.engine(), REPO, "dev", "main", request).id
    else:
        hurried = replace(world.engine(), task_settings=TaskSettings(4, request_wait_s=0))
        with pytest.raises(StillRunningError) as waiting:
            replays.revert(hurried, REPO, "main", replays.RevertRequest("main", "somebody"))
        task_id = waiting.value.task_id
    others = []

    def commit_first(name, call):
        if name == "refs.move_branch" and not others:
            upload(engine, b"other", b"1")
            others.append(commit(engine))
        return call()

    run(engine_around(world.engine(), commit_first), TaskMessage(REPO, task_id))
    assert status(engine, REPO, task_id).state is TaskState.COMPLETED
    assert asked(world)[f"pre-{kind}", "first"] == 2


def calls_of_the_runner() -> int:
    world, calls = guarded_world(), Calls()
    run(engine_around(world.engine(), calls), left(world))
    return len(calls.names)


def test_wherever_a_runner_dies_the_next_one_asks_no_hook_that_has_answered():
    """A hook that is asked at the moment of the crash is asked again: at least once."""
    places = calls_of_the_runner()
    assert places > 10
    for number in range(1, places + 1):
        world = guarded_world()
        message = left(world)
        with pytest.raises(Crash):
            run(engine_around(world.engine(), CrashAt(number)), message)
        run_all_later(world)
        place = f"after call {number}"
        assert status(world.engine(), REPO, message.task_id).state is TaskState.COMPLETED, place
        again = asked(world) - each_once()
        assert again.total() <= 1, place
        assert each_once() - asked(world) == Counter(), place
        runs = hooks.list_page(world.engine(), REPO, "", 100, branch="", commit_id="").results
        assert sorted(run.event for run in runs) == sorted(EVENTS), place


def test_hooks_after_an_effect_survive_a_process_that_dies_with_it():
    """The process dies right after the transaction: it sends no message, and no one waits."""
    world = guarded_world(ACTION.replace(b"prepare-commit: , pre-commit: , ", b""))
    engine = world.engine()

    def dies(name, call):
        result = call()
        if name == "refs.move_branch":
            raise Crash(name)
        return result

    with pytest.raises(Crash):
        ask(engine_around(engine, dies))
    assert world.task_queue.waiting == []
    started = [event for event in world.refs.events if event.kind == "task_started"]
    (event,) = started  # the bus leads it to the queue of tasks
    run(world.engine(), TaskMessage(REPO, str(event.detail["task_id"])))
    assert asked(world) == Counter({("post-commit", "first"): 1, ("post-commit", "second"): 1})


def test_a_task_of_hooks_that_is_delivered_again_runs_nothing():
    world = guarded_world(ACTION.replace(b"prepare-commit: , pre-commit: , ", b""))
    ask(world.engine())
    (task,) = list_page(world.engine(), REPO, "", 10).results
    assert task.kind is TaskKind.HOOKS
    for _ in range(3):
        run(world.engine(), TaskMessage(REPO, task.id))
    assert asked(world).total() == 2
    (found,) = hooks.list_page(world.engine(), REPO, "", 10, branch="", commit_id="").results
    assert (found.id, found.status) == (
        status(world.engine(), REPO, task.id).result["run_id"],
        HookStatus.COMPLETED,
    )


def test_a_runner_does_not_begin_a_hook_that_it_has_no_time_for():
    world = guarded_world(ACTION.replace(b"/second'", b"/second', timeout: 5m"))
    message = left(world)
    run(world.engine(), message, time_left_s=lambda: 200.0 if world.targets.requests else 900.0)
    assert ("prepare-commit", "second") not in asked(world)
    run_all_later(world)
    assert asked(world) == each_once()


def test_what_was_mended_after_a_hook_failed_is_committed():
    world = guarded_world()
    world.targets.answer = lambda _request: answered(500)
    left(world)
    run_all(world.task_queue, world.engine())
    world.targets.answer = lambda _request: answered()
    upload(world.engine(), b"mended", b"1")
    left(world)
    run_all(world.task_queue, world.engine())
    assert b"mended" in paths(world.engine(), ask(world.engine()).id)


# A queue of hooks


def run_apart(world: MemoryWorld, message: TaskMessage) -> None:
    run(with_hook_queue(world.engine(), message), message)


def completes(world: MemoryWorld, message: TaskMessage) -> None:
    """The runners of both queues complete the task, and each hook runs once."""
    run_all_later(world, hooks_apart=True)
    assert asked(world) == each_once()
    assert status(world.engine(), REPO, message.task_id).state is TaskState.COMPLETED


def test_a_task_with_hooks_gives_its_place_back_until_a_runner_of_hooks_takes_it():
    world = guarded_world()
    message = left(world)
    run_apart(world, message)
    assert world.targets.requests == []
    waiting = status(world.engine(), REPO, message.task_id)
    assert (waiting.shown_state, waiting.takes) == (TaskState.WAITING, 0)
    completes(world, message)


def test_a_task_that_waits_for_a_runner_of_hooks_gets_no_more_messages():
    world = guarded_world()
    message = left(world)
    run_apart(world, message)
    before = len(world.task_queue.waiting)
    for _ in range(5):
        run_apart(world, message)
    assert len(world.task_queue.waiting) == before


def test_a_task_that_waits_for_a_runner_of_hooks_is_cancelled_at_once():
    world = guarded_world()
    message = left(world)
    run_apart(world, message)
    cancel(world.engine(), REPO, message.task_id)
    assert status(world.engine(), REPO, message.task_id).state is TaskState.CANCELLED
    run_all_later(world, hooks_apart=True)
    assert world.targets.requests == []


def test_a_task_whose_message_in_the_queue_of_hooks_is_lost_runs_when_its_client_repeats_the_request():
    world = guarded_world()
    message = left(world)
    run_apart(world, message)
    world.task_queue.waiting.clear()
    world.clock.sleep(901)
    for _ in range(5):
        run_apart(world, message)
    assert len(world.task_queue.waiting) == 1
    assert status(world.engine(), REPO, message.task_id).takes == 0
    completes(world, message)


def test_a_task_that_is_cancelled_while_it_is_left_to_hooks_ends_without_them():
    world = guarded_world()
    message = left(world)
    engine = with_hook_queue(world.engine(), message)
    replace_task = world.refs.replace_task

    def cancel_first(repository, old, new, event=None):
        if new.is_for_hooks and not new.is_unwanted:
            cancel(world.engine(), REPO, message.task_id)
        return replace_task(repository, old, new, event)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world.refs, "replace_task", cancel_first)
        run(engine, message)
    world.clock.sleep(60)
    for _, each in list(world.task_queue.waiting):
        if not isinstance(each, HookMessage):
            run_apart(world, each)
    assert status(world.engine(), REPO, message.task_id).state is TaskState.CANCELLED


def test_a_runner_that_dies_while_it_leaves_a_task_to_hooks_loses_none():
    for number in range(1, 40):
        world = guarded_world()
        message = left(world)
        world.task_queue.waiting.clear()
        world.refs.events.clear()
        engine = with_hook_queue(engine_around(world.engine(), CrashAt(number)), message)
        try:
            run(engine, message)
        except Crash:
            if not world.task_queue.waiting:  # else, the message that comes again is not needed
                world.task_queue.send(message)
            completes(world, message)
            continue
        return
    pytest.fail("it takes too many calls")
