"""The audit: who changed access or settings, or logged in, when, from where, with what outcome."""

from base64 import b64encode
from typing import Any

import pytest

from graveler.errors import ThrottledError
from graveler.operations.accounts.auditing import AuditQuery, list_page
from graveler_functions.api.all_operations import TEMPLATES
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, ApiClient, event

REPO = "/repositories/repo"
POLICY = {
    "id": "p",
    "statement": [{"effect": "allow", "action": ["fs:ReadObject"], "resource": "*"}],
}


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    return api


def audit(api: ApiClient, **query: Any) -> list[Any]:
    reply = api.ask("GET", "/auth/audit", **query)
    assert reply.status == 200, reply.message
    return list(reply.json["results"])


def test_a_change_of_access_says_who_when_from_where_and_what_came_of_it(api: ApiClient) -> None:
    assert api.ask("POST", "/auth/policies", POLICY).status == 201
    assert api.ask("POST", "/auth/policies", POLICY).status == 409
    refused, made = audit(api)
    assert (made["user"], made["source_ip"]) == ("ann", "127.0.0.1")
    assert (made["operation"], made["path"]) == ("createPolicy", "/api/v1/auth/policies")
    assert made["resources"] == ["arn:lakefs:auth:::policy/p"]
    assert (made["status_code"], refused["status_code"]) == (201, 409)
    assert made["time"].startswith("20")
    assert made["request_id"] == "gateway-request"
    assert "access_key_id" not in made


def test_a_refused_change_is_recorded_for_the_user_who_tried(api: ApiClient) -> None:
    assert api.ask("POST", "/auth/users", {"id": "bo"}).status == 201
    pair = api.ask("POST", "/auth/users/bo/credentials").json
    secret = f"{pair['access_key_id']}:{pair['secret_access_key']}".encode()
    as_bo = {"authorization": "Basic " + b64encode(secret).decode()}
    assert api.ask("DELETE", "/auth/users/ann", headers=as_bo).status == 401
    (tried,) = audit(api, user="bo")
    assert (tried["operation"], tried["status_code"]) == ("deleteUser", 401)
    assert tried["resources"] == ["arn:lakefs:auth:::user/ann"]
    assert pair["secret_access_key"] not in str(audit(api))


def test_log_ins_are_recorded_with_their_key_and_outcome(api: ApiClient) -> None:
    def log_in(secret: str) -> int:
        body = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": secret}
        return api.ask("POST", "/auth/login", body).status

    assert (log_in("wrong"), log_in(SECRET)) == (401, 200)
    good, bad = audit(api, operation="login")
    assert (bad["user"], bad["access_key_id"], bad["status_code"]) == ("", ACCESS_KEY_ID, 401)
    assert (good["user"], good["access_key_id"], good["status_code"]) == ("ann", ACCESS_KEY_ID, 200)
    while log_in("wrong") != 429:
        pass
    before = len(audit(api))
    assert log_in("wrong") == 429
    assert len(audit(api)) == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", f"{REPO}/settings/branch_protection", [{"pattern": "main"}]),
        ("PUT", f"{REPO}/settings/gc_rules", {"default_retention_days": 1, "branches": []}),
        ("DELETE", f"{REPO}/settings/gc_rules", None),
        ("POST", f"{REPO}/metadata", {"metadata": {"k": "v"}}),
        ("DELETE", f"{REPO}/branches/main/continuous-export", None),
    ],
)
def test_changes_of_settings_are_recorded(
    api: ApiClient, method: str, path: str, body: Any
) -> None:
    status = api.ask(method, path, body).status
    (row,) = audit(api)
    assert (row["path"], row["status_code"]) == (f"/api/v1{path}", status)


def test_reads_and_changes_of_content_are_not_recorded(api: ApiClient) -> None:
    api.upload("a")
    api.commit()
    api.branch("dev")
    for path in ("/auth/users", "/auth/policies", f"{REPO}/settings/branch_protection"):
        api.ask("GET", path)
    api.send(event("POST", "/api/v1/auth/users", body=b"{}"))  # without a credential
    assert audit(api) == []


def test_these_operations_are_recorded() -> None:
    audited = {each.name for each in TEMPLATES if each.is_audited}
    assert audited >= {"createUser", "attachPolicyToGroup", "login", "endSessions", "setup"}
    assert audited >= {"setGCRules", "setBranchProtectionRules", "setContinuousExport"}
    assert not audited & {"commit", "uploadObject", "createBranch", "createPullRequest", "getUser"}


def test_checks_of_policies_are_not_recorded_since_they_change_nothing(api: ApiClient) -> None:
    assert api.ask("POST", "/auth/check_policy", POLICY).status == 200
    assert audit(api) == []


def test_records_are_found_by_their_outcome(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        api.ask("POST", "/auth/policies", POLICY)
    keep = api.accounts.keep_audit
    monkeypatch.setattr(api.accounts, "keep_audit", lambda each: each.status or keep(each))
    api.ask("POST", "/auth/users", {"id": "bo"})
    found = {
        outcome: [row.get("status_code") for row in audit(api, outcome=outcome)]
        for outcome in ("succeeded", "failed", "unknown")
    }
    assert found == {"succeeded": [201], "failed": [409], "unknown": [None]}
    assert api.ask("GET", "/auth/audit", outcome="good").status == 400


@pytest.mark.parametrize(
    ("operation", "remedy"),
    [
        ("loggin", "did you mean login"),
        ("deleteuser", "deleteUser"),
        ("zzzz", "attachPolicyToUser"),
        ("commit", "attachPolicyToUser"),
    ],
)
def test_an_operation_that_is_never_recorded_is_refused_with_those_that_are(
    api: ApiClient, operation: str, remedy: str
) -> None:
    reply = api.ask("GET", "/auth/audit", operation=operation)
    assert reply.status == 400
    assert f"no operation '{operation}' is recorded" in reply.message
    assert remedy in reply.message


def test_nothing_is_done_if_it_cannot_be_recorded(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ThrottledError("slow down")

    with monkeypatch.context() as patched:
        patched.setattr(api.accounts, "keep_audit", fail)
        assert api.ask("POST", "/auth/users", {"id": "bo"}).status == 503
    assert api.ask("GET", "/auth/users/bo").status == 404


def test_a_change_whose_outcome_cannot_be_recorded_stays_without_it(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = api.accounts.keep_audit

    def once(record: Any) -> None:
        if record.status:
            raise ThrottledError("slow down")
        keep(record)

    with monkeypatch.context() as patched:
        patched.setattr(api.accounts, "keep_audit", once)
        assert api.ask("POST", "/auth/users", {"id": "bo"}).status == 201
    (row,) = audit(api)
    assert "status_code" not in row


def test_pages_have_each_record_once_whatever_their_size(api: ApiClient) -> None:
    for number in range(5):
        api.ask("POST", "/auth/users", {"id": f"u{number}"})
        api.world.clock.tick(40 * 24 * 60 * 60)
    whole = audit(api)
    assert [row["resources"][0][-2:] for row in whole] == ["u4", "u3", "u2", "u1", "u0"]
    found, after = [], ""
    while True:
        page = api.ask("GET", "/auth/audit", amount=2, after=after).json
        found += page["results"]
        after = page["pagination"]["next_offset"]
        if not page["pagination"]["has_more"]:
            break
    assert found == whole
    middle = whole[2]["time"]
    assert audit(api, since=middle, until=middle) == [whole[2]]
    assert audit(api, since=middle) == whole[:3]
    assert audit(api, until=middle) == whole[2:]
    assert audit(api, operation="deleteUser") == []
    assert api.ask("GET", "/auth/audit", after="x").status == 400
    api.world.clock.tick(400 * 24 * 60 * 60)
    assert list_page(api.engine, api.accounts, AuditQuery(), "", 10).results == ()
