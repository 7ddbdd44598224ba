"""Setting up, logging in, configuration."""

import json
import re

import jwt
import pytest
from lakefs_sdk import models

from graveler.version import VERSION
from graveler_functions.api.app import build_app
from graveler_functions.api.settings import ApiSettings
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, SETUP_TOKEN, ApiClient, event

TOKEN = {"x-graveler-setup-token": SETUP_TOKEN}


@pytest.fixture
def api():
    return ApiClient()


@pytest.fixture
def empty():
    return ApiClient(set_up=False)


def test_the_setup_state_shows_whether_there_is_an_administrator(api, empty):
    fresh = empty.send(event("GET", "/api/v1/setup_lakefs")).json
    assert fresh["state"] == "not_initialized"
    assert fresh["comm_prefs_missing"] is False
    assert fresh["login_config"]["RBAC"] == "internal"
    assert api.send(event("GET", "/api/v1/setup_lakefs")).json["state"] == "initialized"
    models.SetupState.from_dict(fresh)


def test_setting_up_makes_a_key_that_works(empty):
    reply = empty.send(
        event("POST", "/api/v1/setup_lakefs", body=b'{"username":"root"}', headers=TOKEN)
    )
    assert reply.status == 200
    made = models.CredentialsWithSecret.from_dict(reply.json)
    assert re.fullmatch(r"AKIA[IJ][A-Z0-9]{14}Q", made.access_key_id)
    assert re.fullmatch(r"[A-Za-z0-9+/]{40}", made.secret_access_key)
    login = {"access_key_id": made.access_key_id, "secret_access_key": made.secret_access_key}
    assert empty.ask("POST", "/auth/login", login).status == 200


def test_setting_up_takes_a_given_key(empty):
    key = {"access_key_id": "AKIAIMYKEY", "secret_access_key": "my secret"}
    reply = empty.ask("POST", "/setup_lakefs", {"username": "root", "key": key}, headers=TOKEN)
    assert reply.json | {"creation_date": 0} == key | {"creation_date": 0}
    assert empty.ask("POST", "/auth/login", key).status == 200


def test_setup_succeeds_only_once(api):
    reply = api.ask("POST", "/setup_lakefs", {"username": "eve"}, headers=TOKEN)
    assert (reply.status, reply.message) == (409, "lakeFS already initialized")


@pytest.mark.parametrize(
    "headers",
    [{}, {"x-graveler-setup-token": "wrong"}, {"x-graveler-setup-token": "half a pair: \udcff"}],
)
def test_setup_without_the_right_token_is_refused(empty, headers):
    reply = empty.ask("POST", "/setup_lakefs", {"username": "eve"}, headers=headers)
    assert reply.status == 401
    assert "x-graveler-setup-token" in reply.message
    assert not empty.accounts.is_set_up()


def test_the_token_is_read_where_it_is_kept_and_only_until_there_is_an_administrator():
    read = []

    def secret_of(arn):
        read.append(arn)
        return SETUP_TOKEN

    api = ApiClient(set_up=False)
    settings = ApiSettings(setup_token_arn="arn:of-the-token")
    api.app = build_app(api.engine, api.accounts, settings, secret_of=secret_of)
    user = {"username": "ann"}
    wrong = {"x-graveler-setup-token": "arn:of-the-token"}
    sent = ({}, wrong, TOKEN, TOKEN)
    asked = [api.ask("POST", "/setup_lakefs", user, headers=each) for each in sent]
    assert [each.status for each in asked] == [401, 401, 200, 409]
    assert read == ["arn:of-the-token"] * 2


@pytest.mark.parametrize("token", ["", "any"])
def test_setup_is_refused_where_no_token_is_configured(token):
    api = ApiClient(ApiSettings(), set_up=False)
    sent = {"x-graveler-setup-token": token}
    reply = api.ask("POST", "/setup_lakefs", {"username": "eve"}, headers=sent)
    assert reply.status == 401
    assert ("deploy it with setup_token=secret" in reply.message) == bool(token)
    assert not api.accounts.is_set_up()


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"username": ""}, "username"),
        ({}, "username"),
        ({"username": "a", "key": {"access_key_id": "", "secret_access_key": "x"}}, "access_key"),
        ({"username": "a", "key": {"access_key_id": "a:b", "secret_access_key": "x"}}, "access"),
        ({"username": "a", "key": {"access_key_id": "ab\n", "secret_access_key": "x"}}, "access"),
        ({"username": "a", "key": {"access_key_id": "a/b", "secret_access_key": "x"}}, "access"),
        ({"username": "a", "key": {"access_key_id": "a%41", "secret_access_key": "x"}}, "access"),
        ({"username": "a", "key": {"access_key_id": "..", "secret_access_key": "x"}}, "access"),
        ({"username": "a", "key": {"access_key_id": "ab"}}, "secret_access_key"),
    ],
)
def test_a_bad_setup_is_refused(empty, body, named):
    reply = empty.ask("POST", "/setup_lakefs", body, headers=TOKEN)
    assert reply.status == 400
    assert named in reply.message
    assert not empty.accounts.is_set_up()


def test_a_login_gives_a_token_and_a_cookie_that_both_work(api):
    reply = api.send(
        event(
            "POST",
            "/api/v1/auth/login",
            body=f'{{"access_key_id":"{ACCESS_KEY_ID}","secret_access_key":"{SECRET}"}}'.encode(),
        )
    )
    token = models.AuthenticationToken.from_dict(reply.json)
    claims = jwt.decode(token.token, options={"verify_signature": False})
    assert claims["exp"] == token.token_expiration
    [cookie] = reply.cookies
    assert cookie == (
        f"internal_auth_session={token.token}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict"
    )
    for credentials in (
        {"headers": {"authorization": f"Bearer {token.token}"}},
        {"cookies": [cookie.partition(";")[0]]},
    ):
        current = api.send(event("GET", "/api/v1/user", **credentials)).json
        assert (current["user"]["id"], current["access_key_id"]) == ("ann", ACCESS_KEY_ID)


def test_a_deployment_with_tls_keeps_its_cookie_to_tls():
    api = ApiClient(ApiSettings(secure_cookies=True))
    login = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET}
    [cookie] = api.ask("POST", "/auth/login", login).cookies
    assert "; Secure" in cookie


def test_a_wrong_secret_does_not_log_in(api):
    login = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": "wrong"}
    reply = api.ask("POST", "/auth/login", login)
    assert (reply.status, reply.message) == (401, "error authenticating request")
    assert reply.cookies == []


def test_logging_out_forgets_the_cookie(api):
    reply = api.send(event("GET", "/logout"))
    assert (reply.status, reply.headers["Location"]) == (307, "/auth/login")
    assert reply.cookies[0].startswith("internal_auth_session=; Path=/; Max-Age=0")


def test_the_current_user_is_returned(api):
    reply = api.ask("GET", "/user")
    assert reply.json == {
        "user": {"id": "ann", "creation_date": 1_600_000_000, "friendly_name": "ann"},
        "access_key_id": ACCESS_KEY_ID,
    }
    models.CurrentUser.from_dict(reply.json)


@pytest.mark.parametrize("credentials", [{}, {"headers": {"authorization": "Negotiate x"}}])
def test_there_is_no_current_user_without_credentials(api, credentials):
    reply = api.send(event("GET", "/api/v1/user", **credentials))
    assert (reply.status, reply.json) == (200, {"user": {"id": "", "creation_date": 0}})
    models.CurrentUser.from_dict(reply.json)


@pytest.mark.parametrize(
    "credentials",
    [
        {"headers": {"authorization": "Basic eDp5"}},
        {"headers": {"authorization": "Bearer x"}},
        {"cookies": ["internal_auth_session=x"]},
    ],
)
def test_with_wrong_credentials_one_is_refused(api, credentials):
    reply = api.send(event("GET", "/api/v1/user", **credentials))
    assert (reply.status, reply.message) == (401, "error authenticating request")


def test_anybody_may_ask_whether_the_server_is_well():
    api = ApiClient(set_up=False)
    assert api.send(event("GET", "/api/v1/healthcheck")).status == 204
    alive = api.send(event("GET", "/_health"))
    assert (alive.status, alive.content) == (200, b"alive!")
    capabilities = api.send(event("GET", "/api/v1/auth/capabilities"))
    assert capabilities.json == {"invite_user": False, "forgot_password": False}


def test_the_configuration_shows_what_the_server_supports():
    api = ApiClient(ApiSettings(namespace_prefix="s3://lake/"))
    config = api.ask("GET", "/config").json
    models.Config.from_dict(config)
    assert [int(part) for part in config["version_config"]["version"].split(".")] >= [1, 3, 1]
    assert config["version_config"]["version_context"] == "lakeFS"
    assert config["version_config"]["graveler_version"] == VERSION
    storage = config["storage_config"]
    assert storage["blockstore_type"] == "s3"
    assert storage["blockstore_namespace_ValidityRegex"] == "^s3://"
    assert storage["default_namespace_prefix"] == "s3://lake/"
    assert storage["pre_sign_support"]
    assert storage["pre_sign_multipart_upload"]
    assert storage["import_support"]
    assert storage["import_validity_regex"] == "^s3://"
    assert config["storage_config_list"] == []
    assert config["capabilities_config"] == {"async_ops": True}
    assert api.ask("GET", "/config/storage").json == storage
    assert api.ask("GET", "/config/version").json == config["version_config"]
    assert api.ask("GET", "/config/garbage-collection").json == {"grace_period": 86400}


def test_statistics_are_taken_and_checked(api):
    events = [{"class": "lakectl", "name": "branch list", "count": 1}]
    assert api.ask("POST", "/statistics", {"events": events}).status == 204
    reply = api.ask("POST", "/statistics", {"events": [{**events[0], "count": -1}]})
    assert reply.status == 400
    assert "count" in reply.message


PREFERENCES = {"featureUpdates": True, "securityUpdates": False, "email": "ann@example.com"}


def test_communication_preferences_are_not_collected(api, empty):
    def status_of(client, body):
        raw = json.dumps(body).encode()
        reply = client.send(event("POST", "/api/v1/setup_comm_prefs", body=raw))
        return reply.status, reply.message

    assert status_of(api, PREFERENCES) == (409, "communication preferences already set")
    assert status_of(empty, PREFERENCES) == (412, "lakeFS is not initialized")
    status, message = status_of(api, {"featureUpdates": True})
    assert status == 400
    assert "securityUpdates" in message


def test_the_usage_summary_names_the_installation_and_reports_no_month(api):
    reply = api.ask("GET", "/usage-report/summary")
    models.InstallationUsageReport.from_dict(reply.json)
    installation_id = api.accounts.installation().id
    assert reply.json == {"installation_id": installation_id, "reports": []}
    text = api.ask("GET", "/usage-report/summary", headers={"accept": "text/plain"})
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert text.content.decode() == f"Usage for installation ID: {installation_id}\n"
