"""Identity tokens: requests of GetCallerIdentity that a client has signed, for us to send to AWS.

Theory of operation. The client signs a request to AWS's Security Token Service (STS) and gives us
the parts. We put them together again, send the request, and AWS answers who signed it. So the
client proves its identity without showing a secret.

The danger is a request to somewhere else, or one that was signed for someone else. Therefore every
part is checked against an exact pattern, and nothing of the token is sent unless it passed. The
host is one of STS. The request names us: the signature covers the header X-LakeFS-Server-ID, which
we fill in ourselves. So AWS refuses a request that was signed for another server.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NewType

import msgspec

from graveler.errors import InvalidInputError

ServerID = NewType("ServerID", str)

# A token of a role with a long session token has some 4 KB.
TOKEN_CHARACTERS_MAX = 16 * 1024
SERVER_ID_HEADER = "X-LakeFS-Server-ID"

_METHOD = "POST"
_ACTION = "GetCallerIdentity"
_VERSION = "2011-06-15"
_ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNED_HEADERS = ("host", "x-lakefs-server-id")

# STS accepts a presigned request for fifteen minutes; clients sign for one.
_LIFE_S_MAX = 15 * 60
_CLOCK_SKEW_S = 5 * 60

_REGION = r"[a-z]{2}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2}"
# STS has a global endpoint, and one for each region; those of China have a domain of their own.
_HOST = re.compile(
    rf"sts\.amazonaws\.com|sts(?:-fips)?\.(?P<region>{_REGION})\.amazonaws\.com(?P<china>\.cn)?"
)
_GLOBAL_REGION = "us-east-1"
_DATE = re.compile(r"[0-9]{8}T[0-9]{6}Z")
_ACCESS_KEY_ID = re.compile(r"[A-Z0-9]{16,128}")
_SIGNATURE = re.compile(r"[0-9a-f]{64}")
_SECURITY_TOKEN = re.compile(r"[A-Za-z0-9+/=]{0,8192}")
_ASSUMED_ROLE = re.compile(r"(arn:[a-z-]+:sts::[0-9]{12}:assumed-role/[^/]+)/[^/]+")


class _Token(msgspec.Struct, frozen=True):
    """The parts of a token, as clients of lakeFS send them."""

    method: str
    host: str
    region: str
    action: str
    date: str
    expiration_duration: str
    access_key_id: str
    signature: str
    signed_headers: list[str]
    version: str
    algorithm: str
    security_token: str | None = None

    __repr__ = object.__repr__  # shows no signature


@dataclass(frozen=True, slots=True, repr=False)
class SignedRequest:
    """A checked request to be sent: by POST over TLS, with an empty body; never printed."""

    host: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


def signed_request(token: str, server_id: ServerID, now_s: int) -> SignedRequest:
    """Return the request in an identity token.

    Raises:
        InvalidInputError: it is malformed, too old, or no request of GetCallerIdentity to STS
            that was signed for a server.
    """
    parts = _parts_of(token)
    host = _HOST.fullmatch(parts.host)
    if host is None:
        raise _invalid("host", "it is no host of AWS's STS")
    region = host["region"] or _GLOBAL_REGION
    if parts.region != region or bool(host["china"]) != region.startswith("cn-"):
        raise _invalid("region", f"it is not that of {parts.host}")
    for name, value, expected in (
        ("method", parts.method, _METHOD),
        ("action", parts.action, _ACTION),
        ("version", parts.version, _VERSION),
        ("algorithm", parts.algorithm, _ALGORITHM),
    ):
        if value != expected:
            raise _invalid(name, f"it must be {expected}")
    signed_headers = tuple(sorted(name.lower() for name in parts.signed_headers))
    if signed_headers != _SIGNED_HEADERS:
        raise _invalid("signed_headers", f"they must be {' and '.join(_SIGNED_HEADERS)}")
    _check_age(parts, now_s)
    for name, value, pattern in (
        ("access_key_id", parts.access_key_id, _ACCESS_KEY_ID),
        ("signature", parts.signature, _SIGNATURE),
        ("security_token", parts.security_token or "", _SECURITY_TOKEN),
    ):
        if pattern.fullmatch(value) is None:
            raise _invalid(name, "it has another form")
    scope = f"{parts.date[:8]}/{region}/sts/aws4_request"
    query = {
        "Action": _ACTION,
        "Version": _VERSION,
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{parts.access_key_id}/{scope}",
        "X-Amz-Date": parts.date,
        "X-Amz-Expires": parts.expiration_duration,
        "X-Amz-SignedHeaders": ";".join(_SIGNED_HEADERS),
        "X-Amz-Signature": parts.signature,
    }
    if parts.security_token:
        query["X-Amz-Security-Token"] = parts.security_token
    return SignedRequest(parts.host, query, {"Host": parts.host, SERVER_ID_HEADER: server_id})


def principals_of(arn: str) -> tuple[str, ...]:
    """Return the IDs under which the identity may be attached, the most specific first.

    All sessions of a role may be attached at once, by the ARN without the session's name.
    """
    role = _ASSUMED_ROLE.fullmatch(arn)
    return (arn,) if role is None else (arn, role[1])


def _parts_of(token: str) -> _Token:
    if len(token) > TOKEN_CHARACTERS_MAX:
        raise InvalidInputError(f"the identity token exceeds {TOKEN_CHARACTERS_MAX} characters")
    try:
        return msgspec.json.decode(base64.b64decode(token, validate=True), type=_Token)
    except (binascii.Error, ValueError, msgspec.MsgspecError, RecursionError):
        # Without the cause, whose message may quote the token.
        raise InvalidInputError(
            "the identity token is not the base64 of a JSON object with the parts of a request"
        ) from None


def _check_age(parts: _Token, now_s: int) -> None:
    """Check that the request is good now.

    Raises:
        InvalidInputError: it is not.
    """
    life_s = parts.expiration_duration
    if not re.fullmatch(r"[0-9]{1,4}", life_s) or not 1 <= int(life_s) <= _LIFE_S_MAX:
        raise _invalid("expiration_duration", f"it must be 1 to {_LIFE_S_MAX} seconds")
    signed_s = _unix_time_of(parts.date)
    if signed_s is None:
        raise _invalid("date", "write it as 20260131T120000Z")
    if not signed_s - _CLOCK_SKEW_S <= now_s <= signed_s + int(life_s):
        raise _invalid("date", "the request has expired, or is of the future: sign a new one")


def _unix_time_of(date: str) -> int | None:
    """Return the time in Unix seconds; None if it is malformed or does not exist."""
    if not _DATE.fullmatch(date):
        return None
    try:
        parsed = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(parsed.timestamp())


def _invalid(part: str, problem: str) -> InvalidInputError:
    """Return the error of a part; it quotes no part, because any may hold a secret."""
    return InvalidInputError(f"the identity token's {part} is invalid: {problem}")
