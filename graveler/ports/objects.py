"""The ports to the objects that users store, addressed by URI (`s3://bucket/key`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from graveler.data_headers import NO_HEADERS, DataHeaders

# Checksums of a part beside the ETag, as S3's documents have them: ChecksumCRC32 and the like.
Checksums = Mapping[str, str]


class ObjectInfo(Struct, frozen=True):
    """What the object store reports of an object; headers are those of `graveler.data_headers`."""

    size_bytes: int
    checksum: str  # the ETag without quotes
    last_modified_ns: int
    content_type: str
    headers: Mapping[str, str] = {}


class ObjectDescription(Struct, frozen=True):
    """What the object store keeps of an object beside its content."""

    content_type: str
    metadata: Mapping[str, str]


class StoredContent(Struct, frozen=True):
    """Bytes of an object, with what the object store keeps beside them."""

    content: bytes
    headers: Mapping[str, str]
    checksum: str  # the ETag without quotes


@dataclass(frozen=True, slots=True, repr=False)
class SignedS3Request:
    """A signed request without its body; it has no `repr`, because any holder can send it.

    target is path and query as they are sent. headers have names in lower case, and Host.
    """

    method: str
    scheme: str
    host: str
    port: int
    target: str
    headers: Mapping[str, str]


class BegunUpload(Struct, frozen=True):
    """A new multipart upload, and the headers of its encryption for the client."""

    id: str
    headers: Mapping[str, str]


class CopiedPart(Struct, frozen=True):
    """A copied part, and the headers of its encryption for the client."""

    checksum: str
    headers: Mapping[str, str]
    checksums: Checksums = {}


class UploadedPart(Struct, frozen=True):
    """One finished part of a multipart upload; the store compares its checksums."""

    number: int
    checksum: str
    checksums: Checksums = {}


class ExpectedObject(Struct, frozen=True):
    """What parts must make; headers are S3's, of checksums. The default expects nothing."""

    size_bytes: int | None = None
    headers: Mapping[str, str] = {}

    @property
    def sent(self) -> dict[str, str]:
        """The headers of the request to S3."""
        size = {} if self.size_bytes is None else {"x-amz-mp-object-size": str(self.size_bytes)}
        return {**self.headers, **size}


NOTHING_EXPECTED = ExpectedObject()


class PartInfo(Struct, frozen=True):
    """What the object store reports of a part of an unfinished upload."""

    number: int
    checksum: str  # the ETag without quotes
    size_bytes: int
    last_modified_ns: int
    checksums: Checksums = {}


class PartsPage(Struct, frozen=True):
    """Parts by number; has_more says that there are parts with greater numbers."""

    parts: tuple[PartInfo, ...]
    has_more: bool


class ListedObject(Struct, frozen=True):
    """An object as a listing shows it."""

    uri: str
    size_bytes: int
    last_modified_ns: int
    checksum: str  # the ETag without quotes; "" if the store does not list it


class UnfinishedUpload(Struct, frozen=True):
    """A multipart upload that was neither completed nor aborted."""

    uri: str
    upload_id: str
    initiated_ns: int


class ObjectData(Protocol):
    """Reads, writes and deletes objects.

    Where if_match is given, the data must have this ETag, else they are not read, copied or
    replaced.
    """

    def put(
        self,
        uri: str,
        content: bytes,
        content_type: str,
        *,
        headers: DataHeaders = NO_HEADERS,
        if_absent: bool = False,
        if_match: str = "",
    ) -> ObjectInfo:
        """Store content.

        Raises:
            PreconditionFailedError: if_absent is given and the object exists; or if_match is, and
                the object has another ETag or does not exist.
            InvalidInputError: the bucket does not exist or denies access.
        """

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes:
        """Return the content, or its bytes from first to last inclusive.

        Raises:
            GoneError: the object does not exist any more.
        """

    def get_stored(
        self, uri: str, byte_range: tuple[int, int] | None = None, *, if_match: str = ""
    ) -> StoredContent:
        """Return as `get`, with the headers that the store keeps beside the content.

        Raises:
            GoneError: the object does not exist any more.
            DataReplacedError: it has another ETag.
        """

    def head(self, uri: str, *, with_checksums: bool = False) -> ObjectInfo | None:
        """Return what the store reports of the object; None if it does not exist.

        Its checksums are among the headers if they are asked for.
        """

    def copy(
        self,
        source_uri: str,
        target_uri: str,
        size_bytes: int,
        description: ObjectDescription | None = None,
        before_request: Callable[[], None] | None = None,
        *,
        if_match: str = "",
        headers: DataHeaders = NO_HEADERS,
    ) -> ObjectInfo:
        """Copy inside the store, in parts if the object is too large for one request.

        The target gets the description, or the source's own, and likewise the kept headers.
        before_request is called before each request that writes. If it raises, the copy stops.

        Raises:
            GoneError: the source does not exist.
            DataReplacedError: it has another ETag.
        """

    def delete(self, uri: str) -> None:
        """Delete the object; return normally if it does not exist."""

    def delete_many(self, uris: Sequence[str]) -> Mapping[str, str]:
        """Delete objects of one bucket, existing or not.

        Returns:
            The URIs that could not be deleted, each with the reason.
        """


class ObjectListing(Protocol):
    """Lists objects, folders and unfinished uploads; iterators fetch page by page."""

    def list_objects(self, prefix_uri: str, start_after_uri: str = "") -> Iterator[ListedObject]:
        """Return every object whose URI begins with prefix_uri, in the order of the keys' bytes.

        prefix_uri may be a whole bucket, `s3://bucket/`. With start_after_uri, only the objects
        behind that URI are returned.

        Raises:
            InvalidInputError: the bucket does not exist or denies access.
        """

    def list_folder(self, folder_uri: str) -> Iterator[ListedObject | str]:
        """Return the folder's direct content: objects, and folders as URIs that end in a slash.

        They come in the order of their URIs' bytes. If folder_uri does not end in a slash, it is
        the beginning of names, as in list_objects.
        """

    def list_uploads(self, prefix_uri: str) -> Iterator[UnfinishedUpload]:
        """Return every unfinished upload to a URI that begins with prefix_uri."""


class Presigner(Protocol):
    """Makes URLs that let a client read or write one object without credentials."""

    def presign_get(self, uri: str, expires_s: int, file_name: str, content_type: str = "") -> str:
        """Return a URL that reads the object and offers it under file_name.

        The response has content_type. Where one is empty, it has what the store keeps.
        """

    def presign_put(self, uri: str, expires_s: int, headers: Mapping[str, str] = {}) -> str:
        """Return a URL that accepts the content by PUT; its user sends the headers as well."""

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        """Return a URL that accepts one part by PUT."""

    def presign_parts(self, uri: str, upload_id: str, parts: int, expires_s: int) -> Sequence[str]:
        """Return URLs that accept the parts from 1 to `parts`, each by PUT."""


class MultipartUploads(Protocol):
    """Stores an object in parts."""

    def create_upload(
        self, uri: str, content_type: str, headers: DataHeaders = NO_HEADERS
    ) -> BegunUpload:
        """Begin a multipart upload."""

    def copy_part(
        self,
        uri: str,
        upload_id: str,
        part_number: int,
        source_uri: str,
        byte_range: tuple[int, int] | None,
        *,
        if_match: str = "",
    ) -> CopiedPart:
        """Copy a part from an object.

        Raises:
            GoneError: the source does not exist.
            DataReplacedError: its data do not have the ETag if_match.
        """

    def upload_part(self, uri: str, upload_id: str, part_number: int, content: bytes) -> str:
        """Store a part; return its checksum. Every part but the last has at least 5 MiB."""

    def complete_upload(
        self,
        uri: str,
        upload_id: str,
        parts: Sequence[UploadedPart],
        expected: ExpectedObject = NOTHING_EXPECTED,
    ) -> ObjectInfo:
        """Make the object of the uploaded parts; report its checksums if some are expected.

        A store need not check what is expected.

        Raises:
            BadPartsError: the parts are not the uploaded ones, not in order or too small, or make
                another object than expected.
            UploadNotFoundError: the upload does not exist.
        """

    def list_parts(self, uri: str, upload_id: str, after: int, amount: int) -> PartsPage:
        """Return up to amount uploaded parts with numbers greater than after.

        Raises:
            UploadNotFoundError: the upload does not exist.
        """

    def abort_upload(self, uri: str, upload_id: str) -> None:
        """Discard the upload and its parts.

        Raises:
            UploadNotFoundError: the upload does not exist.
        """


class ObjectStore(ObjectData, ObjectListing, Presigner, MultipartUploads, Protocol):
    """Everything that the engine asks of the object store."""
