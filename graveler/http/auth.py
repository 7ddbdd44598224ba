"""Authenticates requests by HTTP Basic, a bearer token, or a browser's session cookie.

Theory of operation. An access key is checked against the account store, and a token against the
installation's key. Answers of the store are remembered for MEMORY_S, so a warm function needs no
request to it. A withdrawn key, a deleted user and their sessions may therefore work for that long
in a function that has just seen them. A missing key is not remembered, so a new key works at once.

Every failure is the same error with the same text. Clients compare the text, and different texts
for unknown keys and wrong secrets would help to guess.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from graveler.errors import AuthenticationError
from graveler.ports import AccountStore, Clock, Credential, User
from graveler.times import NS_PER_S

# The web UI logs out on exactly this text, and `lakectl doctor` recognizes it.
FAILURE_MESSAGE = "error authenticating request"

SESSION_COOKIE = "internal_auth_session"
SESSION_LIFE_S = 30 * 24 * 60 * 60

# The claim that names the access key of the login.
_KEY_CLAIM = "access_key_id"

MEMORY_S = 30
MEMORY_ENTRIES_MAX = 10_000
# Longer than every key that was ever created, so not worth a request to the store.
_ACCESS_KEY_ID_CHARACTERS_MAX = 128

V = TypeVar("V")


@dataclass(frozen=True, slots=True, repr=False)
class Session:
    """A token that authenticates its user until it expires; never printed."""

    token: str
    expires_at: int  # Unix seconds


class Authenticator:
    """Finds the user of a request; a process has one Authenticator."""

    def __init__(self, accounts: AccountStore, clock: Clock) -> None:
        self._accounts = accounts
        self._clock = clock
        self._credentials = _Memory[Credential](clock, accounts.credential)
        self._users = _Memory[User](clock, accounts.user)
        self._token_key: bytes | None = None

    def user_of(self, authorization: str | None, cookies: Sequence[str]) -> str:
        """Return the name of the user who sent a request with these headers.

        Cookies count only without an Authorization header.

        Raises:
            AuthenticationError: the request has no valid credential.
        """
        user = self.presented_user_of(authorization, cookies)
        if user is None:
            raise AuthenticationError(FAILURE_MESSAGE)
        return user

    def presented_user_of(self, authorization: str | None, cookies: Sequence[str]) -> str | None:
        """Return the user's name as `user_of` does; None if the request has no credential.

        Raises:
            AuthenticationError: the credential is not valid.
        """
        if authorization:
            scheme, _, value = authorization.strip().partition(" ")
            if scheme.lower() == "basic":
                return self._user_of_key(*_basic_pair(value.strip()))
            if scheme.lower() == "bearer":
                return self._user_of_token(value.strip())
            return None
        for cookie in cookies:
            name, _, value = cookie.strip().partition("=")
            if name == SESSION_COOKIE:
                return self._user_of_token(value.strip('"'))
        return None

    def log_in(self, access_key_id: str, secret_access_key: str) -> Session:
        """Return a new session of the key's user.

        Raises:
            AuthenticationError: the key does not exist or has another secret.
        """
        import jwt  # noqa: PLC0415 - only logging in needs it, and it takes long

        user = self._user_of_key(access_key_id, secret_access_key)
        now_s = self._clock.now_ns() // NS_PER_S
        claims = {
            "aud": "login",
            "exp": now_s + SESSION_LIFE_S,
            "iat": now_s,
            "iss": "auth",
            "sub": user,
            _KEY_CLAIM: access_key_id,
        }
        return Session(jwt.encode(claims, self._key(), algorithm="HS256"), now_s + SESSION_LIFE_S)

    def _user_of_key(self, access_key_id: str, secret_access_key: str) -> str:
        plausible = access_key_id.isascii() and access_key_id.isprintable()
        if not plausible or not 0 < len(access_key_id) <= _ACCESS_KEY_ID_CHARACTERS_MAX:
            raise AuthenticationError(FAILURE_MESSAGE)
        credential = self._credentials.get(access_key_id)
        if credential is None or not hmac.compare_digest(
            secret_access_key.encode(), credential.secret_access_key.encode()
        ):
            raise AuthenticationError(FAILURE_MESSAGE)
        return credential.user

    def _user_of_token(self, token: str) -> str:
        import jwt  # noqa: PLC0415 - requests with an access key never need it

        try:
            claims = jwt.decode(
                token,
                self._key(),
                algorithms=["HS256"],
                audience="login",
                issuer="auth",
                # Expiry is checked below, with our own clock.
                options={
                    "require": ["exp", "sub", "aud", "iss", _KEY_CLAIM],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
        except jwt.InvalidTokenError as error:
            raise AuthenticationError(FAILURE_MESSAGE) from error
        expires_at, user = claims["exp"], claims["sub"]
        if not isinstance(expires_at, int) or expires_at <= self._clock.now_ns() // NS_PER_S:
            raise AuthenticationError(FAILURE_MESSAGE)
        if not user or self._users.get(user) is None:
            raise AuthenticationError(FAILURE_MESSAGE)
        # Withdrawing a stolen key ends the sessions that the thief began with it.
        credential = self._credentials.get(claims[_KEY_CLAIM])
        if credential is None or credential.user != user:
            raise AuthenticationError(FAILURE_MESSAGE)
        return str(user)

    def _key(self) -> bytes:
        """Return the key of tokens, derived from the installation's key.

        The installation's key itself signs physical addresses.
        """
        if self._token_key is None:
            root = self._accounts.installation().signing_key
            self._token_key = hmac.digest(root, b"graveler login token", hashlib.sha256)
        return self._token_key


class _Memory(Generic[V]):
    """Remembers for MEMORY_S what a look-up found; a name that it did not find, never."""

    def __init__(self, clock: Clock, look_up: Callable[[str], V | None]) -> None:
        self._clock = clock
        self._look_up = look_up
        self._found: dict[str, tuple[V, int]] = {}

    def get(self, name: str) -> V | None:
        now_ns = self._clock.now_ns()
        found = self._found.get(name)
        if found is not None and now_ns < found[1]:
            return found[0]
        value = self._look_up(name)
        if value is None:
            self._found.pop(name, None)
            return None
        if len(self._found) >= MEMORY_ENTRIES_MAX:
            self._found.clear()
        self._found[name] = (value, now_ns + MEMORY_S * NS_PER_S)
        return value


def _basic_pair(encoded: str) -> tuple[str, str]:
    try:
        access_key_id, colon, secret = (
            base64.b64decode(encoded, validate=True).decode().partition(":")
        )
    except (binascii.Error, ValueError) as error:
        raise AuthenticationError(FAILURE_MESSAGE) from error
    if not colon:
        raise AuthenticationError(FAILURE_MESSAGE)
    return access_key_id, secret
