"""A user ends all sessions at once: those of a lost laptop as well."""

from copy import copy

import pytest

from graveler.http.auth import MEMORY_S
from graveler_functions.api.app import build_app
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, ApiClient, Reply, event

LOGIN = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET}


@pytest.fixture
def api() -> ApiClient:
    return ApiClient()


def log_in(api: ApiClient) -> str:
    token: str = api.ask("POST", "/auth/login", LOGIN).json["token"]
    return token


def ask_with(api: ApiClient, token: str, method: str = "GET", path: str = "/config") -> Reply:
    bearer = {"authorization": f"Bearer {token}"}
    return api.send(event(method, f"/api/v1{path}", headers=bearer))


def wait(api: ApiClient, seconds: int) -> None:
    api.world.clock.tick(seconds)


def another_process(api: ApiClient) -> ApiClient:
    """Return a client of another process over the same stores."""
    made = copy(api)
    made.app = build_app(api.world.engine(), api.accounts, api.settings)
    return made


def test_all_sessions_of_the_user_end_and_key_pairs_stay(api):
    api.world.clock.step_ns = 0  # this process remembers the key of the session
    here, elsewhere = log_in(api), log_in(api)
    assert ask_with(api, elsewhere).status == 200
    ended = ask_with(api, here, "DELETE", "/user/sessions")
    assert (ended.status, ended.content) == (204, b"")
    assert ended.cookies[0].startswith("internal_auth_session=; Path=/; Max-Age=0")
    for token in (here, elsewhere):
        reply = ask_with(api, token)
        assert (reply.status, reply.message) == (401, "error authenticating request")
    assert api.ask("GET", "/config").status == 200
    wait(api, 1)
    assert ask_with(api, log_in(api)).status == 200


def test_another_process_forgets_them_within_seconds(api):
    token = log_in(api)
    other = another_process(api)
    assert ask_with(other, token).status == 200
    assert ask_with(api, token, "DELETE", "/user/sessions").status == 204
    wait(api, MEMORY_S + 1)
    assert ask_with(other, token).status == 401


def test_ended_sessions_never_come_back(api):
    """Ending those of an earlier time, as a late request does, revives none."""
    api.accounts.end_sessions("ann", 2_000_000_000)
    api.accounts.end_sessions("ann", 1)
    assert api.accounts.user("ann").sessions_from == 2_000_000_000


def test_an_administrator_ends_those_of_another(api):
    assert api.ask("POST", "/auth/users", {"id": "bob"}).status == 201
    pair = api.ask("POST", "/auth/users/bob/credentials").json
    login = {name: pair[name] for name in ("access_key_id", "secret_access_key")}
    bobs = api.ask("POST", "/auth/login", login).json["token"]
    own = log_in(api)
    assert ask_with(api, bobs, "DELETE", "/auth/users/ann/sessions").status == 401
    reply = api.ask("DELETE", "/auth/users/bob/sessions")
    assert (reply.status, reply.cookies) == (204, [])
    assert ask_with(api, bobs).status == 401
    assert ask_with(api, own).status == 200


def test_a_user_who_does_not_exist_has_none(api):
    reply = api.ask("DELETE", "/auth/users/none/sessions")
    assert (reply.status, reply.message) == (404, "user not found: 'none'")


def test_a_browser_ends_them_from_our_own_page_only(api):
    cookie = f"internal_auth_session={log_in(api)}"
    for site, status in (("cross-site", 403), ("same-origin", 204)):
        headers = {"sec-fetch-site": site}
        path = "/api/v1/user/sessions"
        reply = api.send(event("DELETE", path, headers=headers, cookies=[cookie]))
        assert reply.status == status
