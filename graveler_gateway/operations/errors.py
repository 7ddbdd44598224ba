"""The one map from the engine's errors to S3's codes, and the errors of missing things."""

from collections.abc import Mapping

from graveler import errors
from graveler.errors import (
    BucketRefusedError,
    DataReplacedError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    UploadNotFoundError,
)
from graveler_gateway.lake.port import UserLake
from graveler_gateway.operations.request import S3Request
from graveler_gateway.protocol.addressing import BucketAndKey, copy_source, split_key
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.transfer.store import DataChangedError, DataMissingError

CODES: Mapping[type[errors.GravelerError], Code] = {
    errors.InvalidInputError: Code.INVALID_ARGUMENT,
    errors.BucketRefusedError: Code.ACCESS_DENIED,
    errors.TooManyWaitsError: Code.SLOW_DOWN,
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
    # SDKs repeat the request, as a client with an unknown outcome should.
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


def error_of(error: errors.GravelerError) -> S3ResponseError:
    """Return the S3 error that clients get, with the engine's message."""
    if isinstance(error, errors.BadPartsError):
        return _error_of_parts(error)
    for ancestor in type(error).__mro__:
        code = CODES.get(ancestor)
        if code is not None:
            return S3ResponseError(code, str(error))
    raise AssertionError(f"no code for {type(error).__name__}: add it to the table")


def _error_of_parts(error: errors.BadPartsError) -> S3ResponseError:
    if error.reason in _OF_EXPECTATIONS:
        return S3ResponseError(_OF_EXPECTATIONS[error.reason], str(error))
    return S3ResponseError(_OF_PARTS.get(error.reason, Code.INVALID_PART))


_READS = frozenset({"GET", "HEAD"})


def check_endpoint(lake: UserLake, target: BucketAndKey) -> None:
    """Check that the client's endpoint is the gateway, not the API's URL, which ends in `/api/v1`.

    Raises:
        S3ResponseError: the request names branch `v1` of a repository `api` that does not exist.
    """
    is_of_api = target.bucket == "api" and split_key(target.key).ref == "v1"
    if is_of_api and not lake.has_repository(target.bucket):
        raise S3ResponseError(Code.NO_SUCH_BUCKET_POSSIBLE_API_ENDPOINT)


def missing(request: S3Request, error: NotFoundError | InvalidInputError) -> S3ResponseError:
    """Return NoSuchBucket if the repository is missing, or the branch of a write; else NoSuchKey.

    lakeFS answers so as well. Readers get the same for an invalid name, as nothing can have it.
    Clients try names that they make up, and take any other error for a failure.
    """
    if isinstance(error, UploadNotFoundError | BucketRefusedError):
        return error_of(error)
    message, is_invalid = str(error), isinstance(error, InvalidInputError)
    if not request.lake.has_repository(request.bucket):
        return S3ResponseError(Code.NO_SUCH_BUCKET, message, details={"BucketName": request.bucket})
    if not request.target.key:
        return error_of(error) if is_invalid else S3ResponseError(Code.NO_SUCH_BUCKET, message)
    branch = request.key.partition("/")[0]
    if request.head.method not in _READS:
        if not request.lake.has_branch(request.bucket, branch):
            return S3ResponseError(Code.NO_SUCH_BUCKET, message)
        if is_invalid:
            return error_of(error)
    return S3ResponseError(Code.NO_SUCH_KEY, message, details={"Key": request.key})


def without_data(request: S3Request, error: GoneError | DataMissingError) -> S3ResponseError:
    """Return the refusal that names the object: the one to read, or the source to copy."""
    header = request.header("x-amz-copy-source")
    if header is None:
        shown = f"s3://{request.bucket}/{request.key}"
    else:
        source = copy_source(header)
        shown = f"s3://{source.bucket}/{source.ref}/{source.path.decode('utf-8', 'replace')}"
    if isinstance(error, DataReplacedError):
        return S3ResponseError(Code.OBJECT_GONE, f"{shown}: {error}")
    if isinstance(error, DataChangedError):
        return S3ResponseError(Code.OBJECT_GONE, f"The data of {shown} were replaced: {error}")
    return S3ResponseError(
        Code.OBJECT_GONE,
        f"{shown} has no data: garbage collection, or the owner of imported data, has deleted it, "
        "or it was never stored",
    )
