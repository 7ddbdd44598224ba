"""Workers apply slices elsewhere: what they get and answer is JSON, and they may fail."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest

from graveler.engine import Engine
from graveler.errors import CorruptDataError, ThrottledError
from graveler.model.tasks import TaskMessage, TaskSettings, TaskState
from graveler.operations import merges, repositories, writes
from graveler.operations.tasks.slices import SliceJob, apply_job
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run
from tests.support.worlds.lake import REPO as LAKE
from tests.support.worlds.lake import apart, commit, cross, new_lake, paths
from tests.support.worlds.scenarios import REPO, outside
from tests.support.worlds.slices import slices_of
from tests.support.worlds.task_scenarios import SCENARIOS, TaskScenario, assert_completed, task_now

COMMIT, MERGE = SCENARIOS[:2]
NAMES = [scenario.name for scenario in SCENARIOS]


@pytest.fixture(autouse=True)
def small_slices():
    with slices_of(1):
        yield


@dataclass
class Workers:
    """A SliceFunction whose workers are other processes: they share nothing but the stores.

    deaths: how many invocations die after they stored their result.
    """

    world: MemoryWorld
    deaths: int = 0
    jobs: list[Mapping[str, Any]] = field(default_factory=list)

    def invoke(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        sent = json.loads(json.dumps(job))
        self.jobs.append(sent)
        answer = apply_job(self.world.engine(), msgspec.convert(sent, SliceJob))
        if self.deaths:
            self.deaths -= 1
            raise ThrottledError("the function died")
        answered: Mapping[str, Any] = json.loads(msgspec.json.encode(answer))
        return answered


def runner_with(workers: Workers) -> Engine:
    settings = TaskSettings(slices_at_once=3)
    return replace(workers.world.engine(), slice_function=workers, task_settings=settings)


def begun(scenario: TaskScenario, **options: Any) -> tuple[Workers, Any]:
    world, message = scenario.begun()
    return Workers(world, **options), message


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_workers_have_the_same_effect_as_one_process(scenario):
    workers, message = begun(scenario)
    run(runner_with(workers), message)
    assert_completed(workers.world, message, scenario)
    assert len(workers.jobs) > 1 or scenario.name == "cherry-pick"  # which has no safe cut


def test_workers_merge_after_crossed_merges():
    world = new_lake()
    apart(world.engine(), source={"s": "S"}, destination={"d": "D"})
    cross(world.engine())
    for path in (b"d", b"s"):
        writes.delete(world.engine(), LAKE, "source", path)
    commit(world.engine(), "source")
    asked = merges.MergeRequest("somebody")
    task = merges.start_merge(world.engine(), LAKE, "source", "main", asked)
    workers = Workers(world)
    run(runner_with(workers), TaskMessage(LAKE, task.id))
    assert paths(world.engine(), "main") == [b"a"]
    assert workers.jobs[0]["source"]["since"]["sets"]


def test_a_job_carries_no_content_and_no_secret():
    workers, message = begun(COMMIT)
    run(runner_with(workers), message)
    for job in workers.jobs:
        names = {"repository", "uid", "namespace", "task", "base", "source", "start", "end"}
        assert job.keys() == names
        assert job["source"].keys() == {"kind", "tokens", "version"}


def test_a_slice_whose_worker_died_is_invoked_again_and_applied_once():
    workers, message = begun(COMMIT, deaths=3)
    puts = []
    put = workers.world.objects.put

    def counted(uri: str, *rest: Any) -> Any:
        puts.append(uri)
        return put(uri, *rest)

    workers.world.objects.put = counted  # type: ignore[method-assign,assignment]
    run(runner_with(workers), message)
    assert_completed(workers.world, message, COMMIT)
    assert len(puts) == len({*puts}) == len(workers.jobs) - 3


def test_workers_that_always_die_leave_the_task_to_the_next_runner():
    workers, message = begun(COMMIT, deaths=10**6)
    before = outside(workers.world.engine())
    run(runner_with(workers), message, runner="first")
    task = task_now(workers.world, message)
    # The next one waits for a while: the workers may be overloaded.
    assert (task.state, task.is_held(workers.world.clock.peek_ns)) == (TaskState.RUNNING, True)
    workers.world.clock.tick(10)
    assert not task.is_held(workers.world.clock.peek_ns)
    assert outside(workers.world.engine()) == before
    workers.deaths = 0
    run(runner_with(workers), message, runner="second")
    assert_completed(workers.world, message, COMMIT)


def test_an_error_of_a_worker_is_the_tasks(monkeypatch):
    workers, message = begun(MERGE)

    def damaged(*_: object) -> object:
        raise CorruptDataError("a range is damaged", "range 1")

    monkeypatch.setattr("graveler.operations.tasks.slices.apply_slice", damaged)
    run(runner_with(workers), message)
    task = task_now(workers.world, message)
    assert task.state is TaskState.FAILED
    assert type(task.failure.error) is CorruptDataError
    assert str(task.failure.error) == "a range is damaged: range 1"


def test_a_worker_writes_nothing_into_a_repository_of_the_same_name():
    workers, message = begun(COMMIT)
    run(runner_with(workers), message)
    job = msgspec.convert(workers.jobs[0], SliceJob)
    repositories.delete(workers.world.engine(), REPO)
    repositories.create(workers.world.engine(), name=REPO, storage_namespace="s3://bucket/other")
    objects = workers.world.objects.uris()
    answer = apply_job(workers.world.engine(), job)
    assert answer.failure is not None
    assert answer.failure.code == "not_found"
    assert workers.world.objects.uris() == objects


@pytest.mark.parametrize("changed", ["start", "end", "base", "task", "uid", "source"])
def test_different_jobs_have_different_results(changed):
    """Else a result would be taken for that of another slice."""
    workers, message = begun(COMMIT)
    run(runner_with(workers), message)
    job = msgspec.convert(workers.jobs[0], SliceJob)
    source = msgspec.structs.replace(job.source, version=job.source.version + 1)
    other: Any = source if changed == "source" else "AAAA"
    assert msgspec.structs.replace(job, **{changed: other}).result_uri != job.result_uri
