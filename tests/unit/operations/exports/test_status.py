"""An export's reports under its status path: how it ended, and what the destination holds."""

import pytest

from graveler.export.record import ExportState
from graveler.operations import branches, links, writes
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.ports import UploadedPart
from tests.support.fakes.memory_objects import MemoryObjectStore
from tests.support.worlds.export_lakes import LATEST, REQUEST, stepped
from tests.support.worlds.export_reports import (
    STATUS,
    change,
    head,
    holds,
    latest,
    manifest,
    read,
    refuse,
    reporting_lake,
)
from tests.support.worlds.export_world import REPO, ExportWorld, export_world
from tests.support.worlds.lake import commit, upload


@pytest.fixture
def lake() -> ExportWorld:
    """A branch that is exported continuously, with reports."""
    return reporting_lake()


def test_the_status_file_is_named_after_repository_branch_and_commit(lake):
    lake.settle()
    text = read(lake, f"lake-main-{head(lake)}")
    assert text == b"status: exported-successfully, signalled_errors: 0\n"


def test_every_exported_commit_has_its_own_status_file(lake):
    lake.settle()
    first = head(lake)
    second = change(lake)
    lake.settle()
    for commit_id in (first, second):
        assert read(lake, f"lake-main-{commit_id}").startswith(b"status: exported-successfully")


def test_commits_without_an_export_of_their_own_have_no_status_file(lake):
    dropped = [head(lake), change(lake, content=b"1"), change(lake, content=b"2")]
    last = change(lake, content=b"3")
    lake.settle()
    files = [uri for uri in lake.objects.uris(STATUS) if "lake-main-" in uri]
    assert all(last in uri for uri in files)
    assert not [uri for uri in files for commit_id in dropped if commit_id in uri]


def test_the_status_reports_success_and_the_commit_when_everything_is_exported(lake):
    lake.settle()
    (status,) = latest(lake)
    assert status == {
        "status": "success",
        "commit": head(lake),
        "message": "first",
        "repository": "lake",
        "branch": "main",
        "path": LATEST,
        "export_id": lake.record.run.id,
        "manifest": f"{STATUS}/lake-main-{head(lake)}.manifest.jsonl",
        "objects": 2,
        "signalled_errors": 0,
        "finished": status["finished"],
    }


def test_the_reports_are_written_last_and_in_order(lake):
    lake.settle()
    stem = f"{STATUS}/lake-main-{head(lake)}"
    (latest_uri,) = lake.objects.uris(f"{STATUS}/_STATUS_")
    written = [uri for _, uri in lake.writes]
    assert written[-3:] == [stem, stem + ".manifest.jsonl", latest_uri]


def test_an_earlier_success_is_superseded_before_anything_changes(lake):
    lake.settle()
    (uri,) = lake.objects.uris(f"{STATUS}/_STATUS_")
    lake.writes.clear()
    change(lake)
    lake.settle()
    assert lake.writes[0][1] == uri
    assert [status["status"] for status in latest(lake)] == ["superseded", "success"]
    assert latest(lake)[0]["superseded_by"] == lake.record.run.id


def test_nothing_changes_if_an_earlier_success_cannot_be_superseded(lake):
    lake.settle()
    before = lake.exported(LATEST)
    refuse(lake, *lake.objects.uris(f"{STATUS}/_STATUS_"))
    change(lake)
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert lake.exported(LATEST) == before


def test_an_earlier_status_path_that_refuses_requests_does_not_block_exports(lake):
    lake.configure(LATEST, status_path="s3://gone/status", is_continuous=True)
    lake.settle()
    lake.objects.missing_buckets.add("gone")
    change(lake)
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    assert requests.status(lake.engine(), REPO, "main").state is ExportState.SUCCEEDED


# Manifests


def test_the_manifest_lists_every_object_with_its_etag_at_the_destination(lake):
    lake.settle()
    assert [line["key"] for line in manifest(lake, head(lake))] == ["a/1", "b"]
    holds(lake, head(lake))


def test_the_manifest_of_a_small_change_lists_every_object_too(lake):
    lake.settle()
    change(lake, "c", b"three")
    writes.delete(lake.engine(), REPO, "main", b"b")
    commit_id = commit(lake.engine()).id
    lake.settle()
    assert [line["key"] for line in manifest(lake, commit_id)] == ["a/1", "c"]
    holds(lake, commit_id)


def upload_in_parts(lake: ExportWorld, name: str) -> None:
    """Return an object whose ETag differs from that of its copy, which has one part."""
    source = f"{lake.repository.storage_namespace}/data/{name}"
    upload_id = lake.objects.create_upload(source, "text/plain").id
    part = lake.objects.upload_part(source, upload_id, 1, name.encode())
    stored = lake.objects.complete_upload(source, upload_id, [UploadedPart(1, part)])
    links.stage(
        lake.engine(),
        REPO,
        "main",
        name.encode(),
        links.StoredData(physical_address=source, checksum=stored.checksum, size_bytes=len(name)),
    )
    assert stored.checksum.endswith("-1")


def test_the_etag_is_that_of_the_copy_however_the_source_was_uploaded(lake):
    upload_in_parts(lake, "parts")
    commit(lake.engine())
    lake.settle()
    holds(lake, head(lake))
    change(lake)  # from here on, the ETag comes from the previous manifest
    lake.settle()
    holds(lake, head(lake))


def test_a_manifest_is_complete_when_several_runners_made_the_copies(lake):
    for number in range(40):
        upload_in_parts(lake, f"n/{number:02}")
    commit_id = commit(lake.engine()).id
    lake.world.clock.step_ns = 10**9
    for number in range(3):
        lake.advance(runner=f"short {number}", time_s=100)
    assert lake.record.run.progress.pieces > 3
    lake.settle()
    holds(lake, commit_id)
    assert lake.objects.uris(f"{lake.repository.storage_namespace}/_lakefs/exports/") == []


def test_a_manifest_is_complete_although_a_runner_could_not_store_the_etags_of_its_copies(lake):
    for number in range(4):
        upload_in_parts(lake, f"n/{number}")
    commit_id = commit(lake.engine()).id
    refused: list[str] = []

    def before(operation: str, uri: str) -> None:
        if operation == "put" and "/_lakefs/exports/" in uri:
            refused.append(uri)
            raise OSError("broken")

    lake.objects.before = before
    lake.runner = "short"
    advance(
        lake.engine(),
        REQUEST,
        runner="short",
        time_left_s=lambda: 20 if f"{LATEST}/n/1" in lake.objects.uris(LATEST) else 900,
    )
    lake.runner = ""
    assert refused
    lake.objects.before = lambda _operation, _uri: None
    lake.settle()
    holds(lake, commit_id)


def test_a_large_manifest_is_a_multipart_upload(lake, monkeypatch):
    monkeypatch.setattr("graveler.operations.exports.reports._PART_BYTES", 200)
    monkeypatch.setattr("graveler.operations.exports.reports._CHUNK_BYTES", 64)
    for number in range(40):
        upload(lake.engine(), b"n/%02d" % number, b"x%d" % number)
    commit_id = commit(lake.engine()).id
    lake.settle()
    holds(lake, commit_id)
    commit_id = change(lake)
    lake.settle()
    holds(lake, commit_id)


def test_a_corrupt_manifest_of_an_earlier_export_does_no_harm(lake):
    lake.settle()
    uri = f"{STATUS}/lake-main-{head(lake)}.manifest.jsonl"
    corrupt = b'{"key": 1}\nnonsense\n\xff\n{"key": "b"}'
    MemoryObjectStore.put(lake.objects, uri, corrupt, "application/jsonl")  # unseen by the witness
    change(lake, "c", b"three")
    lake.settle()
    assert lake.record.state is ExportState.SUCCEEDED
    assert [line["key"] for line in manifest(lake, head(lake))] == ["a/1", "b", "c"]


# Failures


def test_a_failed_export_reports_its_errors(lake):
    refuse(lake, f"{LATEST}/a/1", f"{LATEST}/b")
    lake.settle()
    text = read(lake, f"lake-main-{head(lake)}")
    assert text == b"status: export-failed, signalled_errors: 2\n"
    (status,) = latest(lake)
    assert (status["status"], status["signalled_errors"]) == ("failed", 2)
    assert not [uri for uri in lake.objects.uris(STATUS) if "manifest" in uri]


def test_a_repair_is_reported_at_its_end_for_the_failed_commit_and_for_its_own(lake):
    refuse(lake, f"{LATEST}/b")
    lake.settle()
    failed = head(lake)
    refuse(lake)
    later = change(lake, "c", b"three")
    requests.repair(lake.engine(), REPO, "main")
    seen: set[bytes] = set()
    lake.objects.before = lambda operation, _uri: (
        seen.add(read(lake, f"lake-main-{failed}")) if operation == "copy" else None
    )
    lake.settle()
    assert [each.split(b",")[0] for each in seen] == [b"status: export-failed"]
    assert read(lake, f"lake-main-{failed}").startswith(b"status: export-repaired,")
    assert read(lake, f"lake-main-{later}").startswith(b"status: export-repaired,")
    lake.objects.before = lambda _operation, _uri: None
    last = change(lake, "d", b"four")
    lake.settle()
    assert read(lake, f"lake-main-{last}").startswith(b"status: exported-successfully,")


def test_a_repair_of_the_same_commit_is_reported_once_at_its_end(lake):
    refuse(lake, f"{LATEST}/b")
    lake.settle()
    refuse(lake)
    requests.repair(lake.engine(), REPO, "main")
    file = f"lake-main-{head(lake)}"
    lake.writes.clear()
    seen: set[bool] = set()
    lake.objects.before = lambda operation, _uri: (
        seen.add(f"{STATUS}/{file}" in lake.objects.uris(STATUS)) if operation == "copy" else None
    )
    lake.settle()
    assert seen == {False}
    assert read(lake, file) == b"status: export-repaired, signalled_errors: 0\n"
    assert [uri for _, uri in lake.writes].count(f"{STATUS}/{file}") == 2  # deleted, written


def test_a_repair_that_fails_leaves_the_report_of_the_failure_even_if_a_runner_dies(lake):
    refuse(lake, f"{LATEST}/b")
    lake.settle()
    failed = head(lake)
    later = change(lake, "c", b"three")
    refuse(lake)
    requests.repair(lake.engine(), REPO, "main")
    runner = stepped(lake, "dies")
    while not read(lake, f"lake-main-{failed}").startswith(b"status: export-repaired,"):
        lake.runner = runner.name
        runner.step()
    runner.kill()
    lake.world.clock.tick(70)
    refuse(lake, f"{STATUS}/lake-main-{later}.manifest.jsonl")
    lake.settle()
    for commit_id in (failed, later):
        assert read(lake, f"lake-main-{commit_id}").startswith(b"status: export-failed,")


def test_a_repair_of_a_run_without_a_report_withdraws_an_older_success_of_its_commit(lake):
    lake.settle()
    first = head(lake)
    lake.configure(LATEST, is_continuous=True)  # without a status path
    change(lake)
    refuse(lake, f"{LATEST}/b")
    lake.settle()
    branches.hard_reset(lake.engine(), REPO, "main", ref=first, force=True)
    lake.configure("s3://out/other", status_path=STATUS, is_continuous=True)
    seen: set[bool] = set()
    file = f"{STATUS}/lake-main-{first}"
    lake.objects.before = lambda operation, _uri: (
        seen.add(file in lake.objects.uris(STATUS)) if operation == "copy" else None
    )
    lake.settle()
    assert seen == {False}
    assert read(lake, f"lake-main-{first}").startswith(b"status: export-repaired,")


def test_a_run_that_is_taken_over_after_its_report_withdraws_it_before_it_writes(lake):
    upload(lake.engine(), b"a/_lakefs_success", b"own")
    change(lake)
    lake.configure(LATEST, status_path=STATUS, is_continuous=True, patterns=("^a",))
    runner = stepped(lake, "dies")
    while not (latest(lake) and latest(lake)[-1]["status"] == "success"):
        lake.runner = runner.name
        runner.step()
    runner.kill()
    lake.world.clock.tick(70)
    seen: set[bool] = set()
    file = f"{STATUS}/lake-main-{head(lake)}"
    lake.objects.before = lambda _operation, uri: (
        seen.add(file in lake.objects.uris(STATUS)) if uri.startswith(LATEST) else None
    )
    lake.settle()  # which checks that nothing was written under a _STATUS of success
    assert seen == {False}
    assert [each["status"] for each in latest(lake)] == ["success"]


def test_the_status_file_of_a_commit_is_deleted_before_the_commit_is_exported_again(lake):
    lake.settle()
    lake.configure("s3://out/other", status_path=STATUS)
    seen: list[bool] = []

    def before(operation: str, uri: str) -> None:
        if operation == "copy":
            seen.append(lake.objects.head(f"{STATUS}/lake-main-{head(lake)}") is not None)

    lake.objects.before = before
    lake.settle()
    assert seen == [False, False]
    assert read(lake, f"lake-main-{head(lake)}").startswith(b"status: exported-successfully,")


def test_an_export_that_cannot_write_its_status_fails(lake):
    refuse(lake, f"{STATUS}/lake-main-{head(lake)}")
    lake.settle()
    status = requests.status(lake.engine(), REPO, "main")
    assert status.state is ExportState.FAILED
    assert "refused" in status.error_message


def test_without_a_status_path_nothing_is_reported():
    lake = export_world()
    upload(lake.engine(), b"a", b"one")
    commit(lake.engine())
    lake.configure(LATEST)
    lake.settle()
    assert lake.objects.uris("s3://out") == [f"{LATEST}/a"]


# Events


def test_a_successful_export_publishes_an_event(lake):
    lake.settle()
    event = lake.world.refs.events[-1]
    assert (event.kind, event.repository) == ("export_finished", REPO)
    assert event.detail == {
        "branch": "main",
        "export_id": lake.record.run.id,
        "commit_id": head(lake),
        "status": "exported-successfully",
        "path": LATEST,
        "objects": 2,
        "failed": 0,
        "error": "",
    }


def test_a_failed_export_publishes_an_event_with_the_reason(lake):
    refuse(lake, f"{LATEST}/b")
    lake.settle()
    event = lake.world.refs.events[-1]
    assert event.detail["status"] == "export-failed"
    assert (event.detail["objects"], event.detail["failed"]) == (2, 1)
    assert "refused" in event.detail["error"]


def test_the_event_counts_all_objects_of_the_commit(lake):
    lake.settle()
    change(lake)
    lake.settle()
    assert lake.world.refs.events[-1].detail["objects"] == 2
