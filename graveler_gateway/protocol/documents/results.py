"""Documents of a few elements: errors, and results of single buckets and objects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from graveler_gateway.protocol import dates
from graveler_gateway.protocol.documents.markup import (
    Markup,
    branch,
    document,
    escaped,
    given,
    leaf,
    leaves,
    quoted_etag,
)

# S3 leaves out the name of its first region.
_REGION_WITHOUT_NAME = "us-east-1"


def error(
    code_text: str,
    message: str,
    *,
    resource: str,
    request_id: str,
    details: Mapping[str, str],
    host_id: str = "",
) -> bytes:
    """Return the document Error; each of the details is an element."""
    return document(
        "Error",
        [
            leaf("Code", code_text),
            leaf("Message", message),
            *(leaf(name, value) for name, value in details.items()),
            leaf("Resource", resource),
            leaf("RequestId", request_id),
            leaf("HostId", host_id),
        ],
        namespace="",
    )


def owner(owner_id: str, name: str = "Owner") -> Markup:
    """Return the element of an owner, whose ID is the name to display as well."""
    return branch(name, [leaf("ID", owner_id), leaf("DisplayName", owner_id)])


def buckets(
    owner_id: str,
    rows: Iterable[tuple[str, int]],
    prefix: str = "",
    continuation_token: str = "",
) -> bytes:
    """Return ListAllMyBucketsResult of buckets, each a name and its creation in seconds."""
    listed = (
        branch(
            "Bucket",
            [leaf("Name", name), leaf("CreationDate", dates.iso(created_s * 1_000_000_000))],
        )
        for name, created_s in rows
    )
    return document(
        "ListAllMyBucketsResult",
        [
            owner(owner_id),
            branch("Buckets", listed),
            given("Prefix", prefix),
            given("ContinuationToken", continuation_token),
        ],
    )


def location(region: str) -> bytes:
    """Return LocationConstraint, which is empty for us-east-1."""
    name = "" if region == _REGION_WITHOUT_NAME else region
    return document("LocationConstraint", [escaped(name)])


def versioning() -> bytes:
    """Return VersioningConfiguration of a bucket that never had versions."""
    return document("VersioningConfiguration", [])


def copied(
    etag: str, last_modified_ns: int, checksums: Mapping[str, str] = {}, *, is_part: bool = False
) -> bytes:
    """Return CopyObjectResult, or CopyPartResult; checksums are by the names of their elements."""
    return document(
        "CopyPartResult" if is_part else "CopyObjectResult",
        [
            leaf("LastModified", dates.iso(last_modified_ns)),
            quoted_etag(etag),
            *leaves(checksums),
        ],
    )


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of an object; None for those that the request does not want."""

    etag: str | None = None
    storage_class: str | None = None
    size_bytes: int | None = None
    parts_count: int | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)


def object_attributes(attributes: Attributes) -> bytes:
    """Return GetObjectAttributesResponse; its ETag has no quotes."""
    parts = attributes.parts_count
    return document(
        "GetObjectAttributesResponse",
        [
            given("ETag", attributes.etag),
            branch("Checksum", leaves(attributes.checksums))
            if attributes.checksums
            else Markup(""),
            Markup("") if parts is None else branch("ObjectParts", [leaf("PartsCount", parts)]),
            given("StorageClass", attributes.storage_class),
            given("ObjectSize", attributes.size_bytes),
        ],
    )


def post_response(location: str, bucket: str, key: str, etag: str) -> bytes:
    """Return PostResponse, the answer to an upload by form with status 201."""
    return document(
        "PostResponse",
        [
            leaf("Location", location),
            leaf("Bucket", bucket),
            leaf("Key", key),
            quoted_etag(etag),
        ],
        namespace="",
    )
