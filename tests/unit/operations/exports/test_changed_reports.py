"""Reports under the status path when paths, clocks or the metadata change."""

import json

import pytest

from graveler.export.lifecycle import RENEWAL_S
from graveler.export.record import ExportState
from tests.support.worlds.export_lakes import LATEST
from tests.support.worlds.export_reports import STATUS, change, head, holds, latest, reporting_lake
from tests.support.worlds.export_world import ExportWorld
from tests.support.worlds.lake import commit, upload


@pytest.fixture
def lake() -> ExportWorld:
    """A branch that is exported continuously, with reports."""
    return reporting_lake()


def test_a_new_status_path_gets_reports_about_what_is_exported_already(lake):
    lake.configure(LATEST, is_continuous=True)
    lake.settle()
    lake.writes.clear()
    lake.configure(LATEST, status_path=STATUS, is_continuous=True)
    lake.settle()
    holds(lake, head(lake))
    assert [each["status"] for each in latest(lake)] == ["success"]
    assert [uri for _, uri in lake.writes if uri.startswith(LATEST)] == []


def test_an_earlier_status_path_that_refuses_requests_does_not_matter(lake):
    lake.configure(LATEST, status_path="s3://gone/status", is_continuous=True)
    lake.settle()
    lake.objects.missing_buckets.add("gone")
    lake.configure(LATEST, status_path=STATUS, is_continuous=True)
    commit_id = change(lake)
    lake.settle()
    holds(lake, commit_id)


@pytest.mark.parametrize("status_path", ["", STATUS])
def test_an_export_of_corrupt_metadata_fails(lake, status_path):
    lake.configure(LATEST, status_path=status_path, is_continuous=True)
    lake.objects.after = lambda _uri: None  # the witness cannot read commits any more
    lake.world.files.files.clear()
    lake.settle()
    assert lake.record.state is ExportState.FAILED
    assert lake.world.refs.events[-1].detail["objects"] == 0


def test_a_later_export_has_a_later_status_file_whatever_the_clock_says(lake):
    lake.settle()
    lake.world.clock.tick(-5)
    commit_id = change(lake)
    lake.settle()
    assert [each["status"] for each in latest(lake)] == ["superseded", "success"]
    assert latest(lake)[-1]["commit"] == commit_id


@pytest.mark.parametrize("path", ["s3://out", f"{LATEST}/a"])
def test_an_export_around_or_inside_an_earlier_path_supersedes_its_status_first(lake, path):
    lake.configure(LATEST, status_path="s3://status")
    lake.settle()
    for key in (b"latest/a/1", b"1"):
        upload(lake.engine(), key, b"in the way")
    commit(lake.engine())
    seen = []

    def before(operation: str, uri: str) -> None:
        if operation == "copy":
            found = [
                json.loads(lake.objects.get(each))
                for each in lake.objects.uris("s3://status/_STATUS_")
            ]
            seen.extend(each["status"] for each in found)

    lake.objects.before = before
    lake.objects.after = lambda _uri: None  # the witness knows only one path at a time
    lake.configure(path, status_path="s3://status", force=True)
    lake.settle()
    assert set(seen) == {"superseded"}


def test_two_paths_with_one_commit_do_not_use_each_others_manifest(lake):
    lake.settle()
    lake.configure("s3://out/other", status_path=STATUS)
    lake.settle()
    assert lake.destination(LATEST).manifest == ""
    lake.configure(LATEST, status_path=STATUS)
    lake.settle()
    assert latest(lake)[-1]["path"] == LATEST
    holds(lake, head(lake))


def test_the_pieces_of_a_dropped_run_are_deleted(lake):
    copied = []

    def before(operation: str, uri: str) -> None:
        if operation == "copy":
            lake.world.clock.tick(RENEWAL_S + 1)
            copied.append(uri)
            if len(copied) == 2:
                assert lake.objects.uris("s3://bucket/lake/_lakefs/exports") != []
                lake.configure("s3://out/other", status_path=STATUS)

    lake.objects.before = before
    lake.settle()
    assert lake.destination("s3://out/other").exported_commit == head(lake)
    assert lake.objects.uris("s3://bucket/lake/_lakefs/exports") == []
