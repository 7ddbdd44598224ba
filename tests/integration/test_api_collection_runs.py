"""Runs of garbage collection, as clients start and see them."""

import json
from dataclasses import replace

import pytest

from graveler.errors import ThrottledError
from graveler.retention.files import run_folder
from graveler.retention.runs import LEASE, LEASE_S
from graveler_functions.api.app import build_app
from tests.support.clients.api import ApiClient
from tests.support.fakes.access import EVERYTHING, RestrictedClient, allowing

RUNS = "/repositories/repo/gc/runs"
ARN = "arn:lakefs:fs:::repository/repo"
SUMMARY = {
    "run_id": "any",
    "success": True,
    "start_time": "2026-01-02T03:04:05Z",
    "end_time": "2026-01-02T03:05:05Z",
    "cutoff_time": "2026-01-01T00:00:00Z",
    "num_deleted_objects": 3,
    "num_deleted_bytes": 30,
    "num_failed_objects": 0,
    "dry_run": False,
    "num_marked_objects": 4,
    "num_marked_bytes": 40,
    "num_came_to_life": 1,
    "num_aborted_uploads": 2,
    "error": "",
    "warnings": ["look out"],
}
ROW = {
    "state": "succeeded",
    "dry_run": False,
    "start_time": 1767323045,
    "end_time": 1767323105,
    "cutoff_time": 1767225600,
    "marked_objects": 4,
    "marked_bytes": 40,
    "deleted_objects": 3,
    "deleted_bytes": 30,
    "failed_objects": 0,
    "came_to_life": 1,
    "aborted_uploads": 2,
    "warnings": ["look out"],
}


@pytest.fixture
def api():
    api = ApiClient()
    api.repository()
    return api


def start(api, **body):
    return api.ask("POST", RUNS, {"dry_run": True, **body})


def put(api, run_id, file, content):
    uri = f"s3://bucket/repo/{run_folder(run_id)}{file}"
    text = content if isinstance(content, str) else json.dumps(content)
    api.world.objects.put(uri, text.encode(), "application/json")


def end(api, run_id, **changes):
    """End the run as its job does: with a report first, then without its lease."""
    put(api, run_id, "summary.json", {**SUMMARY, **changes})
    put(api, run_id, "report.txt", "all went well")
    api.world.jobs.end_lease(api.world.refs.repository("repo"), LEASE, run_id)


def rows(api, **query):
    reply = api.ask("GET", RUNS, **query)
    assert reply.status == 200, reply
    return reply.json["results"]


def test_a_run_is_started_followed_and_reported(api):
    reply = start(api, dry_run=False, maximum_deletions=10)
    assert reply.status == 202
    run_id = reply.json["run_id"]
    assert api.world.collection_jobs.started == [("repo", run_id, False, 10)]
    running = api.ask("GET", f"{RUNS}/{run_id}").json
    started = running.pop("start_time")
    assert running == {
        "run_id": run_id,
        "state": "running",
        "dry_run": False,
        "requested_by": "ann",
    }
    assert rows(api) == [{**running, "start_time": started}]
    end(api, run_id)
    ended = {"run_id": run_id, "requested_by": "ann", **ROW}
    assert rows(api) == [ended]
    assert api.ask("GET", f"{RUNS}/{run_id}").json == {**ended, "text": "all went well"}


def test_a_second_run_is_refused_until_the_first_has_ended(api):
    run_id = start(api).json["run_id"]
    refused = start(api)
    assert refused.status == 409
    assert run_id in refused.json["message"]
    assert "wait for its end" in refused.json["message"]
    assert len(api.world.collection_jobs.started) == 1
    assert len(rows(api)) == 1
    end(api, run_id)
    assert start(api).status == 202


def test_a_run_that_died_has_failed_when_its_lease_has_ended(api):
    run_id = start(api).json["run_id"]
    api.world.clock.tick(LEASE_S + 60)
    died = api.ask("GET", f"{RUNS}/{run_id}").json
    assert died["state"] == "failed"
    assert "the log of its job says why" in died["error"]
    assert start(api).status == 202


def test_a_run_that_failed_says_why(api):
    run_id = start(api).json["run_id"]
    end(api, run_id, success=False, error="a range is missing")
    failed = rows(api)[0]
    assert (failed["state"], failed["error"]) == ("failed", "a range is missing")
    end(api, run_id, success=False, num_failed_objects=7)
    assert "7 objects could not be deleted" in rows(api)[0]["error"]


def test_runs_that_nobody_asked_for_are_listed_too(api):
    repository = api.world.refs.repository("repo")
    now_ns = api.world.clock.now_ns()
    until_ns = now_ns + LEASE_S * 10**9
    api.world.jobs.take_lease(repository, LEASE, "b", now_ns=now_ns, until_ns=until_ns)
    for run_id in ("a", "c"):
        put(api, run_id, "summary.json", SUMMARY)
    lake_fs = {"run_id": "d", "success": True, "start_time": "2022-10-23T09:06:12.327454Z"}
    put(api, "d", "summary.json", lake_fs)
    assert [(row["run_id"], row["state"]) for row in rows(api)] == [
        ("a", "succeeded"),
        ("b", "running"),
        ("c", "succeeded"),
        ("d", "succeeded"),
    ]
    assert rows(api)[3]["start_time"] == 1666515972
    put(api, "b", "begun.json", {"dry_run": True, "start_time": "2026-01-02T03:04:05Z"})
    scheduled = api.ask("GET", f"{RUNS}/b").json
    assert scheduled == {
        "run_id": "b",
        "state": "running",
        "dry_run": True,
        "start_time": 1767323045,
    }


def test_runs_come_in_pages(api):
    for number in range(5):
        put(api, f"r{number}", "summary.json", SUMMARY)
    first = api.ask("GET", RUNS, amount=2).json
    assert [row["run_id"] for row in first["results"]] == ["r0", "r1"]
    assert first["pagination"]["has_more"]
    after = first["pagination"]["next_offset"]
    assert [row["run_id"] for row in rows(api, after=after)] == ["r2", "r3", "r4"]


def test_a_damaged_report_does_not_hide_the_other_runs(api):
    put(api, "a", "summary.json", "{")
    put(api, "b", "summary.json", SUMMARY)
    assert [row["state"] for row in rows(api)] == ["failed", "succeeded"]


@pytest.mark.parametrize("run_id", ["absent", "a%252F..%252Fb", "."])
def test_a_run_that_does_not_exist_is_not_found(api, run_id):
    reply = api.ask("GET", f"{RUNS}/{run_id}")
    assert reply.status == 404
    assert "has no collection run" in reply.json["message"]


def test_a_job_that_cannot_start_leaves_nothing(api):
    api.world.collection_jobs.error = ThrottledError("too many jobs: retry later")
    assert start(api).status == 503
    api.world.collection_jobs.error = None
    api.world.collection_jobs.is_deployed = False
    reply = start(api)
    assert reply.status == 501
    assert "no job of garbage collection is deployed" in reply.json["details"]
    assert rows(api) == []
    api.world.collection_jobs.is_deployed = True
    assert start(api).status == 202


def test_a_deployment_that_only_reports_starts_no_run_that_deletes(api):
    engine = replace(api.engine, collections_delete=False)
    api.app = build_app(engine, api.accounts, api.settings)
    refused = start(api, dry_run=False)
    assert refused.status == 403
    assert "gc_deletes" in refused.json["message"]
    assert api.world.collection_jobs.started == []
    assert start(api, dry_run=True).status == 202


@pytest.mark.parametrize(
    "body",
    [{}, {"dry_run": "yes"}, {"dry_run": True, "maximum_deletions": -1}, {"dry_run": None}],
)
def test_a_malformed_request_starts_nothing(api, body):
    assert api.ask("POST", RUNS, body).status == 400
    assert api.world.collection_jobs.started == []


def test_who_may_look_for_garbage_may_not_delete_it():
    bob = RestrictedClient(ApiClient())
    bob.may(*EVERYTHING)
    bob.repository()
    marking = [
        ("retention:PrepareGarbageCollectionCommits", ARN),
        ("retention:PrepareGarbageCollectionUncommitted", ARN),
    ]
    bob.may(allowing(*marking))
    assert bob.ask_as("POST", RUNS, {"dry_run": False}).status == 401
    assert bob.world.collection_jobs.started == []
    assert bob.ask_as("POST", RUNS, {"dry_run": True}).status == 202


RULES = "/repositories/repo/settings/gc_rules"


def check(api, days, **branches):
    rules = [{"branch_id": name, "retention_days": each} for name, each in branches.items()]
    return api.ask("POST", f"{RULES}/check", {"default_retention_days": days, "branches": rules})


def test_rules_are_checked_without_being_saved(api):
    checked = check(api, 14, main=21, dev=7)
    assert (checked.status, checked.json["warnings"]) == (
        200,
        ["branch 'dev' does not exist: its rule applies as soon as it does"],
    )
    assert api.ask("GET", RULES).status == 404
    assert check(api, 14, main=21).json == {"warnings": []}
    assert "are stored as no rules" in check(api, 0).json["warnings"][0]


@pytest.mark.parametrize(
    "rules",
    [
        {"default_retention_days": -1, "branches": []},
        {"default_retention_days": 2**31, "branches": []},
        {"default_retention_days": 1.5, "branches": []},
        {"default_retention_days": 1},
        {"default_retention_days": 1, "branches": [{"branch_id": "a b", "retention_days": 1}]},
        {"default_retention_days": 1, "branches": [{"branch_id": "a", "retention_days": -1}]},
        {"default_retention_days": 1, "branches": [{"branch_id": "a", "retention_days": 1}] * 2},
    ],
)
def test_a_check_refuses_what_saving_refuses(api, rules):
    checked, saved = api.ask("POST", f"{RULES}/check", rules), api.ask("PUT", RULES, rules)
    assert (checked.status, checked.json) == (400, saved.json)
    assert saved.status == 400


def test_a_check_names_no_branch_to_those_who_may_not_see_branches():
    bob = RestrictedClient(ApiClient())
    bob.may(*EVERYTHING)
    bob.repository()
    rules = {
        "default_retention_days": 1,
        "branches": [{"branch_id": "secret", "retention_days": 1}],
    }
    setting = ("retention:SetGarbageCollectionRules", ARN)
    bob.may(allowing(setting))
    assert bob.ask_as("POST", f"{RULES}/check", rules).json == {"warnings": []}
    bob.may(allowing(setting, ("fs:ReadBranch", f"{ARN}/branch/*")))
    assert len(bob.ask_as("POST", f"{RULES}/check", rules).json["warnings"]) == 1
