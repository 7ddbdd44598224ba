"""Authenticates requests by HTTP Basic, a bearer token, or a browser's session cookie.

Theory of operation. A secret is checked against its digest (`graveler.access.digests`), which one
request to the store returns. A token is checked against the installation's key. A process remembers
for MEMORY_S what it found, so most requests ask no store. Deleted keys, users, principals and ended
sessions may work for that long in such a process. A missing key is not remembered, so a new key
works at once.

Every failure is the same error with the same text, after the same requests. It does not show
whether the key ID is unknown, or known with another secret, or remembered. Neither text nor time
helps to guess. Failures are limited (`graveler.http.login_limits`).
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from graveler.access.digests import DIGEST_BYTES, secret_digest
from graveler.cache import AgingCache
from graveler.errors import AuthenticationError, InvalidInputError
from graveler.http.basic import basic_pair
from graveler.http.login_limits import LoginLimits
from graveler.operations.accounts import installation
from graveler.ports import AccountStore, Clock, ExternalPrincipal, LoginKey, LookUp, User
from graveler.times import NS_PER_S, Moment

# The web UI logs out on exactly this text, and `lakectl doctor` recognizes it.
FAILURE_MESSAGE = "error authenticating request"
_TWO_SESSIONS = "the request has two different session cookies"
_DELETE_COOKIES = "another server of this host has set one: delete this site's cookies, then log in"

SESSION_COOKIE = "internal_auth_session"
SESSION_LIFE_S = 30 * 24 * 60 * 60

# The claim that names the access key of the login; or those of the external principal, with the
# user's uid and the attachment.
_KEY_CLAIM = "access_key_id"
_PRINCIPAL_CLAIM = "principal_id"
_UID_CLAIM = "user_uid"
_ATTACHMENT_CLAIM = "attachment"

# A withdrawn credential works for so long at most. One request to the store in so many seconds
# costs a busy process nothing that can be measured.
MEMORY_S = 5
MEMORY_ENTRIES_MAX = 10_000
# No key that was ever created is longer, so a longer ID costs no request to the store.
_ACCESS_KEY_ID_CHARACTERS_MAX = 128

# Checked in place of a key that does not exist.
_NO_KEY = LoginKey("", "", "", b"\0" * DIGEST_BYTES)


@dataclass(frozen=True, slots=True, repr=False)
class LoginSession:
    """A token that authenticates its user until it expires; never printed."""

    token: str
    expires_at: int  # Unix seconds
    user: str


class AuthenticatedUser(Struct, frozen=True):
    """The user whom a credential names, and the access key behind it.

    A session of an external principal has no access key.
    """

    user: str
    access_key_id: str | None


@dataclass(frozen=True, slots=True, repr=False)
class _Proven:
    """A key whose secret this process has verified, as it was read; never printed."""

    key: LoginKey
    read_at: Moment


class Authenticator:
    """Finds the user of a request; a process has one Authenticator."""

    def __init__(self, accounts: AccountStore, clock: Clock) -> None:
        self._accounts = accounts
        self._clock = clock
        self._limits = LoginLimits(accounts)
        # Not an AgingCache: an old key still names the user, so it is read again in one request.
        self._proven: dict[str, _Proven] = {}
        limits = clock.moment, MEMORY_S, MEMORY_ENTRIES_MAX
        self._keys = AgingCache[tuple[str, str], LookUp](*limits)
        self._principals = AgingCache[str, ExternalPrincipal](*limits)
        self._users = AgingCache[str, User](*limits)
        self._token_key: bytes | None = None

    def user_of(self, authorization: str | None, cookies: Sequence[str], address: str = "") -> str:
        """Return the name of the user who sent a request with these headers from the address.

        Cookies count only without an Authorization header.

        Raises:
            AuthenticationError: the request has no valid credential.
            TooManyAttemptsError: the key or the address has failed too often.
        """
        authenticated = self.authenticate(authorization, cookies, address)
        if authenticated is None:
            raise AuthenticationError(FAILURE_MESSAGE)
        return authenticated.user

    def authenticate(
        self, authorization: str | None, cookies: Sequence[str], address: str = ""
    ) -> AuthenticatedUser | None:
        """Return the user and the access key of the request; None if it has no credential.

        Raises:
            AuthenticationError: the credential is not valid.
            InvalidInputError: two cookies have different sessions.
            TooManyAttemptsError: the key or the address has failed too often.
        """
        if authorization:
            scheme, _, value = authorization.strip().partition(" ")
            if scheme.lower() == "basic":
                pair = basic_pair(value.strip())
                if pair is None:
                    raise AuthenticationError(FAILURE_MESSAGE)
                access_key_id, secret = pair
                return AuthenticatedUser(
                    self._user_of_key(access_key_id, secret, address), access_key_id
                )
            if scheme.lower() == "bearer":
                return self._authenticate_token(value.strip())
            return None
        tokens = _tokens_of(cookies)
        if len(tokens) > 1:  # another server of the same host has set one of them
            raise InvalidInputError(_TWO_SESSIONS, _DELETE_COOKIES)
        return self._authenticate_token(tokens.pop()) if tokens else None

    def log_in(
        self,
        access_key_id: str,
        secret_access_key: str,
        address: str = "",
        *,
        life_s: int = SESSION_LIFE_S,
    ) -> LoginSession:
        """Return a new session of the key's user.

        Raises:
            AuthenticationError: the key does not exist or has another secret.
            TooManyAttemptsError: the key or the address has failed too often.
        """
        user = self._user_of_key(access_key_id, secret_access_key, address)
        return self._session(user, life_s, {_KEY_CLAIM: access_key_id})

    def renew(self, token: str, life_s: int) -> LoginSession:
        """Return a new session in place of one that a key pair began.

        It counts as begun when that one did. So it ends with it, and SESSION_LIFE_S later at most.

        Raises:
            AuthenticationError: the token is not valid, or a principal began the session.
        """
        claims = self._valid_claims(token)
        access_key_id = claims.get(_KEY_CLAIM)
        if access_key_id is None:
            raise AuthenticationError(FAILURE_MESSAGE)
        user, began_at = str(claims["sub"]), claims["iat"]
        left_s = began_at + SESSION_LIFE_S - self._now_s()
        if left_s <= 0:
            raise AuthenticationError(FAILURE_MESSAGE)
        return self._session(user, min(life_s, left_s), {_KEY_CLAIM: access_key_id}, began_at)

    def log_in_principal(self, principal: ExternalPrincipal, life_s: int) -> LoginSession:
        """Return a new session of the principal's user; it ends when the principal is detached."""
        claims = {
            _PRINCIPAL_CLAIM: principal.id,
            _UID_CLAIM: principal.user_uid,
            _ATTACHMENT_CLAIM: principal.attachment,
        }
        return self._session(principal.user, life_s, claims)

    def _session(
        self, user: str, life_s: int, claims: Mapping[str, str], began_at: int | None = None
    ) -> LoginSession:
        import jwt  # noqa: PLC0415 - only logging in needs it, and it takes long

        now_s = self._now_s()
        payload = {
            "aud": "login",
            "exp": now_s + life_s,
            "iat": now_s if began_at is None else began_at,
            "iss": "auth",
            "sub": user,
            **claims,
        }
        token = jwt.encode(payload, self._key(), algorithm="HS256")
        return LoginSession(token, now_s + life_s, user)

    def check_attempts(self, address: str) -> None:
        """Refuse a log-in without a key if the address has failed too often.

        Raises:
            TooManyAttemptsError: it has.
        """
        now_s = self._now_s()
        counters = self._limits.counters("", address, now_s)
        self._limits.check_memory(counters, now_s)
        self._limits.check(counters, self._accounts.look_up("-", counters.names).failures, now_s)

    def count_failure(self, address: str) -> None:
        """Count a failed log-in without a key."""
        self._limits.count(self._limits.counters("", address, self._now_s()))

    # Key pairs

    def _user_of_key(self, access_key_id: str, secret_access_key: str, address: str) -> str:
        plausible = access_key_id.isascii() and access_key_id.isprintable()
        if not plausible or not 0 < len(access_key_id) <= _ACCESS_KEY_ID_CHARACTERS_MAX:
            raise AuthenticationError(FAILURE_MESSAGE)
        proven = self._proven.get(access_key_id)
        is_proven = self._matches(proven.key if proven else _NO_KEY, secret_access_key)
        if proven is None or not is_proven:
            return self._user_of_guess(access_key_id, secret_access_key, address)
        now = self._clock.moment()
        if not proven.read_at.is_within(MEMORY_S, now):
            found = self._accounts.look_up(access_key_id, hint=proven.key.user)
            if not _is_valid(found.key, found.user) or found.key != proven.key:
                self.forget(access_key_id)
                return self._user_of_guess(access_key_id, secret_access_key, address)
            self._remember(proven.key, now)
        return proven.key.user

    def _user_of_guess(self, access_key_id: str, secret_access_key: str, address: str) -> str:
        """Check a pair that this process has not verified before."""
        now = self._clock.moment()
        now_s = now.wall_ns // NS_PER_S
        counters = self._limits.counters(access_key_id, address, now_s)
        self._limits.check_memory(counters, now_s)
        found = self._accounts.look_up(access_key_id, counters.names)
        self._limits.check(counters, found.failures, now_s)
        key = self._upgraded(found.key, access_key_id) or _NO_KEY
        if not self._matches(key, secret_access_key) or not _is_valid(
            key, self._accounts.user(key.user)
        ):
            self._limits.count(counters)
            raise AuthenticationError(FAILURE_MESSAGE)
        self._remember(key, now)
        return key.user

    def _matches(self, key: LoginKey, secret: str) -> bool:
        signing_key = self._accounts.installation().signing_key
        digest = secret_digest(signing_key, key.access_key_id, key.user, key.user_uid, secret)
        return hmac.compare_digest(digest, key.digest)

    def _upgraded(self, key: LoginKey | None, access_key_id: str) -> LoginKey | None:
        """Return the key; one without a digest gets one first, see `LoginKey`."""
        if key is None or key.digest:
            return key
        installation.upgrade(self._accounts, self._now_s(), access_key_id)
        key = self._accounts.look_up(access_key_id).key
        return key if key is not None and key.digest else None

    def _remember(self, key: LoginKey, read_at: Moment) -> None:
        """Remember the key for MEMORY_S from read_at, a moment before it was read."""
        if len(self._proven) >= MEMORY_ENTRIES_MAX:
            self._proven.clear()
        self._proven[key.access_key_id] = _Proven(key, read_at)

    def forget(self, access_key_id: str) -> None:
        """Forget the key, which was deleted."""
        self._proven.pop(access_key_id, None)

    # Sessions

    def forget_sessions(self) -> None:
        """Forget what sessions depend on, as some have ended."""
        self._keys.clear()
        self._users.clear()

    def _authenticate_token(self, token: str) -> AuthenticatedUser:
        claims = self._valid_claims(token)
        return AuthenticatedUser(str(claims["sub"]), claims.get(_KEY_CLAIM))

    def _valid_claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a session's token.

        Raises:
            AuthenticationError: the token is not valid, or the session is over.
        """
        import jwt  # noqa: PLC0415 - requests with an access key never need it

        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(),
                algorithms=["HS256"],
                audience="login",
                issuer="auth",
                # Expiry is checked below, with our own clock.
                options={
                    "require": ["exp", "iat", "sub", "aud", "iss"],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
        except (jwt.InvalidTokenError, UnicodeEncodeError) as error:
            raise AuthenticationError(FAILURE_MESSAGE) from error
        expires_at, user = claims["exp"], claims["sub"]
        if not isinstance(expires_at, int) or expires_at <= self._now_s():
            raise AuthenticationError(FAILURE_MESSAGE)
        if not user or not self._is_open(str(user), claims):
            raise AuthenticationError(FAILURE_MESSAGE)
        return claims

    def _is_open(self, user: str, claims: Mapping[str, object]) -> bool:
        """Return whether the credential that began the session is still the user's.

        Withdrawing a stolen key ends the sessions that the thief began with it. The user may have
        ended the session as well, with all others.
        """
        began_at = claims["iat"]
        access_key_id = claims.get(_KEY_CLAIM)
        if isinstance(access_key_id, str):
            found = self._keys.get_or_read((access_key_id, user), self._key_of_session)
            return (
                found is not None
                and _is_valid(found.key, found.user)
                and _may_last(found.user, began_at)
            )
        principal_id = claims.get(_PRINCIPAL_CLAIM)
        if not isinstance(principal_id, str):
            return False
        principal = self._principals.get_or_read(principal_id, self._accounts.principal)
        return (
            principal is not None
            and principal.user == user
            and principal.user_uid == claims.get(_UID_CLAIM)
            and principal.attachment == claims.get(_ATTACHMENT_CLAIM, "")
            and _may_last(self._users.get_or_read(user, self._accounts.user), began_at)
        )

    def _key_of_session(self, key_and_user: tuple[str, str]) -> LookUp | None:
        access_key_id, user = key_and_user
        found = self._accounts.look_up(access_key_id, hint=user)
        if found.key is not None and not found.key.digest:
            self._upgraded(found.key, access_key_id)
            found = self._accounts.look_up(access_key_id, hint=user)
        return found if _is_valid(found.key, found.user) else None

    def _now_s(self) -> int:
        return self._clock.now_ns() // NS_PER_S

    def _key(self) -> bytes:
        """Return the key of tokens, derived from the installation's key.

        The installation's key itself signs physical addresses.
        """
        if self._token_key is None:
            root = self._accounts.installation().signing_key
            self._token_key = hmac.digest(root, b"graveler login token", hashlib.sha256)
        return self._token_key


def _is_valid(key: LoginKey | None, user: User | None) -> bool:
    """Return whether the key is the user's, and not that of an earlier user of the name."""
    return (
        key is not None
        and user is not None
        and key.user == user.name
        and key.user_uid == user.uid
        and bool(key.digest)
    )


def _may_last(user: User | None, began_at: object) -> bool:
    """Return whether a session of the user that began then has not been ended."""
    return user is not None and isinstance(began_at, int) and began_at >= user.sessions_from


def has_session(cookies: Sequence[str]) -> bool:
    """Whether one of the cookies is that of a session."""
    return bool(_tokens_of(cookies))


def _tokens_of(cookies: Sequence[str]) -> set[str]:
    named = (cookie.strip().partition("=") for cookie in cookies)
    return {value.strip('"') for name, _, value in named if name == SESSION_COOKIE}
