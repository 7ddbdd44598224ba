"""What of an address does not exist: clients act differently on a bucket and on a key."""

from gateway.operations.call import Call
from gateway.operations.errors import error_of
from gateway.protocol.errors import Code, S3Error
from graveler.errors import NotFoundError, UploadNotFoundError

_READS = frozenset({"GET", "HEAD"})


def missing(call: Call, error: NotFoundError) -> S3Error:
    """Return NoSuchBucket if the repository is missing, or the branch of a write; else NoSuchKey.

    lakeFS answers so as well.
    """
    if isinstance(error, UploadNotFoundError):
        return error_of(error)
    message = str(error)
    if not call.lake.has_repository(call.bucket):
        return S3Error(Code.NO_SUCH_BUCKET, message, details={"BucketName": call.bucket})
    if not call.target.key:
        return S3Error(Code.NO_SUCH_BUCKET, message)
    branch = call.key.partition("/")[0]
    if call.head.method not in _READS and not call.lake.has_branch(call.bucket, branch):
        return S3Error(Code.NO_SUCH_BUCKET, message)
    return S3Error(Code.NO_SUCH_KEY, message, details={"Key": call.key})
