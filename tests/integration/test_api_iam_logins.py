"""Log-in by AWS IAM, as the official clients do it."""

import time

import jwt
import pytest
from lakefs_sdk import models

from graveler.errors import ThrottledError
from graveler_functions.api.settings import ApiSettings
from tests.support.clients.api import ApiClient, event
from tests.support.fakes.identities import ARN, ROLE, SERVER, CheckingSts, changed, token_of

LOGIN = "/auth/external/principal/login"
OF_BOB = "/auth/users/bob/external/principals"


@pytest.fixture
def api():
    """Bob logs in as the role Reader."""
    api = ApiClient(ApiSettings(iam_login_server_id=SERVER))
    api.identities = CheckingSts()
    api.world.clock.tick(time.time() - api.world.clock.peek_ns / 10**9)  # clients sign by theirs
    api._begin()
    assert api.ask("POST", "/auth/users", {"id": "bob"}).status == 201
    assert api.ask("POST", OF_BOB, {}, principalId=ROLE).status == 201
    return api


def log_in(api, token=None, **body):
    request = {"identityRequest": {"identity_token": token or token_of()}, **body}
    return api.ask("POST", LOGIN, request)


def user_of(api, reply):
    headers = {"authorization": f"Bearer {reply.json['token']}"}
    return api.send(event("GET", "/api/v1/user", headers=headers)).json["user"]["id"]


def test_a_role_logs_in_as_the_user_that_it_is_attached_to(api):
    reply = log_in(api)
    assert reply.status == 200
    models.AuthenticationToken.from_dict(reply.json)
    assert user_of(api, reply) == "bob"
    assert reply.cookies == []


def test_one_session_of_a_role_may_be_another_user(api):
    api.ask("POST", "/auth/users/ann/external/principals", principalId=ARN)
    assert user_of(api, log_in(api)) == "ann"


@pytest.mark.parametrize(
    ("asked_s", "life_s"),
    [(None, 604_800), (0, 604_800), (-5, 604_800), (3600, 3600), (10**9, 1_209_600)],
)
def test_a_session_lasts_as_long_as_asked_and_two_weeks_at_most(api, asked_s, life_s):
    body = {} if asked_s is None else {"token_expiration_duration": asked_s}
    reply = log_in(api, **body)
    claims = jwt.decode(reply.json["token"], options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == life_s
    assert reply.json["token_expiration"] == claims["exp"]


def test_a_role_that_is_attached_to_nobody_is_not_found(api):
    api.ask("DELETE", OF_BOB, principalId=ROLE)
    reply = log_in(api)
    assert (reply.status, reply.json["message"]) == (404, "not found")


def test_a_signature_that_aws_refuses_does_not_log_in(api):
    for token in (token_of(secret="guess"), token_of("other.example.com")):
        reply = log_in(api, token)
        assert (reply.status, reply.message) == (401, "error authenticating request")


def test_a_bad_token_is_refused_and_nothing_is_sent(api):
    for token in ("x", changed(token_of(), host="evil.example.com")):
        assert log_in(api, token).status == 400
    for body in ({}, {"identityRequest": {}}, {"identityRequest": {"identity_token": 7}}):
        assert api.ask("POST", LOGIN, body).status == 400
    assert api.identities.asked == []


def test_an_sts_that_does_not_answer_is_503(api, monkeypatch):
    def fail(_):
        raise ThrottledError("sts.amazonaws.com does not answer: retry later")

    monkeypatch.setattr(api.identities, "caller_arn", fail)
    assert log_in(api).status == 503


def test_log_ins_that_fail_too_often_have_to_wait(api):
    api.world.clock.step_ns = 0
    token = token_of(secret="guess")
    statuses = [log_in(api, token).status for _ in range(102)]
    assert statuses == [401] * 100 + [429] * 2
    asked = len(api.identities.asked)
    assert log_in(api).status == 429
    assert len(api.identities.asked) == asked


def test_principals_are_listed_looked_up_and_detached(api):
    api.ask("POST", OF_BOB, principalId=ARN)
    listed = api.ask("GET", f"{OF_BOB}/ls", amount=1)
    models.ExternalPrincipalList.from_dict(listed.json)
    assert listed.json["results"] == [{"id": ROLE, "user_id": "bob"}]
    assert listed.json["pagination"]["next_offset"] == ROLE
    found = api.ask("GET", "/auth/external/principals", principalId=ARN)
    models.ExternalPrincipal.from_dict(found.json)
    assert found.json == {"id": ARN, "user_id": "bob"}
    assert api.ask("DELETE", OF_BOB, principalId=ARN).status == 204
    gone = api.ask("GET", "/auth/external/principals", principalId=ARN)
    assert (gone.status, gone.json["message"]) == (404, "not found")
    assert api.ask("DELETE", OF_BOB, principalId=ARN).status == 404


@pytest.mark.parametrize(
    ("path", "principal", "outcome"),
    [
        ("/auth/users/ann/external/principals", ROLE, (409, "Already exists")),
        ("/auth/users/nobody/external/principals", "x", (404, "not found")),
        (OF_BOB, "a\nb", (400, "validation error")),
        (OF_BOB, "x" * 901, (400, "validation error")),
    ],
)
def test_a_principal_is_attached_once_to_a_user_who_exists(api, path, principal, outcome):
    reply = api.ask("POST", path, {"settings": {"a": "b"}}, principalId=principal)
    assert (reply.status, reply.json["message"]) == outcome
    assert api.ask("POST", path).status == 400


def test_without_the_setting_all_of_it_is_501():
    api = ApiClient()
    api.identities = CheckingSts()
    api._begin()
    for method, path in (
        ("POST", LOGIN),
        ("POST", OF_BOB),
        ("DELETE", OF_BOB),
        ("GET", f"{OF_BOB}/ls"),
        ("GET", "/auth/external/principals"),
    ):
        reply = api.ask(method, path, {} if method == "POST" else None, principalId=ROLE)
        assert (reply.status, reply.json["message"]) == (501, "Not Implemented")
