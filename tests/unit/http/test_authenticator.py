import base64
from typing import Any

import jwt
import pytest

from graveler.errors import AuthenticationError
from graveler.http.auth import MEMORY_S, SESSION_LIFE_S, Authenticator
from graveler.ports import Credential, User
from tests.support.memory import FixedClock, MemoryAccountStore

KEY, SECRET = "AKIAIOSFODNN7EXAMPLQ", "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMw=="


class CountingAccounts(MemoryAccountStore):
    def __init__(self):
        super().__init__()
        self.asked = []

    def credential(self, access_key_id):
        self.asked.append(access_key_id)
        return super().credential(access_key_id)


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def accounts():
    accounts = CountingAccounts()
    accounts.set_up(User("ann", 1), Credential(KEY, SECRET, "ann", 1))
    return accounts


@pytest.fixture
def authenticator(accounts, clock):
    return Authenticator(accounts, clock)


def basic(key=KEY, secret=SECRET):
    return "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()


def test_an_access_key_authenticates_its_user(authenticator):
    assert authenticator.user_of(basic(), []) == "ann"
    assert authenticator.user_of(basic().replace("Basic", "basic"), []) == "ann"


@pytest.mark.parametrize(
    "header",
    [
        basic(secret="wrong"),
        basic(secret=""),
        basic(secret=SECRET[:-1]),
        basic(key="AKIANOBODYQ"),
        basic(key=""),
        basic(key="k" * 5000),
        basic(key="é"),
        basic(key="a\x00b"),
        "Basic",
        "Basic !!!",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b"\xff:\xff").decode(),
        "Bearer",
        "Bearer x.y.z",
        "Digest abc",
        "AWS4-HMAC-SHA256 Credential=x",
    ],
)
def test_every_bad_credential_gets_the_one_message(authenticator, header):
    with pytest.raises(AuthenticationError, match=r"^error authenticating request$"):
        authenticator.user_of(header, [])


def test_no_credential_is_refused(authenticator):
    with pytest.raises(AuthenticationError, match=r"^error authenticating request$"):
        authenticator.user_of(None, ["other=1"])


@pytest.mark.parametrize(
    ("header", "cookies"),
    [
        (None, []),
        ("", ["other=1"]),
        ("Digest abc", []),
        ("Digest abc", ["internal_auth_session=x"]),
    ],
)
def test_a_request_may_present_no_credential(authenticator, header, cookies):
    assert authenticator.presented_user_of(header, cookies) is None


def test_a_presented_credential_must_be_valid(authenticator):
    assert authenticator.presented_user_of(basic(), []) == "ann"
    for header, cookies in ((basic(secret="wrong"), []), (None, ["internal_auth_session=x"])):
        with pytest.raises(AuthenticationError):
            authenticator.presented_user_of(header, cookies)


def test_a_bad_header_is_not_rescued_by_a_good_cookie(authenticator):
    token = authenticator.log_in(KEY, SECRET).token
    with pytest.raises(AuthenticationError):
        authenticator.user_of(basic(secret="wrong"), [f"internal_auth_session={token}"])


def test_a_key_is_looked_up_once_in_a_while(authenticator, accounts, clock):
    for _ in range(3):
        authenticator.user_of(basic(), [])
    assert accounts.asked == [KEY]
    clock.tick(MEMORY_S)
    authenticator.user_of(basic(), [])
    assert accounts.asked == [KEY, KEY]


def test_a_withdrawn_key_stops_working_in_time(accounts, clock, monkeypatch):
    held = {KEY: Credential(KEY, SECRET, "ann", 1)}
    monkeypatch.setattr(accounts, "credential", held.get)
    authenticator = Authenticator(accounts, clock)
    authenticator.user_of(basic(), [])
    held.clear()
    clock.tick(MEMORY_S)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(basic(), [])


@pytest.mark.parametrize("key_now", [{}, {KEY: Credential(KEY, SECRET, "bob", 1)}])
def test_a_session_ends_with_the_key_that_began_it(accounts, clock, monkeypatch, key_now):
    held = {KEY: Credential(KEY, SECRET, "ann", 1)}
    monkeypatch.setattr(accounts, "credential", held.get)
    authenticator = Authenticator(accounts, clock)
    token = authenticator.log_in(KEY, SECRET).token
    assert authenticator.user_of(f"Bearer {token}", []) == "ann"
    held.clear()
    held.update(key_now)
    clock.tick(MEMORY_S)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {token}", [])


def test_a_session_ends_with_its_user(authenticator, clock, monkeypatch):
    token = authenticator.log_in(KEY, SECRET).token
    assert authenticator.user_of(f"Bearer {token}", []) == "ann"
    monkeypatch.setattr(authenticator._users, "_look_up", lambda _name: None)
    clock.tick(MEMORY_S)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {token}", [])


def test_what_was_not_there_is_looked_up_again(authenticator, accounts):
    for _ in range(2):
        with pytest.raises(AuthenticationError):
            authenticator.user_of(basic(key="AKIANEWQ"), [])
    assert accounts.asked == ["AKIANEWQ", "AKIANEWQ"]


def test_a_session_works_as_token_and_as_cookie_until_it_expires(authenticator, clock):
    session = authenticator.log_in(KEY, SECRET)
    assert session.expires_at == clock.now_ns() // 10**9 + SESSION_LIFE_S
    assert authenticator.user_of(f"Bearer {session.token}", []) == "ann"
    cookies = ["a=b", f"internal_auth_session={session.token}"]
    assert authenticator.user_of(None, cookies) == "ann"
    clock.tick(SESSION_LIFE_S)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(None, cookies)


def test_a_session_says_what_lakefs_s_say(authenticator):
    claims = jwt.decode(
        authenticator.log_in(KEY, SECRET).token, options={"verify_signature": False}
    )
    assert (claims["sub"], claims["aud"], claims["iss"]) == ("ann", "login", "auth")


def test_a_wrong_secret_does_not_log_in(authenticator):
    with pytest.raises(AuthenticationError):
        authenticator.log_in(KEY, "wrong")


@pytest.mark.parametrize(
    "change",
    [
        {"aud": "other"},
        {"iss": "other"},
        {"sub": "bob"},
        {"sub": ""},
        {"exp": None},
        {"aud": None},
        {"exp": "tomorrow"},
        {"exp": 1},
        {"access_key_id": None},
        {"access_key_id": "AKIANOBODYQ"},
    ],
)
def test_a_token_with_other_claims_is_refused(authenticator, change):
    token = authenticator.log_in(KEY, SECRET).token
    claims = jwt.decode(token, options={"verify_signature": False}) | change
    claims = {name: value for name, value in claims.items() if value is not None}
    forged = jwt.encode(claims, authenticator._key(), algorithm="HS256")
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {forged}", [])


@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
@pytest.mark.parametrize("algorithm", ["none", "HS384"])
def test_another_algorithm_is_refused(authenticator, algorithm):
    token = authenticator.log_in(KEY, SECRET).token
    claims = jwt.decode(token, options={"verify_signature": False})
    key: Any = None if algorithm == "none" else authenticator._key()
    forged = jwt.encode(claims, key, algorithm=algorithm)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {forged}", [])


def test_the_installation_s_key_itself_signs_no_tokens(authenticator, accounts):
    token = authenticator.log_in(KEY, SECRET).token
    claims = jwt.decode(token, options={"verify_signature": False})
    forged = jwt.encode(claims, accounts.installation().signing_key, algorithm="HS256")
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {forged}", [])
