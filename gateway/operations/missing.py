"""What of an address does not exist: a bucket, a key, or only the data of the object."""

from gateway.lake.port import Lake
from gateway.operations.call import Call
from gateway.operations.errors import error_of
from gateway.protocol.addressing import Target, copy_source, split_key
from gateway.protocol.errors import Code, S3Error
from gateway.transfer.store import DataChangedError, DataMissingError
from graveler.errors import (
    BucketRefusedError,
    DataReplacedError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    UploadNotFoundError,
)

_READS = frozenset({"GET", "HEAD"})


def check_endpoint(lake: Lake, target: Target) -> None:
    """Check that the client's endpoint is the gateway, not the API's URL, which ends in `/api/v1`.

    Raises:
        S3Error: the request names the branch `v1` of a repository `api` that does not exist.
    """
    is_of_api = target.bucket == "api" and split_key(target.key).ref == "v1"
    if is_of_api and not lake.has_repository(target.bucket):
        raise S3Error(Code.NO_SUCH_BUCKET_POSSIBLE_API_ENDPOINT)


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


def without_data(call: Call, error: GoneError | DataMissingError) -> S3Error:
    """Return the refusal that names the object: the one to read, or the source to copy."""
    header = call.header("x-amz-copy-source")
    if header is None:
        shown = f"s3://{call.bucket}/{call.key}"
    else:
        source = copy_source(header)
        shown = f"s3://{source.bucket}/{source.ref}/{source.path.decode('utf-8', 'replace')}"
    if isinstance(error, DataReplacedError):
        return S3Error(Code.OBJECT_GONE, f"{shown}: {error}")
    if isinstance(error, DataChangedError):
        return S3Error(Code.OBJECT_GONE, f"The data of {shown} were replaced: {error}")
    return S3Error(
        Code.OBJECT_GONE,
        f"{shown} has no data any more: garbage collection, or the owner of imported data, has "
        "deleted it",
    )
