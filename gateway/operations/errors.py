"""The one map from the engine's errors to S3's codes."""

from collections.abc import Mapping

from gateway.protocol.errors import Code, S3Error
from graveler import errors

CODES: Mapping[type[errors.GravelerError], Code] = {
    errors.InvalidInputError: Code.INVALID_ARGUMENT,
    errors.BucketRefusedError: Code.ACCESS_DENIED,
    errors.AuthenticationError: Code.ACCESS_DENIED,
    errors.ForbiddenError: Code.ACCESS_DENIED,
    errors.NotFoundError: Code.NO_SUCH_KEY,
    errors.UploadNotFoundError: Code.NO_SUCH_UPLOAD,
    errors.AlreadyExistsError: Code.BUCKET_ALREADY_EXISTS,
    errors.ConflictError: Code.CONDITIONAL_REQUEST_CONFLICT,
    errors.GoneError: Code.OBJECT_GONE,
    errors.ObjectMissingError: Code.NO_SUCH_KEY,
    errors.PreconditionFailedError: Code.PRECONDITION_FAILED,
    errors.TooLargeError: Code.ENTITY_TOO_LARGE,
    errors.RangeNotSatisfiableError: Code.INVALID_RANGE,
    errors.ContentionError: Code.SLOW_DOWN,
    errors.TooManyAttemptsError: Code.SLOW_DOWN,
    # SDKs repeat the request, which is what a reader of the outcome would do as well.
    errors.UnknownOutcomeError: Code.SERVICE_UNAVAILABLE,
    errors.CorruptDataError: Code.INTERNAL_ERROR,
    errors.UnsupportedError: Code.NOT_IMPLEMENTED,
    errors.ThrottledError: Code.SLOW_DOWN,
}

_OF_PARTS = {
    code.text: code for code in (Code.INVALID_PART, Code.INVALID_PART_ORDER, Code.ENTITY_TOO_SMALL)
}
# The message says which of the client's expectations does not hold.
_OF_EXPECTATIONS = {code.text: code for code in (Code.BAD_DIGEST, Code.INVALID_REQUEST)}


def error_of(error: errors.GravelerError) -> S3Error:
    """Return the S3 error that clients get, with the engine's message."""
    if isinstance(error, errors.BadPartsError):
        return _error_of_parts(error)
    for ancestor in type(error).__mro__:
        code = CODES.get(ancestor)
        if code is not None:
            return S3Error(code, str(error))
    raise AssertionError(f"no code for {type(error).__name__}: add it to the table")


def _error_of_parts(error: errors.BadPartsError) -> S3Error:
    if error.reason in _OF_EXPECTATIONS:
        return S3Error(_OF_EXPECTATIONS[error.reason], str(error))
    return S3Error(_OF_PARTS.get(error.reason, Code.INVALID_PART))
