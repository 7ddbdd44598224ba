"""The answers about runs of hooks have lakeFS's form."""

import re

import pytest

from tests.support.clients.api import ApiClient
from tests.support.fakes.hooks import answered

ACTION = b"""
name: quality
on: {pre-commit: , post-commit: }
hooks:
- {id: first, type: webhook, properties: {url: 'https://hooks.example.com/first'}}
- {id: second, type: webhook, properties: {url: 'https://hooks.example.com/second'}}
"""
RUNS = "/repositories/lake/actions/runs"


@pytest.fixture
def api() -> ApiClient:
    client = ApiClient()
    body = {"name": "lake", "storage_namespace": "s3://bucket/lake"}
    assert client.ask("POST", "/repositories", body).status == 201
    path = "/repositories/lake/branches/main/objects"
    assert client.ask("POST", path, ACTION, path="_lakefs_actions/a").status == 201
    return client


def commit(api: ApiClient):
    reply = api.ask("POST", "/repositories/lake/branches/main/commits", {"message": "m"})
    api.run_tasks()
    return reply


def test_runs_are_shown_as_lakefs_shows_them(api):
    commit_id = commit(api).json["id"]
    listing = api.ask("GET", RUNS).json
    assert listing["pagination"] == {
        "has_more": False,
        "next_offset": "",
        "results": 2,
        "max_per_page": 1000,
    }
    after, before = listing["results"]
    assert set(after) == {
        "run_id",
        "branch",
        "start_time",
        "end_time",
        "event_type",
        "status",
        "commit_id",
    }
    assert (after["event_type"], before["event_type"]) == ("post-commit", "pre-commit")
    for run in (after, before):
        assert (run["status"], run["commit_id"]) == ("completed", commit_id)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", run["start_time"])
        assert api.ask("GET", f"{RUNS}/{run['run_id']}").json == run
    for filters in ({"branch": "main"}, {"commit": commit_id}):
        assert api.ask("GET", RUNS, **filters).json["results"] == [after, before]
    assert api.ask("GET", RUNS, branch="dev").json["results"] == []
    assert api.ask("GET", RUNS, branch="main", commit=commit_id).status == 400
    page = api.ask("GET", RUNS, amount=1).json
    assert page["pagination"]["next_offset"] == after["run_id"]
    rest = api.ask("GET", RUNS, amount=1, after=after["run_id"]).json
    assert rest["results"] == [before]


def test_hooks_and_their_output_are_shown(api):
    api.world.targets.answer = lambda _request: answered(403, b"no")
    refused = commit(api)
    assert refused.status == 412
    (run,) = api.ask("GET", RUNS).json["results"]
    assert (run["status"], run["commit_id"]) == ("failed", "")
    assert f"run id '{run['run_id']}'" in refused.json["message"]
    first, second = api.ask("GET", f"{RUNS}/{run['run_id']}/hooks").json["results"]
    assert (first["hook_run_id"], first["hook_id"], first["action"], first["status"]) == (
        "0000_0000",
        "first",
        "quality",
        "failed",
    )
    assert second["status"] == "skipped"
    assert second["start_time"] == "0001-01-01T00:00:00Z"
    assert "end_time" not in second
    output = api.ask("GET", f"{RUNS}/{run['run_id']}/hooks/0000_0000/output")
    assert (output.status, output.headers["Content-Type"]) == (200, "application/octet-stream")
    assert b"Error: action failed: webhook request failed (status code: 403)" in output.content
    skipped = api.ask("GET", f"{RUNS}/{run['run_id']}/hooks/0000_0001/output")
    assert (skipped.status, skipped.content) == (200, b"")


def test_what_does_not_exist_is_not_found(api):
    commit(api)
    run_id = api.ask("GET", RUNS).json["results"][0]["run_id"]
    for path, message in {
        f"{RUNS}/none": "not found: not found",
        f"{RUNS}/none/hooks/0000_0000/output": "not found",
    }.items():
        reply = api.ask("GET", path)
        assert (reply.status, reply.json["message"]) == (404, message)
    assert api.ask("GET", f"{RUNS}/{run_id}/hooks/0009_0000/output").status == 404
    assert api.ask("GET", f"{RUNS}/none/hooks").json["results"] == []
    assert api.ask("GET", "/repositories/other/actions/runs").status == 404
