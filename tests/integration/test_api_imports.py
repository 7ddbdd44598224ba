"""Imports as clients see them, with the answers that lakeFS gives."""

from dataclasses import replace
from typing import Any

import pytest
from lakefs_sdk import models

from graveler_functions.api.app import build_app
from graveler_functions.api.settings import ApiSettings
from tests.support.clients.api import ApiClient, Reply
from tests.support.worlds.inventories import MANIFEST, put_inventory

MAIN = "/repositories/repo/branches/main"
IMPORT = f"{MAIN}/import"
COMMIT = {"message": "mine", "metadata": {"k": "v"}}


@pytest.fixture
def api() -> ApiClient:
    """A repository, and objects elsewhere."""
    api = ApiClient()
    api.repository()
    for key in ("in/a", "in/b/c", "other"):
        api.engine.objects.put(f"s3://raw/{key}", key.encode(), "text/plain")
    return api


def location(path: str, destination: str, kind: str = "common_prefix") -> dict[str, str]:
    return {"path": path, "destination": destination, "type": kind}


def start(api: ApiClient, *paths: dict[str, str], **fields: Any) -> Reply:
    return api.ask("POST", IMPORT, {"paths": [*paths], "commit": COMMIT, **fields})


def status(api: ApiClient, started: Reply) -> Any:
    assert started.status == 202, started
    assert list(started.json) == ["id"]
    api.run_tasks()
    reply = api.ask("GET", IMPORT, id=started.json["id"])
    assert reply.status == 200
    models.ImportStatus.from_dict(reply.json)
    return reply.json


def test_prefixes_and_objects_are_imported(api):
    found = status(
        api,
        start(api, location("s3://raw/in/", "to/"), location("s3://raw/other", "one", "object")),
    )
    assert (found["completed"], found["ingested_objects"]) == (True, 3)
    assert found["commit"] == api.ask("GET", "/repositories/repo/commits/main").json
    assert found["metarange_id"] == found["commit"]["meta_range_id"]
    assert found["commit"]["message"] == "mine"
    assert found["commit"]["metadata"] == {"k": "v", ".lakefs.merge.strategy": "source-wins"}
    assert found["commit"]["committer"] == "ann"
    assert "error" not in found
    assert api.paths() == ["one", "to/a", "to/b/c"]


def test_an_imported_object_is_shown_as_lakefs_shows_it(api):
    status(api, start(api, location("s3://raw/in/", "")))
    stat = api.ask("GET", "/repositories/repo/refs/main/objects/stat", path="a").json
    assert stat["physical_address"] == "s3://raw/in/a"
    # The store lists no types.
    assert stat["content_type"] == "application/octet-stream"
    assert (stat["size_bytes"], stat["metadata"]) == (4, {})
    content = api.ask("GET", "/repositories/repo/refs/main/objects", path="a")
    assert content.content == b"in/a"


def test_an_inventory_is_imported(api):
    put_inventory(api.engine.objects, [[("in/a", 4, "2026-11-20T00:00:00.000Z")]])
    found = status(api, start(api, location(MANIFEST, "to/", "inventory")))
    assert (found["completed"], found["ingested_objects"]) == (True, 1)
    assert api.paths() == ["to/in/a"]


def test_an_import_of_no_paths_is_a_commit(api):
    found = status(api, start(api))
    assert (found["completed"], found["ingested_objects"]) == (True, 0)
    assert found["commit"]["id"] == api.ask("GET", f"{MAIN}").json["commit_id"]


def test_a_failed_import_has_an_error_and_is_not_completed(api):
    found = status(api, start(api, location("s3://raw/missing", "one", "object")))
    assert found["completed"] is False
    message = "import error: s3://raw/missing does not exist: it cannot be imported"
    assert found["error"] == {"message": message}
    assert found.keys() == {"completed", "update_time", "ingested_objects", "error"}


def test_a_completed_import_cannot_be_cancelled_and_a_failed_one_can(api):
    done = start(api).json["id"]
    api.run_tasks()
    reply = api.ask("DELETE", IMPORT, id=done)
    assert (reply.status, reply.json["message"]) == (409, "conflict found")
    failed = start(api, location("s3://raw/missing", "one", "object")).json["id"]
    api.run_tasks()
    assert api.ask("DELETE", IMPORT, id=failed).status == 204


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_or_missing_id(api, method):
    unknown = api.ask(method, IMPORT, id="unknown")
    assert (unknown.status, unknown.json["message"]) == (404, "not found")
    missing = api.ask(method, IMPORT)
    message = 'parameter "id" in query has an error: value is required but missing'
    assert (missing.status, missing.json["message"]) == (400, message)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            location("s3://bucket/repo/data/", "x"),
            (
                "import path (s3://bucket/repo/data/) in repository namespace (s3://bucket/repo) "
                "is prohibited: invalid import source"
            ),
        ),
        (
            location("s3://bucket/", "x"),
            (
                "prefix (s3://bucket/) contains repository namespace: (s3://bucket/repo), "
                "invalid import source"
            ),
        ),
        (
            location("gs://raw/x", "x"),
            "import path 'gs://raw/x' is not an S3 URI: use s3://bucket/key",
        ),
        (
            location("s3://raw/x", "", "object"),
            "argument path: missing path: required value: validation error",
        ),
    ],
)
def test_a_bad_source_is_refused(api, path, message):
    reply = start(api, path)
    assert (reply.status, reply.json["message"]) == (400, message)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"paths": []},
        {"commit": COMMIT},
        {"paths": None, "commit": COMMIT},
        {"paths": [], "commit": {}},
        {"paths": [], "commit": {"message": "m", "metadata": None}},
        {"paths": [{"path": "s3://raw/", "type": "object"}], "commit": COMMIT},
        {"paths": [location("s3://raw/x", "x", "folder")], "commit": COMMIT},
        {"paths": [location("s3://raw/x", "x", "")], "commit": COMMIT},
    ],
)
def test_a_body_without_what_it_needs_is_refused(api, body):
    reply = api.ask("POST", IMPORT, body)
    assert reply.status == 400
    assert reply.json["message"].startswith("request body has an error: ")
    assert api.paths() == []


def test_what_cannot_be_imported_into(api):
    asked = {"paths": [], "commit": COMMIT}
    for repository, branch, message in (
        ("none", "main", "repository not found"),
        ("repo", "none", "branch not found"),
    ):
        reply = api.ask("POST", f"/repositories/{repository}/branches/{branch}/import", asked)
        assert (reply.status, reply.json["message"]) == (404, message)
    api.upload("staged")
    dirty = api.ask("POST", IMPORT, asked)
    assert (dirty.status, dirty.json["message"]) == (400, "uncommitted changes (dirty branch)")
    api.repository("reader", storage_namespace="s3://other/r", read_only=True)
    path = "/repositories/reader/branches/main/import"
    refused = api.ask("POST", path, asked)
    assert (refused.status, refused.json["message"]) == (403, "read-only repository")
    assert api.ask("POST", path, {**asked, "force": True}).status == 202


def test_a_deployment_without_import_prefixes_says_so(api):
    storage = api.ask("GET", "/config").json["storage_config"]
    assert (storage["import_support"], storage["import_validity_regex"]) == (True, "^s3://")
    engine = replace(api.engine, import_prefixes=())
    api.app = build_app(engine, api.accounts, ApiSettings())
    assert api.ask("GET", "/config").json["storage_config"]["import_support"] is False
    reply = start(api, location("s3://raw/in/", "to/"))
    assert reply.status == 403
    assert "GRAVELER_IMPORT_PREFIXES" in reply.message
