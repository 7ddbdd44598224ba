"""`graveler import`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

IMPORT = "/api/v1/repositories/foo/branches/main/import"
GO = ("import", "--from", "s3://bucket/a/", "--to", "lakefs://foo/main/b/")

CONFIG = {"storage_config": {"blockstore_type": "s3", "import_validity_regex": "^s3://"}}
MAIN = {"id": "main", "commit_id": "1a"}
STARTED = {"id": "IMx"}
COMMIT = {
    "id": "2b",
    "parents": ["1a"],
    "committer": "ada",
    "message": "Import objects",
    "creation_date": 1_722_608_013,
    "meta_range_id": "3c",
}
RUNNING = {"completed": False, "update_time": "2024-08-02T14:13:33Z", "ingested_objects": 1}
DONE = {
    "completed": True,
    "update_time": "2024-08-02T14:13:34Z",
    "ingested_objects": 2,
    "metarange_id": "3c",
    "commit": COMMIT,
}
FAILED = {**RUNNING, "error": {"message": "import error: no access"}}
PRINTED = """\
Import of 2 object(s) into "main" completed.
MetaRange ID: 3c
Commit ID: 2b
Message: Import objects
Timestamp: 2024-08-02 10:13:33 -0400 EDT
Parents: 1a
"""


@pytest.fixture(autouse=True)
def _in_new_york_and_in_a_hurry(time_zone, monkeypatch):
    time_zone("America/New_York")
    monkeypatch.setattr("graveler_cli.commands.import_._POLL_INTERVAL_S", 0.01)


def test_import_waits_for_the_commit_and_shows_it(graveler, server):
    server.will_answer(CONFIG, MAIN, STARTED, RUNNING, RUNNING, DONE)
    assert graveler.prints(*GO) == PRINTED
    started = server.asked[2]
    assert (started.method, started.path) == ("POST", IMPORT)
    assert started.body == {
        "paths": [{"path": "s3://bucket/a/", "destination": "b/", "type": "common_prefix"}],
        "commit": {"message": ""},
    }
    assert server.asked[-1].path == f"{IMPORT}?id=IMx"


def test_import_commits_with_the_message_and_the_metadata(graveler, server):
    server.will_answer(CONFIG, MAIN, STARTED, DONE)
    flags = ("-m", "All", "--meta", "a=b,c=d", "--meta", "e=f=g", "--no-progress", "--json")
    shown = json.loads(graveler.prints(*GO, *flags))
    assert (shown["completed"], shown["commit"]["id"]) == (True, "2b")
    metadata = {"a": "b", "c": "d", "e": "f=g"}
    assert server.asked[2].body["commit"] == {"message": "All", "metadata": metadata}


def test_import_says_that_merge_is_deprecated(graveler, server):
    server.will_answer(CONFIG, MAIN, STARTED, DONE)
    result = graveler.run(*GO, "--merge")
    assert (result.exit_code, result.stdout) == (0, PRINTED)
    assert "--merge is deprecated" in result.stderr


def test_import_that_fails_says_why(graveler, server):
    server.will_answer(CONFIG, MAIN, STARTED, RUNNING, FAILED)
    assert graveler.fails(*GO) == "import failed: import error: no access"


def test_import_without_progress_is_given_up(graveler, server, monkeypatch):
    monkeypatch.setattr("graveler_cli.commands.import_._NO_PROGRESS_S_MAX", 0)
    server.will_answer(CONFIG, MAIN, STARTED, RUNNING)
    assert "no progress" in graveler.fails(*GO)


def test_import_from_another_storage_is_not_started(graveler, server):
    server.will_answer(CONFIG)
    words = ("import", "--from", "gs://bucket/a/", "--to", "lakefs://foo/main/")
    assert "storage 's3'" in graveler.fails(*words)
    assert len(server.asked) == 1


def test_import_into_a_missing_branch_is_not_started(graveler, server):
    server.will_answer(CONFIG)
    server.will_answer({"message": "branch not found"}, status=404)
    assert "'main' does not exist" in graveler.fails(*GO)
    assert len(server.asked) == 2


def test_import_that_is_refused_says_why(graveler, server):
    server.will_answer(CONFIG, MAIN)
    server.will_answer({"message": "invalid import source"}, status=400)
    assert graveler.fails(*GO) == "invalid import source"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (GO[:3], "--to"),
        (("import", *GO[3:]), "--from"),
        ((*GO[:4], "lakefs://foo/main"), "lakefs://REPO/REF/PATH"),
        ((*GO, "--meta", "a"), "KEY=VALUE"),
        ((*GO, "--allow-empty-message=false"), "no message"),
        ((*GO, "more"), "more"),
    ],
)
def test_import_refuses_wrong_words_before_any_request(graveler, server, words, told):
    assert told in graveler.fails(*words)
    assert not server.asked


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_import_is_cancelled(graveler, server, number):
    server.will_answer(CONFIG, MAIN, STARTED, RUNNING)
    variables = {name: text for name, text in graveler.environment.items() if text is not None}
    with subprocess.Popen(
        [sys.executable, "-c", "from graveler_cli.__main__ import main; main()", *GO],
        cwd=Path(__file__).parents[3],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while len(server.asked) < 4:
            assert process.poll() is None
            time.sleep(0.01)
        server.answers[:] = [(204, "application/json", "")]
        process.send_signal(number)
        printed, told = process.communicate(timeout=60)
    assert (process.returncode, printed) == (1, "\nCanceling import\n")
    assert told == "error: import canceled\n"
    assert (server.asked[-1].method, server.asked[-1].path) == ("DELETE", f"{IMPORT}?id=IMx")
