"""Files of committed data, and the objects that users have stored."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class CommittedFiles(Protocol):
    """Immutable files named by the ID of their content, under a storage namespace.

    Reading a file that does not exist raises CorruptDataError: only committed data name files.
    """

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        """The last length bytes (all of a shorter file), and the size of the file."""

    def read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        """Exactly length bytes from offset."""

    def read_all(self, namespace: str, file_id: str) -> bytes:
        """The whole file."""

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        """Store the file unless one of that ID exists, which is as good.

        Returns:
            Whether these bytes were stored; one that exists may have others for the same records.
        """

    def forget(self) -> None:
        """Read everything from the store again, for it may have been mended since."""


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What the object store knows of an object."""

    size_bytes: int
    checksum: str  # the ETag without quotes
    last_modified_ns: int
    content_type: str


@dataclass(frozen=True, slots=True)
class ObjectDescription:
    """What the object store shall say of an object beside its content."""

    content_type: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UploadedPart:
    """One finished part of a multipart upload."""

    number: int
    checksum: str


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as a listing shows it."""

    uri: str
    size_bytes: int
    last_modified_ns: int


@dataclass(frozen=True, slots=True)
class UnfinishedUpload:
    """A multipart upload that was neither completed nor given up."""

    uri: str
    upload_id: str
    initiated_ns: int


class ObjectStore(Protocol):
    """Object data, addressed by URI (`s3://bucket/key`)."""

    def put(
        self, uri: str, content: bytes, content_type: str, *, if_absent: bool = False
    ) -> ObjectInfo:
        """Store content.

        Raises:
            PreconditionFailedError: if_absent, and it exists.
            InvalidInputError: the bucket does not exist or refuses us.
        """

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes:
        """The content, or its bytes from first to last inclusive.

        Raises:
            GoneError: there is no such object any more.
        """

    def head(self, uri: str) -> ObjectInfo | None:
        """What is known of the object; None if it does not exist."""

    def copy(
        self,
        source_uri: str,
        target_uri: str,
        size_bytes: int,
        description: ObjectDescription | None = None,
        before_request: Callable[[], None] | None = None,
    ) -> ObjectInfo:
        """Copy inside the store, in parts where one request cannot carry it.

        The target gets the description, or the source's own. before_request is called before
        every request that writes, and stops the copy by raising.

        Raises:
            GoneError: there is no such source.
        """

    def delete(self, uri: str) -> None:
        """Delete the object; a missing one is fine."""

    def delete_many(self, uris: Sequence[str]) -> Mapping[str, str]:
        """Delete objects of one bucket, missing ones too; those that stayed, with the reason."""

    def list_objects(self, prefix_uri: str) -> Iterator[ListedObject]:
        """Every object whose URI begins with prefix_uri, by key, fetched page by page."""

    def list_folder(self, folder_uri: str) -> Iterator[ListedObject | str]:
        """What lies directly in the folder: objects, and folders as URIs that end in a slash."""

    def list_uploads(self, prefix_uri: str) -> Iterator[UnfinishedUpload]:
        """Every unfinished upload to a URI that begins with prefix_uri, fetched page by page."""

    def presign_get(self, uri: str, expires_s: int, file_name: str, content_type: str = "") -> str:
        """A URL that reads the object and offers it under that file name.

        The answer has the content type, or, if that is empty, the one that was stored.
        """

    def presign_put(self, uri: str, expires_s: int) -> str:
        """A URL that accepts the content by PUT."""

    def create_upload(self, uri: str, content_type: str) -> str:
        """Begin a multipart upload; its ID."""

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        """A URL that accepts one part by PUT."""

    def presign_parts(self, uri: str, upload_id: str, parts: int, expires_s: int) -> Sequence[str]:
        """URLs that accept the parts from 1 to `parts`, each by PUT."""

    def copy_part(
        self,
        uri: str,
        upload_id: str,
        part_number: int,
        source_uri: str,
        byte_range: tuple[int, int] | None,
    ) -> str:
        """Copy a part from an object; the part's checksum."""

    def upload_part(self, uri: str, upload_id: str, part_number: int, content: bytes) -> str:
        """Store one part, of at least 5 MiB unless it is the last; the part's checksum."""

    def complete_upload(
        self, uri: str, upload_id: str, parts: Sequence[UploadedPart]
    ) -> ObjectInfo:
        """Finish the upload.

        Raises:
            InvalidInputError: the parts are not those that were uploaded.
            NotFoundError: there is no such upload.
        """

    def abort_upload(self, uri: str, upload_id: str) -> None:
        """Give the upload up.

        Raises:
            NotFoundError: there is no such upload.
        """
