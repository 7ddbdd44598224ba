"""Continuous export: its configuration, and its runs."""

import pytest

from graveler.export.record import ExportRequest
from graveler.operations.exports import requests
from graveler.operations.exports.advance import advance
from graveler.operations.exports.overlaps import check_overlaps
from tests.support.clients.api import ApiClient

MAIN = "/repositories/repo/branches/main"
CONFIGURATION = f"{MAIN}/continuous-export"

FULL = {
    "exportPath": "s3://company/path/to/export",
    "exportStatusPath": "s3://company/path/to/status",
    "lastKeysInPrefixRegexp": ["^SUCCESS$", ".*/_SUCCESS$"],
    "isContinuous": True,
}
OPERATIONS = [
    ("GET", "continuous-export"),
    ("PUT", "continuous-export"),
    ("DELETE", "continuous-export"),
    ("POST", "export-hook"),
    ("POST", "repair-export"),
    ("GET", "export-status"),
    ("GET", "export-runs"),
]


@pytest.fixture
def api():
    api = ApiClient()
    api.repository()
    return api


@pytest.fixture
def head(api):
    """The ID of the head, a commit with two objects."""
    api.upload("a/1", b"1")
    api.upload("a/2", b"2")
    return api.commit()["id"]


def configure(api, **fields):
    body = {"exportPath": "s3://company/export", **fields}
    reply = api.ask("PUT", CONFIGURATION, body)
    assert (reply.status, reply.content) == (201, b"")


def run(api):
    reply = api.ask("POST", f"{MAIN}/export-hook")
    assert reply.status == 201
    return reply.json


def work(api):
    """Do what the export function does when it is called."""
    request = ExportRequest("repo", "main")
    advance(api.engine, request, runner="runner", time_left_s=lambda: 900.0)


def status(api):
    reply = api.ask("GET", f"{MAIN}/export-status")
    assert reply.status == 200
    return reply.json


def refusal(api, operation):
    """Return the message of a refused request."""
    reply = api.ask("POST", f"{MAIN}/{operation}")
    assert reply.status == 409
    return reply.message


def exported(api):
    """Return the objects at the destination: content by key."""
    objects = api.world.objects
    prefix = "s3://company/export/"
    return {uri.removeprefix(prefix): objects.get(uri) for uri in objects.uris(prefix)}


# Configuration


def test_a_configuration_is_returned_as_it_was_put(api):
    configure(api, **FULL)
    reply = api.ask("GET", CONFIGURATION)
    assert (reply.status, reply.json) == (200, FULL)


def test_a_first_export_over_objects_is_refused_unless_it_is_forced(api):
    api.world.objects.put("s3://company/export/theirs", b"x", "text/plain")
    body = {"exportPath": "s3://company/export"}
    refused = api.ask("PUT", CONFIGURATION, body)
    assert refused.status == 409
    assert "'s3://company/export' is not empty: 's3://company/export/theirs'" in refused.message
    assert api.ask("GET", CONFIGURATION).status == 404
    assert api.ask("PUT", CONFIGURATION, body, query="force=true").status == 201
    assert api.ask("PUT", CONFIGURATION, body).status == 201  # its own by now


def test_a_put_replaces_the_whole_configuration(api):
    configure(api, **FULL | {"isContinuous": False})
    assert api.ask("GET", CONFIGURATION).json["isContinuous"] is False
    configure(api, exportPath="s3://company/other")
    assert api.ask("GET", CONFIGURATION).json == {
        "exportPath": "s3://company/other",
        "exportStatusPath": "",
        "lastKeysInPrefixRegexp": [],
        "isContinuous": True,
    }


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_configuration_is_changed_if_it_is_the_one_that_was_read(api, method):
    none = {"if-match": '""'}
    body = {"exportPath": "s3://company/export"}
    assert api.ask("PUT", CONFIGURATION, body, headers=none).status == 201
    read = {"if-match": api.ask("GET", CONFIGURATION).headers["ETag"]}
    theirs = {"exportPath": "s3://company/theirs"}
    assert api.ask("PUT", CONFIGURATION, theirs, headers=read).status == 201
    for stale in (read, none):
        reply = api.ask(method, CONFIGURATION, body if method == "PUT" else None, headers=stale)
        assert (reply.status, reply.json["message"]) == (412, "Precondition failed")
    kept = api.ask("GET", CONFIGURATION)
    assert kept.json["exportPath"] == "s3://company/theirs"
    read = {"if-match": kept.headers["ETag"]}
    assert api.ask("DELETE", CONFIGURATION, headers=read).status == 204


def test_a_configuration_that_is_set_after_it_was_compared_stays(api, monkeypatch):
    configure(api)
    read = {"if-match": api.ask("GET", CONFIGURATION).headers["ETag"]}

    def change_first(*arguments):
        monkeypatch.undo()
        configure(api, exportPath="s3://company/theirs")
        return check_overlaps(*arguments)

    monkeypatch.setattr(requests, "check_overlaps", change_first)
    mine = {"exportPath": "s3://company/mine"}
    assert api.ask("PUT", CONFIGURATION, mine, headers=read).status == 412
    assert api.ask("GET", CONFIGURATION).json["exportPath"] == "s3://company/theirs"


def test_unknown_fields_and_nulls_of_go_clients_are_ignored(api):
    configure(api, later=1, lastKeysInPrefixRegexp=None)
    assert "later" not in api.ask("GET", CONFIGURATION).json


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "exportPath"),
        ({"exportPath": ""}, "exportPath"),
        ({"exportPath": 1}, "exportPath"),
        ({"exportPath": "gs://b/x"}, "gs://b/x"),
        ({"exportPath": "s3://bucket/repo/x"}, "s3://bucket/repo"),
        ({"exportPath": "s3://company/x", "lastKeysInPrefixRegexp": ["("]}, "("),
        ({"exportPath": "s3://company/x", "lastKeysInPrefixRegexp": "a"}, "lastKeysInPrefixRegexp"),
        ({"exportPath": "s3://company/x", "isContinuous": "yes"}, "isContinuous"),
    ],
)
def test_an_invalid_configuration_is_refused_and_not_stored(api, body, named):
    reply = api.ask("PUT", CONFIGURATION, body)
    assert reply.status == 400
    assert named in reply.message
    assert api.ask("GET", CONFIGURATION).status == 404


def test_a_deleted_configuration_is_not_found(api, head):
    configure(api)
    work(api)
    reply = api.ask("DELETE", CONFIGURATION)
    assert (reply.status, reply.content) == (204, b"")
    assert api.ask("GET", CONFIGURATION).status == 404
    assert api.ask("DELETE", CONFIGURATION).status == 404
    assert exported(api) == {"a/1": b"1", "a/2": b"2"}


def test_a_put_without_a_body_is_refused(api):
    assert api.ask("PUT", CONFIGURATION).status == 400


@pytest.mark.parametrize(("method", "operation"), OPERATIONS)
@pytest.mark.parametrize(
    "path", ["/repositories/none/branches/main", "/repositories/repo/branches/none"]
)
def test_an_unknown_repository_or_branch_is_not_found(api, method, operation, path):
    body = FULL if method == "PUT" else None
    reply = api.ask(method, f"{path}/{operation}", body)
    assert reply.status == 404
    assert "none" in reply.message


@pytest.mark.parametrize(("method", "operation"), [each for each in OPERATIONS if each[0] != "PUT"])
def test_a_branch_without_a_configuration_is_not_found(api, method, operation):
    reply = api.ask(method, f"{MAIN}/{operation}")
    assert reply.status == 404
    assert "main" in reply.message


# Runs


NEVER = {
    "state": "none",
    "isPending": False,
    "exportId": "",
    "commitId": "",
    "exportedCommitId": "",
    "startedAt": 0,
    "objectsDone": 0,
    "objectsTotal": 0,
    "objectsFailed": 0,
    "errors": [],
    "errorMessage": "",
}


def test_a_configured_branch_is_exported_at_once(api, head):
    configure(api)
    assert status(api) == {**NEVER, "isPending": True}
    work(api)
    found = status(api)
    export_id, started_at = found.pop("exportId"), found.pop("startedAt")
    assert (
        found.items()
        <= {
            **NEVER,
            "state": "exported-successfully",
            "commitId": head,
            "exportedCommitId": head,
            "objectsDone": 2,
            "objectsTotal": 2,
        }.items()
    )
    assert export_id.startswith(f"repo-main-{head}-")
    assert started_at == pytest.approx(api.world.clock.now_ns() // 10**9, abs=3600)
    assert exported(api) == {"a/1": b"1", "a/2": b"2"}


def test_run_returns_an_id_and_is_refused_while_in_progress(api, head):
    configure(api)
    work(api)
    api.upload("a/3", b"3")
    commit = api.commit()["id"]
    export_id = run(api)
    assert export_id.startswith(f"repo-main-{commit}-")
    found = status(api)
    assert (found["state"], found["exportId"]) == ("in-progress", export_id)
    assert (found["commitId"], found["exportedCommitId"]) == (commit, "")
    assert refusal(api, "export-hook").startswith("export currently in progress")
    assert refusal(api, "repair-export").startswith("incorrect status")
    work(api)
    found = status(api)
    assert (found["state"], found["exportId"]) == ("exported-successfully", export_id)
    assert (found["exportedCommitId"], exported(api)["a/3"]) == (commit, b"3")


def test_failed_objects_are_reported_and_exported_after_a_repair(api, head):
    address = api.ask("GET", "/repositories/repo/refs/main/objects/stat", path="a/2").json
    lost = address["physical_address"]
    api.engine.objects.delete(lost)
    configure(api)
    work(api)
    found = status(api)
    assert (found["state"], found["exportedCommitId"]) == ("export-failed", "")
    assert (found["objectsFailed"], found["objectsTotal"]) == (1, 2)
    assert found["errorMessage"].startswith("1 task failed")
    assert len(found["errors"]) == 1
    assert "a/2" in found["errors"][0]
    assert exported(api) == {"a/1": b"1"}

    api.engine.objects.put(lost, b"2", "text/plain")
    assert api.ask("POST", f"{MAIN}/repair-export").status == 201
    assert (status(api)["state"], status(api)["isPending"]) == ("export-repaired", True)
    assert refusal(api, "repair-export").startswith("incorrect status")
    work(api)
    found = status(api)
    assert (found["state"], found["exportedCommitId"]) == ("exported-successfully", head)
    assert (found["objectsFailed"], found["errors"], found["errorMessage"]) == (0, [], "")
    assert exported(api) == {"a/1": b"1", "a/2": b"2"}


def test_each_request_calls_the_export_function_once(api, head):
    configure(api)
    work(api)
    api.upload("a/3")
    api.commit()
    before = len(api.world.refs.events)
    run(api)
    events = api.world.refs.events[before:]
    assert [(event.kind, event.detail["branch"]) for event in events] == [
        ("export_requested", "main")
    ]
    refusal(api, "export-hook")
    assert len(api.world.refs.events) == before + 1


# Runs that have ended


def test_the_last_runs_are_listed_the_newest_first(api, head):
    configure(api)
    assert api.ask("GET", f"{MAIN}/export-runs").json["results"] == []
    work(api)
    api.upload("a/3", b"3")
    second = api.commit()["id"]
    export_id = run(api)
    assert len(api.ask("GET", f"{MAIN}/export-runs").json["results"]) == 1  # it has not ended
    work(api)
    listed = api.ask("GET", f"{MAIN}/export-runs").json
    assert listed["pagination"]["has_more"] is False
    newest, oldest = listed["results"]
    assert 0 < newest.pop("startedAt") <= newest.pop("endedAt")
    assert newest == {
        "exportId": export_id,
        "commitId": second,
        "state": "exported-successfully",
        "objectsDone": 3,
        "objectsTotal": 3,
        "objectsFailed": 0,
        "errorMessage": "",
    }
    assert (oldest["commitId"], oldest["objectsDone"]) == (head, 2)
