"""PutObject: the content goes to S3 under a new address, and then an entry names it."""

from base64 import b64encode
from collections.abc import Iterable, Mapping

from graveler.data_headers import ENCRYPTION, KEPT, DataHeaders, encryption_of, kept_of
from graveler.model import Requirement
from graveler.user_metadata import stored_metadata
from graveler_gateway.lake.port import Description, ObjectPlace, PartWriting
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response, etag_of
from graveler_gateway.operations.tagging import tags_of_header, with_tags
from graveler_gateway.protocol import conditions, metadata
from graveler_gateway.protocol.bodies import trailed
from graveler_gateway.protocol.checksums import declared as declared_checksum
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.transfer.store import Written

UNSIGNED = "UNSIGNED-PAYLOAD"

# S3's limit on one request's content.
PUT_BYTES_MAX = 5 * 1024**3
# A content of this size is checked here, and sent again if S3 fails.
SMALL_BYTES_MAX = 256 * 1024

_ETAG_OF_NOTHING = '"d41d8cd98f00b204e9800998ecf8427e"'

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


def put_object(request: S3Request) -> S3Response:
    """Store the request's content as the object."""
    check_storage_class(request)
    if request.is_root:
        return _put_root(request)
    description = description_of(request)
    size_bytes = size_of(request)
    writing = request.lake.write(request.place, description, requirement_of(request))
    coding = (description.headers.kept or {}).get("content-encoding", "")
    written = send(request, size_bytes, writing, coding)
    writing.finish(size_bytes, written.checksum)
    return stored_response(request, written)


def stored_response(request: S3Request, written: Written) -> S3Response:
    """Return the answer to a request whose content S3 has."""
    etag = {"ETag": etag_of(written.checksum)}
    return S3Response(200, {**etag, **written.headers, **request.content.checksums})


def _put_root(request: S3Request) -> S3Response:
    """Take an empty `main/`, which clients make as a folder; the branch is there already."""
    branch = request.key.rstrip("/")
    request.lake.check_write(ObjectPlace(request.bucket, branch, b""))
    if not request.lake.has_branch(request.bucket, branch):
        raise S3ResponseError(Code.NO_SUCH_BUCKET, f"There is no branch {branch!r}")
    if request.content.whole(SMALL_BYTES_MAX):
        raise S3ResponseError(Code.NO_SUCH_KEY, f"{request.key!r} is a branch, not an object")
    return S3Response(200, {"ETag": _ETAG_OF_NOTHING, **request.content.checksums})


def size_of(request: S3Request) -> int:
    """Return the size of the content, which the client must announce.

    Raises:
        S3ResponseError: it is unknown, or too large for one request.
    """
    size_bytes = request.content.size_bytes
    if size_bytes is None:
        raise S3ResponseError(Code.MISSING_CONTENT_LENGTH)
    if size_bytes > PUT_BYTES_MAX:
        details = {"ProposedSize": str(size_bytes), "MaxSizeAllowed": str(PUT_BYTES_MAX)}
        raise S3ResponseError(Code.ENTITY_TOO_LARGE, details=details)
    return size_bytes


def send(request: S3Request, size_bytes: int, writing: PartWriting, coding: str = "") -> Written:
    """Store the request's content, which has this coding, in S3.

    A small content is checked here, and can be sent again. Of a larger one, S3 checks the digests
    that the client sent. S3 also gets the client's checksum, and keeps it. A checksum in a trailer
    is sent on in a trailer.

    Raises:
        S3ResponseError: the content is not what the client announced, or S3 refuses it.
    """
    headers = {"content-length": str(size_bytes)}
    content: bytes | Iterable[bytes]
    trailer = request.content.trailer
    if size_bytes <= SMALL_BYTES_MAX:
        content, payload_hash = request.content.whole(SMALL_BYTES_MAX), UNSIGNED
    elif trailer and writing.takes_checksums:
        headers = trailed.headers_of(size_bytes, trailer, coding)
        pieces = request.content.pieces(checks_digests=True)
        content = trailed.framed(
            pieces, size_bytes, trailer, lambda: request.content.checksums[trailer.header]
        )
        payload_hash = trailed.PAYLOAD_HASH
    elif size_bytes > request.settings.hashed_bytes_max:
        content, payload_hash = request.content.pieces(checks_digests=True), UNSIGNED
    else:
        plan = request.content.plan
        if plan.content_md5 is not None:
            headers["content-md5"] = b64encode(plan.content_md5).decode()
        content = request.content.pieces(checks_digests=False)
        payload_hash = plan.payload.sha256 or UNSIGNED
    if writing.takes_checksums:
        headers |= request.content.checksums
    return request.transfers.write(lambda: writing.request(headers, payload_hash), content)


def description_of(request: S3Request) -> Description:
    """Return the object's description in the request's headers.

    Raises:
        S3ResponseError: the metadata or the tags are malformed or too large.
        InvalidInputError: S3 cannot keep the headers.
    """
    return described(request.head, tags_of_header(request.header("x-amz-tagging")))


def described(head: RequestHead, tags: Mapping[str, str]) -> Description:
    """Return the object's description in the head, with these tags.

    Raises:
        S3ResponseError: the metadata are too large.
        InvalidInputError: S3 cannot keep the headers.
    """
    stored = stored_metadata(metadata.user_metadata(head))
    return Description(metadata.content_type(head), with_tags(stored, tags), data_headers_of(head))


def data_headers_of(head: RequestHead) -> DataHeaders:
    """Return the headers of the data: those that S3 keeps, their encryption, a checksum.

    Raises:
        InvalidInputError: S3 cannot keep the headers, or has no such encryption.
    """
    sent = {name: head.header(name) or "" for name in (*KEPT, *ENCRYPTION)}
    return DataHeaders(kept_of(sent), encryption_of(sent), declared_checksum(head))


def requirement_of(request: S3Request) -> Requirement:
    """Return what If-Match and If-None-Match require of the object that is replaced."""
    condition = conditions.write_condition(request.head)
    return Requirement(
        is_absent=condition.is_absent,
        is_present=condition.is_present,
        checksums=condition.checksums,
    )


def check_storage_class(request: S3Request) -> None:
    """Check that the storage class is one of S3's; all objects have the namespace's.

    Raises:
        S3ResponseError: it is not.
    """
    storage_class = request.header("x-amz-storage-class")
    if storage_class is not None and storage_class not in _STORAGE_CLASSES:
        raise S3ResponseError(Code.INVALID_STORAGE_CLASS)
