"""The engine's errors, made again from the API's answers."""

from collections.abc import Mapping

import msgspec

from gateway.lake.api.transport import Reply
from graveler import errors
from graveler.errors import BadPartsError, GravelerError, error_of_code
from graveler.http.errors import KIND_HEADER, ErrorBody

# What a status means if the answer does not name the error's class. API Gateway's own do not.
_KINDS: Mapping[int, type[GravelerError]] = {
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


def refusal_of(reply: Reply, *, is_change: bool) -> GravelerError:
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
    """Return the error that a status stands for."""
    known = _KINDS.get(status)
    if known is None:  # a server failed on the way, and a change may have been made
        known = errors.UnknownOutcomeError if is_change else errors.ThrottledError
    return error_of_code(known.code, message, details)


def _body_of(reply: Reply) -> ErrorBody:
    try:
        return msgspec.json.decode(reply.content, type=ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ErrorBody(f"the API answered {reply.status}")
