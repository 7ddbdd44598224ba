"""One repository holds less than half of the places, so that others need not wait for it."""

from dataclasses import replace

import pytest

from graveler.engine import Engine
from graveler.errors import ThrottledError
from graveler.model.places import Place, PlaceLimit, Places, below_half
from graveler.model.tasks import Task, TaskMessage, TaskState
from graveler.operations import commits
from graveler.operations.places import leave_place, pause_s, take_place
from graveler.operations.tasks.advance import advance
from graveler.operations.tasks.requests import cancel, status
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash
from tests.support.worlds.export_world import export_world
from tests.support.worlds.lake import REPO, commit, upload

LIMIT = PlaceLimit("tasks", 1)
S = 10**9


@pytest.mark.parametrize(
    ("at_once", "places_max"), [(0, None), (1, 1), (2, 1), (3, 1), (4, 1), (5, 2), (10, 4)]
)
def test_a_repository_has_less_than_half_of_the_places_but_one(at_once, places_max):
    assert below_half(at_once) == places_max


def test_work_takes_over_its_own_place_and_those_whose_time_is_over():
    places = Places("tasks", {"a": Place("1", 100), "b": Place("2", 10)})
    assert places.with_place("c", Place("3", 200), 9, 2) is None
    assert places.with_place("a", Place("3", 200), 9, 2).taken["a"] == Place("3", 200)
    assert set(places.with_place("c", Place("3", 200), 10, 2).taken) == {"a", "c"}


def test_a_runner_leaves_only_its_own_place():
    places = Places("tasks", {"a": Place("1", 100)})
    assert places.without("a", "2") is None
    assert places.without("b", "1") is None
    assert places.without("a", "1").taken == {}


@pytest.mark.parametrize(("waited_s", "paused_s"), [(0, 1), (7, 1), (40, 10), (10**6, 20)])
def test_work_that_has_waited_for_longer_is_tried_less_often(waited_s, paused_s):
    assert pause_s(waited_s * S) == paused_s


@pytest.fixture
def limited(engine: Engine) -> Engine:
    return replace(engine, task_places=LIMIT)


def begun(engine: Engine, number: int = 0) -> TaskMessage:
    request = commits.CommitRequest(f"message {number}", "somebody", allow_empty=True)
    return TaskMessage(REPO, commits.start_commit(engine, REPO, "main", request).id)


def state(engine: Engine, message: TaskMessage) -> Task:
    return status(engine, REPO, message.task_id)


def run_beside(engine: Engine, message: TaskMessage, inside) -> None:
    """Run the task of a message, and do something else in the middle of it."""
    work = {state(engine, message).kind: lambda _hold: inside() or {"commit_id": "c"}}
    advance(engine, message, work, runner="first", time_left_s=lambda: 600)


def test_a_task_without_a_place_comes_again_and_runs_then(
    world: MemoryWorld, limited: Engine
) -> None:
    first, second = begun(limited, 1), begun(limited, 2)
    world.task_queue.waiting.clear()
    seen = []
    run_beside(limited, first, lambda: seen.append(run(limited, second, runner="second")))
    assert [(task.shown_state, task.takes, task.runner) for task in seen] == [
        (TaskState.WAITING, 0, "second")
    ]
    assert state(limited, first).state is TaskState.COMPLETED
    run_all(world.task_queue, limited)
    assert state(limited, second).state is TaskState.COMPLETED
    assert limited.refs.places(limited.refs.repository(REPO), "tasks").taken == {}


def test_other_messages_about_a_task_that_was_put_off_are_dropped(world, limited):
    first, second = begun(limited, 1), begun(limited, 2)
    world.clock.sleep(80)

    def inside() -> None:
        run(limited, second, runner="second")
        world.task_queue.waiting.clear()
        run(limited, second, runner="third")
        assert world.task_queue.waiting == []

    run_beside(limited, first, inside)
    assert state(limited, second).shown_state is TaskState.WAITING


def test_a_task_that_was_put_off_can_be_cancelled_at_once(limited):
    first, second = begun(limited, 1), begun(limited, 2)

    def inside() -> None:
        run(limited, second, runner="second")
        assert cancel(limited, REPO, second.task_id).state is TaskState.CANCELLED

    run_beside(limited, first, inside)


def test_the_place_of_a_runner_that_died_is_free_for_its_task_and_later_for_others(world, limited):
    first, second = begun(limited, 1), begun(limited, 2)

    has_died = []

    def die() -> None:
        has_died.append(True)
        raise Crash

    def unless_dead(_name: str, call):
        if has_died:
            raise Crash
        return call()

    with pytest.raises(Crash):
        run_beside(engine_around(limited, unless_dead), first, die)
    assert run(limited, second, runner="second").shown_state is TaskState.WAITING
    world.clock.sleep(60)
    assert run(limited, first, runner="third").state is TaskState.COMPLETED
    assert run(limited, second, runner="fourth").state is TaskState.COMPLETED


def test_a_place_is_free_when_its_runner_s_invocation_must_have_ended(world, engine):
    repository = engine.refs.repository(REPO)
    assert take_place(engine, repository, LIMIT, "a", "1", 600)
    assert not take_place(engine, repository, LIMIT, "b", "2", 600)
    world.clock.sleep(601)
    assert take_place(engine, repository, LIMIT, "b", "2", 10_000)
    world.clock.sleep(901)
    assert take_place(engine, repository, LIMIT, "c", "3", 600)


def test_a_place_that_cannot_be_left_fails_nothing(engine):
    def fail(name: str, call):
        if name == "refs.replace_places":
            raise ThrottledError("the store is busy")
        return call()

    repository = engine.refs.repository(REPO)
    assert take_place(engine, repository, LIMIT, "a", "1", 600)
    leave_place(engine_around(engine, fail), repository, LIMIT, "a", "1")


def test_a_runner_that_lost_the_race_for_a_task_leaves_no_place(engine, limited):
    """Another runner, without a limit, takes the task between its read and its write."""
    first = begun(limited)
    taken = []

    def between(name: str, call):
        if name == "refs.replace_task" and not taken:
            taken.append(True)
            run_beside(engine, first, lambda: None)
        return call()

    run(engine_around(limited, between), first, runner="late")
    repository = limited.refs.repository(REPO)
    assert limited.refs.places(repository, "tasks").taken == {}


def test_exports_without_a_place_come_again_and_run_then():
    lake = export_world()
    upload(lake.engine(), b"a", b"1")
    commit(lake.engine())
    lake.configure()
    limited = replace(lake.engine(), export_places=PlaceLimit("exports", 1))
    assert take_place(limited, lake.repository, limited.export_places, "other", "x", 600)
    lake.world.export_queue.waiting.clear()
    for _ in range(3):  # further messages make none
        lake.advance(limited)
    ((due_ns, _),) = lake.world.export_queue.waiting
    assert lake.exported("s3://out/latest") == {}
    lake.world.export_queue.waiting.clear()
    lake.world.clock.tick((due_ns - lake.world.clock.peek_ns) / S)
    lake.advance(limited)
    assert len(lake.world.export_queue.waiting) == 1
    leave_place(limited, lake.repository, limited.export_places, "other", "x")
    lake.advance(limited)
    assert "a" in lake.exported("s3://out/latest")
    assert limited.refs.places(lake.repository, "exports").taken == {}
