"""`graveler gc`."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from graveler_cli.commands import gc

RULES = {
    "default_retention_days": 14,
    "branches": [
        {"branch_id": "main", "retention_days": 21},
        {"branch_id": "dev", "retention_days": 7},
    ],
}
PATH = "/api/v1/repositories/example-repo/settings/gc_rules"
URI = "lakefs://example-repo"


@pytest.fixture
def rules_file(tmp_path):
    file = tmp_path / "example_repo_gc_rules.json"
    file.write_text(json.dumps(RULES))
    return file


def asked(server):
    return [(each.method, each.path, each.body) for each in server.asked]


def test_set_config_sends_the_file_and_prints_nothing(graveler, server, rules_file):
    server.will_answer("", status=204)
    assert graveler.prints("gc", "set-config", URI, "-f", str(rules_file)) == ""
    assert asked(server) == [("PUT", PATH, RULES)]


def test_set_config_reads_standard_input(graveler, server):
    server.will_answer("", status=204)
    result = graveler.run("gc", "set-config", URI, "--filename", "-", stdin=json.dumps(RULES))
    assert (result.exit_code, result.output) == (0, "")
    assert asked(server) == [("PUT", PATH, RULES)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{bad", "malformed"),
        ("[]", "Expected `object`"),
        ("{}", "default_retention_days"),
        ('{"default_retention_days": "14"}', "Expected `int`"),
        ('{"default_retention_days": 1, "branch": []}', "unknown field `branch`"),
        ('{"default_retention_days": 1, "branches": [{"branch_id": "main"}]}', "retention_days"),
        ('"\udcff"', "does not have valid rules"),
    ],
)
def test_a_file_that_holds_no_rules_is_refused_with_an_example(
    graveler, server, tmp_path, text, said
):
    file = tmp_path / "rules.json"
    file.write_bytes(text.encode(errors="surrogateescape"))
    told = graveler.fails("gc", "set-config", URI, "-f", str(file))
    assert told.startswith(f"{file} does not have valid rules: ")
    assert said in told
    assert '{"branch_id": "main", "retention_days": 21}' in told
    assert asked(server) == []


def test_a_missing_file_is_named(graveler, tmp_path):
    told = graveler.fails("gc", "set-config", URI, "-f", str(tmp_path / "none.json"))
    assert told == f"cannot read {tmp_path}/none.json: no such file or directory"


def test_set_config_needs_a_file(graveler):
    told = graveler.fails("gc", "set-config", URI)
    assert "missing option '--filename' / '-f'" in told


def test_get_config_shows_the_rules_as_lakectl_does(graveler, server):
    server.will_answer(RULES)
    assert graveler.prints("gc", "get-config", URI) == (
        "Default Retention Days: 14\n"
        "Branch Rules: \n"
        "  - Branch: main\n"
        "    Retention Days: 21\n"
        "  - Branch: dev\n"
        "    Retention Days: 7\n"
    )
    assert asked(server) == [("GET", PATH, None)]


@pytest.mark.parametrize("flag", ["--json", "-p", "--json=true"])
def test_get_config_as_json_can_be_set_again(graveler, server, tmp_path, flag):
    server.will_answer(RULES, "")
    shown = graveler.prints("gc", "get-config", flag, URI)
    assert json.loads(shown) == RULES
    again = tmp_path / "again.json"
    again.write_text(shown)
    graveler.prints("gc", "set-config", URI, "-f", str(again))
    assert server.asked[-1].body == RULES


def test_delete_config_prints_nothing(graveler, server):
    server.will_answer("", status=204)
    assert graveler.prints("gc", "delete-config", URI) == ""
    assert asked(server) == [("DELETE", PATH, None)]


@pytest.mark.parametrize("uri", ["lakefs://", "lakefs://a/b", "lakefs://..", "example", "s3://b"])
def test_a_text_that_names_no_repository_is_refused(graveler, server, uri):
    told = graveler.fails("gc", "get-config", uri)
    assert told.endswith("does not name a repository: write lakefs://REPO")
    assert asked(server) == []


def test_missing_rules_show_the_servers_message(graveler, server):
    server.will_answer({"message": "not found", "details": "no rules"}, status=404)
    assert graveler.fails("gc", "get-config", URI) == "not found: no rules"


# The list of commits

COMMITS = {
    "run_id": "r1",
    "gc_commits_location": "s3://b/commits.csv",
    "gc_addresses_location": "s3://b/addresses/",
}


def test_the_list_of_commits_is_started(graveler, server):
    server.will_answer({"id": "GCPC1"}, status=202)
    assert graveler.prints("gc", "prepare-async", URI) == (
        "Started prepare GC commits task GCPC1.\n\nCheck it using\n"
        f"    graveler gc check-async {URI} --id GCPC1\n"
    )
    shown = graveler.prints("gc", "prepare-async", URI, "--json")
    assert json.loads(shown) == {"id": "GCPC1"}
    assert server.asked[0].path.endswith("/gc/prepare_commits/async")


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        ({"completed": False}, ["GC commits task t: Running.", "", ""]),
        (
            {"completed": True, "error": {"message": "no rules"}},
            ["GC commits task t: Completed.Failed:no rules", "", ""],
        ),
        (
            {"completed": True, "result": COMMITS},
            [
                "GC commits task t: Completed.",
                "Commits location: s3://b/commits.csv",
                "",
                "  Run ID:           r1",
                "",
                "",
            ],
        ),
        (
            {"completed": True, "result": COMMITS | {"gc_commits_presigned_url": "http://x"}},
            [
                "GC commits task t: Completed.",
                "Commits location: s3://b/commits.csv",
                "  Presigned URL:  http://x",
                "  Run ID:           r1",
                "",
                "",
            ],
        ),
    ],
)
def test_the_list_of_commits_is_checked(graveler, server, answer, lines):
    server.will_answer({"task_id": "t", "update_time": "2026-01-02T03:04:05Z", **answer})
    shown = graveler.prints("gc", "check-async", URI, "--id", "t")
    assert shown.splitlines() == [*lines, "Last updated 2026-01-02 03:04:05 +0000 UTC."]
    assert server.asked[0].path.endswith("/gc/prepare_commits/status?id=t")
    found = json.loads(graveler.prints("gc", "check-async", URI, "--id", "t", "--json"))
    assert found["completed"] == answer["completed"]


def test_the_list_of_commits_needs_a_repository_and_a_task(graveler, server):
    assert "missing argument" in graveler.fails("gc", "prepare-async")
    assert "missing option '--id'" in graveler.fails("gc", "check-async", URI)
    server.will_answer({"message": "not found"}, status=404)
    assert graveler.fails("gc", "prepare-async", URI) == "not found"
    assert graveler.fails("gc", "check-async", URI, "--id", "t") == "not found"


# run


@pytest.fixture
def job(monkeypatch):
    """The command lines that were run as jobs; they end with the code that stands in `code`."""

    found = SimpleNamespace(code=0, commands=[])

    def run(command, *, check):
        found.commands.append(command)
        return subprocess.CompletedProcess(command, found.code)

    monkeypatch.setattr(subprocess, "run", run)
    return found


def test_run_is_the_job_of_the_embedded_stack(graveler, job):
    assert graveler.prints("gc", "run", URI) == ""
    (command,) = job.commands
    assert command[1:] == [
        *("-P", "-m", "graveler_embedded.job", "garbage-collection"),
        *("--repository", "example-repo"),
    ]


def test_run_takes_the_jobs_own_options(graveler, job):
    words = ("--dry-run", "--option", "maximum-deletions=10", "--option", "cutoff=2022-03-31")
    graveler.prints("gc", "run", URI, *words)
    (command,) = job.commands
    assert command[7:] == [
        "--dry-run",
        *("--maximum-deletions", "10", "--cutoff", "2022-03-31"),
    ]


def test_a_job_that_fails_gives_its_exit_code(graveler, job):
    job.code = 1
    assert graveler.run("gc", "run", URI).exit_code == 1


def test_without_the_embedded_stack_the_deployed_job_is_named(graveler, job, monkeypatch):
    monkeypatch.setattr(gc, "find_spec", lambda _name: None)
    assert "Glue job" in graveler.fails("gc", "run", URI)
    assert job.commands == []


def test_lakefs_s_null_is_no_rules(graveler, server):
    server.will_answer({"default_retention_days": 3, "branches": None})
    shown = graveler.prints("gc", "get-config", "lakefs://foo")
    assert shown == "Default Retention Days: 3\nBranch Rules: \n"


def test_null_in_a_file_is_no_rules(graveler, server, tmp_path):
    file = tmp_path / "rules.json"
    file.write_text('{"default_retention_days": 3, "branches": null}')
    server.will_answer("", status=204)
    graveler.prints("gc", "set-config", "lakefs://foo", "-f", str(file))
    assert server.asked[0].body == {"default_retention_days": 3, "branches": []}
