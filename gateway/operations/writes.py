"""PutObject: the content goes to S3 under a new address, and then an entry names it."""

from collections.abc import Iterable

from gateway.lake.port import Description, Stored
from gateway.operations.answers import Answer, etag_of
from gateway.operations.call import Call
from gateway.operations.content import Content
from gateway.operations.tags import tags_of_header, with_tags
from gateway.protocol import conditions, metadata
from gateway.protocol.errors import Code, S3Error
from graveler.model import Requirement

UNSIGNED = "UNSIGNED-PAYLOAD"
DEFAULT_CONTENT_TYPE = "binary/octet-stream"

# S3's limit on one request's content.
PUT_BYTES_MAX = 5 * 1024**3
# A content of this size is checked here, and sent again if S3 fails.
SMALL_BYTES_MAX = 256 * 1024

_STORAGE_CLASSES = frozenset(
    {
        "STANDARD",
        "REDUCED_REDUNDANCY",
        "STANDARD_IA",
        "ONEZONE_IA",
        "INTELLIGENT_TIERING",
        "GLACIER",
        "GLACIER_IR",
        "DEEP_ARCHIVE",
        "EXPRESS_ONEZONE",
    }
)


def put_object(call: Call) -> Answer:
    """Store the request's content as the object."""
    check_storage_class(call)
    if call.is_root:
        return _put_root(call)
    description = description_of(call)
    requirement = requirement_of(call)
    size_bytes = size_of(call)
    writing = call.lake.write(call.place, description, requirement)
    headers, payload_hash = sent_headers(call.content, call.settings.hashed_bytes_max)
    headers["content-length"] = str(size_bytes)
    written = call.transfers.write(
        lambda: writing.request(headers, payload_hash), sendable(call.content, size_bytes)
    )
    writing.finish(Stored(size_bytes, written.checksum))
    return Answer(200, {"ETag": etag_of(written.checksum), **call.content.checksums})


def _put_root(call: Call) -> Answer:
    """Take an empty `main/`, which clients make as a folder; the branch is there already."""
    call.lake.check_branch(call.bucket, call.key.rstrip("/"))
    if call.content.whole(0):
        raise S3Error(Code.NO_SUCH_KEY, f"{call.key!r} is a branch, not an object")
    return Answer(200, {"ETag": '"d41d8cd98f00b204e9800998ecf8427e"', **call.content.checksums})


def size_of(call: Call) -> int:
    """Return the size of the content, which the client must announce.

    Raises:
        S3Error: it is unknown, or too large for one request.
    """
    size_bytes = call.content.plan.size_bytes
    if size_bytes is None:
        raise S3Error(Code.MISSING_CONTENT_LENGTH)
    if size_bytes > PUT_BYTES_MAX:
        raise S3Error(
            Code.ENTITY_TOO_LARGE,
            details={
                "ProposedSize": str(size_bytes),
                "MaxSizeAllowed": str(PUT_BYTES_MAX),
            },
        )
    return size_bytes


def sendable(content: Content, size_bytes: int) -> bytes | Iterable[bytes]:
    """Return what is sent to S3: a small content whole, a larger one piece by piece."""
    if size_bytes <= SMALL_BYTES_MAX:
        return content.whole(SMALL_BYTES_MAX)
    return content.pieces()


def sent_headers(content: Content, hashed_bytes_max: int) -> tuple[dict[str, str], str]:
    """Return headers of the request to S3, and the payload's hash: S3 checks what it can."""
    plan = content.plan
    headers = {}
    if plan.content_md5 is not None and not plan.checks_md5:
        headers["content-md5"] = plan.content_md5
    if plan.payload_sha256 is None or plan.checks_sha256:
        return headers, UNSIGNED
    assert plan.size_bytes is None or plan.size_bytes <= hashed_bytes_max
    return headers, plan.payload_sha256


def description_of(call: Call) -> Description:
    """Return what the request's headers say of the object.

    Raises:
        S3Error: the metadata or the tags are malformed or too large.
    """
    described = metadata.of_headers(call.head)
    tags = tags_of_header(call.header("x-amz-tagging"))
    content_type = call.header("content-type") or DEFAULT_CONTENT_TYPE
    return Description(content_type, with_tags(described, tags))


def requirement_of(call: Call) -> Requirement:
    """Return what If-Match and If-None-Match require of the object that is replaced."""
    is_absent, is_present, checksums = conditions.write_condition(call.head)
    return Requirement(is_absent=is_absent, is_present=is_present, checksums=checksums)


def check_storage_class(call: Call) -> None:
    """Check that the storage class is one of S3's; all objects have the namespace's.

    Raises:
        S3Error: it is not.
    """
    storage_class = call.header("x-amz-storage-class")
    if storage_class is not None and storage_class not in _STORAGE_CLASSES:
        raise S3Error(Code.INVALID_STORAGE_CLASS)
