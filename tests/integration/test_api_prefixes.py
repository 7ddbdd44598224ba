"""Copies and moves of prefixes over HTTP."""

from typing import Any

import pytest

from tests.support.clients.api import ApiClient

REPO = "/repositories/repo"
OBJECTS = f"{REPO}/branches/main/objects"


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    for path in ("a/1", "a/2", "b/2", "c"):
        api.upload(path, path.encode())
    return api


def ask(api: ApiClient, verb: str, destination: str, **body: Any) -> dict[str, Any]:
    """Send the request, run its task, and return that."""
    reply = api.ask("POST", f"{OBJECTS}/{verb}_prefix", body, dest_prefix=destination)
    assert reply.status == 202
    assert list(reply.json) == ["id"]
    api.run_tasks()
    task = api.ask("GET", f"{REPO}/tasks/{reply.json['id']}")
    assert task.status == 200
    found: dict[str, Any] = task.json
    return found


def test_a_move_is_a_task_that_says_what_it_did(api: ApiClient) -> None:
    task = ask(api, "move", "x/y/", src_prefix="a/")
    assert (task["kind"], task["state"], task["branch"]) == ("move-prefix", "completed", "main")
    assert task["result"] == {"copied": "2", "skipped": "0"}
    assert (task["objects_done"], task["user"]) == (2, "ann")
    assert api.paths() == ["b/2", "c", "x/y/1", "x/y/2"]


def test_a_copy_may_come_from_another_ref(api: ApiClient) -> None:
    api.commit()
    api.upload("a/3")
    assert ask(api, "copy", "x/", src_prefix="a/", src_ref="main@")["state"] == "completed"
    assert api.paths() == ["a/1", "a/2", "a/3", "b/2", "c", "x/1", "x/2"]


def test_the_destination_may_be_the_root(api: ApiClient) -> None:
    api.branch("dev")
    api.commit()
    reply = api.ask(
        "POST",
        f"{REPO}/branches/dev/objects/copy_prefix",
        {"src_prefix": "a/", "src_ref": "main"},
        dest_prefix="",
    )
    assert reply.status == 202
    api.run_tasks()
    assert api.paths("dev") == ["1", "2"]


def test_what_exists_is_refused_skipped_or_overwritten(api: ApiClient) -> None:
    failed = ask(api, "copy", "b/", src_prefix="a/")
    assert (failed["state"], failed["status_code"]) == ("failed", 412)
    assert failed["error"]["message"] == "path already exists"
    skipped = ask(api, "copy", "b/", src_prefix="a/", if_exists="skip")
    assert int(skipped["result"]["copied"]) + int(skipped["result"]["skipped"]) == 2
    overwritten = ask(api, "move", "b/", src_prefix="a/", if_exists="overwrite")
    assert overwritten["result"] == {"copied": "2", "skipped": "0"}
    assert api.paths() == ["b/1", "b/2", "c"]


@pytest.mark.parametrize(
    ("query", "body", "status", "named"),
    [
        ({"dest_prefix": "x/"}, {"src_prefix": "none/"}, 404, "none/"),
        ({"dest_prefix": "x/"}, {}, 400, "src_prefix"),
        ({"dest_prefix": "x/"}, {"src_prefix": 1}, 400, "src_prefix"),
        ({"dest_prefix": "x/"}, {"src_prefix": "a/", "if_exists": "maybe"}, 400, "if_exists"),
        ({"dest_prefix": "a/b/"}, {"src_prefix": "a/"}, 400, "overlap"),
        ({}, {"src_prefix": "a/"}, 400, "dest_prefix"),
        ({"dest_prefix": "x/"}, None, 400, "request body"),
    ],
)
@pytest.mark.parametrize("verb", ["copy", "move"])
def test_a_bad_request_starts_no_task(
    api: ApiClient, verb: str, query: dict[str, Any], body: Any, status: int, named: str
) -> None:
    reply = api.ask("POST", f"{OBJECTS}/{verb}_prefix", body, **query)
    assert reply.status == status
    assert named in reply.message
    assert api.ask("GET", f"{REPO}/tasks").json["results"] == []


@pytest.mark.parametrize("verb", ["copy", "move"])
def test_an_unknown_branch_is_not_found(api: ApiClient, verb: str) -> None:
    path = f"{REPO}/branches/none/objects/{verb}_prefix"
    reply = api.ask("POST", path, {"src_prefix": "a/"}, dest_prefix="x/")
    assert (reply.status, reply.json["message"]) == (404, "branch not found")


def test_a_protected_branch_is_not_changed(api: ApiClient) -> None:
    rules = f"{REPO}/settings/branch_protection"
    assert api.ask("PUT", rules, [{"pattern": "main"}]).status == 204
    reply = api.ask("POST", f"{OBJECTS}/move_prefix", {"src_prefix": "a/"}, dest_prefix="x/")
    assert (reply.status, reply.json["message"]) == (403, "cannot write to protected branch")


@pytest.mark.parametrize(
    ("verb", "body", "left"),
    [
        ("restore", {"ref": "main@"}, ["a/1", "a/2", "b/2", "c"]),
        ("delete", {}, ["b/2", "c"]),
    ],
)
def test_a_prefix_is_restored_or_deleted_by_a_task(
    api: ApiClient, verb: str, body: dict[str, str], left: list[str]
) -> None:
    api.commit()
    api.ask("DELETE", OBJECTS, path="a/1")
    api.upload("a/new")
    reply = api.ask("POST", f"{OBJECTS}/{verb}_prefix", {"prefix": "a/", **body})
    assert reply.status == 202
    api.run_tasks()
    task = api.ask("GET", f"{REPO}/tasks/{reply.json['id']}").json
    assert (task["kind"], task["state"], task["result"]) == (
        f"{verb}-prefix",
        "completed",
        {"changed": "2"},
    )
    assert api.paths() == left


def test_the_total_of_a_prefix_counts_objects_and_bytes(api: ApiClient) -> None:
    total = f"{REPO}/refs/main/objects/total"
    expected = {"objects": 2, "size_bytes": 6, "has_more": False, "next_offset": ""}
    assert api.ask("GET", total, prefix="a/").json == expected
    api.commit()
    assert api.ask("GET", total, prefix="a/").json == expected
    assert api.ask("GET", total).json["objects"] == 4
    assert api.ask("GET", total, prefix="none/").json["objects"] == 0
    assert api.ask("GET", f"{REPO}/refs/none/objects/total").status == 404


def test_the_history_of_an_object_names_its_commits_and_versions(api: ApiClient) -> None:
    api.commit("first")
    api.upload("a/1", b"longer")
    api.commit("second")
    api.ask("DELETE", OBJECTS, path="a/1")
    api.commit("third")
    history = f"{REPO}/refs/main/objects/history"
    page = api.ask("GET", history, path="a/1", amount=2).json
    rest = api.ask("GET", history, path="a/1", after=page["pagination"]["next_offset"]).json
    rows = page["results"] + rest["results"]
    assert [(row["type"], row["size_bytes"]) for row in rows] == [
        ("removed", 6),
        ("changed", 6),
        ("added", 3),
    ]
    assert [row["commit"]["message"] for row in rows] == ["third", "second", "first"]
    assert rows[0]["commit"] == api.ask("GET", f"{REPO}/commits/main").json
    assert rows[0]["checksum"] == rows[1]["checksum"] != rows[2]["checksum"]
    assert api.ask("GET", history, path="a/1", after="x").status == 400
    assert api.ask("GET", history).status == 400


def test_the_last_commits_of_a_listing_come_in_pages(api):
    for path, message in (("z/a/1", "first"), ("z/a/2", "second"), ("z/b", "third")):
        api.upload(path, message.encode())
        api.commit(message)
    api.upload("z/staged", b"x")
    asked = f"{REPO}/refs/main/objects/last_commits"
    page = api.ask("GET", asked, prefix="z/", amount=1).json
    after = page["pagination"]["next_offset"]
    rest = api.ask("GET", asked, prefix="z/", amount=1, after=after).json
    rows = page["results"] + rest["results"]
    assert [(row["path"], row["path_type"], row["commit"]["message"]) for row in rows] == [
        ("z/a/", "common_prefix", "second"),
        ("z/b", "object", "third"),
    ]
    assert not rest["pagination"]["has_more"]
    assert rows[1]["commit"] == api.ask("GET", f"{REPO}/commits/main").json
    below = api.ask("GET", asked, prefix="z/a/").json["results"]
    assert [(row["path"], row["commit"]["message"]) for row in below] == [
        ("z/a/1", "first"),
        ("z/a/2", "second"),
    ]
    for wrong in ({"after": "x"}, {"amount": 2, "after": after}, {"prefix": "z", "after": after}):
        assert api.ask("GET", asked, **{"prefix": "z/", "amount": 1, **wrong}).status == 400
