"""`graveler bisect`: the search, and its file that lakectl reads as well."""

import json

import pytest

from tests.support.clients.answers import IDS, commit, page

START = ("bisect", "start", "lakefs://foo/main", "lakefs://foo/v1")
REPOSITORY = {
    "id": "foo",
    "creation_date": 1,
    "default_branch": "main",
    "storage_namespace": "s3://b/foo",
}
# Newest first; "a" is good, "h" is bad, and "d" is the first bad one.
COMMITS = [commit(name, parent) for name, parent in zip("hgfedcb", "gfedcba", strict=True)]
GOOD = commit("a")
RUN_UNTIL_D = (
    "bisect",
    "run",
    "--",
    "sh",
    "-c",
    'case ":BISECT_MESSAGE:" in *[abc]) ;; *) exit 1; esac',
)


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path, time_zone):
    time_zone("UTC")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def started(graveler, server):
    server.will_answer(REPOSITORY, COMMITS[0], GOOD, page(*COMMITS, GOOD))
    return graveler.prints(*START)


def test_a_search_begins_in_the_middle(started, home):
    assert started == (
        "Repository: foo\n"
        "Bisecting: 2 commits left to test after this (roughly 2 steps)\n"
        f"Current commit lakefs://foo/{IDS['e']} add e\n"
    )
    state = json.loads((home / ".lakectl.bisect.json").read_bytes())
    assert list(state) == ["created", "repository", "badCommit", "goodCommit", "commits"]
    assert (state["badCommit"], state["goodCommit"]) == (IDS["h"], IDS["a"])
    assert [each["id"] for each in state["commits"]] == [each["id"] for each in COMMITS]


@pytest.mark.parametrize(("good", "bad"), [("good", "bad"), ("old", "new")])
def test_good_and_bad_lead_to_the_first_bad_commit(started, graveler, good, bad):
    # "e" is bad, "c" is good, "d" is bad.
    assert f"{IDS['c']} add c" in graveler.prints("bisect", bad)
    assert f"{IDS['d']} add d" in graveler.prints("bisect", good)
    found = f"Repository: foo\nFound commit lakefs://foo/{IDS['d']} add d\n"
    assert graveler.prints("bisect", bad) == found
    assert graveler.prints("bisect", "log") == found
    assert graveler.prints("bisect", good) == found
    assert graveler.prints("bisect", "view").endswith("Meta Range ID: meta-d\n\n\tadd d\n")


def test_a_command_finds_the_first_bad_commit(started, graveler):
    assert graveler.prints(*RUN_UNTIL_D).splitlines() == [
        f"== Commit [{IDS['e']}] add e",
        f"-- BAD [{IDS['e']}] add e",
        f"== Commit [{IDS['c']}] add c",
        f"-- GOOD [{IDS['c']}] add c",
        f"== Commit [{IDS['d']}] add d",
        f"-- BAD [{IDS['d']}] add d",
        "Repository: foo",
        f"Found commit lakefs://foo/{IDS['d']} add d",
    ]


def test_the_state_is_json_too(started, graveler):
    found = json.loads(graveler.prints("bisect", "log", "--json"))
    assert (found["repository"], len(found["commits"])) == ("foo", 7)
    assert len(graveler.prints("bisect", "view", "--json").splitlines()) == 7


def test_a_command_that_cannot_run_says_nothing_of_the_commit(started, graveler, home):
    before = (home / ".lakectl.bisect.json").read_bytes()
    result = graveler.run("bisect", "run", "no-such-program")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: cannot run 'no-such-program': ")
    assert (home / ".lakectl.bisect.json").read_bytes() == before


def test_a_search_that_lakectl_began_goes_on(graveler, home):
    state = {
        "created": "2024-08-02T10:13:33.123456789Z",
        "repository": "foo",
        "badCommit": IDS["h"],
        "goodCommit": IDS["a"],
        "commits": COMMITS,
    }
    (home / ".lakectl.bisect.json").write_text(json.dumps(state))
    assert f"Found commit lakefs://foo/{IDS['d']}" in graveler.prints(*RUN_UNTIL_D)


def test_a_good_commit_outside_of_the_log_is_refused(graveler, server, home):
    server.will_answer(REPOSITORY, COMMITS[0], GOOD, page(*COMMITS))
    assert "lakefs://foo/v1 is not in the log of" in graveler.fails(*START)
    assert list(home.iterdir()) == []


def test_the_same_commit_twice_leaves_nothing_to_find(graveler, server):
    server.will_answer(REPOSITORY, GOOD, GOOD, page(GOOD))
    assert graveler.prints(*START) == "Repository: foo\nNo commits found\n"
    assert graveler.prints("bisect", "view") == "Repository: foo\nNo commits found\n"


@pytest.mark.parametrize("command", ["good", "bad", "log", "view", "run true"])
def test_without_a_search_the_way_to_begin_is_told(graveler, command):
    assert "graveler bisect start" in graveler.fails("bisect", *command.split())


def test_a_broken_state_is_named(graveler, home):
    (home / ".lakectl.bisect.json").write_text("{")
    assert "graveler bisect reset" in graveler.fails("bisect", "log")


def test_a_reset_forgets_the_search(started, graveler, home):
    assert graveler.prints("bisect", "reset") == "Cleared bisect session\n"
    result = graveler.run("bisect", "reset")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "warning: there is no bisection\n"
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        "start",
        "start lakefs://foo/main",
        "start foo lakefs://foo/v1",
        "start lakefs://foo/main lakefs://bar/v1",
        "run",
        "good now",
    ],
)
def test_wrong_input_is_refused(graveler, server, line):
    assert graveler.fails("bisect", *line.split())
    assert server.asked == []


def test_a_refusal_of_the_server_is_told(graveler, server):
    server.will_answer({"message": "repository not found"}, status=404)
    assert graveler.fails(*START) == "repository not found"


def test_the_help_leaves_out_other_names(graveler):
    shown = graveler.prints("bisect", "--help")
    assert "good" in shown
    assert " old " not in shown
