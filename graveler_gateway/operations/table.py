"""Finds a request's operation by its method, its level, and the sub-resource in its query."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from graveler.data_headers import ENCRYPTION
from graveler_gateway.operations import (
    buckets,
    copies,
    deletions,
    listings,
    multipart_uploads,
    reads,
    tagging,
    writes,
)
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response
from graveler_gateway.protocol.addressing import BucketAndKey
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead

Run = Callable[[S3Request], S3Response]


class AddressLevel(Enum):
    """The kind of thing that an address names."""

    SERVICE = "service"
    BUCKET = "bucket"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class S3Operation:
    """An operation of S3, with the parameters that its request must have.

    copies: the request has `x-amz-copy-source`.
    """

    name: str
    method: str
    level: AddressLevel
    run: Run
    parameters: frozenset[str] = frozenset()
    copies: bool = False


def _row(
    name: str, method: str, level: AddressLevel, run: Run, parameters: str = "", copied: str = ""
) -> S3Operation:
    return S3Operation(name, method, level, run, frozenset(parameters.split()), bool(copied))


_S, _B, _O = AddressLevel.SERVICE, AddressLevel.BUCKET, AddressLevel.OBJECT

# The operations that choose an encryption, as S3's do.
_ENCRYPTING = frozenset({"CopyObject", "CreateMultipartUpload", "PutObject"})

# The first row that fits counts, so those with more parameters come first.
OPERATIONS: tuple[S3Operation, ...] = (
    _row("ListBuckets", "GET", _S, buckets.list_buckets),
    _row("GetObjectTagging", "GET", _O, tagging.get_object_tagging, "tagging"),
    _row("GetObjectAttributes", "GET", _O, reads.get_object_attributes, "attributes"),
    _row("ListParts", "GET", _O, multipart_uploads.list_parts, "uploadId"),
    _row("GetObject", "GET", _O, reads.get_object),
    _row("HeadObject", "HEAD", _O, reads.head_object),
    _row("PutObjectTagging", "PUT", _O, tagging.put_object_tagging, "tagging"),
    _row(
        "UploadPartCopy",
        "PUT",
        _O,
        multipart_uploads.copy_part,
        "partNumber uploadId",
        "copied",
    ),
    _row("UploadPart", "PUT", _O, multipart_uploads.upload_part, "partNumber uploadId"),
    _row("CopyObject", "PUT", _O, copies.copy_object, "", "copied"),
    _row("PutObject", "PUT", _O, writes.put_object),
    _row("CreateMultipartUpload", "POST", _O, multipart_uploads.create_upload, "uploads"),
    _row(
        "CompleteMultipartUpload",
        "POST",
        _O,
        multipart_uploads.complete_upload,
        "uploadId",
    ),
    _row("DeleteObjectTagging", "DELETE", _O, tagging.delete_object_tagging, "tagging"),
    _row("AbortMultipartUpload", "DELETE", _O, multipart_uploads.abort_upload, "uploadId"),
    _row("DeleteObject", "DELETE", _O, deletions.delete_object),
    _row("GetBucketLocation", "GET", _B, buckets.get_bucket_location, "location"),
    _row("GetBucketVersioning", "GET", _B, buckets.get_bucket_versioning, "versioning"),
    _row("ListMultipartUploads", "GET", _B, multipart_uploads.list_uploads, "uploads"),
    _row("ListObjects", "GET", _B, listings.list_objects),
    _row("HeadBucket", "HEAD", _B, buckets.head_bucket),
    _row("DeleteObjects", "POST", _B, deletions.delete_objects, "delete"),
    _row("CreateBucket", "PUT", _B, buckets.create_bucket),
    _row("DeleteBucket", "DELETE", _B, buckets.delete_bucket),
)

# Parameters that name another operation. One that the row does not have is refused, so that no
# request for an ACL overwrites an object.
_SUB_RESOURCES = frozenset(
    [
        "accelerate",
        "acl",
        "analytics",
        "attributes",
        "cors",
        "delete",
        "encryption",
        "intelligent-tiering",
        "inventory",
        "legal-hold",
        "lifecycle",
        "location",
        "logging",
        "metadataConfiguration",
        "metadataInventoryTable",
        "metadataJournalTable",
        "metadataTable",
        "metrics",
        "notification",
        "object-lock",
        "ownershipControls",
        "partNumber",
        "policy",
        "policyStatus",
        "publicAccessBlock",
        "renameObject",
        "replication",
        "requestPayment",
        "restore",
        "retention",
        "select",
        "session",
        "tagging",
        "torrent",
        "uploadId",
        "uploads",
        "versioning",
        "versions",
        "website",
    ]
)
# Headers of features that are not served. If one were ignored, an object could be stored in an
# unexpected way, or deleted against the client's will.
_UNSERVED_HEADERS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            f"{start}server-side-encryption-customer-{part}"
            for start in ("x-amz-", "x-amz-copy-source-")
            for part in ("algorithm", "key", "key-md5")
        ),
        "encryption with the client's keys",
    ),
    "x-amz-object-lock-mode": "object locks",
    "x-amz-object-lock-legal-hold": "object locks",
    "x-amz-object-lock-retain-until-date": "object locks",
    **dict.fromkeys(
        (f"x-amz-checksum-xxhash{kind}" for kind in ("3", "64", "128")), "checksums by xxHash"
    ),
    "x-amz-write-offset-bytes": "appending to objects",
    "x-amz-if-match-size": "conditions on the size",
    "x-amz-if-match-last-modified-time": "conditions on the time of the last change",
    "x-amz-rename-source": "renaming objects",
}


def operation_of(head: RequestHead, target: BucketAndKey) -> S3Operation:
    """Return the operation that the request means.

    Raises:
        S3ResponseError: it is not served, or the method is not one of the level.
    """
    level = _O if target.key else _B if target.bucket else _S
    named = _SUB_RESOURCES.intersection(head.parameters)
    # An empty source is refused: without it, the request would store an empty object.
    copies_ = head.sent_header("x-amz-copy-source") is not None
    has_method = False
    for row in OPERATIONS:
        if (row.method, row.level) != (head.method, level):
            continue
        has_method = True
        if row.parameters <= named and row.copies <= copies_ and _fits(row, named):
            check_headers(head)
            _check_encryption(head, row)
            return row
    if named and (has_method or level is not _S):
        raise S3ResponseError(
            Code.NOT_IMPLEMENTED, f"The S3 gateway does not serve {', '.join(sorted(named))}"
        )
    raise S3ResponseError(Code.METHOD_NOT_ALLOWED)


def _fits(row: S3Operation, named: frozenset[str]) -> bool:
    """Whether the row has all sub-resources of the request; a read may have a part number."""
    further = named - row.parameters
    return not further or (row.method in {"GET", "HEAD"} and further == {"partNumber"})


def check_headers(head: RequestHead) -> None:
    """Check that no header asks for a feature that is not served.

    Raises:
        S3ResponseError: one does.
    """
    for name, what in _UNSERVED_HEADERS.items():
        if head.header(name) is not None:
            raise S3ResponseError(Code.NOT_IMPLEMENTED, f"The S3 gateway does not serve {what}")


def _check_encryption(head: RequestHead, row: S3Operation) -> None:
    asked = [name for name in ENCRYPTION if head.header(name)]
    if asked and row.name not in _ENCRYPTING:
        message = f"{asked[0]} header is not supported for this operation."
        raise S3ResponseError(Code.INVALID_ARGUMENT, message)
