"""`graveler export`."""

import pytest

BRANCH = "/api/v1/repositories/foo/branches/master"
SET = ("export", "set", "lakefs://foo@master", "--path", "s3://company-bucket/path/to/export")

CONFIGURATION = {
    "exportPath": "s3://company-bucket/path/to/export",
    "exportStatusPath": "s3://company-bucket/path/to/status",
    "lastKeysInPrefixRegexp": ["^SUCCESS$", ".*/_SUCCESS$"],
    "isContinuous": True,
}


# get


@pytest.mark.parametrize("uri", ["lakefs://foo@master", "lakefs://foo/master"])
def test_get_shows_the_configuration(graveler, server, uri):
    server.will_answer(CONFIGURATION)
    assert graveler.prints("export", "get", uri) == (
        "Branch: lakefs://foo/master\n"
        "Export Path: s3://company-bucket/path/to/export\n"
        "Export status path: s3://company-bucket/path/to/status\n"
        "Last Keys In Prefix Regexp:\n"
        "\t^SUCCESS$\n"
        "\t.*/_SUCCESS$\n"
        "Continuously exported\n"
    )
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", f"{BRANCH}/continuous-export")
    assert asked.authorization == "Basic QUtJQUVYQU1QTEU6c2VjcmV0"


def test_get_shows_what_is_left_out_as_empty(graveler, server):
    server.will_answer({"exportPath": "s3://b/x", "later": "fields are none of our business"})
    assert graveler.prints("export", "get", "lakefs://foo@master") == (
        "Branch: lakefs://foo/master\n"
        "Export Path: s3://b/x\n"
        "Export status path:\n"
        "Last Keys In Prefix Regexp:\n"
    )


# set


@pytest.mark.parametrize(
    ("flag", "is_continuous"),
    [
        ("--continuous", True),
        ("--continuous=true", True),
        ("--continuous=1", True),
        ("--continuous=false", False),
        ("--continuous=F", False),
        ("--no-continuous", False),
    ],
)
def test_set_sends_every_option_and_prints_nothing(graveler, server, flag, is_continuous):
    server.will_answer("", status=201)
    options = (
        *("--status-path", "s3://company-bucket/path/to/status"),
        *("--prefix-regex", "^SUCCESS$", "--prefix-regex=.*/_SUCCESS$"),
    )
    assert graveler.prints(*SET, flag, *options) == ""
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("PUT", f"{BRANCH}/continuous-export")
    assert asked.body == {**CONFIGURATION, "isContinuous": is_continuous}


def test_set_goes_over_objects_by_force_only(graveler, server):
    for flags, query in ((["--force"], "?force=true"), ([], "")):
        server.will_answer("", status=201)
        graveler.prints(*SET, "--continuous", *flags)
        assert server.asked[-1].path == f"{BRANCH}/continuous-export{query}"


def test_set_without_status_and_patterns_clears_them(graveler, server):
    server.will_answer("", status=201)
    graveler.prints(*SET, "--continuous")
    assert server.asked[0].body == {
        "exportPath": "s3://company-bucket/path/to/export",
        "exportStatusPath": "",
        "lastKeysInPrefixRegexp": [],
        "isContinuous": True,
    }


def test_set_insists_on_continuous_or_not(graveler, server):
    told = graveler.fails(*SET)
    assert "--continuous must be specified" in told
    assert "--continuous=false" in told
    assert server.asked == []


def test_set_insists_on_a_path(graveler, server):
    told = graveler.fails("export", "set", "lakefs://foo@master", "--continuous")
    assert told == "missing option '--path'; see graveler export set --help"
    assert server.asked == []


def test_a_flag_is_true_or_false(graveler, server):
    told = graveler.fails(*SET, "--continuous=maybe")
    assert told == "--continuous is 'maybe': write true or false"
    assert server.asked == []


# run and repair


def test_run_prints_the_export_s_id(graveler, server):
    server.will_answer("foo-master-1a2b-x9", status=201)
    assert graveler.prints("export", "run", "lakefs://foo@master") == (
        "Export-ID:foo-master-1a2b-x9\n"
    )
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("POST", f"{BRANCH}/export-hook", None)


def test_run_prints_the_export_s_id_as_json_by_its_name_in_the_api(graveler, server):
    server.will_answer("foo-master-1a2b-x9", status=201)
    printed = graveler.prints("--json", "export", "run", "lakefs://foo@master")
    assert printed == '{"exportId":"foo-master-1a2b-x9"}\n'


def test_repair_prints_nothing(graveler, server):
    server.will_answer("", status=201)
    assert graveler.prints("export", "repair", "lakefs://foo@master") == ""
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("POST", f"{BRANCH}/repair-export", None)


def test_delete_prints_nothing(graveler, server):
    server.will_answer("", status=204)
    assert graveler.prints("export", "delete", "lakefs://foo@master") == ""
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("DELETE", f"{BRANCH}/continuous-export")


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("get", 404, "branch master is not exported"),
        ("run", 409, "export currently in progress"),
        ("repair", 409, "incorrect status"),
    ],
)
def test_a_refusal_shows_the_servers_message(graveler, server, command, status, message):
    server.will_answer({"message": message}, status=status)
    assert graveler.fails("export", command, "lakefs://foo@master") == message
    assert len(server.asked) == 1


# status

RUNNING = {
    "state": "in-progress",
    "exportId": "foo-master-1a2b-x9",
    "commitId": "1a2b",
    "exportedCommitId": "0f0f",
    "startedAt": 1_722_608_013,
    "objectsDone": 3,
    "objectsTotal": 40,
    "objectsFailed": 0,
    "errors": [],
    "errorMessage": "",
    "isPending": False,
}
DONE = {**RUNNING, "state": "exported-successfully", "exportedCommitId": "1a2b", "objectsDone": 40}
FAILED = {
    **RUNNING,
    "state": "export-failed",
    "objectsDone": 38,
    "objectsFailed": 2,
    "errorMessage": "2 tasks failed\n",
    "errors": ["a/1: AccessDenied", "a/2: AccessDenied"],
}


@pytest.fixture(autouse=True)
def _in_new_york_and_in_a_hurry(time_zone, monkeypatch):
    time_zone("America/New_York")
    monkeypatch.setattr("graveler_cli.commands.export._POLL_INTERVAL_S", 0.01)


def test_status_of_a_branch_that_was_never_exported(graveler, server):
    server.will_answer({"state": "none"})
    assert graveler.prints("export", "status", "lakefs://foo@master") == "State: none\n"
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", f"{BRANCH}/export-status")


def test_status_shows_how_far_the_export_is(graveler, server):
    server.will_answer(RUNNING)
    assert graveler.prints("export", "status", "lakefs://foo@master") == (
        "State: in-progress\n"
        "Export-ID: foo-master-1a2b-x9\n"
        "Commit: 1a2b\n"
        "Started: 2024-08-02 10:13:33 -0400 EDT\n"
        "Progress: 3 of 40 objects\n"
        "Exported Commit: 0f0f\n"
    )


def test_status_shows_what_went_wrong(graveler, server):
    server.will_answer(FAILED)
    assert graveler.prints("export", "status", "lakefs://foo@master").endswith(
        "Progress: 38 of 40 objects, 2 failed\n"
        "Exported Commit: 0f0f\n"
        "Error: 2 tasks failed\n"
        "\ta/1: AccessDenied\n"
        "\ta/2: AccessDenied\n"
    )


def test_status_shows_each_error_once(graveler, server):
    server.will_answer({**FAILED, "errorMessage": "2 tasks failed\na/1: AccessDenied"})
    assert graveler.prints("export", "status", "lakefs://foo@master").endswith(
        "Error: 2 tasks failed\n\ta/1: AccessDenied\n\ta/2: AccessDenied\n"
    )


def test_status_says_that_another_export_follows(graveler, server):
    server.will_answer({**DONE, "isPending": True})
    shown = graveler.prints("export", "status", "lakefs://foo@master")
    assert "Another export is about to start\n" in shown


def test_follow_waits_for_the_end_of_what_runs_and_of_what_is_pending(graveler, server):
    server.will_answer(RUNNING, {**DONE, "isPending": True}, RUNNING, DONE)
    shown = graveler.prints("export", "status", "--follow", "lakefs://foo@master")
    assert shown.startswith("State: exported-successfully\n")
    assert "Progress: 40 of 40 objects\n" in shown
    assert len(server.asked) == 4


def test_follow_ends_at_once_where_nothing_runs(graveler, server):
    server.will_answer(DONE)
    graveler.prints("export", "status", "-f", "lakefs://foo@master")
    assert len(server.asked) == 1


def test_follow_fails_when_the_export_does(graveler, server):
    server.will_answer(RUNNING, FAILED)
    result = graveler.run("export", "status", "-f", "lakefs://foo@master")
    assert result.exit_code == 1
    assert "Error: 2 tasks failed\n" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("no_color", [None, "1"])
def test_follow_draws_a_bar_on_a_terminal_in_color_unless_told_not_to(graveler, server, no_color):
    server.will_answer(RUNNING, RUNNING, DONE)
    terminal = {"TERM": "xterm", "TTY_COMPATIBLE": "1", "NO_COLOR": no_color}
    result = graveler.run("export", "status", "-f", "lakefs://foo@master", **terminal)
    assert " 3/40" in result.stderr
    assert ("\x1b[3" in result.stderr) == (no_color is None)
    assert result.stdout.startswith("State: exported-successfully\n")
