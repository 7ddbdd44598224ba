"""Jobs that carry out exports: crashing at any call, refused at any object, late, or twice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from graveler.errors import ConflictError, NotFoundError, ThrottledError
from graveler.export.lifecycle import (
    BATCH_START_S,
    BATCH_STARTS_MAX,
    LEASE_MARGIN_S,
    LEASE_S,
    WRITING_S,
)
from graveler.export.record import ExportRequest, ExportState, Progress
from graveler.export.slices import slices_of
from graveler.open_repository import OpenRepository
from graveler.operations.exports import requests
from graveler.operations.exports.batch import export_in_batch
from graveler.operations.exports.lease import ExportLease
from graveler.operations.exports.run import work_of
from graveler.operations.exports.slices import ObservedLease, RunSpec, carry_out_slice
from graveler.operations.leases import StoppedError, UnwantedError
from tests.support.fakes.clocks import SkewedClock
from tests.support.fakes.memory_exports import MemoryBatchJobs
from tests.support.faults.counting import Calls, engine_around
from tests.support.worlds.export_jobs import (
    WorkersInTurns,
    attempt,
    commit,
    finish,
    outcome,
    refuse,
)
from tests.support.worlds.export_world import MARK, REPO, ExportWorld, export_world

# Slices end within directories, some of which have objects set apart, also in their middle.
FIRST = {
    f"{folder}{name}": b"A" for folder in ("", "a/", "a/b/", "c/d/") for name in ("1", "5", "_")
}
SECOND = {key: b"B" for key in FIRST if key not in ("a/b/5", "c/d/1")} | {
    "a/b/4": b"B",
    "b/1": b"B",
    "c/d/2": b"B",
    "c/d/e/1": b"B",
}
PATTERNS = ("^$", "^a/", "_$", "^a/[1-4]$")
REQUEST = ExportRequest(REPO, "main")

# With this step of the clock, runners renew and store progress every few calls.
STEP_NS = 5 * 10**8


def changed_branch(**more: Any) -> ExportWorld:
    """Return a branch that was exported and has changed since; the next run has not begun."""
    world = export_world(raggedness=2)
    commit(world, FIRST, {})
    world.configure(patterns=PATTERNS, status_path="s3://out/status", **more)
    world.settle()
    commit(world, SECOND, FIRST)
    return world


@pytest.fixture(scope="module")
def expected() -> dict[str, bytes]:
    """The outcome if the function does all the work."""
    world = changed_branch()
    requests.run(world.engine(), REPO, "main")
    finish(world, is_job=False)
    return outcome(world)


def run_job(world: ExportWorld, run_id: str = "", name: str = "job") -> str:
    world.runner = name
    workers = WorkersInTurns(world.engine())
    try:
        return export_in_batch(world.engine(), REQUEST, run_id, runner=name, workers=workers)
    finally:
        world.runner = ""
        assert world.violations == []


def test_a_job_ends_as_the_function_does(expected: dict[str, bytes]) -> None:
    world = changed_branch()
    run_job(world)
    assert outcome(world) == expected
    assert {uri for uri in expected if uri.endswith(MARK)} == {
        f"s3://out/latest/{directory}{MARK}" for directory in ("", "a/", "a/b/", "c/d/")
    }
    assert requests.status(world.engine(), REPO, "main").state is ExportState.SUCCEEDED
    assert [uri for uri in world.objects.uris("s3://bucket") if "/exports/" in uri] == []


def end_what_was_left(
    expected: dict[str, bytes], *, calls: range, is_begun_by_job: bool, is_ended_by_job: bool
) -> int:
    """Crash a runner after each number of calls and let another finish; count the resumed runs."""
    resumed = 0
    for calls_max in calls:
        world = changed_branch()
        requests.run(world.engine(), REPO, "main")
        world.world.clock.step_ns = STEP_NS
        attempt(world, is_job=is_begun_by_job, name="dead", calls_max=calls_max)
        record = world.record
        assert record is not None
        assert record.run is not None
        if record.state is ExportState.SUCCEEDED:
            break
        resumed += bool(record.run.progress.after)
        world.world.clock.tick(LEASE_S)
        finish(world, is_ended_by_job)
        assert outcome(world) == expected, calls_max
    return resumed


@pytest.mark.parametrize("is_ended_by_job", [True, False])
def test_a_run_ends_the_same_wherever_its_job_died(
    expected: dict[str, bytes], is_ended_by_job: bool
) -> None:
    calls = range(1 + is_ended_by_job, 1000, 2)
    resumed = end_what_was_left(
        expected, calls=calls, is_begun_by_job=True, is_ended_by_job=is_ended_by_job
    )
    assert resumed > 10


def test_a_job_continues_where_the_function_died(expected: dict[str, bytes]) -> None:
    resumed = end_what_was_left(
        expected, calls=range(1, 1000, 2), is_begun_by_job=False, is_ended_by_job=True
    )
    assert resumed > 10


@pytest.mark.parametrize("refused", sorted(SECOND))
def test_a_failed_object_prevents_the_marks_around_it_until_the_repair(
    expected: dict[str, bytes], refused: str
) -> None:
    world = changed_branch()
    refuse(world, {refused})
    run_job(world)  # the witness checks the marks
    record = world.record
    assert record is not None
    assert record.state is ExportState.FAILED
    status = requests.status(world.engine(), REPO, "main")
    assert status.failed == 1
    assert [error for error in status.first_errors if refused in error]
    finish(world, is_job=True)
    assert outcome(world) == expected


def test_only_one_job_carries_out_a_run_and_never_together_with_the_function() -> None:
    world = changed_branch()
    run_id = requests.run(world.engine(), REPO, "main", in_batch=True)
    world.advance(runner="function")  # waits for the job
    assert world.record is not None
    assert world.record.run is not None
    assert world.record.run.runner == ""
    with pytest.raises(ConflictError):
        run_job(world, "another run")
    attempt(world, is_job=True, name="first", calls_max=25)
    assert world.record.run.runner == "first"
    with pytest.raises(ConflictError, match="has another runner, or has ended"):
        run_job(world, run_id)
    world.advance(runner="function")
    assert world.record.run.runner == "first"
    world.world.clock.tick(LEASE_S)
    assert run_job(world, run_id) == run_id
    with pytest.raises(ConflictError, match="has ended"):
        run_job(world, run_id)


def left_to_a_job() -> tuple[ExportWorld, str]:
    """Return a run that the function has left to a job."""
    world = changed_branch()
    world.world.batch_jobs.is_deployed = True
    world.world.export_settings = structs.replace(world.world.export_settings, batch_objects_min=1)
    requests.run(world.engine(), REPO, "main")
    world.advance()
    world.advance()
    [(_, run_id)] = world.world.batch_jobs.started
    return world, run_id


def deliver_next_message(world: ExportWorld) -> None:
    """Let time pass until a message is due, and deliver it to the function."""
    waiting = world.world.export_queue.waiting
    waiting.sort(key=lambda each: each[0])
    due_ns, _ = waiting.pop(0)
    world.world.clock.tick(max(0, due_ns - world.world.clock.peek_ns) / 1e9)
    world.advance(runner=f"function at {due_ns}")


def test_a_job_that_never_starts_is_requested_again() -> None:
    world, run_id = left_to_a_job()
    started = world.world.batch_jobs.started
    begun_ns = world.world.clock.peek_ns
    while len(started) == 1:
        deliver_next_message(world)
    assert world.world.clock.peek_ns - begun_ns < (BATCH_START_S + 60) * 10**9
    assert started[0] == started[1]
    run_job(world, run_id)
    assert requests.status(world.engine(), REPO, "main").state is ExportState.SUCCEEDED


def test_the_function_takes_over_from_a_dead_job(expected: dict[str, bytes]) -> None:
    world, run_id = left_to_a_job()
    begun_ns = world.world.clock.peek_ns
    attempt(world, is_job=True, name="dead", calls_max=60)
    while len(world.world.batch_jobs.started) == 1:
        deliver_next_message(world)
    assert world.world.clock.peek_ns - begun_ns < (BATCH_START_S + LEASE_S) * 10**9
    run_job(world, run_id)
    assert outcome(world) == expected


def test_the_function_takes_over_from_a_dead_job_of_a_user(expected: dict[str, bytes]) -> None:
    world = changed_branch()
    attempt(world, is_job=True, name="dead", calls_max=60)
    record = world.record
    assert record is not None
    assert record.state is ExportState.IN_PROGRESS
    while world.record is not None and world.record.state is ExportState.IN_PROGRESS:
        deliver_next_message(world)
    assert outcome(world) == expected


def test_a_run_with_little_left_to_do_gets_no_other_job() -> None:
    world = changed_branch()
    world.world.batch_jobs.is_deployed = True
    world.world.export_settings = structs.replace(world.world.export_settings, batch_objects_min=14)
    requests.run(world.engine(), REPO, "main")
    world.world.clock.step_ns = STEP_NS
    attempt(world, is_job=True, name="dead", calls_max=100)
    assert world.record is not None
    assert world.record.run is not None
    progress = world.record.run.progress
    assert 0 < progress.total - progress.done < 14
    world.world.clock.step_ns = 10**6
    finish(world, is_job=False)
    assert world.world.batch_jobs.started == []


# A single worker


def begun(world: ExportWorld) -> tuple[RunSpec, Callable[[], object]]:
    """Return a run held by a living runner, and a function that carries out its first slice."""
    run_id = requests.run(world.engine(), REPO, "main", in_batch=True)
    attempt(world, is_job=True, name="job", calls_max=25)
    record = world.record
    assert record is not None
    lease = ExportLease(
        OpenRepository(world.engine(), world.repository), record, world.world.clock.moment()
    )
    work = work_of(lease)
    assert lease.run.id == run_id
    part = slices_of(work, Progress(), 1)[0]
    run = RunSpec.of(lease, work)

    def carry_out() -> object:
        return carry_out_slice(world.engine(), run, part).problem

    world.writes.clear()
    return run, carry_out


def test_a_worker_stops_when_its_runner_does_not_renew_the_lease() -> None:
    world = changed_branch()
    _, carry_out = begun(world)
    world.runner = "job"
    assert carry_out() is None
    assert world.writes
    world.world.clock.tick(LEASE_S - LEASE_MARGIN_S)
    world.writes.clear()
    assert isinstance(carry_out(), StoppedError)
    assert world.writes == []


@pytest.mark.parametrize("jump_s", [-3600, -60, 3600])
def test_a_worker_whose_clock_jumps_does_not_believe_an_old_lease(jump_s: int) -> None:
    world = changed_branch()
    run, _ = begun(world)
    clock = SkewedClock(world.world.clock, 0)
    lease = ObservedLease(replace(world.engine(), clock=clock), run)
    lease.check()
    world.world.clock.tick(LEASE_S - LEASE_MARGIN_S)
    clock.step(jump_s)
    with pytest.raises(StoppedError):
        lease.check()


def test_a_renewal_counts_from_before_it_was_stored() -> None:
    world = changed_branch()
    begun(world)

    def slowly(name: str, call: Callable[[], Any]) -> Any:
        answer = call()
        if name == "exports.replace_branch_export":
            world.world.clock.tick(WRITING_S)
        return answer

    engine, record = engine_around(world.engine(), slowly), world.record
    assert record is not None
    lease = ExportLease(OpenRepository(engine, world.repository), record, engine.clock.moment())
    lease.renew(Progress())
    with pytest.raises(StoppedError):
        lease.check()


def test_a_runner_whose_clock_goes_back_step_by_step_does_not_renew() -> None:
    world = changed_branch()
    begun(world)
    clock, record = SkewedClock(world.world.clock, 0), world.record
    assert record is not None
    engine = replace(world.engine(), clock=clock)
    lease = ExportLease(OpenRepository(engine, world.repository), record, clock.moment())
    clock.step(-4)
    lease.renew(Progress())
    clock.step(-4)
    with pytest.raises(StoppedError, match="the clock was set back"):
        lease.renew(Progress())


def test_a_worker_stops_when_another_runner_holds_the_run_or_it_is_unwanted() -> None:
    world = changed_branch()
    _, carry_out = begun(world)
    world.configure("s3://out/elsewhere", patterns=PATTERNS, status_path="s3://out/status")
    assert isinstance(carry_out(), UnwantedError)
    world.configure(patterns=PATTERNS, status_path="s3://out/status")
    world.world.clock.tick(LEASE_S)
    attempt(world, is_job=False, name="function", calls_max=10)
    world.writes.clear()
    problem = carry_out()
    assert isinstance(problem, StoppedError)
    assert not isinstance(problem, UnwantedError)
    assert world.writes == []


def test_a_worker_reads_the_lease_as_often_as_it_is_renewed_not_for_each_object() -> None:
    world = changed_branch()
    run, _ = begun(world)
    calls = Calls()
    engine = engine_around(world.engine(), calls)
    record = world.record
    assert record is not None
    work = work_of(
        ExportLease(OpenRepository(engine, world.repository), record, engine.clock.moment())
    )
    world.runner = "job"
    carry_out_slice(engine, run, slices_of(work, Progress(), 1000)[0])
    assert calls.counts()["objects.copy"] > 8
    assert calls.counts()["exports.branch_export"] == 1


def test_if_a_store_fails_the_job_ends_and_the_run_can_be_taken_at_once(
    expected: dict[str, bytes],
) -> None:
    world = changed_branch()
    world.objects.before = _throttled_at("a/b/1")
    world.world.export_queue.waiting.clear()
    run_job(world)
    finish(world, is_job=False)
    assert outcome(world) == expected


def _throttled_at(key: str) -> Callable[[str, str], None]:
    def before(_operation: str, uri: str) -> None:
        if uri.endswith(key):
            raise ThrottledError("slow down")

    return before


def test_a_job_needs_a_repository() -> None:
    world = changed_branch()
    request = ExportRequest("nowhere", "main")
    workers = WorkersInTurns(world.engine())
    with pytest.raises(NotFoundError, match="nowhere"):
        export_in_batch(world.engine(), request, "", runner="job", workers=workers)


def test_an_export_fails_after_several_jobs_without_progress() -> None:
    world, _ = left_to_a_job()
    while requests.status(world.engine(), REPO, "main").state is ExportState.IN_PROGRESS:
        deliver_next_message(world)
    assert len(world.world.batch_jobs.started) == BATCH_STARTS_MAX
    status = requests.status(world.engine(), REPO, "main")
    assert (status.state, status.done) == (ExportState.FAILED, 0)
    assert "export job was started 5 times" in status.error_message


def test_an_export_waits_while_too_many_jobs_run() -> None:
    world, run_id = left_to_a_job()
    jobs = world.world.batch_jobs
    refused = []

    class Full(MemoryBatchJobs):
        def start_export(self, request: ExportRequest, run_id: str) -> bool:
            refused.append(request)
            if len(refused) <= 2 * BATCH_STARTS_MAX:
                raise ThrottledError("all the runs it may have")
            return jobs.start_export(request, run_id)

    world.world.batch_jobs = Full()
    while len(jobs.started) == 1:
        deliver_next_message(world)
    run_job(world, run_id)
    assert requests.status(world.engine(), REPO, "main").state is ExportState.SUCCEEDED
