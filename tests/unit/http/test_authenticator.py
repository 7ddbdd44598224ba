import base64
from typing import Any

import jwt
import pytest

from graveler.errors import AuthenticationError, TooManyAttemptsError
from graveler.http.auth import MEMORY_S, SESSION_LIFE_S, AuthenticatedUser, Authenticator
from graveler.http.login_limits import FAILURES_OF_ADDRESS_MAX, FAILURES_OF_KEY_MAX
from graveler.operations.accounts import installation
from graveler.ports import Credential, ExternalPrincipal, User
from tests.support.fakes.memory import FixedClock, MemoryAccountStore

ROLE = "arn:aws:sts::123456789012:assumed-role/Reader"
KEY, SECRET = "AKIAIOSFODNN7EXAMPLQ", "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMw=="


class CountingAccounts(MemoryAccountStore):
    def __init__(self):
        super().__init__()
        self.asked = []

    def look_up(self, access_key_id, counters=(), hint=""):
        self.asked.append(access_key_id)
        return super().look_up(access_key_id, counters, hint)


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def accounts():
    accounts = CountingAccounts()
    installation.set_up(accounts, User("ann", 1), Credential(KEY, SECRET, "ann", 1))
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
        "Bearer \udcff",
        "Basic \udcff",
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
    assert authenticator.authenticate(header, cookies) is None


def test_a_presented_credential_must_be_valid(authenticator):
    assert authenticator.authenticate(basic(), []) == AuthenticatedUser("ann", KEY)
    for header, cookies in ((basic(secret="wrong"), []), (None, ["internal_auth_session=x"])):
        with pytest.raises(AuthenticationError):
            authenticator.authenticate(header, cookies)


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


def delete_key(accounts):
    accounts.delete_key("ann", KEY)


def delete_user(accounts):
    accounts.delete_user("ann")


def replace_user(accounts):
    accounts.delete_user("ann")
    accounts.create_user(User("ann", 2))


def give_key_to_another(accounts):
    accounts.delete_key("ann", KEY)
    accounts.create_user(User("bob", 1))
    accounts.create_key(Credential(KEY, SECRET, "bob", 1))


ENDS = [delete_key, delete_user, replace_user]


@pytest.mark.parametrize("end", ENDS)
def test_a_withdrawn_key_stops_working_in_time(authenticator, accounts, clock, end):
    authenticator.user_of(basic(), [])
    end(accounts)
    clock.tick(MEMORY_S)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(basic(), [])


@pytest.mark.parametrize("is_remembered", [False, True])
def test_a_key_that_is_withdrawn_while_it_is_looked_up_stops_working_in_time(
    authenticator, accounts, clock, monkeypatch, is_remembered
):
    if is_remembered:
        authenticator.user_of(basic(), [])
        clock.tick(MEMORY_S)
    look_up = accounts.look_up

    def look_up_slowly(*asked, **options):
        found = look_up(*asked, **options)
        monkeypatch.undo()
        delete_key(accounts)
        clock.tick(MEMORY_S)
        return found

    monkeypatch.setattr(accounts, "look_up", look_up_slowly)
    assert authenticator.user_of(basic(), []) == "ann"
    with pytest.raises(AuthenticationError):
        authenticator.user_of(basic(), [])


def test_two_requests_at_once_with_a_withdrawn_key_are_both_refused(
    authenticator, accounts, clock, monkeypatch
):
    authenticator.user_of(basic(), [])
    delete_key(accounts)
    clock.tick(MEMORY_S)
    look_up, waiting = accounts.look_up, [basic()]

    def look_up_after_another(*asked, **options):
        if waiting:
            with pytest.raises(AuthenticationError):
                authenticator.user_of(waiting.pop(), [])
        return look_up(*asked, **options)

    monkeypatch.setattr(accounts, "look_up", look_up_after_another)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(basic(), [])


def test_a_key_stops_working_at_once_in_the_process_that_deleted_it(authenticator, accounts):
    authenticator.user_of(basic(), [])
    delete_key(accounts)
    authenticator.forget(KEY)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(basic(), [])


@pytest.mark.parametrize("end", [*ENDS, give_key_to_another])
def test_a_session_ends_with_its_key_and_its_user(authenticator, accounts, clock, end):
    token = authenticator.log_in(KEY, SECRET).token
    assert authenticator.user_of(f"Bearer {token}", []) == "ann"
    end(accounts)
    clock.tick(MEMORY_S)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {token}", [])


def detach_principal(accounts):
    accounts.delete_principal("ann", ROLE)


def attach_principal_again(accounts):
    detach_principal(accounts)
    accounts.create_principal(ExternalPrincipal(ROLE, "ann"))


def give_principal_to_another(accounts):
    detach_principal(accounts)
    accounts.create_user(User("bob", 1))
    accounts.create_principal(ExternalPrincipal(ROLE, "bob"))


@pytest.mark.parametrize(
    "end",
    [
        delete_user,
        replace_user,
        detach_principal,
        attach_principal_again,
        give_principal_to_another,
    ],
)
def test_a_principal_s_session_ends_with_the_principal_and_its_user(
    authenticator, accounts, clock, end
):
    accounts.create_principal(ExternalPrincipal(ROLE, "ann"))
    session = authenticator.log_in_principal(accounts.principal(ROLE), 600)
    assert session.expires_at == clock.now_ns() // 10**9 + 600
    bearer = f"Bearer {session.token}"
    assert authenticator.authenticate(bearer, []) == AuthenticatedUser("ann", None)
    end(accounts)
    clock.tick(MEMORY_S)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {session.token}", [])


def test_a_user_from_before_groups_logs_in_as_an_administrator(authenticator, accounts):
    accounts.forget_access()
    assert accounts.effective_policies("ann") == ()
    assert authenticator.user_of(basic(), []) == "ann"
    assert "AuthFullAccess" in [policy.name for policy in accounts.effective_policies("ann")]


def test_a_session_from_before_groups_goes_on(authenticator, accounts):
    token = authenticator.log_in(KEY, SECRET).token
    accounts.forget_access()
    assert authenticator.user_of(f"Bearer {token}", []) == "ann"
    assert accounts.effective_policies("ann")


def fail(authenticator, times, key=KEY, address="192.0.2.1"):
    for _ in range(times):
        with pytest.raises(AuthenticationError):
            authenticator.user_of(basic(key, "wrong"), [], address)


@pytest.mark.parametrize("key", [KEY, "AKIAUNKNOWN"])
def test_a_key_that_fails_too_often_has_to_wait(accounts, clock, key):
    fail(Authenticator(accounts, clock), FAILURES_OF_KEY_MAX, key)
    other = Authenticator(accounts, clock)
    for _ in range(2):
        with pytest.raises(TooManyAttemptsError) as refused:
            other.log_in(key, SECRET, "198.51.100.7")
        assert 1 <= refused.value.retry_after_s <= 60
    clock.tick(60)
    fail(other, 1, key)


def test_an_address_that_fails_too_often_has_to_wait(accounts, clock):
    authenticator = Authenticator(accounts, clock)
    for number in range(FAILURES_OF_ADDRESS_MAX):
        fail(authenticator, 1, f"AKIA{number}", f"2001:db8::{number:x}")
    with pytest.raises(TooManyAttemptsError):
        authenticator.user_of(basic(), [], "2001:db8::ffff")
    assert authenticator.user_of(basic(), [], "2001:db8:1::1") == "ann"


def test_a_pair_that_was_found_right_is_not_locked_out_by_others(authenticator, clock):
    assert authenticator.user_of(basic(), [], "192.0.2.9") == "ann"
    fail(authenticator, FAILURES_OF_KEY_MAX)
    clock.tick(MEMORY_S)
    assert authenticator.user_of(basic(), [], "192.0.2.1") == "ann"
    with pytest.raises(TooManyAttemptsError):
        authenticator.user_of(basic(secret="wrong"), [], "192.0.2.9")


def test_a_good_request_counts_nothing(authenticator, accounts, monkeypatch):
    monkeypatch.setattr(accounts, "count_failure", lambda *_: pytest.fail("counted"))
    authenticator.user_of(basic(), [])
    authenticator.log_in(KEY, SECRET)


def test_a_refused_request_takes_none_of_the_store(authenticator, accounts):
    fail(authenticator, FAILURES_OF_KEY_MAX)
    for _ in range(2):
        with pytest.raises(TooManyAttemptsError):
            authenticator.user_of(basic(), [], "192.0.2.1")
    asked = len(accounts.asked)
    with pytest.raises(TooManyAttemptsError):
        authenticator.user_of(basic(), [], "192.0.2.1")
    assert len(accounts.asked) == asked


def test_a_secret_in_the_wrong_field_is_not_stored(accounts, authenticator):
    fail(authenticator, 1, SECRET)
    assert accounts._failures
    assert SECRET not in repr(accounts._failures)


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


def test_sessions_that_a_user_has_ended_are_over_and_later_ones_last(
    authenticator, accounts, clock
):
    ended = authenticator.log_in(KEY, SECRET)
    clock.tick(10)
    accounts.end_sessions("ann", clock.now_ns() // 10**9)
    later = authenticator.log_in(KEY, SECRET)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {ended.token}", [])
    assert authenticator.user_of(f"Bearer {later.token}", []) == "ann"
    assert authenticator.user_of(basic(), []) == "ann"


def test_a_session_that_was_renewed_ends_with_the_first_one(authenticator, accounts, clock):
    """A thief could renew it at a process that does not know of the end yet."""
    stolen = authenticator.log_in(KEY, SECRET).token
    assert authenticator.user_of(f"Bearer {stolen}", []) == "ann"
    clock.tick(1)
    accounts.end_sessions("ann", clock.now_ns() // 10**9)
    clock.tick(1)
    renewed = authenticator.renew(stolen, 3600)
    assert renewed.expires_at == clock.now_ns() // 10**9 + 3600
    clock.tick(MEMORY_S)
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {renewed.token}", [])


def test_a_session_is_not_renewed_for_ever(authenticator, clock):
    token = authenticator.log_in(KEY, SECRET).token
    left_s = SESSION_LIFE_S
    while left_s > 0:
        step_s = min(left_s, 24 * 3600)
        token = authenticator.renew(token, 2 * step_s).token
        clock.tick(step_s)
        left_s -= step_s
    with pytest.raises(AuthenticationError):
        authenticator.renew(token, 3600)


def test_sessions_of_principals_are_not_renewed(authenticator, accounts):
    accounts.create_principal(ExternalPrincipal("arn:aws:iam::1:role/r", "ann"))
    principal = accounts.principal("arn:aws:iam::1:role/r")
    session = authenticator.log_in_principal(principal, 3600)
    with pytest.raises(AuthenticationError):
        authenticator.renew(session.token, 3600)


def test_sessions_of_principals_end_with_the_others(authenticator, accounts, clock):
    accounts.create_principal(ExternalPrincipal("arn:aws:iam::1:role/r", "ann"))
    principal = accounts.principal("arn:aws:iam::1:role/r")
    session = authenticator.log_in_principal(principal, 3600)
    assert authenticator.user_of(f"Bearer {session.token}", []) == "ann"
    accounts.end_sessions("ann", clock.now_ns() // 10**9 + 1)
    authenticator.forget_sessions()
    with pytest.raises(AuthenticationError):
        authenticator.user_of(f"Bearer {session.token}", [])


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
        {"iat": None},
        {"iat": "now"},
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
