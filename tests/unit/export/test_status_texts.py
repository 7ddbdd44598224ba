"""The names and contents of status files, on which tools of users depend byte by byte."""

import json

from graveler.export.record import ExportConfiguration, ExportState
from graveler.export.status import (
    latest_file,
    latest_text,
    status_file,
    status_text,
    superseded_text,
)
from graveler.model import CommitID
from tests.support.checks.cases import for_each

COMMIT_ID = CommitID("c0ffee")
CONFIGURATION = ExportConfiguration("s3://out/a", "s3://out/status")


@for_each(
    ("state", "errors", "text"),
    [
        (ExportState.SUCCEEDED, 0, b"status: exported-successfully, signalled_errors: 0\n"),
        (ExportState.FAILED, 17, b"status: export-failed, signalled_errors: 17\n"),
        (ExportState.REPAIRED, 0, b"status: export-repaired, signalled_errors: 0\n"),
    ],
)
def test_a_status_file_has_the_status_and_the_number_of_errors(state, errors, text):
    assert status_text(state, errors) == text


def test_a_status_file_is_named_after_repository_branch_and_commit():
    assert (
        status_file(CONFIGURATION, "lake", "main", COMMIT_ID) == "s3://out/status/lake-main-c0ffee"
    )


def test_the_latest_status_is_named_after_the_start_of_the_run():
    uri = latest_file(CONFIGURATION, 1_700_000_000_000_000_042)
    assert uri == "s3://out/status/_STATUS_20231114T221320.000000042Z.json"


def test_later_runs_have_later_names():
    times = [0, 999, 10**9 - 1, 10**9, 1_700_000_000 * 10**9]
    names = [latest_file(CONFIGURATION, time_ns) for time_ns in times]
    assert names == sorted(names)


def test_without_a_status_path_there_are_no_files():
    assert status_file(ExportConfiguration("s3://out/a"), "lake", "main", COMMIT_ID) == ""
    assert latest_file(ExportConfiguration("s3://out/a"), 1) == ""


def test_a_superseded_status_keeps_its_other_fields():
    text = superseded_text(latest_text({"status": "success", "commit": "c0ffee"}), "export-2")
    assert json.loads(text) == {
        "status": "superseded",
        "commit": "c0ffee",
        "superseded_by": "export-2",
    }


@for_each("text", [b"", b"nonsense", b"[1]", b"\xff"])
def test_a_corrupt_status_is_superseded_too(text):
    assert json.loads(superseded_text(text, "e")) == {"status": "superseded", "superseded_by": "e"}
