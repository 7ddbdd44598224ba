"""Multipart uploads: their creation, parts, completion and listing."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graveler_gateway.protocol import dates
from graveler_gateway.protocol.checksums import ELEMENTS
from graveler_gateway.protocol.documents.markup import (
    Markup,
    branch,
    document,
    flag,
    given,
    leaf,
    leaves,
    quoted_etag,
    url_encoded,
)
from graveler_gateway.protocol.documents.pages import common_prefixes
from graveler_gateway.protocol.documents.reading import Element, malformed, root_of
from graveler_gateway.protocol.documents.results import owner
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.listings import PartsQuery, UploadsQuery

# S3's limit.
PARTS_MAX = 10_000

_NUMBER = re.compile("[0-9]{1,9}")
_STORAGE_CLASS = "STANDARD"
_CHECKSUMS = frozenset(ELEMENTS.values())


@dataclass(frozen=True, slots=True)
class CompletedPart:
    """A part of a completion.

    etag has no quotes; checksums are those of known algorithms, by the names of their elements.
    """

    number: int
    etag: str
    checksums: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartElement:
    """An uploaded part in a listing."""

    number: int
    last_modified_ns: int
    etag: str
    size_bytes: int
    checksums: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UploadElement:
    """An upload in a listing."""

    key: str
    upload_id: str
    initiated_ns: int


@dataclass(frozen=True, slots=True)
class UploadsPage:
    """A page of uploads; the markers are those of the next page, empty on the last one."""

    rows: Sequence[UploadElement]
    common_prefixes: Sequence[str] = ()
    is_truncated: bool = False
    next_key_marker: str = ""
    next_upload_id_marker: str = ""


def upload_created(bucket: str, key: str, upload_id: str) -> bytes:
    """Return InitiateMultipartUploadResult."""
    return document(
        "InitiateMultipartUploadResult",
        [leaf("Bucket", bucket), leaf("Key", key), leaf("UploadId", upload_id)],
    )


def parse_completion(body: bytes) -> list[CompletedPart]:
    """Return the parts of CompleteMultipartUpload, whose numbers ascend.

    Raises:
        S3ResponseError: MALFORMED_XML, also for no part or more than 10,000; INVALID_PART_ORDER;
            INVALID_ARGUMENT or INVALID_PART for a number that no part can have.
    """
    root = root_of(body, "CompleteMultipartUpload")
    found = [_completed_part(element) for element in root.named("Part")]
    if not 1 <= len(found) <= PARTS_MAX:
        raise malformed()
    numbers = [part.number for part in found]
    if any(number >= following for number, following in itertools.pairwise(numbers)):
        raise S3ResponseError(Code.INVALID_PART_ORDER)
    if numbers[0] < 1:
        raise S3ResponseError(Code.INVALID_ARGUMENT, "PartNumber must be >= 1")
    if numbers[-1] > PARTS_MAX:
        raise S3ResponseError(Code.INVALID_PART)
    return found


def completed(
    location: str, bucket: str, key: str, etag: str, checksums: Mapping[str, str]
) -> bytes:
    """Return CompleteMultipartUploadResult; checksums are by the names of their elements."""
    return document(
        "CompleteMultipartUploadResult",
        [
            leaf("Location", location),
            leaf("Bucket", bucket),
            leaf("Key", key),
            quoted_etag(etag),
            *leaves(checksums),
        ],
    )


def parts(
    bucket: str,
    key: str,
    query: PartsQuery,
    rows: Sequence[PartElement],
    *,
    is_truncated: bool,
    owner_id: str,
) -> bytes:
    """Return ListPartsResult; the next page begins after its last part."""
    return document(
        "ListPartsResult",
        [
            leaf("Bucket", bucket),
            leaf("Key", key),
            leaf("UploadId", query.upload_id),
            owner(owner_id, "Initiator"),
            owner(owner_id),
            leaf("StorageClass", _STORAGE_CLASS),
            leaf("PartNumberMarker", query.number_marker),
            leaf("NextPartNumberMarker", rows[-1].number if rows else 0),
            leaf("MaxParts", query.amount),
            flag("IsTruncated", value=is_truncated),
            *map(_part, rows),
        ],
    )


def uploads(bucket: str, query: UploadsQuery, page: UploadsPage, owner_id: str) -> bytes:
    """Return ListMultipartUploadsResult."""

    def encoded(text: str) -> str:
        return url_encoded(text) if query.url_encoded else text

    def upload(row: UploadElement) -> Markup:
        return branch(
            "Upload",
            [
                leaf("Key", encoded(row.key)),
                leaf("UploadId", row.upload_id),
                owner(owner_id, "Initiator"),
                owner(owner_id),
                leaf("StorageClass", _STORAGE_CLASS),
                leaf("Initiated", dates.iso(row.initiated_ns)),
            ],
        )

    return document(
        "ListMultipartUploadsResult",
        [
            leaf("Bucket", bucket),
            leaf("KeyMarker", encoded(query.key_marker)),
            leaf("UploadIdMarker", query.upload_id_marker),
            leaf("NextKeyMarker", encoded(page.next_key_marker)),
            leaf("NextUploadIdMarker", page.next_upload_id_marker),
            given("Prefix", encoded(query.prefix)),
            given("Delimiter", encoded(query.delimiter)),
            given("EncodingType", "url" if query.url_encoded else ""),
            leaf("MaxUploads", query.amount),
            flag("IsTruncated", value=page.is_truncated),
            *map(upload, page.rows),
            *common_prefixes(page.common_prefixes, is_url_encoded=query.url_encoded),
        ],
    )


def _part(row: PartElement) -> Markup:
    return branch(
        "Part",
        [
            leaf("PartNumber", row.number),
            leaf("LastModified", dates.iso(row.last_modified_ns)),
            quoted_etag(row.etag),
            leaf("Size", row.size_bytes),
            *leaves(row.checksums),
        ],
    )


def _completed_part(element: Element) -> CompletedPart:
    number = element.required("PartNumber").strip()
    if not _NUMBER.fullmatch(number):
        raise malformed()
    return CompletedPart(
        number=int(number),
        # Java's first SDK sends no quotes.
        etag=element.required("ETag").strip().strip('"'),
        checksums={
            child.name: child.text.strip() for child in element.children if child.name in _CHECKSUMS
        },
    )
