"""`graveler repo`."""

import json

import pytest

FOO = {
    "id": "foo",
    "creation_date": 1_722_608_013,
    "default_branch": "main",
    "storage_namespace": "s3://bucket/foo",
    "storage_id": "",
    "read_only": False,
}
CREATED = """\
Repository: lakefs://foo
Repository 'foo' created:
storage namespace: s3://bucket/foo
default branch: main
timestamp: 1722608013
"""
CREATE = ("repo", "create", "lakefs://foo", "s3://bucket/foo")


def page(*results, next_offset=""):
    pagination = {"has_more": next_offset != "", "next_offset": next_offset, "results": 1}
    return {"pagination": {**pagination, "max_per_page": 1000}, "results": results}


# list


def test_list_shows_a_line_for_each_repository_and_an_empty_one(graveler, server, time_zone):
    time_zone("America/New_York")
    server.will_answer(page(FOO))
    assert graveler.prints("repo", "list", "--prefix", "f", "--after", "e", "--amount", "7") == (
        "foo\t2024-08-02 10:13:33 -0400 EDT\tmain\tfoo\ts3://bucket/foo\n\n"
    )
    (asked,) = server.asked
    assert asked.path == "/api/v1/repositories?prefix=f&after=e&amount=7"


def test_list_as_json_shows_the_api_s_fields(graveler, server):
    server.will_answer(page(FOO, next_offset="foo"))
    assert json.loads(graveler.prints("repo", "list", "--json")) == FOO


def test_list_takes_no_argument(graveler):
    assert "extra" in graveler.fails("repo", "list", "extra")


# create


def test_create_asks_for_the_repository_and_shows_it(graveler, server):
    server.will_answer(FOO, status=201)
    assert graveler.prints(*CREATE) == CREATED
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/api/v1/repositories")
    assert asked.body == {
        "name": "foo",
        "storage_namespace": "s3://bucket/foo",
        "default_branch": "main",
    }


def test_create_sends_what_its_flags_say(graveler, server):
    server.will_answer(FOO, status=201)
    flags = ("-d", "trunk", "--sample-data", "--read-only", "--storage-id", "x")
    assert graveler.prints(*CREATE, *flags) == f"{CREATED}sample data included\n"
    body = server.asked[0].body
    assert body["default_branch"] == "trunk"
    assert (body["sample_data"], body["read_only"], body["storage_id"]) == (True, True, "x")


def test_create_as_json_shows_the_repository_alone(graveler, server):
    server.will_answer(FOO, status=201)
    assert json.loads(graveler.prints(*CREATE, "--sample-data", "--json")) == FOO


def test_create_bare_asks_for_a_repository_without_branches(graveler, server):
    server.will_answer(FOO, status=201)
    assert graveler.prints("repo", "create-bare", *CREATE[2:], "-d", "trunk") == CREATED
    (asked,) = server.asked
    assert asked.path == "/api/v1/repositories?bare=true"
    assert asked.body["default_branch"] == "trunk"


def test_create_bare_is_no_part_of_the_help(graveler):
    assert "create-bare" not in graveler.prints("repo", "--help")


@pytest.mark.parametrize("command", ["create", "create-bare"])
@pytest.mark.parametrize("uri", ["foo", "lakefs://FOO", "lakefs://foo/main", "s3://foo"])
def test_create_refuses_what_is_no_repository_before_any_request(graveler, server, command, uri):
    assert uri in graveler.fails("repo", command, uri, "s3://bucket/foo")
    assert not server.asked


def test_create_without_a_namespace_is_refused(graveler):
    assert "STORAGE_NAMESPACE" in graveler.fails("repo", "create", "lakefs://foo")


def test_create_says_why_the_server_refused(graveler, server):
    server.will_answer({"message": "not unique"}, status=409)
    result = graveler.run(*CREATE)
    assert result.exit_code == 1
    assert (result.stdout, result.stderr) == (
        "Repository: lakefs://foo\n",
        "error: not unique\n",
    )


IN_USE = (
    "failed to create repository: found lakeFS objects in the storage (:s3://bucket/foo) "
    "key(_lakefs/dummy): storage namespace already in use"
)


@pytest.mark.parametrize(
    ("details", "line"),
    [
        ("", "s3://bucket/foo already holds a repository: choose another prefix"),  # lakeFS
        (
            "choose another prefix",
            "s3://bucket/foo already holds a repository: choose another prefix",
        ),
        (
            "it holds data, such as 's3://b/f/data/ft2h7c5if1f3reo00000/dc4vhjtif1f3reu3ti00': choose",
            "s3://bucket/foo already holds a repository: choose another prefix",
        ),
        (
            "it holds data, such as 's3://bucket/foo/data/users.csv': choose another prefix",
            "s3://bucket/foo already holds data: choose another prefix",
        ),
        ("it overlaps with 's3://bucket' of 'bar'", "it overlaps with 's3://bucket' of 'bar'"),
    ],
)
def test_create_says_what_holds_the_namespace(graveler, server, details, line):
    server.will_answer({"message": IN_USE, "details": details}, status=400)
    assert graveler.run(*CREATE).stderr == f"error: {line}\n"


# delete


def test_delete_asks_first(graveler, server):
    server.will_answer("", status=204)
    result = graveler.run("repo", "delete", "lakefs://foo", stdin="y\n")
    assert result.exit_code == 0
    assert result.stdout == "Repository: lakefs://foo\nRepository 'foo' deleted\n"
    assert "Are you sure you want to delete repository: foo [y/N]" in result.stderr
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("DELETE", "/api/v1/repositories/foo")


@pytest.mark.parametrize("answer", ["", "n\n", "\n", "yess\n"])
def test_delete_without_consent_deletes_nothing(graveler, server, answer):
    result = graveler.run("repo", "delete", "lakefs://foo", stdin=answer)
    assert (result.exit_code, result.stdout) == (1, "Repository: lakefs://foo\n")
    assert "aborted: nothing was done" in result.stderr
    assert not server.asked


@pytest.mark.parametrize("yes", ["--yes", "-y"])
def test_delete_with_yes_asks_nothing(graveler, server, yes):
    server.will_answer("", status=204)
    graveler.prints("repo", "delete", "lakefs://foo", yes, "--force")
    assert server.asked[0].path == "/api/v1/repositories/foo?force=true"


def test_delete_as_json_prints_nothing(graveler, server):
    server.will_answer("", status=204)
    assert graveler.prints("repo", "delete", "lakefs://foo", "--yes", "--json") == ""


def test_delete_of_a_missing_repository_fails(graveler, server):
    server.will_answer({"message": "repository not found"}, status=404)
    result = graveler.run("repo", "delete", "lakefs://foo", "--yes")
    assert (result.exit_code, result.stderr) == (1, "error: repository not found\n")


def test_delete_refuses_what_is_no_repository(graveler, server):
    assert "lakefs://REPO" in graveler.fails("repo", "delete", "foo", "--yes")
    assert not server.asked


def test_an_answer_from_a_pipe_ends_the_line_of_the_question(graveler, server):
    server.will_answer({"message": "repository not found"}, status=404)
    result = graveler.run("repo", "delete", "lakefs://foo", stdin="y\n")
    question, error = result.stderr.splitlines()
    assert question.endswith("[y/N]: ")
    assert error == "error: repository not found"
