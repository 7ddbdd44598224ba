"""The map from errors to HTTP statuses and headers, and the body of every error."""

from collections.abc import Mapping

import msgspec

from graveler import errors

STATUSES: Mapping[type[errors.GravelerError], int] = {
    errors.InvalidInputError: 400,
    errors.AuthenticationError: 401,
    errors.ForbiddenError: 403,
    errors.NotFoundError: 404,
    errors.AlreadyExistsError: 409,
    errors.ConflictError: 409,
    errors.GoneError: 410,
    errors.PreconditionFailedError: 412,
    errors.TooLargeError: 413,
    errors.RangeNotSatisfiableError: 416,
    errors.ContentionError: 429,
    errors.TooManyAttemptsError: 429,
    errors.TooManyWaitsError: 429,
    errors.UnknownOutcomeError: 503,
    errors.CorruptDataError: 500,
    errors.UnsupportedError: 501,
    errors.ThrottledError: 503,
}

# The header that names the error's class, since a status has several. For parts that cannot be
# joined, the code of S3's error follows behind a slash.
KIND_HEADER = "X-Graveler-Error"

# Clients back off by themselves, for about as long at first. Proxies and other tools need it.
RETRY_AFTER_S = 1


class ErrorBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """lakeFS's error body, whose message clients print, with our details."""

    message: str
    details: str = ""


def status_of(error: errors.GravelerError) -> int:
    """Return the status of an error's class or of its nearest mapped ancestor."""
    for ancestor in type(error).__mro__:
        status = STATUSES.get(ancestor)
        if status is not None:
            return status
    msg = f"no status for {type(error).__name__}: add it to the table"
    raise AssertionError(msg)


def headers_of(error: errors.GravelerError) -> dict[str, str]:
    """Return the headers of the error's answer."""
    kind = f"{error.code}/{error.reason}" if isinstance(error, errors.BadPartsError) else error.code
    return {KIND_HEADER: kind, **_advice_of(error)}


def _advice_of(error: errors.GravelerError) -> dict[str, str]:
    """Return the headers that advise the client how to continue."""
    if isinstance(error, errors.TooManyAttemptsError | errors.TooManyWaitsError):
        return {"Retry-After": str(error.retry_after_s)}
    if isinstance(error, errors.ThrottledError | errors.ContentionError):
        return {"Retry-After": str(RETRY_AFTER_S)}
    if isinstance(error, errors.RangeNotSatisfiableError) and error.size_bytes is not None:
        # The Python client reads the size from this header to end a read at the end of the object.
        return {"Content-Range": f"bytes */{error.size_bytes}"}
    if isinstance(error, errors.NoRulesError) and error.checksum is not None:
        return {"ETag": f'"{error.checksum}"'}
    return {}
