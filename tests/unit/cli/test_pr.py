"""`graveler pr`."""

import json

import pytest

from tests.support.clients.answers import page

PULLS = "/api/v1/repositories/foo/pulls"
PULL_ID = "4oq0u1sbtms0fh2ok8ng"
ONE = ("lakefs://foo", PULL_ID)
OPEN = {
    "id": PULL_ID,
    "status": "open",
    "title": "Prices",
    "description": "Of\nNovember",
    "author": "ada",
    "source_branch": "dev",
    "destination_branch": "main",
    "creation_date": "2024-08-02T14:13:33Z",
    "merged_commit_id": None,
    "closed_date": None,
}
MERGED = {
    **OPEN,
    "status": "merged",
    "description": "",
    "merged_commit_id": "1a2b",
    "closed_date": "2024-08-02T14:13:40Z",
}
HEAD = "1a2b3c4d5e6f7081"
TIME = OPEN["creation_date"]
COMMENT = {"id": "d8", "author": "bob", "creation_date": TIME, "text": "Why?"}
REVIEWED = {
    "reviewers": ["bob", "cy"],
    "is_contained": True,
    "reviews": [
        {
            "user": "bob",
            "verdict": "approved",
            "commit_id": HEAD,
            "creation_date": TIME,
            "is_current": True,
        },
        {
            "user": "cy",
            "verdict": "changes_requested",
            "commit_id": "99",
            "creation_date": TIME,
            "is_current": False,
        },
    ],
}
SHOWN = f"""\
ID: {PULL_ID}
Status: open
Title: Prices
Source: dev
Destination: main
Author: ada
Created: 2024-08-02 14:13:33 +0000 UTC

Of
November
"""


@pytest.fixture(autouse=True)
def _in_utc(time_zone):
    time_zone("UTC")


def test_open_ones_are_listed(graveler, server):
    server.will_answer(page(OPEN, next_offset="x"))
    for name in ("list", "ls"):
        assert graveler.prints("pr", name, "lakefs://foo") == (
            f"{PULL_ID}\topen\tdev\tmain\tada\tPrices\n"
        )
    assert "status=open" in server.asked[0].path
    graveler.prints("pr", "list", "lakefs://foo", "--status=all", "--amount=3", "--after=b")
    assert server.asked[-1].path == f"{PULLS}?status=all&prefix=&after=b&amount=3"


def test_the_list_is_one_object_a_line_as_json(graveler, server):
    server.will_answer(page(OPEN))
    assert json.loads(graveler.prints("pr", "list", "lakefs://foo", "--json"))["id"] == PULL_ID


def test_one_is_created(graveler, server):
    server.will_answer({"id": PULL_ID}, status=201)
    line = ("pr", "create", "lakefs://foo/dev", "lakefs://foo/main", "--title", "Prices")
    assert graveler.prints(*line) == (
        "Source: lakefs://foo/dev\nDestination: lakefs://foo/main\n"
        f"created pull request '{PULL_ID}'\n"
    )
    assert server.asked[0].body == {
        "title": "Prices",
        "description": "",
        "source_branch": "dev",
        "destination_branch": "main",
    }
    assert json.loads(graveler.prints(*line, "--json")) == {"id": PULL_ID}


def test_one_is_shown(graveler, server):
    server.will_answer(OPEN, page(), OPEN, page(COMMENT), MERGED, page())
    assert graveler.prints("pr", "show", *ONE) == SHOWN
    shown = json.loads(graveler.prints("pr", "show", *ONE, "--json"))
    assert (shown["title"], shown["comments"][0]["text"]) == ("Prices", "Why?")
    assert graveler.prints("pr", "show", *ONE).endswith(
        "Closed: 2024-08-02 14:13:40 +0000 UTC\nMerged Commit: 1a2b\n"
    )


def test_one_is_shown_with_reviews_and_comments(graveler, server):
    server.will_answer({**OPEN, **REVIEWED}, page(COMMENT, {**COMMENT, "path": "a/b"}))
    assert graveler.prints("pr", "show", *ONE) == SHOWN.replace(
        "\n\nOf",
        "\nContained: main has every commit of the source\nReviewers: bob, cy\n"
        "Review: bob approved, 1a2b3c4d5e6f\n"
        "Review: cy changes requested, 99, not the source's head now\n\nOf",
    ) + (
        "\nComment d8: bob, 2024-08-02 14:13:33 +0000 UTC\nWhy?\n"
        "\nComment d8: bob, 2024-08-02 14:13:33 +0000 UTC on a/b\nWhy?\n"
    )


@pytest.mark.parametrize(
    ("choice", "verdict"), [("--approve", "approved"), ("--request-changes", "changes_requested")]
)
def test_a_review_is_about_the_head_that_is_printed(graveler, server, choice, verdict):
    server.will_answer(OPEN, {"id": "dev", "commit_id": HEAD}, "", {"id": "d8", **COMMENT}, OPEN)
    line = ("pr", "review", *ONE, choice, "-m", "Why?")
    assert graveler.prints(*line) == f"Commit: {HEAD}\n{SHOWN}"
    assert server.asked[1].path == "/api/v1/repositories/foo/branches/dev"
    given, commented = server.asked[2:4]
    assert (given.method, given.path) == ("PUT", f"{PULLS}/{PULL_ID}/review")
    assert given.body == {"verdict": verdict, "commit_id": HEAD}
    assert (commented.method, commented.path) == ("POST", f"{PULLS}/{PULL_ID}/comments")
    assert commented.body == {"text": "Why?"}


def test_a_review_may_name_the_head_that_was_seen(graveler, server):
    server.will_answer("", OPEN)
    graveler.prints("pr", "review", *ONE, "--approve", "--if-head", HEAD)
    assert server.asked[0].body == {"verdict": "approved", "commit_id": HEAD}
    assert len(server.asked) == 2


def test_one_is_commented_on(graveler, server):
    server.will_answer(COMMENT)
    line = ("pr", "comment", *ONE, "-m", "Why?")
    assert graveler.prints(*line) == "created comment 'd8'\n"
    assert json.loads(graveler.prints(*line, "--path", "a/b", "--json"))["id"] == "d8"
    assert [asked.body for asked in server.asked] == [
        {"text": "Why?"},
        {"text": "Why?", "path": "a/b"},
    ]


def test_reviewers_are_asked(graveler, server):
    server.will_answer({"id": PULL_ID}, "", OPEN)
    reviewers = ("--reviewer", "bob", "--reviewer=cy")
    graveler.prints("pr", "create", "lakefs://foo/dev", "lakefs://foo/main", "-t", "x", *reviewers)
    graveler.prints("pr", "update", *ONE, *reviewers)
    assert server.asked[0].body["reviewers"] == ["bob", "cy"]
    assert server.asked[1].body == {"reviewers": ["bob", "cy"]}


def test_one_is_merged(graveler, server):
    server.will_answer({"reference": "1a2b", "summary": {}})
    assert graveler.prints("pr", "merge", *ONE) == f"merged pull request '{PULL_ID}' 1a2b\n"
    assert (server.asked[0].method, server.asked[0].path) == ("PUT", f"{PULLS}/{PULL_ID}/merge")
    options = ("-m", "why", "--squash", "--resolve", "a=source-wins", "--if-head", HEAD)
    graveler.prints("pr", "merge", *ONE, *options)
    asked = server.asked[1]
    assert asked.headers["If-Match"] == f'"{HEAD}"'
    assert (asked.body["message"], asked.body["squash_merge"]) == ("why", True)
    assert asked.body["resolutions"] == {"a": "source-wins"}


def test_a_conflict_says_how_to_see_and_decide_it(graveler, server):
    server.will_answer({"message": "conflict found"}, status=409)
    server.will_answer(OPEN)
    told = graveler.fails("pr", "merge", *ONE)
    assert told.startswith("conflict found: `graveler diff lakefs://foo/main lakefs://foo/dev`")


def test_a_conflict_names_the_tables_that_the_server_names(graveler, server):
    server.will_answer({"message": "conflict found", "details": "table a.b"}, status=409)
    server.will_answer(OPEN)
    assert graveler.fails("pr", "merge", *ONE).startswith("conflict found: table a.b; `graveler")


def test_a_merge_of_nothing_says_what_is_not_committed(graveler, server):
    server.will_answer({"message": "update branch main: no changes"}, status=400)
    server.will_answer(OPEN, page({"type": "added", "path": "a", "path_type": "object"}))
    told = graveler.fails("pr", "merge", *ONE)
    assert told == "nothing to merge: dev has 1 uncommitted change: commit it first"
    assert "/branches/dev/diff?" in server.asked[2].path


def test_a_merge_of_nothing_is_refused_in_the_words_of_the_server(graveler, server):
    server.will_answer({"message": "update branch main: no changes"}, status=400)
    server.will_answer(OPEN, page())
    assert graveler.fails("pr", "merge", *ONE) == "update branch main: no changes"


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (("close", *ONE), {"status": "closed"}),
        (("update", *ONE, "--status", "open"), {"status": "open"}),
        (("update", *ONE, "--description", ""), {"description": ""}),
        (("update", *ONE, "-t", "x", "--description=y"), {"title": "x", "description": "y"}),
    ],
)
def test_one_is_changed_and_shown(graveler, server, line, body):
    server.will_answer("", OPEN)
    assert graveler.prints("pr", *line) == SHOWN
    asked = server.asked[0]
    assert (asked.method, asked.path, asked.body) == ("PATCH", f"{PULLS}/{PULL_ID}", body)


@pytest.mark.parametrize(
    "line",
    [
        "list",
        "list foo",
        "list lakefs://foo --status done",
        "create lakefs://foo/dev lakefs://foo/main",
        "create lakefs://foo/dev lakefs://bar/main -t x",
        "create lakefs://foo/dev -t x",
        "create dev lakefs://foo/main -t x",
        "show lakefs://foo",
        "show lakefs://foo/main x",
        "show lakefs://foo ../x",
        "merge lakefs://foo",
        "merge lakefs://foo x --strategy mine",
        "merge lakefs://foo x --resolve a=mine",
        "review lakefs://foo x",
        "review lakefs://foo x --approve --request-changes",
        "review foo x --approve",
        "comment lakefs://foo x",
        "comment foo x -m y",
        "merge foo x",
        "close lakefs://foo",
        "close foo x",
        "update lakefs://foo x",
        "update lakefs://foo x --status merged",
        "update foo x --status open",
    ],
)
def test_wrong_input_is_refused(graveler, server, line):
    assert graveler.fails("pr", *line.split())
    assert server.asked == []


@pytest.mark.parametrize(
    "line",
    [
        "list lakefs://foo",
        "create lakefs://foo/dev lakefs://foo/main -t x",
        "show lakefs://foo x",
        "merge lakefs://foo x",
        "review lakefs://foo x --approve",
        "comment lakefs://foo x -m y",
        "close lakefs://foo x",
        "update lakefs://foo x -t y",
    ],
)
def test_a_refusal_of_the_server_is_told(graveler, server, line):
    server.will_answer({"message": "not found"}, status=404)
    result = graveler.run("pr", *line.split())
    assert (result.exit_code, result.stderr) == (1, "error: not found\n")
