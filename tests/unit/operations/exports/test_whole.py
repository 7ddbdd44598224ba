"""An export that a user asks for leaves the destination whole, whatever was there before."""

import pytest
from msgspec.structs import replace

from graveler.errors import InvalidInputError
from graveler.export.record import ExportRequest, ExportState
from graveler.operations import writes
from graveler.operations.exports import requests
from graveler.operations.exports.batch import export_in_batch
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.faults.counting import Calls, engine_around
from tests.support.worlds.export_jobs import WorkersInTurns
from tests.support.worlds.export_lakes import LATEST, is_exported, lake_of_twelve
from tests.support.worlds.export_reports import STATUS, holds, read
from tests.support.worlds.export_reports import head as head_of
from tests.support.worlds.export_world import REPO, ExportWorld
from tests.support.worlds.lake import commit, upload

REPORTED = {"status_path": STATUS, "is_continuous": True}


@pytest.fixture
def lake() -> ExportWorld:
    """Twelve objects that are exported, with reports."""
    made = lake_of_twelve()
    made.configure(LATEST, **REPORTED)
    made.settle()
    made.writes.clear()
    return made


def run(lake: ExportWorld) -> None:
    requests.run(lake.engine(), REPO, "main")


def configure_once(lake: ExportWorld) -> None:
    lake.configure(LATEST, status_path=STATUS)


def refuse_copies(operation: str, _uri: str) -> None:
    if operation == "copy":
        raise InvalidInputError("refused")


@pytest.fixture(params=[run, configure_once])
def ask(request):
    """Either way to ask for one export now."""
    return request.param


def copied(lake: ExportWorld) -> list[str]:
    """Return the names of the objects written at the destination since the last call."""
    names = [uri.removeprefix(f"{LATEST}/") for _, uri in lake.writes if uri.startswith(LATEST)]
    lake.writes.clear()
    return names


def test_what_others_deleted_or_changed_at_the_destination_is_restored(lake, ask):
    MemoryObjectStore.delete(lake.objects, f"{LATEST}/03")
    MemoryObjectStore.put(lake.objects, f"{LATEST}/07", b"of others", "text/plain")
    MemoryObjectStore.put(lake.objects, f"{LATEST}/08", b"y8", "text/plain")  # of equal size
    lake.place_foreign(f"{LATEST}/070")
    ask(lake)
    lake.settle()
    assert copied(lake) == ["03", "07", "08"]
    assert is_exported(lake)


def test_an_unchanged_head_is_reported_anew(lake, ask):
    commit_id = head_of(lake)
    for uri in lake.objects.uris(STATUS):
        MemoryObjectStore.delete(lake.objects, uri)
    ask(lake)
    lake.settle()
    assert copied(lake) == []
    assert read(lake, f"lake-main-{commit_id}") == (
        b"status: exported-successfully, signalled_errors: 0\n"
    )
    holds(lake, commit_id)


def test_what_the_branch_has_deleted_and_changed_is_deleted_and_copied(lake):
    upload(lake.engine(), b"05", b"changed")
    writes.delete(lake.engine(), REPO, "main", b"06")
    commit(lake.engine())
    run(lake)
    lake.settle()
    assert sorted(copied(lake)) == ["05", "06"]
    assert is_exported(lake)


def test_an_object_of_the_same_content_with_other_metadata_is_copied(lake):
    upload(lake.engine(), b"05", b"x5", metadata={"owner": "ann"})
    commit(lake.engine())
    lake.objects.before = refuse_copies
    lake.settle()  # it fails
    lake.objects.before = lambda _operation, _uri: None
    lake.writes.clear()
    run(lake)
    lake.settle()
    assert copied(lake) == ["05"]
    assert is_exported(lake)


def test_a_failed_export_starts_again_and_ends_repaired(lake, ask):
    lake.objects.before = refuse_copies
    upload(lake.engine(), b"05", b"changed")
    commit(lake.engine())
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    lake.objects.before = lambda _operation, _uri: None
    ask(lake)
    lake.settle()
    assert is_exported(lake)
    assert read(lake, f"lake-main-{head_of(lake)}").startswith(b"status: export-repaired,")


def test_one_listing_finds_what_is_there(lake):
    run(lake)
    calls = Calls()
    lake.advance(engine_around(lake.engine(), calls))
    counts = calls.counts()
    assert (counts["objects.list_objects"], counts["objects.copy"]) == (1, 0)


def test_without_the_right_to_list_everything_is_copied(lake):
    def denied(*_arguments):
        raise InvalidInputError("access denied")
        yield

    lake.objects.list_objects = denied
    run(lake)
    lake.settle()
    assert copied(lake) == [f"{number:02}" for number in range(12)]


def test_a_repeated_continuous_configuration_exports_nothing(lake):
    lake.configure(LATEST, **REPORTED)
    lake.settle()
    assert lake.writes == []
    assert lake.record == replace(lake.record, is_pending=False)


def test_another_path_in_between_does_not_hide_a_request(lake):
    run(lake)
    lake.configure("s3://out/other", **REPORTED)
    lake.configure(LATEST, status_path=STATUS)
    MemoryObjectStore.delete(lake.objects, f"{LATEST}/03")
    lake.settle()
    assert is_exported(lake)


def test_what_is_asked_for_during_a_run_that_fails_is_exported_whole_by_its_repair(lake):
    upload(lake.engine(), b"05", b"changed")
    commit(lake.engine())
    run(lake)
    configure_once(lake)
    lake.objects.before = refuse_copies
    lake.settle()
    assert (lake.record.state, lake.record.is_pending) == (ExportState.FAILED, False)
    lake.objects.before = lambda _operation, _uri: None
    MemoryObjectStore.delete(lake.objects, f"{LATEST}/03")
    requests.repair(lake.engine(), REPO, "main")
    lake.settle()
    assert is_exported(lake)


def test_any_number_of_objects_between_two_keys_costs_a_few_requests_and_no_copy(lake, monkeypatch):
    monkeypatch.setattr("graveler.operations.exports.existing_objects._SKIPPED_MAX", 2)
    for number in range(5):
        lake.place_foreign(f"{LATEST}/06{number}")
    MemoryObjectStore.delete(lake.objects, f"{LATEST}/07")
    for key in (b"01", b"02", b"03", b"04"):
        upload(lake.engine(), key, b"changed")
    commit(lake.engine())
    run(lake)
    lake.settle()
    assert copied(lake) == ["01", "02", "03", "04", "07"]
    assert is_exported(lake)


def test_a_key_that_no_exported_object_can_have_fails_alone(lake):
    upload(lake.engine(), b"05/../x", b"x")
    commit(lake.engine())
    lake.settle()
    MemoryObjectStore.delete(lake.objects, f"{LATEST}/07")
    lake.writes.clear()
    run(lake)
    lake.settle()
    assert (lake.record.state, lake.record.run.progress.failed) == (ExportState.FAILED, 1)
    assert "05/../x" in lake.record.error_message
    assert copied(lake) == ["07"]


def test_a_slow_listing_does_not_cost_the_runner_its_lease(lake, monkeypatch):
    listed = lake.objects.list_objects

    def slow(*arguments):
        for found in listed(*arguments):
            lake.world.clock.tick(10)
            yield found

    monkeypatch.setattr(lake.objects, "list_objects", slow)
    for number in range(8):
        lake.place_foreign(f"{LATEST}/06{number}")
    upload(lake.engine(), b"11", b"changed")
    commit(lake.engine())
    run(lake)
    lake.settle()
    assert copied(lake) == ["11"]
    assert is_exported(lake)


def test_a_job_copies_what_is_not_there_as_the_function_does(lake):
    MemoryObjectStore.delete(lake.objects, f"{LATEST}/07")
    requests.run(lake.engine(), REPO, "main", in_batch=True)
    lake.runner = "job"
    workers = WorkersInTurns(lake.engine())
    request = ExportRequest(REPO, "main")
    export_in_batch(lake.engine(), request, lake.record.run.id, runner="job", workers=workers)
    lake.runner = ""
    assert copied(lake) == ["07"]
    assert is_exported(lake)
    assert lake.violations == []
