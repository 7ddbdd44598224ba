"""Runners of an export work one at a time, whatever happens to others and to messages."""

import pytest
from msgspec.structs import replace

from graveler.errors import InvalidInputError, StaleVersionError, ThrottledError
from graveler.export.lifecycle import CLOCKS_DIFFER_S, LEASE_S, RENEWAL_S, released
from graveler.export.record import ExportRequest, ExportSettings, ExportState
from graveler.open_repository import OpenRepository
from graveler.operations import repositories
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.operations.exports.lease import ExportLease
from graveler.operations.leases import StoppedError
from tests.support.fakes.clocks import SkewedClock
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.faults.counting import engine_around
from tests.support.faults.runners import SteppedRunner
from tests.support.worlds.export_lakes import (
    LATEST,
    REQUEST,
    due_messages,
    is_exported,
    lake_of_twelve,
    step,
    stepped,
)
from tests.support.worlds.export_world import REPO, ExportWorld
from tests.support.worlds.lake import commit, upload


@pytest.fixture
def lake() -> ExportWorld:
    """A branch whose export is pending."""
    return lake_of_twelve()


def test_messages_about_other_branches_and_repositories_do_nothing(lake):
    for request in (ExportRequest(REPO, "nobody"), ExportRequest("nobody", "main")):
        advance(lake.engine(), request, runner="r", time_left_s=lambda: 900)
    assert lake.writes == []
    assert lake.world.export_queue.waiting == []


def test_a_repeated_or_late_message_does_nothing(lake):
    lake.settle()
    lake.writes.clear()
    for number in range(3):
        lake.advance(runner=f"again {number}")
    assert lake.writes == []
    assert lake.world.export_queue.waiting == []


def test_a_runner_without_time_leaves_the_run_to_the_next_one(lake):
    lake.world.export_queue.waiting.clear()
    advance(lake.engine(), REQUEST, runner="r", time_left_s=lambda: 5)
    assert (lake.writes, due_messages(lake)) == ([], [REQUEST])


def test_a_message_that_lost_every_race_comes_again(lake):
    def others_first(name, call):
        if name == "exports.replace_branch_export":
            raise StaleVersionError("another writer changed the record")
        return call()

    lake.world.export_queue.waiting.clear()
    advance(
        engine_around(lake.engine(), others_first), REQUEST, runner="r", time_left_s=lambda: 900
    )
    assert REQUEST in due_messages(lake)


def test_an_export_that_has_nothing_left_to_do_is_not_pending(lake):
    lake.settle()
    engine, repository = lake.engine(), lake.repository
    pending = replace(lake.record, is_pending=True)
    engine.exports.replace_branch_export(repository, lake.record, pending)
    lake.advance()
    assert not lake.record.is_pending
    assert lake.record.state is ExportState.SUCCEEDED


def test_two_runners_never_work_at_the_same_time(lake):
    first = stepped(lake, "first")
    step(lake, first, until=3)
    lake.advance(runner="second")
    assert {runner for runner, _ in lake.writes} == {"first"}
    step(lake, first)
    assert is_exported(lake)


def test_a_message_that_finds_a_runner_is_sent_again_for_the_end_of_the_lease(lake):
    first = stepped(lake, "first")
    step(lake, first, until=3)
    for number in range(3):
        lake.advance(runner=f"second {number}")
    ((due_ns, request),) = lake.world.export_queue.waiting  # one message for all of them
    assert request == REQUEST
    assert due_ns >= lake.record.run.lease_until_ns
    first.kill()
    lake.world.export_queue.waiting.clear()
    lake.world.clock.tick(LEASE_S + 2)
    lake.advance(runner="third")
    assert is_exported(lake)


def test_a_message_is_on_its_way_while_a_runner_works(lake):
    first = stepped(lake, "first")
    step(lake, first, until=3)
    for _ in range(5):
        lake.advance(runner="second")
        ((due_ns, _),) = lake.world.export_queue.waiting
        lake.world.export_queue.waiting.clear()
        while lake.world.clock.peek_ns < due_ns:  # the first one continues meanwhile
            lake.world.clock.tick(14)
            lake.runner = "first"
            first.step(6)
            lake.runner = ""
        if first.is_done:
            break
    assert lake.violations == []
    step(lake, first)
    assert is_exported(lake)


def test_a_runner_continues_where_a_dead_one_stopped(lake):
    lake.world.clock.step_ns = 10**9
    first = stepped(lake, "first")
    step(lake, first, until=8)
    first.kill()
    lake.world.clock.tick(LEASE_S)
    lake.advance(runner="second")
    assert is_exported(lake)
    again = [uri for _, uri in lake.writes if [u for _, u in lake.writes].count(uri) > 1]
    assert 0 < len(set(again)) < 8  # only copies that the stored progress does not cover


def test_a_first_export_that_another_runner_ends_replaces_equal_objects_of_others(lake):
    for number in range(12):
        MemoryObjectStore.put(lake.objects, f"{LATEST}/{number:02}", b"x%d" % number, "of/others")
    first = stepped(lake, "first")
    step(lake, first, until=3)
    first.kill()
    lake.world.clock.tick(LEASE_S)
    lake.advance(runner="second")
    assert is_exported(lake)  # with the branch's content types


@pytest.mark.parametrize(
    ("set_back_s", "is_frozen"), [(0, False), (20, False), (60, False), (3600, False), (0, True)]
)
def test_a_stalled_runner_stops_before_it_writes_at_the_same_time_as_the_next(
    lake, set_back_s, is_frozen
):
    clock = SkewedClock(lake.world.clock, 0)
    first = stepped(lake, "first", clock)
    step(lake, first, until=3)
    clock.step(-set_back_s)
    pass_time = clock.freeze if is_frozen else lake.world.clock.tick
    pass_time(LEASE_S)
    second = stepped(lake, "second")
    step(lake, second, until=6)
    step(lake, first)
    assert [runner for runner, _ in lake.writes[3:]] == ["second"] * 3
    assert first.error is None
    step(lake, second)
    assert is_exported(lake)


@pytest.mark.parametrize("set_back_s", [20, 60, 3600])
def test_a_runner_whose_clock_is_set_back_leaves_the_run_to_the_next_one(lake, set_back_s):
    """It would renew its lease to a time that is past for others."""
    clock = SkewedClock(lake.world.clock, 0)
    first = stepped(lake, "first", clock)
    step(lake, first, until=3)
    clock.step(-set_back_s)
    work_in_turns(lake, first)
    lake.world.clock.tick(LEASE_S)
    lake.advance(runner="last")
    assert lake.violations == []
    assert is_exported(lake)


@pytest.mark.parametrize("skew_s", [-CLOCKS_DIFFER_S, CLOCKS_DIFFER_S])
def test_a_runner_on_a_host_with_another_time_works_alone(lake, skew_s):
    clock = SkewedClock(lake.world.clock, skew_s * 10**9)
    first = stepped(lake, "first", clock)
    step(lake, first, until=1)
    work_in_turns(lake, first)
    assert {runner for runner, _ in lake.writes} == {"first"}
    assert is_exported(lake)


def work_in_turns(lake: ExportWorld, first: SteppedRunner) -> None:
    """Continue the runner, whose store is slow, while messages arrive for others."""
    number = 0
    while not first.is_done:
        lake.runner = first.name
        first.step(2)
        lake.world.clock.tick(5)
        lake.runner = f"other {number}"
        number += 1
        lake.advance(runner=lake.runner)
        lake.runner = ""
        assert lake.violations == []


def test_a_runner_stalled_for_less_than_its_lease_renews_it_before_it_writes(lake):
    first = stepped(lake, "first")
    step(lake, first, until=3)
    before_ns = lake.record.run.lease_until_ns
    lake.world.clock.tick(LEASE_S - 15)
    step(lake, first, until=4)
    assert lake.record.run.lease_until_ns >= before_ns + (LEASE_S - 15) * 10**9
    step(lake, first)
    assert is_exported(lake)


def test_a_runner_writes_nothing_after_it_gave_its_lease_up(lake):
    """Its threads may still be at work when another runner begins."""
    first = stepped(lake, "first")
    step(lake, first, until=3)
    engine = lake.engine()
    lease = ExportLease(
        OpenRepository(engine, engine.refs.repository(REPO)),
        lake.record,
        taken_at=lake.world.clock.moment(),
    )
    lease.check()
    lease.change(released)
    with pytest.raises(StoppedError):
        lease.check()
    first.kill()


def test_a_runner_stops_when_its_repository_was_deleted(lake):
    first = stepped(lake, "first")
    step(lake, first, until=3)
    repositories.delete(lake.engine(), REPO)
    lake.world.clock.tick(RENEWAL_S)
    step(lake, first)
    assert len(lake.writes) < 12


def test_another_runner_continues_after_one_whose_lease_was_too_short(lake):
    stalls = [50]

    def before(operation: str, uri: str) -> None:
        if operation == "copy" and uri.endswith("/05") and stalls:
            lake.world.clock.tick(stalls.pop())
            raise ThrottledError("slow down")

    lake.objects.before = before
    lake.advance(runner="first")
    assert lake.record.state is ExportState.IN_PROGRESS
    assert len(lake.world.export_queue.waiting) == 1
    lake.settle()
    assert is_exported(lake)


def test_a_runner_keeps_its_lease_while_it_searches_for_changes_for_minutes(lake, monkeypatch):
    monkeypatch.setattr("graveler.export.work._OBJECTS_BETWEEN_PAUSES", 4)
    lake.settle()
    for number in range(12):
        upload(lake.engine(), b"%02d" % number, b"again")
    commit(lake.engine())

    def slow_files(name, call):
        if name.startswith("files."):
            lake.world.clock.tick(4)
            lake.advance(runner="successor")
            lake.runner = "first"
        return call()

    lake.writes.clear()
    lake.advance(engine_around(lake.engine(), slow_files), runner="first")
    assert is_exported(lake)
    assert {runner for runner, _ in lake.writes} == {"first"}


def test_a_runner_out_of_time_leaves_the_rest_to_the_next_one(lake):
    lake.world.clock.step_ns = 10**9
    lake.advance(runner="short", time_s=75)
    run = lake.record.run
    assert (run.runner, run.lease_until_ns) == ("", 0)
    assert 0 < run.progress.done < 12
    assert due_messages(lake) == [REQUEST]
    lake.settle()
    assert is_exported(lake)
    assert (
        len(lake.writes) == 12 + 1
    )  # no copy twice, and the deletion of a mark that others may have put


def test_a_runner_with_hardly_any_time_begins_nothing(lake):
    lake.advance(runner="late", time_s=50)
    assert lake.writes == []
    assert lake.record.run is None
    lake.settle()
    assert is_exported(lake)


def test_a_dead_runner_has_a_successor_when_its_lease_ends(lake):
    runner = stepped(lake, "first")
    step(lake, runner, until=5)
    lease_until_ns = lake.record.run.lease_until_ns
    runner.kill()
    lake.world.clock.tick(1)
    queue = lake.world.export_queue
    while not is_exported(lake):
        queue.waiting.sort(key=lambda each: each[0])
        due_ns, _ = queue.waiting.pop(0)
        lake.world.clock.tick(max(0, due_ns - lake.world.clock.peek_ns) / 1e9)
        lake.advance(runner="second")
    assert {name for name, _ in lake.writes} == {"first", "second"}
    assert lake.world.clock.peek_ns <= lease_until_ns + 10 * 10**9


def test_a_commit_during_an_export_is_exported_right_after_it(lake):
    first = stepped(lake, "first")
    step(lake, first, until=3)
    upload(lake.engine(), b"new", b"x")
    commit(lake.engine())
    step(lake, first)
    assert is_exported(lake)
    assert due_messages(lake) == []


def test_configuring_another_path_ends_the_run_in_progress(lake):
    lake.world.clock.step_ns = 10**8
    first = stepped(lake, "first")
    step(lake, first, until=3)
    lake.configure("s3://out/other", is_continuous=True)
    lake.world.clock.tick(16)
    step(lake, first)
    left = len(lake.objects.uris(LATEST))
    assert left < 12
    assert lake.destination(LATEST).touched_commits != ()
    assert lake.destination("s3://out/other").touched_commits == ()
    assert len(lake.objects.uris("s3://out/other")) == 12


@pytest.mark.parametrize(
    "asked",
    [{"patterns": ("^$",), "is_continuous": True}, {"is_continuous": False}],
)
def test_what_is_asked_for_during_a_run_is_exported_whole_after_it(lake, asked):
    first = stepped(lake, "first")
    step(lake, first, until=3)
    lake.configure(LATEST, **asked)
    MemoryObjectStore.delete(lake.objects, f"{LATEST}/00")  # by others
    step(lake, first)
    lake.settle()
    assert is_exported(lake)
    copied = [uri for _, uri in lake.writes]
    assert (copied.count(f"{LATEST}/00"), copied.count(f"{LATEST}/11")) == (2, 1)
    assert (lake.objects.head(f"{LATEST}/_lakefs_success") is not None) is ("patterns" in asked)
    assert not requests.status(lake.engine(), REPO, "main").is_pending


def test_a_configuration_repeated_during_a_run_asks_for_no_other_run(lake):
    first = stepped(lake, "first")
    step(lake, first, until=3)
    lake.configure(LATEST, is_continuous=True)
    step(lake, first)
    assert len(requests.ended_runs(lake.engine(), REPO, "main")) == 1
    assert not requests.status(lake.engine(), REPO, "main").is_pending


def test_if_a_store_fails_the_next_message_continues_the_run(lake):
    engine, calls = lake.engine(), []

    def around(name, call):
        calls.append(name)
        if name == "refs.repository_and_branch":  # called when the lease is renewed
            raise ThrottledError("slow down")
        return call()

    lake.world.clock.step_ns = 10**9
    with pytest.raises(ThrottledError):
        lake.advance(engine_around(engine, around))
    assert lake.record.run.runner == ""
    lake.settle()
    assert is_exported(lake)


# Concurrency and jobs


def test_concurrent_requests_export_the_same(lake):
    lake.world.export_settings = ExportSettings(allowed_prefixes=("s3://",), requests_at_once=16)
    lake.configure(LATEST, patterns=(".*",), status_path="s3://out/status", is_continuous=True)
    for number in range(400):
        upload(lake.engine(), b"d%d/%03d" % (number % 7, number), b"x%d" % number)
    commit(lake.engine())
    lake.settle()
    assert is_exported(lake)
    assert lake.objects.head(f"{LATEST}/d3/_lakefs_success") is not None


def test_a_large_export_is_left_to_a_batch_job_if_one_is_deployed(lake):
    lake.world.export_settings = ExportSettings(("s3://",), 1, batch_objects_min=12)
    lake.world.batch_jobs.is_deployed = True
    lake.advance()
    assert lake.writes == []
    run = lake.record.run
    assert lake.world.batch_jobs.started == [(REQUEST, run.id)]
    assert (run.is_batch, run.runner) == (True, "")
    lake.advance(runner="another")  # waits for the job
    assert lake.writes == []
    lake.world.batch_jobs.is_deployed = False
    lake.world.clock.tick(16 * 60)  # it never starts
    lake.settle()
    assert is_exported(lake)


def test_a_small_export_is_not_left_to_a_batch_job(lake):
    lake.world.export_settings = ExportSettings(("s3://",), 1, batch_objects_min=13)
    lake.world.batch_jobs.is_deployed = True
    lake.settle()
    assert lake.world.batch_jobs.started == []
    assert is_exported(lake)


def never_enough_time(lake: ExportWorld, key: str) -> None:
    """Make two invocations, each of which ends while it copies the object."""
    left_s = [900.0]

    def before(operation: str, uri: str) -> None:
        if operation == "copy" and uri.endswith(key):
            left_s[0] = 5

    lake.objects.before = before
    for number in range(2):
        left_s[0] = 900
        lake.runner = f"runner {number}"
        advance(lake.engine(), REQUEST, runner=lake.runner, time_left_s=lambda: left_s[0])
    lake.objects.before = lambda _operation, _uri: None


def test_an_object_too_large_for_an_invocation_fails_the_run_with_the_reason(lake):
    never_enough_time(lake, "/05")
    status = requests.status(lake.engine(), REPO, "main")
    assert (status.state, status.done) == (ExportState.FAILED, 5)
    assert "deploy the export job" in status.error_message


def test_an_object_too_large_for_an_invocation_is_left_to_a_batch_job(lake):
    lake.world.batch_jobs.is_deployed = True
    never_enough_time(lake, "/05")
    run = lake.record.run
    assert lake.world.batch_jobs.started == [(REQUEST, run.id)]
    assert (run.is_batch, run.progress.done) == (True, 5)


def test_the_witness_of_these_tests_detects_a_runner_without_the_lease(lake):
    lake.advance()
    lake.runner = "stranger"
    lake.objects.put(f"{LATEST}/00", b"x", "text/plain")
    assert "stranger wrote" in lake.violations[0]


def test_an_unwanted_run_that_fails_does_not_delay_the_new_path(lake):
    def before(operation: str, uri: str) -> None:
        if operation == "copy" and uri.startswith(LATEST):
            if lake.record.configuration.path == LATEST:
                lake.configure("s3://out/other", is_continuous=True)
            raise InvalidInputError("no")

    lake.objects.before = before
    lake.settle()
    assert lake.record.state is ExportState.SUCCEEDED
    assert len(lake.objects.uris("s3://out/other")) == 12
