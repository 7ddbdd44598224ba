"""What of an address does not exist: clients act differently on a bucket and on a key."""

from gateway.operations.call import Call
from gateway.operations.errors import error_of
from gateway.protocol.errors import Code, S3Error
from graveler.errors import (
    BucketRefusedError,
    InvalidInputError,
    NotFoundError,
    UploadNotFoundError,
)

_READS = frozenset({"GET", "HEAD"})


def missing(call: Call, error: NotFoundError | InvalidInputError) -> S3Error:
    """Return NoSuchBucket if the repository is missing, or the branch of a write; else NoSuchKey.

    lakeFS answers so as well. What has an invalid name does not exist, so readers get the same:
    clients ask for names that they make up, and take any other error for a failure.
    """
    if isinstance(error, UploadNotFoundError | BucketRefusedError):
        return error_of(error)
    message, is_invalid = str(error), isinstance(error, InvalidInputError)
    if not call.lake.has_repository(call.bucket):
        return S3Error(Code.NO_SUCH_BUCKET, message, details={"BucketName": call.bucket})
    if not call.target.key:
        return error_of(error) if is_invalid else S3Error(Code.NO_SUCH_BUCKET, message)
    branch = call.key.partition("/")[0]
    if call.head.method not in _READS:
        if not call.lake.has_branch(call.bucket, branch):
            return S3Error(Code.NO_SUCH_BUCKET, message)
        if is_invalid:
            return error_of(error)
    return S3Error(Code.NO_SUCH_KEY, message, details={"Key": call.key})
