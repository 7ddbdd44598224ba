"""`graveler branch`, `tag`, `branch-protect` and `find-merge-base`."""

import json

import pytest

BRANCHES = "/api/v1/repositories/foo/branches"
TAGS = "/api/v1/repositories/foo/tags"
RULES = "/api/v1/repositories/foo/settings/branch_protection"
MAIN = "lakefs://foo/main"
V1 = {"id": "v1", "commit_id": "1a2b"}
COMMIT = {
    "id": "1a2b",
    "parents": [],
    "committer": "ada",
    "message": "m",
    "creation_date": 0,
    "meta_range_id": "",
}


def page(*results):
    pagination = {"has_more": False, "next_offset": "", "results": 1, "max_per_page": 1000}
    return {"pagination": pagination, "results": results}


# branch reset


@pytest.mark.parametrize(
    ("flags", "body"),
    [
        ((), {"type": "reset"}),
        (("--prefix", "a/"), {"type": "common_prefix", "path": "a/"}),
        (("--object", "b"), {"type": "object", "path": "b"}),
        (("--prefix", "a/", "--object", "b"), {"type": "common_prefix", "path": "a/"}),
    ],
)
def test_reset_discards_what_its_flags_say(graveler, server, flags, body):
    server.will_answer("", status=204)
    printed = graveler.prints("branch", "reset", MAIN, *flags, "--yes")
    assert printed == "Branch: lakefs://foo/main\n"
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("PUT", f"{BRANCHES}/main", body)


def test_reset_asks_about_what_it_will_discard(graveler, server):
    result = graveler.run("branch", "reset", MAIN, "--object", "b", stdin="n\n")
    assert result.exit_code == 1
    assert "reset all uncommitted changes for object: b [y/N]" in result.stderr
    assert not server.asked


def test_reset_as_json_prints_nothing(graveler, server):
    server.will_answer("", status=204)
    assert graveler.prints("branch", "reset", MAIN, "--yes", "--json") == ""


# branch revert


def test_revert_reverts_each_commit_in_order(graveler, server):
    server.will_answer("", status=204)
    printed = graveler.prints("branch", "revert", MAIN, "main~1", "1a2b", "-m", "2", "-y")
    assert printed == (
        "Branch: lakefs://foo/main\n"
        "commit main~1 successfully reverted\n"
        "commit 1a2b successfully reverted\n"
    )
    assert [asked.body["ref"] for asked in server.asked] == ["main~1", "1a2b"]
    assert server.asked[0].path == f"{BRANCHES}/main/revert"
    assert server.asked[0].body["parent_number"] == 2
    assert server.asked[0].body["allow_empty"] is False


def test_revert_may_change_nothing_if_that_is_wanted(graveler, server):
    server.will_answer("", status=204)
    words = ("branch", "revert", MAIN, "main", "--allow-empty-commit", "--yes", "--json")
    assert json.loads(graveler.prints(*words)) == {"ref": "main"}
    assert server.asked[0].body == {"ref": "main", "parent_number": 0, "allow_empty": True}


def test_revert_stops_at_the_first_commit_that_is_refused(graveler, server):
    server.will_answer({"message": "no changes"}, status=400)
    result = graveler.run("branch", "revert", MAIN, "main~1", "1a2b", "--yes")
    assert (result.exit_code, result.stderr) == (1, "error: no changes\n")
    assert len(server.asked) == 1


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_revert_refuses_what_is_no_parent(graveler, server, number):
    result = graveler.run("branch", "revert", MAIN, "main", "-m", number, "--yes")
    assert result.exit_code == 1
    assert "error: " in result.stderr
    assert not server.asked


def test_revert_without_a_commit_is_refused(graveler):
    assert "COMMIT" in graveler.fails("branch", "revert", MAIN)


@pytest.mark.parametrize("command", ["reset", "delete", "show"])
@pytest.mark.parametrize("uri", ["lakefs://foo", "lakefs://foo/main~1", "lakefs://FOO/main", "x"])
def test_branch_commands_refuse_what_is_no_branch(graveler, server, command, uri):
    words = ("branch", command, uri, *([] if command == "show" else ["--yes"]))
    assert "branch" in graveler.fails(*words)
    assert not server.asked


# tag


def test_tag_list_shows_tags_and_an_empty_line(graveler, server):
    server.will_answer(page(V1))
    words = ("tag", "list", "lakefs://foo", "--prefix", "v")
    assert graveler.prints(*words) == "v1\t1a2b\n\n"
    assert json.loads(graveler.prints(*words, "--json")) == V1
    assert server.asked[0].path == f"{TAGS}?prefix=v&after=&amount=100"


def test_tag_create_names_a_commit(graveler, server):
    server.will_answer(V1, status=201)
    printed = graveler.prints("tag", "create", "lakefs://foo/v1", MAIN)
    assert printed == "Created tag 'v1' ({1a2b v1})\n"
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", TAGS)
    assert asked.body == {"id": "v1", "ref": "main"}


def test_tag_create_is_readable_on_a_terminal(graveler, server):
    server.will_answer(V1, status=201)
    words = ("tag", "create", "lakefs://foo/v1", MAIN)
    assert graveler.prints(*words, LAKECTL_INTERACTIVE="true") == "Created tag 'v1' at 1a2b\n"


@pytest.mark.parametrize("status", [204, 404])
def test_tag_create_by_force_replaces_the_tag_if_there_is_one(graveler, server, status):
    server.will_answer(COMMIT)
    server.will_answer("" if status == 204 else {"message": "tag not found"}, status=status)
    server.will_answer(V1, status=201)
    words = ("tag", "create", "-f", "lakefs://foo/v1", MAIN, "--json")
    assert json.loads(graveler.prints(*words)) == V1
    assert [(asked.method, asked.body) for asked in server.asked] == [
        ("GET", None),
        ("DELETE", None),
        ("POST", {"id": "v1", "ref": "1a2b"}),
    ]


def test_tag_create_by_force_keeps_the_tag_if_the_commit_is_missing(graveler, server):
    server.will_answer({"message": "commit not found"}, status=404)
    words = ("tag", "create", "--force", "lakefs://foo/v1", "lakefs://foo/none")
    assert graveler.fails(*words) == "commit not found"
    assert [asked.method for asked in server.asked] == ["GET"]


def test_tag_create_by_force_stops_if_the_tag_must_stay(graveler, server):
    server.will_answer(COMMIT)
    server.will_answer({"message": "hook aborted"}, status=412)
    assert graveler.fails("tag", "create", "-f", "lakefs://foo/v1", MAIN) == "hook aborted"
    assert len(server.asked) == 2


def test_tag_create_refuses_two_repositories(graveler, server):
    words = ("tag", "create", "lakefs://foo/v1", "lakefs://bar/main")
    assert "same repository" in graveler.fails(*words)
    assert not server.asked


@pytest.mark.parametrize(
    "words",
    [
        ("list", "lakefs://foo/v1"),
        ("create", "lakefs://foo/v1"),
        ("create", "lakefs://foo", MAIN),
        ("create", "lakefs://foo/v1", "lakefs://foo"),
        ("show", "lakefs://foo"),
        ("show", "lakefs://foo/v1/path"),
        ("delete", "lakefs://foo", "--yes"),
    ],
)
def test_tag_commands_refuse_wrong_words(graveler, server, words):
    graveler.fails("tag", *words)
    assert not server.asked


def test_tag_show_prints_the_tag_and_its_commit(graveler, server):
    server.will_answer(V1)
    assert graveler.prints("tag", "show", "lakefs://foo/v1") == "v1 1a2b\n"
    assert json.loads(graveler.prints("tag", "show", "lakefs://foo/v1", "--json")) == V1


def test_a_tag_with_a_percent_sign_is_encoded_as_servers_decode_it(graveler, server):
    server.will_answer({**V1, "id": "%41"})
    assert graveler.prints("tag", "show", "lakefs://foo/%41") == "%41 1a2b\n"
    assert server.asked[0].path.endswith("/repositories/foo/tags/%252541")


def test_tag_delete_asks_first(graveler, server):
    result = graveler.run("tag", "delete", "lakefs://foo/v1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert not server.asked
    server.will_answer("", status=204)
    assert graveler.prints("tag", "delete", "lakefs://foo/v1", "-y") == ""
    assert (server.asked[0].method, server.asked[0].path) == ("DELETE", f"{TAGS}/v1")


# branch-protect


def test_protect_list_shows_patterns_and_an_empty_line(graveler, server):
    server.will_answer([{"pattern": "main"}, {"pattern": "v*"}])
    assert graveler.prints("branch-protect", "list", "lakefs://foo") == "main\nv*\n\n"
    lines = graveler.prints("branch-protect", "list", "lakefs://foo", "--json").splitlines()
    assert [json.loads(line) for line in lines] == [{"pattern": "main"}, {"pattern": "v*"}]


def test_protect_add_changes_only_the_rules_it_has_seen(graveler, server):
    server.headers["ETag"] = '"7"'
    server.will_answer([{"pattern": "main"}])
    server.will_answer("", status=204)
    assert graveler.prints("branch-protect", "add", "lakefs://foo", "v*") == ""
    read, written = server.asked
    assert (read.method, written.method, written.path) == ("GET", "PUT", RULES)
    assert written.headers["If-Match"] == '"7"'
    assert written.body == [{"pattern": "main"}, {"pattern": "v*"}]


def test_protect_add_may_require_approvals(graveler, server):
    stored = [{"pattern": "main", "required_approvals": 1}, {"pattern": "v*"}]
    server.will_answer(stored, "", stored)
    graveler.prints("branch-protect", "add", "lakefs://foo", "v*", "--required-approvals", "2")
    assert server.asked[1].body == [*stored, {"pattern": "v*", "required_approvals": 2}]
    assert graveler.prints("branch-protect", "list", "lakefs://foo") == "main\t1\nv*\t0\n\n"
    graveler.fails("branch-protect", "add", "lakefs://foo", "v*", "--required-approvals", "101")


def test_protect_add_without_a_version_sends_none(graveler, server):
    server.will_answer([])
    server.will_answer("", status=204)
    graveler.prints("branch-protect", "add", "lakefs://foo", "v*", "--json")
    assert "If-Match" not in server.asked[1].headers


def test_protect_delete_removes_the_rule(graveler, server):
    server.headers["ETag"] = '"7"'
    server.will_answer([{"pattern": "main"}, {"pattern": "v*"}])
    server.will_answer("", status=204)
    assert graveler.prints("branch-protect", "delete", "lakefs://foo", "main") == ""
    assert server.asked[1].body == [{"pattern": "v*"}]
    assert server.asked[1].headers["If-Match"] == '"7"'


def test_protect_delete_of_a_missing_rule_fails(graveler, server):
    server.will_answer([{"pattern": "main"}])
    assert "'v*' not found" in graveler.fails("branch-protect", "delete", "lakefs://foo", "v*")
    assert len(server.asked) == 1


def test_protect_says_that_another_client_was_faster(graveler, server):
    server.will_answer([{"pattern": "main"}])
    server.will_answer({"message": "precondition failed"}, status=412)
    words = ("branch-protect", "add", "lakefs://foo", "v*")
    assert graveler.fails(*words) == "precondition failed"


@pytest.mark.parametrize(
    "words", [("list", "foo"), ("add", "lakefs://foo"), ("delete", "lakefs://foo/main", "main")]
)
def test_protect_commands_refuse_wrong_words(graveler, server, words):
    graveler.fails("branch-protect", *words)
    assert not server.asked


# find-merge-base

BASE = {"source_commit_id": "1a", "destination_commit_id": "2b", "base_commit_id": "3c"}


def test_find_merge_base_shows_three_commits(graveler, server):
    server.will_answer(BASE)
    words = ("find-merge-base", "lakefs://foo/dev", MAIN)
    assert graveler.prints(*words) == (
        "Source: lakefs://foo/dev\nDestination: lakefs://foo/main\n"
        'Found base "3c" when merging "1a" into "2b".\n'
    )
    assert json.loads(graveler.prints(*words, "--json")) == BASE
    assert server.asked[0].path == "/api/v1/repositories/foo/refs/dev/merge/main"


def test_find_merge_base_refuses_two_repositories(graveler, server):
    result = graveler.run("find-merge-base", "lakefs://bar/dev", MAIN)
    assert result.exit_code == 1
    assert "same repository" in result.stderr
    assert not server.asked


def test_find_merge_base_refuses_what_is_no_ref(graveler, server):
    assert "lakefs://REPO/REF" in graveler.fails("find-merge-base", "lakefs://foo", MAIN)
    assert not server.asked
