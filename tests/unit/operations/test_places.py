"""One repository holds less than half of the places, so that others need not wait for it."""

from dataclasses import replace

import pytest

from graveler.engine import Engine
from graveler.errors import ThrottledError
from graveler.model.places import Place, PlaceLimit, Places, below_half
from graveler.model.tasks import Task, TaskMessage, TaskState, taken
from graveler.open_repository import OpenRepository
from graveler.operations import commits
from graveler.operations.places import Seat, pause_s
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


def test_a_place_is_free_when_its_time_is_over():
    places = Places("tasks", {"a": Place("1", 100), "b": Place("2", 10)})
    assert set(places.at(9).taken) == {"a", "b"}
    assert set(places.at(10).taken) == {"a"}


def test_work_has_one_place_and_waits_no_longer():
    places = Places("tasks", {"a": Place("1", 100)}, {"a": 1, "b": 2})
    seated = places.with_place("a", Place("3", 200))
    assert (seated.taken, seated.waiting) == ({"a": Place("3", 200)}, {"b": 2})


def test_a_runner_leaves_only_its_own_place_and_the_end_of_work_leaves_any():
    places = Places("tasks", {"a": Place("1", 100)}, {"b": 1})
    assert places.without("a", "2") == places
    assert places.without("b", "1") == places
    assert places.without("a", "1").taken == {}
    assert places.without("a", "").taken == {}
    assert places.without("b", "").waiting == {}


def test_the_oldest_work_is_noted_as_waiting_and_is_woken_first():
    places = Places("tasks")
    for number in (5, 1, 9, 3, 7, 2, 8, 6, 4, 10):
        places = places.with_waiting(f"work {number}", number)
    assert sorted(places.waiting.values()) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert places.with_waiting("work 3", 99) == places
    left, woken = places.woken()
    assert (woken, "work 1" in left.waiting) == ("work 1", False)
    assert Places("tasks").woken() == (Places("tasks"), "")


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


def died(engine: Engine, message: TaskMessage) -> None:
    """Let a runner take the task, and die."""
    has_died = []

    def die() -> None:
        has_died.append(True)
        raise Crash

    def unless_dead(_name: str, call):
        if has_died:
            raise Crash
        return call()

    with pytest.raises(Crash):
        run_beside(engine_around(engine, unless_dead), message, die)


def places_taken(engine: Engine) -> set[str]:
    repository = engine.refs.repository(REPO)
    assert repository is not None
    return set(engine.refs.places(repository, "tasks").taken)


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
    assert places_taken(limited) == set()


def test_a_place_is_free_as_soon_as_its_task_ends(limited):
    run_beside(limited, begun(limited), lambda: None)
    assert places_taken(limited) == set()


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


def test_the_message_of_a_task_that_was_put_off_may_come_early(world, limited):
    """Clocks differ."""
    first, second = begun(limited, 1), begun(limited, 2)
    world.clock.sleep(80)

    def inside() -> None:
        run(limited, second, runner="second")
        ((_, early),) = [each for each in world.task_queue.waiting if each[1].runner == "second"]
        world.task_queue.waiting.clear()
        run(limited, early, runner="third")
        ((_, again),) = world.task_queue.waiting
        assert again.runner == "third"

    run_beside(limited, first, inside)


def test_a_task_that_was_put_off_can_be_cancelled_at_once(limited):
    first, second = begun(limited, 1), begun(limited, 2)

    def inside() -> None:
        run(limited, second, runner="second")
        assert cancel(limited, REPO, second.task_id).state is TaskState.CANCELLED

    run_beside(limited, first, inside)


def test_the_place_of_a_runner_that_died_is_free_for_its_task_and_later_for_others(world, limited):
    first, second = begun(limited, 1), begun(limited, 2)

    died(limited, first)
    assert run(limited, second, runner="second").shown_state is TaskState.WAITING
    world.clock.sleep(60)
    assert run(limited, first, runner="third").state is TaskState.COMPLETED
    assert run(limited, second, runner="fourth").state is TaskState.COMPLETED


def seat(engine: Engine, work: str, runner: str, limit: PlaceLimit = LIMIT) -> Seat:
    repository = engine.refs.repository(REPO)
    assert repository is not None
    return Seat(OpenRepository(engine, repository), limit, work, runner, lambda _work: None)


def test_a_place_is_free_when_its_runner_s_invocation_must_have_ended(world, engine):
    assert seat(engine, "a", "1").take(600, 0) is not None
    assert seat(engine, "b", "2").take(600, 0) is None
    world.clock.sleep(601)
    assert seat(engine, "b", "2").take(10_000, 0) is not None
    world.clock.sleep(901)
    assert seat(engine, "c", "3").take(600, 0) is not None


def test_a_place_that_cannot_be_left_fails_nothing(engine):
    def fail(name: str, call):
        if name == "refs.replace_places":
            raise ThrottledError("the store is busy")
        return call()

    seat(engine, "a", "1").take(600, 0)
    seat(engine_around(engine, fail), "a", "1").leave()


def test_who_leaves_a_place_wakes_the_oldest_task_that_waits(world, limited):
    messages = [begun(limited, number) for number in range(3)]
    world.clock.sleep(100)

    def inside() -> None:
        for message in reversed(messages[1:]):
            run(limited, message, runner=message.task_id)
        world.task_queue.waiting.clear()

    run_beside(limited, messages[0], inside)
    (woken,) = (message for _, message in world.task_queue.waiting)
    assert woken == messages[1]
    assert run(limited, woken, runner="next").state is TaskState.COMPLETED


def test_a_task_that_ended_without_its_runner_has_no_place(world, limited):
    """A user cancels it, and its runner has died."""
    first, second = begun(limited, 1), begun(limited, 2)
    died(limited, first)
    cancel(limited, REPO, first.task_id)
    world.clock.sleep(30)
    assert run(limited, first, runner="late").state is TaskState.CANCELLED
    assert run(limited, second, runner="second").state is TaskState.COMPLETED


def test_the_winner_of_a_race_for_a_task_has_its_place(engine, limited):
    """The other runner took the place first, and leaves it when it loses."""
    first, second = begun(limited, 1), begun(limited, 2)
    other = seat(limited, first.task_id, "loser")
    assert other.take(600, 0) is not None

    def inside() -> None:
        other.leave()
        assert run(limited, second, runner="second").shown_state is TaskState.WAITING

    run_beside(limited, first, inside)


def test_a_runner_that_lost_the_race_for_a_task_leaves_no_place(engine, limited):
    """Another runner takes the task between its read and its write."""
    first = begun(limited)
    is_lost = []

    def between(name: str, call):
        if name == "refs.replace_task" and not is_lost:
            is_lost.append(True)
            task = state(engine, first)
            held = taken(task, "other", task.create_time_ns + 60 * S)
            engine.refs.replace_task(engine.refs.repository(REPO), task, held)
        return call()

    run(engine_around(limited, between), first, runner="late")
    assert places_taken(limited) == set()


def test_exports_without_a_place_come_again_and_run_then():
    lake = export_world()
    upload(lake.engine(), b"a", b"1")
    commit(lake.engine())
    lake.configure()
    limit = PlaceLimit("exports", 1)
    limited = replace(lake.engine(), export_places=limit)
    other = seat(limited, "other", "x", limit)
    assert other.take(600, 0) is not None
    queue = lake.world.export_queue
    queue.waiting.clear()
    for _ in range(3):  # further messages make none
        lake.advance(limited)
    ((due_ns, _),) = queue.waiting
    assert lake.exported("s3://out/latest") == {}
    queue.waiting.clear()
    lake.world.clock.tick((due_ns - lake.world.clock.peek_ns) / S)
    lake.advance(limited)
    assert len(queue.waiting) == 1
    other.leave()
    lake.advance(limited)
    assert "a" in lake.exported("s3://out/latest")
    assert limited.refs.places(lake.repository, "exports").taken == {}
