"""Dumps of refs as clients see them, with the answers that lakeFS gives."""

import json
from typing import Any

import pytest
from lakefs_sdk import models

from tests.support.clients.api import ApiClient

NAMESPACE = "s3://bucket/repo"
NONE = "12" * 32
NO_DUMP = {
    "commits_meta_range_id": NONE,
    "tags_meta_range_id": NONE,
    "branches_meta_range_id": NONE,
}


@pytest.fixture
def api() -> ApiClient:
    """A repository with a commit on main and a tag."""
    api = ApiClient()
    api.repository()
    api.upload("a", b"content")
    api.commit()
    api.ask("POST", "/repositories/repo/tags", {"id": "v1", "ref": "main"})
    return api


def make_bare(api: ApiClient, name: str = "bare", **fields: object) -> None:
    body = {"name": name, "storage_namespace": NAMESPACE, **fields}
    reply = api.ask("POST", "/repositories", body, bare="true")
    assert reply.status == 201
    models.Repository.from_dict(reply.json)


def dump(api: ApiClient) -> dict[str, str]:
    reply = api.ask("PUT", "/repositories/repo/refs/dump")
    assert reply.status == 201
    models.RefsDump.from_dict(reply.json)
    return reply.json


def names(api: ApiClient, repository: str, what: str) -> dict[str, str]:
    rows = api.ask("GET", f"/repositories/{repository}/{what}").json["results"]
    return {row["id"]: row["commit_id"] for row in rows}


def task_of(api: ApiClient, kind: str, repository: str, body: object = None) -> dict[str, Any]:
    """What is told of a task of that kind, submitted and asked about."""
    path = f"/repositories/{repository}/{kind}"
    submitted = api.ask("POST", path, body)
    assert submitted.status == 202
    assert list(submitted.json) == ["id"]
    asked = api.ask("GET", path, task_id=submitted.json["id"]).json
    assert not asked["done"]
    api.run_tasks()
    found = api.ask("GET", path, task_id=submitted.json["id"])
    assert found.status == 200
    assert found.json["id"] == submitted.json["id"]
    return found.json


def test_a_dump_is_answered_and_written_into_the_namespace(api):
    dumped = dump(api)
    manifest = api.engine.objects.get(f"{NAMESPACE}/_lakefs/refs_manifest.json")
    assert json.loads(manifest) == dumped
    assert {*dumped} == {*NO_DUMP}
    assert len({*dumped.values()}) == 3


def test_a_dump_is_restored_at_once(api):
    make_bare(api)
    reply = api.ask("PUT", "/repositories/bare/refs/restore", dump(api))
    assert (reply.status, reply.content) == (200, b"")
    for what in ("branches", "tags"):
        assert names(api, "bare", what) == names(api, "repo", what) != {}
    content = api.ask("GET", "/repositories/bare/refs/v1/objects", path="a")
    assert content.content == b"content"
    again = api.ask("PUT", "/repositories/bare/refs/restore", dump(api))
    assert (again.status, again.message) == (400, "can only restore into a bare repository")


def test_dump_and_restore_as_tasks(api):
    made = task_of(api, "dump", "repo")
    status = models.RepositoryDumpStatus.from_dict(made)
    assert (made["id"][:2], status.done, status.error) == ("DR", True, None)
    assert made["refs"] == dump(api)
    make_bare(api)
    restored = task_of(api, "restore", "bare", made["refs"])
    models.RepositoryRestoreStatus.from_dict(restored)
    assert {*restored} == {"id", "done", "update_time"}
    assert (restored["id"][:2], restored["done"]) == ("RR", True)
    assert names(api, "bare", "branches") == names(api, "repo", "branches")
    refused = api.ask("POST", "/repositories/bare/restore", made["refs"])
    assert (refused.status, refused.message) == (400, "can only restore into a bare repository")


def test_a_failed_task_shows_its_error(api):
    make_bare(api)
    told = task_of(api, "restore", "bare", NO_DUMP)
    assert told["done"]
    assert str(told["error"]).startswith("No data")
    assert api.ask("PUT", "/repositories/bare/refs/restore", NO_DUMP).status == 410


def test_what_a_bare_repository_does_not_have_is_not_found(api):
    make_bare(api, default_branch="trunk")
    row = api.ask("GET", "/repositories/bare").json
    assert (row["id"], row["default_branch"]) == ("bare", "trunk")
    assert names(api, "bare", "branches") == names(api, "bare", "tags") == {}
    for path in ("branches/trunk", "refs/trunk/commits", "refs/trunk/objects/ls", "commits/ab"):
        assert api.ask("GET", f"/repositories/bare/{path}").status == 404, path
    commit = api.ask("POST", "/repositories/bare/branches/trunk/commits", {"message": "m"})
    assert commit.status == 404
    branch = {"name": "x", "source": "trunk"}
    assert api.ask("POST", "/repositories/bare/branches", branch).status == 404
    assert api.ask("DELETE", "/repositories/bare").status == 204


def test_a_bare_repository_is_neither_dumped_nor_collected(api):
    make_bare(api)
    for method, path in (("PUT", "refs/dump"), ("POST", "dump")):
        reply = api.ask(method, f"/repositories/bare/{path}")
        assert (reply.status, "'bare' is bare" in reply.message) == (400, True)
    rules = {"default_retention_days": 1, "branches": []}
    assert api.ask("PUT", "/repositories/bare/settings/gc_rules", rules).status == 204
    reply = api.ask("POST", "/repositories/bare/gc/prepare_commits")
    assert (reply.status, "'bare' is bare" in reply.message) == (400, True)


def test_a_read_only_repository_is_restored_by_force(api):
    dumped = dump(api)
    make_bare(api, read_only=True)
    for method, path in (("PUT", "refs/restore"), ("POST", "restore")):
        assert api.ask(method, f"/repositories/bare/{path}", dumped).status == 403
    forced = api.ask("PUT", "/repositories/bare/refs/restore", {**dumped, "force": True})
    assert forced.status == 200
    assert names(api, "bare", "tags") == names(api, "repo", "tags")


@pytest.mark.parametrize("missing", NO_DUMP)
def test_a_restore_needs_all_three_ids(api, missing):
    make_bare(api)
    body = {name: value for name, value in dump(api).items() if name != missing}
    for method, path in (("PUT", "refs/restore"), ("POST", "restore")):
        reply = api.ask(method, f"/repositories/bare/{path}", body)
        assert (reply.status, missing in reply.message) == (400, True)
    assert names(api, "bare", "branches") == {}


def test_what_is_not_there_is_not_found(api):
    for method, path in (("PUT", "refs/dump"), ("POST", "dump"), ("GET", "dump?")):
        reply = api.ask(method, f"/repositories/none/{path.rstrip('?')}", task_id="DRnone")
        assert (reply.status, "repository not found" in reply.message) == (404, True)
    for method, path in (("PUT", "refs/restore"), ("POST", "restore")):
        assert api.ask(method, f"/repositories/none/{path}", NO_DUMP).status == 404
    for kind, task_id in (("dump", "DRnone"), ("restore", "RRnone"), ("dump", "main")):
        assert api.ask("GET", f"/repositories/repo/{kind}", task_id=task_id).status == 404
    for kind in ("dump", "restore"):
        assert api.ask("GET", f"/repositories/repo/{kind}").status == 400


def test_a_bare_repository_cannot_take_a_name_that_is_taken(api):
    body = {"name": "repo", "storage_namespace": NAMESPACE}
    reply = api.ask("POST", "/repositories", body, bare="true")
    assert (reply.status, "not unique" in reply.message) == (409, True)
