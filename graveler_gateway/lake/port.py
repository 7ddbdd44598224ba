"""The port from S3's operations to a lake.

`graveler_gateway.lake.engine` implements it over the engine's stores, and
`graveler_gateway.lake.api` over the HTTP API, on a client's machine. Every method checks the user's
rights first, and raises the engine's errors (`graveler.errors`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from graveler.data_headers import NO_HEADERS, DataHeaders
from graveler.errors import GravelerError
from graveler.model import NO_REQUIREMENT, Page, Requirement
from graveler.ports import (
    NOTHING_EXPECTED,
    BegunUpload,
    Checksums,
    CopiedPart,
    ExpectedObject,
    SignedS3Request,
    UploadedPart,
)
from graveler.staging.listing import ListPage, PageQuery


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """A path at a ref; a ref that is written to is a branch."""

    repository: str
    ref: str
    path: bytes


@dataclass(frozen=True, slots=True)
class Bucket:
    """A repository, which S3's clients see as a bucket."""

    name: str
    creation_date: int  # Unix seconds


class Object(Struct, frozen=True, gc=False):
    """An object as readers see it; a Struct, of which a listing makes a thousand.

    physical_address is the whole URI of its data, checksum its entity tag without quotes.
    headers: those that S3 returned for data that this request stored.
    """

    path: bytes
    physical_address: str
    size_bytes: int
    checksum: str
    last_modified_ns: int
    content_type: str
    metadata: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}


class Description(Struct, frozen=True):
    """The type, the user metadata and the headers of an object that is written."""

    content_type: str
    metadata: Mapping[str, str] = {}
    headers: DataHeaders = NO_HEADERS


@dataclass(frozen=True, slots=True)
class ListedUpload:
    """A multipart upload that was begun and not ended."""

    id: str
    ref: str
    path: bytes
    created_ns: int


@dataclass(frozen=True, slots=True)
class ListedPart:
    """A part that S3 has of an upload."""

    number: int
    checksum: str
    size_bytes: int
    last_modified_ns: int
    checksums: Checksums = field(default_factory=dict)


class PartWriting(Protocol):
    """A permitted write of one part of an upload.

    takes_checksums: its requests may have a checksum, which S3 keeps.
    """

    @property
    def takes_checksums(self) -> bool: ...

    def request(self, headers: Mapping[str, str], payload_hash: str) -> SignedS3Request:
        """Return the request that stores the content; it has no Content-Length yet."""


class Writing(PartWriting, Protocol):
    """A permitted write of one object: the content goes to S3, and then `finish` shows it."""

    def finish(self, size_bytes: int, checksum: str) -> Object:
        """Make the stored content the object at the path, if the requirement still holds."""


class UserLake(Protocol):
    """The lake as one user may use it, for one request."""

    # Buckets

    def repositories(self, prefix: str, after: str, amount: int) -> Page[Bucket]:
        """Return a page of the repositories that the user may list."""

    def repository(self, name: str) -> Bucket:
        """Return the repository.

        Raises:
            NotFoundError: it does not exist.
        """

    def check_creation(self, name: str) -> None:
        """Check that the user may create repositories."""

    def branches(self, repository: str, prefix: str, after: str, amount: int) -> Page[str]:
        """Return a page of the branches' names."""

    def has_repository(self, name: str) -> bool:
        """Whether the repository exists; checks no right, and may use a cached answer."""

    def has_branch(self, repository: str, name: str) -> bool:
        """Whether the branch exists; checks no right."""

    # Reading

    def stat(self, place: ObjectPlace) -> Object:
        """Return the object at the place.

        Raises:
            NotFoundError: the repository, the ref or the object does not exist.
        """

    def objects(self, repository: str, ref: str, query: PageQuery) -> ListPage[Object]:
        """Return a page of the objects at a ref; they may lack their metadata.

        Raises:
            NotFoundError: the repository or the ref does not exist.
        """

    def data_headers(self, found: Object, *, with_checksums: bool = False) -> Mapping[str, str]:
        """Return the headers that S3 keeps with the object's data; none if the data are gone."""

    def reading(
        self, found: Object, *, with_checksums: bool = False
    ) -> Callable[[int, int], SignedS3Request]:
        """Return a function that signs ranged GETs of the bytes from first to last.

        with_checksums: S3 returns the checksums if the range is the whole object.
        """

    def verified(self, found: Object) -> Object:
        """Return the object with the present ETag of its data, if they are still the object's.

        Raises:
            DataReplacedError: others have replaced the data.
        """

    def reading_url(self, found: Object, signed: Mapping[str, str], expires_s: int) -> str | None:
        """Return a URL that reads the object; its reader sends the signed headers.

        None if the lake has no such URLs.
        """

    # Writing

    def check_write(self, place: ObjectPlace) -> None:
        """Check that the user may write at the place; whether it exists is checked later."""

    def write(
        self,
        place: ObjectPlace,
        description: Description,
        requirement: Requirement = NO_REQUIREMENT,
    ) -> Writing:
        """Begin to write the object at the place.

        Raises:
            NotFoundError: the repository or the branch does not exist.
            ForbiddenError: the branch is protected, or the repository is read-only.
            PreconditionFailedError: the requirement does not hold.
        """

    def copy(
        self,
        source: Object,
        source_repository: str,
        place: ObjectPlace,
        description: Description | None,
        requirement: Requirement = NO_REQUIREMENT,
    ) -> Object:
        """Copy the object to the place; without a description, with its own."""

    def describe(
        self, place: ObjectPlace, change: Callable[[Mapping[str, str]], Mapping[str, str]]
    ) -> None:
        """Replace the object's user metadata with `change(metadata)`."""

    def delete(self, place: ObjectPlace, requirement: Requirement = NO_REQUIREMENT) -> None:
        """Delete the object at the place; a missing one is no error without a requirement."""

    def delete_many(
        self, repository: str, branch: str, paths: Sequence[bytes]
    ) -> Sequence[tuple[bytes, GravelerError]]:
        """Delete the objects; return the paths that could not be deleted, with the errors."""

    # Multipart uploads

    def create_upload(self, place: ObjectPlace, description: Description) -> BegunUpload:
        """Begin an upload."""

    def uploads(self, repository: str, query: PageQuery, after_id: str) -> ListPage[ListedUpload]:
        """Return a page of the open uploads by key, `<ref>/<path>`, and ID.

        With after_id, uploads to the key query.after with a greater ID are on the page as well.
        """

    def part(self, place: ObjectPlace, upload_id: str, number: int) -> PartWriting:
        """Begin to write a part.

        Raises:
            UploadNotFoundError: the upload does not exist, or has ended.
        """

    def copy_part(
        self,
        place: ObjectPlace,
        upload_id: str,
        number: int,
        source: Object,
        byte_range: tuple[int, int] | None,
    ) -> CopiedPart:
        """Copy bytes of an object to a part."""

    def parts(
        self, place: ObjectPlace, upload_id: str, after: int, amount: int
    ) -> tuple[Sequence[ListedPart], bool]:
        """Return the parts after that number, and whether there are more."""

    def complete_upload(
        self,
        place: ObjectPlace,
        upload_id: str,
        parts: Sequence[UploadedPart],
        requirement: Requirement = NO_REQUIREMENT,
        expected: ExpectedObject = NOTHING_EXPECTED,
    ) -> Object:
        """Make the parts the object at the place; a repetition answers the same.

        Raises:
            UploadNotFoundError: the upload does not exist, or has ended in another way.
            BadPartsError: the parts are not the uploaded ones, or make an unexpected object.
            PreconditionFailedError: the requirement does not hold.
        """

    def abort_upload(self, place: ObjectPlace, upload_id: str) -> None:
        """End the upload and delete its parts.

        Raises:
            UploadNotFoundError: the upload does not exist, or has ended.
        """


@dataclass(frozen=True, slots=True, repr=False)
class ClientKeyPair:
    """An access key as signatures are checked against it; never printed."""

    access_key_id: str
    secret_access_key: str
    user: str


class Lakes(Protocol):
    """Finds the key pairs that sign requests, and opens the lake for their users."""

    def key_pair(self, access_key_id: str) -> ClientKeyPair | None:
        """Return the key pair; None if it does not exist."""

    def session_user(self, cookies: str, address: str) -> str | None:
        """Return the user of the session in a Cookie header; None if there is no valid one."""

    def lake(self, user: str, address: str) -> UserLake:
        """Return the lake for a request of the user from that network address."""

    def now_s(self) -> int:
        """Return the current time in Unix seconds."""
