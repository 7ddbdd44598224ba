"""Sends requests to the API, repeats them where that is safe, and decodes the answers.

A request is repeated if the server says that it did nothing: it throttles, or other writers came
first. A read is also repeated if the server fails. A change is not, because it may have been made.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from graveler import errors
from graveler.errors import (
    BadPartsError,
    GravelerError,
    InvalidInputError,
    ThrottledError,
    UnknownOutcomeError,
    error_of_code,
)
from graveler.http.errors import KIND_HEADER, ErrorBody
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Requirement
from graveler.names import is_checksum
from graveler_gateway.lake.api.transport import (
    ApiNoResponseError,
    ApiResponse,
    ApiTransport,
    ApiUnreachableError,
)

T = TypeVar("T")

_TRIES_MAX = 4
_PAUSE_FIRST_S = 0.2
# Longer waits are left to the gateway's client.
_PAUSE_S_MAX = 5.0
# No entity tag equals a weak one, so the condition never holds.
_NEVER = 'W/""'
# Errors of statuses, for answers that name no class of error, such as API Gateway's own.
_ERRORS: Mapping[int, type[GravelerError]] = {
    400: errors.InvalidInputError,
    401: errors.AccessDeniedError,
    403: errors.ForbiddenError,
    404: errors.NotFoundError,
    409: errors.ConflictError,
    410: errors.GoneError,
    412: errors.PreconditionFailedError,
    413: errors.TooLargeError,
    416: errors.RangeNotSatisfiableError,
    429: errors.ContentionError,
    501: errors.UnsupportedError,
}


class Requests:
    """Sends requests to the API as one user; shared by threads."""

    def __init__(
        self, transport: ApiTransport, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._transport = transport
        self._sleep = sleep

    def ask(
        self,
        shape: type[T],
        method: str,
        segments: Sequence[str],
        query: Mapping[str, str] | None = None,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        """Return the document that the API answers; the arguments are those of `send`."""
        reply = self.send(method, segments, query, body=body, headers=headers)
        return self.read(shape, reply)

    def read(self, shape: type[T], reply: ApiResponse) -> T:
        """Return the document of an answer."""
        try:
            return msgspec.json.decode(reply.content, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ThrottledError(f"the endpoint does not answer like the API: {error}") from error

    def send(
        self,
        method: str,
        segments: Sequence[str],
        query: Mapping[str, str] | None = None,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiResponse:
        """Send a request; return the API's answer if it succeeds.

        Args:
            method: the HTTP method.
            segments: those of the path below `/api/v1`.
            query: the parameters; those with an empty value are left out.
            body: what is sent as JSON.
            headers: further headers.

        Raises:
            GravelerError: the API refused the request, or cannot be reached.
        """
        target = _target(segments, query or {})
        content = b"" if body is None else msgspec.json.encode(body)
        sent = {**(headers or {}), **({"content-type": "application/json"} if content else {})}
        is_change = method != "GET"
        for number in range(1, _TRIES_MAX + 1):
            pause_s: float | None = _PAUSE_FIRST_S * 2.0**number
            try:
                reply = self._transport.send(method, target, sent, content)
                if reply.status < 300:
                    return reply
                error = refusal_of(reply, is_change=is_change)
                pause_s = _pause_s(reply, number, is_change=is_change)
            except ApiUnreachableError as failure:
                error = ThrottledError(f"the API cannot be reached: {failure}")
            except ApiNoResponseError as failure:
                message = f"the API did not answer: {failure}"
                error = UnknownOutcomeError(message) if is_change else ThrottledError(message)
                pause_s = None if is_change else pause_s
            if pause_s is None or number == _TRIES_MAX:
                raise error
            self._sleep(pause_s)
        raise AssertionError("the last try returns or raises")


def _pause_s(reply: ApiResponse, number: int, *, is_change: bool) -> float | None:
    """Return the pause before the request is repeated; None if it must not be."""
    given = reply.headers.get("retry-after", "")
    if given:
        pause_s = float(given) if re.fullmatch("[0-9]{1,6}", given) else _PAUSE_S_MAX + 1
        return pause_s if reply.status in {429, 503} and pause_s <= _PAUSE_S_MAX else None
    repeats = reply.status == 429 or (not is_change and reply.status in {502, 503, 504})
    return _PAUSE_FIRST_S * 2.0**number if repeats else None


def _target(segments: Sequence[str], query: Mapping[str, str]) -> str:
    given = {name: value for name, value in query.items() if value}
    path = "".join(f"/{_encoded(segment)}" for segment in segments)
    return f"{path}?{urlencode(given)}" if given else path


def _encoded(name: str) -> str:
    """Return the name as a segment of the path, encoded twice if the API can decode it twice.

    Raises:
        InvalidInputError: servers would take it for another path.
    """
    if not name.strip("."):
        raise InvalidInputError(f"{name!r} is not a name")
    encoded = quote(name, safe="", errors="surrogateescape")
    return quote(encoded) if "%" in name else encoded


def text_of(path: bytes) -> str:
    """Return the path as text: the API has no other paths.

    Raises:
        InvalidInputError: it is not UTF-8.
    """
    try:
        return path.decode()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"path {path!r} is not UTF-8: encode it so") from error


def conditions_of(requirement: Requirement) -> dict[str, str]:
    """Return the requirement as headers."""
    headers: dict[str, str] = {}
    if requirement.is_absent:
        headers["if-none-match"] = "*"
    if requirement.is_present:
        headers["if-match"] = "*"
    if requirement.checksums is not None:
        tags = [f'"{each}"' for each in sorted(requirement.checksums) if is_checksum(each)]
        headers["if-match"] = ", ".join(tags) or _NEVER
    return headers


def amount_of(amount: int) -> str:
    """Return how many rows to ask for: 0 would mean the API's default."""
    return str(min(max(amount, 1), PAGE_AMOUNT_MAX))


def refusal_of(reply: ApiResponse, *, is_change: bool) -> GravelerError:
    """Return the error that the API answered."""
    kind, _, reason = reply.headers.get(KIND_HEADER.lower(), "").partition("/")
    body = _body_of(reply)
    if kind == BadPartsError.code:
        return BadPartsError(body.message, reason=reason)
    named = error_of_code(kind, body.message, body.details)
    if type(named) is not GravelerError:
        return named
    return error_of_status(reply.status, body.message, body.details, is_change=is_change)


def error_of_status(
    status: int, message: str, details: str = "", *, is_change: bool
) -> GravelerError:
    """Return the error of a status."""
    known = _ERRORS.get(status)
    if known is None:  # a server failed on the way, and a change may have been made
        known = errors.UnknownOutcomeError if is_change else errors.ThrottledError
    return error_of_code(known.code, message, details)


def _body_of(reply: ApiResponse) -> ErrorBody:
    try:
        return msgspec.json.decode(reply.content, type=ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ErrorBody(f"the API answered {reply.status}")
