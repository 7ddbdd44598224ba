"""Whatever happens to messages and runners, a task has one effect or none, and its record says so."""

from contextlib import contextmanager
from math import inf

import pytest

from graveler.errors import ConflictError, StaleVersionError
from graveler.layout import task_folder
from graveler.model.tasks import (
    LATER_REPORT_S,
    LEASE_S,
    REPORT_S,
    TaskMessage,
    TaskSettings,
    TaskState,
)
from graveler.operations import commits, repositories
from graveler.operations.task_work import WORK
from graveler.operations.tasks.advance import advance
from graveler.operations.tasks.requests import cancel
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import Calls, engine_around
from tests.support.faults.faults import Crash, CrashAt, Meanwhile
from tests.support.worlds.scenarios import REPO, contents, outside, upload
from tests.support.worlds.slices import predictable_slices
from tests.support.worlds.task_scenarios import (
    SCENARIOS,
    assert_completed,
    effects,
    ends,
    places,
    task_now,
)

COMMIT = SCENARIOS[0]
NAMES = [scenario.name for scenario in SCENARIOS]


@pytest.fixture(autouse=True)
def small_slices():
    with predictable_slices():
        yield


PLACES = [
    pytest.param(scenario, number, id=f"{scenario.name}-{number}")
    for scenario in SCENARIOS
    for number in places(scenario)
]


def leftovers(world, message):
    repository = world.engine().refs.repository(REPO)
    folder = task_folder(repository.storage_namespace, message.task_id)
    return [found.uri for found in world.objects.list_objects(folder)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_task_has_the_same_effect_as_the_request(scenario):
    world, message = scenario.begun()
    run_all(world.task_queue, world.engine())
    assert_completed(world, message, scenario)
    assert leftovers(world, message) == []


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_message_that_comes_again_changes_nothing(scenario):
    world, message = scenario.begun()
    run(world.engine(), message, runner="first")
    ended = task_now(world, message)
    for _ in range(2):
        assert run(world.engine(), message, runner="second") == ended
    assert_completed(world, message, scenario)


def test_a_message_that_comes_after_other_commits_changes_nothing():
    world, message = COMMIT.begun()
    run(world.engine(), message)
    world.task_settings = TaskSettings()
    upload(world.engine(), b"later")
    commits.commit(world.engine(), REPO, "main", commits.CommitRequest("later", "c"))
    before = outside(world.engine())
    run(world.engine(), message)
    assert outside(world.engine()) == before
    assert ends(world) == ["task_completed"]


def test_a_task_commits_what_was_staged_when_it_was_started():
    world, message = COMMIT.begun()
    expected = contents(world.engine(), "main")
    upload(world.engine(), b"later")
    run(world.engine(), message)
    assert contents(world.engine(), "main@") == expected
    assert b"later" in contents(world.engine(), "main")


def test_a_message_about_nothing_is_ignored():
    world, message = COMMIT.begun()
    assert run(world.engine(), TaskMessage(REPO, "CAnone")) is None
    assert run(world.engine(), TaskMessage("none", message.task_id)) is None
    repositories.delete(world.engine(), REPO)
    assert run(world.engine(), message) is None


@pytest.mark.parametrize(("scenario", "number"), PLACES)
def test_when_a_runner_dies_another_one_completes_the_task(scenario, number):
    world, message = scenario.begun()
    try:
        run(engine_around(world.engine(), CrashAt(number)), message, runner="first")
    except Crash:
        # Its message is delivered again at once, while the dead runner holds the task.
        run(world.engine(), message, runner="second")
        assert ends(world) in ([], ["task_completed"])
        world.clock.tick(LEASE_S + 1)
        run_all(world.task_queue, world.engine())
    assert_completed(world, message, scenario)
    assert leftovers(world, message) == []


@pytest.mark.parametrize("number", places(COMMIT))
def test_a_task_whose_runner_died_has_a_message_on_its_way(number):
    world, message = COMMIT.begun()
    world.task_queue.waiting.clear()  # the message that this runner got, and a lost one
    try:
        run(engine_around(world.engine(), CrashAt(number)), message, runner="first")
    except Crash:
        if task_now(world, message).state is TaskState.RUNNING:
            world.clock.tick(LEASE_S + 1)
            assert world.task_queue.waiting
            run_all(world.task_queue, world.engine())
            assert_completed(world, message, COMMIT)


@pytest.mark.parametrize(("scenario", "number"), PLACES)
@pytest.mark.parametrize("slowly", [False, True])
def test_two_runners_at_once_have_one_effect(scenario, number, slowly):
    world, message = scenario.begun()

    def second_runner():
        if slowly:
            world.clock.tick(LEASE_S + 1)
        run(world.engine(), message, runner="second")

    run(engine_around(world.engine(), Meanwhile(number, second_runner)), message, runner="first")
    run_all(world.task_queue, world.engine())
    assert_completed(world, message, scenario)


@pytest.mark.parametrize(("scenario", "number"), PLACES)
def test_a_cancelled_task_has_no_effect_and_one_that_ended_before_cannot_be_cancelled(
    scenario, number
):
    world, message = scenario.begun()
    before, after = scenario.outcomes()
    refusals = []

    def cancel_it():
        try:
            cancel(world.engine(), REPO, message.task_id)
        except ConflictError as error:
            refusals.append(error.message)

    meanwhile = Meanwhile(number, cancel_it)
    run(engine_around(world.engine(), meanwhile), message)
    if not meanwhile.has_happened:
        cancel_it()
    run_all(world.task_queue, world.engine())
    if refusals:
        assert refusals == [f"task {message.task_id} has ended: it is completed"]
        assert outside(world.engine()) == after
        assert_completed(world, message, scenario)
    else:
        assert outside(world.engine()) == before
        assert task_now(world, message).state is TaskState.CANCELLED
        assert effects(world, scenario.branch) == []
        assert ends(world) == ["task_cancelled"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_task_that_is_cancelled_has_no_effect_although_a_beat_sees_it_before_the_work(scenario):
    world, message = scenario.begun()
    before, _ = scenario.outcomes()
    calls = Calls()
    run(engine_around(world.engine(), calls), message)
    last = calls.names.count("files.write")  # after all reports of the work
    world, message = scenario.begun()
    beats, writes = [], []

    @contextmanager
    def at_work(beat, _seconds):
        beats.append(beat)
        yield

    def around(name, call):
        result = call()
        if name == "files.write":
            writes.append(name)
            if len(writes) == last:
                cancel(world.engine(), REPO, message.task_id)
                world.clock.tick(REPORT_S)
                beats[0]()
        return result

    engine = engine_around(world.engine(), around)
    advance(engine, message, WORK, runner="one", time_left_s=lambda: inf, at_work=at_work)
    assert task_now(world, message).state is TaskState.CANCELLED
    assert outside(world.engine()) == before


def test_a_task_that_lost_a_race_for_the_head_and_begins_anew_keeps_its_lease():
    world, message = COMMIT.begun()
    beats, leases = [], []

    def lease():
        return task_now(world, message).lease_until_ns

    @contextmanager
    def at_work(beat, _seconds):
        beats.append(beat)
        yield

    def around(name, call):
        if name == "refs.move_branch" and not leases:
            leases.append(lease())
            raise StaleVersionError("another writer moved the head")
        if name == "refs.branch" and len(leases) == 1:
            world.clock.tick(LATER_REPORT_S)
            beats[0]()
            leases.append(lease())
        return call()

    engine = engine_around(world.engine(), around)
    advance(engine, message, WORK, runner="one", time_left_s=lambda: inf, at_work=at_work)
    assert leases[1] > leases[0]
    assert_completed(world, message, COMMIT)


def test_a_task_whose_runner_s_clock_was_set_back_keeps_its_lease():
    world, message = COMMIT.begun()
    beats, versions = [], []

    @contextmanager
    def at_work(beat, _seconds):
        beats.append(beat)
        yield

    def around(_name, call):
        if beats and not versions:
            world.clock.step(-3600)
            for _ in range(2):
                versions.append(task_now(world, message).version)
                world.clock.tick(LATER_REPORT_S)
                beats[0]()
        return call()

    engine = engine_around(world.engine(), around)
    advance(engine, message, WORK, runner="one", time_left_s=lambda: inf, at_work=at_work)
    assert versions[1] > versions[0]


def test_a_waiting_task_is_cancelled_at_once():
    world, message = COMMIT.begun()
    assert cancel(world.engine(), REPO, message.task_id).state is TaskState.CANCELLED
    with pytest.raises(ConflictError, match="it is cancelled"):
        cancel(world.engine(), REPO, message.task_id)
    run_all(world.task_queue, world.engine())
    assert ends(world) == ["task_cancelled"]
    assert effects(world, "main") == []


def test_a_cancelled_task_whose_runner_died_is_ended_by_the_next_one():
    world, message = COMMIT.begun()
    with pytest.raises(Crash):
        run(engine_around(world.engine(), CrashAt(5)), message, runner="first")
    assert cancel(world.engine(), REPO, message.task_id).state is TaskState.RUNNING
    world.clock.tick(LEASE_S + 1)
    run_all(world.task_queue, world.engine())
    assert task_now(world, message).state is TaskState.CANCELLED
    assert outside(world.engine()) == COMMIT.outcomes()[0]


class Times:
    """Returns that there is time for so many looks at it, and none afterwards."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __call__(self) -> float:
        self.looks -= 1
        return 900 if self.looks >= 0 else 1


@pytest.mark.parametrize("looks", range(1, 12))
@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_runner_that_has_no_time_left_hands_on_to_the_next_one(scenario, looks):
    world, message = scenario.begun()
    world.task_queue.waiting.clear()
    run(world.engine(), message, runner="first", time_left_s=Times(looks))
    task = task_now(world, message)
    if not task.has_ended:
        now_ns = world.clock.peek_ns
        assert not task.is_held(now_ns)
        assert any(due_ns <= now_ns for due_ns, _ in world.task_queue.waiting)
    run_all(world.task_queue, world.engine())
    assert_completed(world, message, scenario)


def test_a_runner_that_is_about_to_end_takes_no_task():
    world, message = COMMIT.begun()
    world.task_queue.waiting.clear()
    run(world.engine(), message, time_left_s=Times(0))
    assert task_now(world, message).takes == 0
    run_all(world.task_queue, world.engine())
    assert_completed(world, message, COMMIT)


def test_slices_that_were_applied_are_not_applied_again(monkeypatch):
    world, message = COMMIT.begun()
    calls = Calls()
    run(engine_around(world.fork().engine(), calls), message)
    applied_once = calls.counts()["objects.put"]
    assert applied_once >= 3
    last = max(n for n, name in enumerate(calls.names, 1) if name == "objects.put")
    first = Calls()

    def die_at_last(name, call):
        result = first(name, call)
        if len(first.names) >= last:
            raise Crash(name)
        return result

    with pytest.raises(Crash):
        run(engine_around(world.engine(), die_at_last), message, runner="first")
    world.clock.tick(LEASE_S + 1)
    second = Calls()
    run(engine_around(world.engine(), second), message, runner="second")
    assert second.counts()["objects.put"] <= applied_once - first.counts()["objects.put"] + 1
    assert_completed(world, message, COMMIT)
