"""`graveler refs-dump` and `graveler refs-restore`."""

import json

import pytest

REFS = {
    "branches_meta_range_id": "1a",
    "commits_meta_range_id": "2b",
    "tags_meta_range_id": "3c",
}
MANIFEST = """\
{
  "branches_meta_range_id": "1a",
  "commits_meta_range_id": "2b",
  "tags_meta_range_id": "3c"
}
"""
STARTED = {"id": "DRx"}
RUNNING = {"id": "DRx", "done": False, "update_time": "2024-08-02T14:13:33Z"}
DUMPED = {**RUNNING, "done": True, "refs": REFS}
RESTORED = {**RUNNING, "done": True}
FAILED = {**RUNNING, "done": True, "error": "no such file"}
DUMP = ("refs-dump", "lakefs://foo")
RESTORE = ("refs-restore", "lakefs://foo", "--manifest", "-")


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch):
    monkeypatch.setattr("graveler_cli.dumps._POLL_INTERVAL_S_MIN", 0.0)


# refs-dump


def test_dump_waits_and_prints_the_manifest(graveler, server):
    server.will_answer(STARTED, RUNNING, DUMPED)
    assert graveler.prints(*DUMP, "--poll-interval", "1ms") == MANIFEST
    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("POST", "/api/v1/repositories/foo/dump"),
        ("GET", "/api/v1/repositories/foo/dump?task_id=DRx"),
        ("GET", "/api/v1/repositories/foo/dump?task_id=DRx"),
    ]


def test_dump_as_json_is_one_line(graveler, server):
    server.will_answer(STARTED, DUMPED)
    printed = graveler.prints(*DUMP, "--json")
    assert (json.loads(printed), printed.count("\n")) == (REFS, 1)


@pytest.mark.parametrize("flag", ["-o", "--output"])
def test_dump_writes_the_manifest_into_a_file(graveler, server, tmp_path, flag):
    server.will_answer(STARTED, DUMPED)
    file = tmp_path / "manifest.json"
    assert graveler.prints(*DUMP, flag, str(file)) == f"Writing refs to {file}\n"
    assert file.read_text() == MANIFEST


def test_dump_that_cannot_be_written_fails(graveler, server, tmp_path):
    server.will_answer(STARTED, DUMPED)
    result = graveler.run(*DUMP, "-o", str(tmp_path / "none" / "manifest.json"))
    assert result.exit_code == 1
    assert "cannot write" in result.stderr


def test_dump_that_fails_says_why(graveler, server):
    server.will_answer(STARTED, FAILED)
    assert graveler.fails(*DUMP) == "refs dump failed: no such file"


def test_dump_without_progress_is_given_up(graveler, server):
    server.will_answer(STARTED, RUNNING)
    told = graveler.fails(*DUMP, "--poll-interval", "1ms", "--timeout", "0s")
    assert "no progress" in told


def test_dump_of_a_missing_repository_fails(graveler, server):
    server.will_answer({"message": "repository not found"}, status=404)
    assert graveler.fails(*DUMP) == "repository not found"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("refs-dump", "foo"), "lakefs://REPO"),
        ((*DUMP, "--poll-interval", "soon"), "'soon' is not a duration"),
        ((*DUMP, "--timeout", "1"), "'1' is not a duration"),
    ],
)
def test_dump_refuses_wrong_words(graveler, server, words, told):
    assert told in graveler.fails(*words)
    assert not server.asked


def test_dump_does_not_ask_too_often(graveler, server, monkeypatch):
    monkeypatch.undo()
    assert "at least 1s" in graveler.fails(*DUMP, "--poll-interval", "10ms")
    assert not server.asked


# refs-restore


def test_restore_reads_the_manifest_and_waits(graveler, server):
    server.will_answer(STARTED, RUNNING, RESTORED)
    result = graveler.run(*RESTORE, "--poll-interval", "1ms", stdin=MANIFEST)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "Repository: lakefs://foo\n\nAll references restored successfully!\n"
    asked = server.asked[0]
    assert (asked.method, asked.path) == ("POST", "/api/v1/repositories/foo/restore")
    assert asked.body == REFS


def test_restore_reads_a_file(graveler, server, tmp_path):
    server.will_answer(STARTED, RESTORED)
    file = tmp_path / "manifest.json"
    file.write_text(MANIFEST)
    words = ("refs-restore", "lakefs://foo", "--manifest", str(file), "--json")
    assert json.loads(graveler.prints(*words))["done"] is True


@pytest.mark.parametrize("manifest", ["", "nonsense", "{}", '{"tags_meta_range_id": "3c"}'])
def test_restore_refuses_what_is_no_manifest(graveler, server, manifest):
    result = graveler.run(*RESTORE, stdin=manifest)
    assert (result.exit_code, result.stdout) == (1, "Repository: lakefs://foo\n")
    assert "is not a manifest of `refs-dump`" in result.stderr
    assert not server.asked


def test_restore_without_its_file_fails(graveler, server, tmp_path):
    result = graveler.run("refs-restore", "lakefs://foo", "--manifest", str(tmp_path / "none"))
    assert result.exit_code == 1
    assert "no such file or directory" in result.stderr
    assert not server.asked


def test_restore_that_fails_says_why(graveler, server):
    server.will_answer(STARTED, FAILED)
    result = graveler.run(*RESTORE, stdin=MANIFEST)
    assert (result.exit_code, result.stderr) == (1, "error: refs restore failed: no such file\n")


def test_restore_that_is_refused_says_why(graveler, server):
    server.will_answer({"message": "can only restore into a bare repository"}, status=400)
    result = graveler.run(*RESTORE, stdin=MANIFEST)
    assert result.exit_code == 1
    assert "bare repository" in result.stderr


@pytest.mark.parametrize("words", [("refs-restore", "lakefs://foo"), ("refs-restore",)])
def test_restore_refuses_wrong_words(graveler, server, words):
    graveler.fails(*words)
    assert not server.asked
