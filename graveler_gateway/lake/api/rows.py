"""The API's answers, as far as the gateway reads them, and their form in the port."""

from collections.abc import Mapping
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from graveler.data_headers import of_write
from graveler.names import checksum_tag
from graveler.ports import SignedS3Request
from graveler.staging.listing import CommonPrefix
from graveler.times import NS_PER_S
from graveler_gateway.lake.port import ListedPart, ListedUpload, Object, ObjectPlace

T = TypeVar("T")

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Pagination(Struct, frozen=True):
    has_more: bool
    next_offset: str


class Listing(Struct, Generic[T], frozen=True):
    pagination: Pagination
    results: list[T]


class User(Struct, frozen=True):
    id: str


class CurrentUser(Struct, frozen=True):
    user: User


class RepositoryRow(Struct, frozen=True):
    id: str
    creation_date: int


class BranchRow(Struct, frozen=True):
    id: str


class ObjectStats(Struct, frozen=True):
    path_type: str
    path: str
    physical_address: str
    checksum: str
    size_bytes: int = 0
    mtime: int = 0
    content_type: str = ""
    metadata: Mapping[str, str] | None = None


class UnderlyingProperties(Struct, frozen=True):
    headers: Mapping[str, str] = {}


class StorageLocation(Struct, frozen=True):
    physical_address: str
    presigned_url: str | None = None


class PartLocation(Struct, frozen=True):
    presigned_url: str


class RecordedUploadRow(Struct, frozen=True):
    path_type: str
    key: str
    upload_id: str = ""
    branch: str = ""
    path: str = ""
    creation_date: int = 0


class RecordedPartRow(Struct, frozen=True):
    part_number: int
    etag: str
    size_bytes: int
    mtime: int


class ObjectError(Struct, frozen=True):
    status_code: int
    message: str
    path: str


class ObjectErrorList(Struct, frozen=True):
    errors: list[ObjectError]


class PlacedObject(Object, frozen=True, gc=False, kw_only=True):
    """An object with its place, by which the API reads and copies it."""

    place: ObjectPlace


def object_of(
    row: ObjectStats, repository: str, ref: str, headers: Mapping[str, str] = {}
) -> PlacedObject:
    """Return the object that the row describes, at the ref; the answer to a write has headers."""
    path = row.path.encode()
    return PlacedObject(
        path=path,
        physical_address=row.physical_address,
        size_bytes=row.size_bytes,
        checksum=checksum_tag(row.checksum),
        last_modified_ns=row.mtime * NS_PER_S,
        content_type=row.content_type,
        metadata=row.metadata or {},
        headers=of_write(headers),
        place=ObjectPlace(repository, ref, path),
    )


def listed_object(row: ObjectStats, repository: str, ref: str) -> PlacedObject | CommonPrefix:
    """Return the object or the common prefix in a listing."""
    if row.path_type == "common_prefix":
        return CommonPrefix(row.path.encode())
    return object_of(row, repository, ref)


def listed_upload(row: RecordedUploadRow) -> ListedUpload | CommonPrefix:
    """Return the upload or the common prefix in a listing."""
    if row.path_type == "common_prefix":
        return CommonPrefix(row.key.encode())
    return ListedUpload(row.upload_id, row.branch, row.path.encode(), row.creation_date * NS_PER_S)


def part_of(row: RecordedPartRow) -> ListedPart:
    """Return the part that the row describes."""
    return ListedPart(row.part_number, row.etag, row.size_bytes, row.mtime * NS_PER_S)


def presigned_request(
    method: str, url: str, headers: Mapping[str, str], signed: Mapping[str, str] = {}
) -> SignedS3Request:
    """Return the request of a presigned URL, with the headers that the URL signs.

    S3 refuses other `x-amz-*` headers, so those among the headers are left out.
    """
    parts = urlsplit(url)
    path = parts.path or "/"
    sent = {name: value for name, value in headers.items() if not name.startswith("x-amz-")}
    return SignedS3Request(
        method,
        parts.scheme,
        parts.hostname or "",
        parts.port or _DEFAULT_PORTS.get(parts.scheme, 0),
        f"{path}?{parts.query}" if parts.query else path,
        {**sent, **signed, "host": parts.netloc},
    )
