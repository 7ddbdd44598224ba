"""A table's metadata files, and the entries that name them.

A metadata file is never replaced: each commit writes a new one, and then stages an entry that names
it. A file that no entry names is the rest of a lost race or of a crash.
"""

from collections.abc import Mapping
from functools import partial

import msgspec

from graveler.branches.data import read_content
from graveler.branches.views import object_stat
from graveler.cache import ENTRY_BYTES
from graveler.entries import entry_value
from graveler.errors import CorruptDataError, GoneError, GravelerError, InvalidInputError
from graveler.iceberg.metadata import current_snapshot_id, read_metadata
from graveler.iceberg.places import is_in_location, metadata_file, next_version
from graveler.iceberg.shapes import Document
from graveler.layout import TABLES_FOLDER
from graveler.messages import Refusal
from graveler.model import AddressType, Entry
from graveler.open_repository import OpenRepository

# Memory that decoded metadata take for each byte of their JSON, measured with many snapshots.
_DECODED_PER_BYTE = 4

CONTENT_TYPE = "application/json"

# Clients must not delete files: other branches and commits may have them. Without this property, or
# with another value, Iceberg's Java library deletes those of expired snapshots and purged tables.
KEPT_FILES = {"gc.enabled": "false"}

# Properties that name folders for some of a table's files.
_FOLDERS = (
    "write.data.path",
    "write.folder-storage.path",
    "write.metadata.path",
    "write.object-storage.path",
)


class IcebergTable(msgspec.Struct, frozen=True):
    """A table: the URI of its metadata file, and its content. A staged creation has no file yet."""

    metadata_location: str | None
    metadata: Document

    @property
    def location(self) -> str:
        """The URI of the folder with the table's files."""
        found: str = self.metadata["location"]
        return found


def read_table(repo: OpenRepository, path: bytes, stored: bytes) -> IcebergTable:
    """Return the table of a stored value.

    Raises:
        InvalidInputError: the object at the path is no table.
        GoneError: the metadata file does not exist any more.
        CorruptDataError: it is no metadata file.
    """
    found = object_stat(repo.record, path, stored)
    if not found.entry.address.startswith(TABLES_FOLDER):
        raise InvalidInputError(
            f"the object at {path.decode(errors='replace')!r} is not a table of this catalog"
        )
    uri = found.physical_address
    known = repo.engine.tables.get(uri)
    if known is not None:
        return IcebergTable(uri, known)
    try:
        content = read_content(repo.engine, found).content
    except GoneError as error:
        raise _collected(uri) from error
    table = table_of_file(uri, content)
    _remember(repo, table, len(content))
    return table


def _collected(uri: str) -> GravelerError:
    return Refusal.NO_DATA.error(f"the table was collected: its metadata file {uri} is deleted")


def table_of_file(uri: str, content: bytes) -> IcebergTable:
    """Return the table of the metadata file at the URI.

    Raises:
        CorruptDataError: it is no metadata file.
    """
    try:
        return IcebergTable(uri, decoded(content))
    except InvalidInputError as error:
        raise CorruptDataError(f"{uri}: {error}") from error


def _remember(repo: OpenRepository, table: IcebergTable, size_bytes: int) -> None:
    """Cache the metadata of a table's file, which never changes."""
    if table.metadata_location is not None:
        cost = size_bytes * _DECODED_PER_BYTE + ENTRY_BYTES
        repo.engine.tables.put(table.metadata_location, table.metadata, cost)


def decoded(content: bytes) -> Document:
    """Return the metadata of a file.

    Raises:
        InvalidInputError: it is not JSON, or not complete.
    """
    try:
        document: object = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"not JSON: {error}") from error
    return read_metadata(document)


def written(
    repo: OpenRepository, metadata: Document, after: IcebergTable | None
) -> tuple[IcebergTable, bytes]:
    """Write a new metadata file; return the table, and the stored value that names the file.

    after: the table that the metadata replace.

    Raises:
        GoneError: the file of that table does not exist any more.
    """
    engine, replaced = repo.engine, (after and after.metadata_location) or ""
    # The cache outlasts a file that was collected, and with it what the new file would name.
    look = engine.ahead(partial(engine.objects.head, replaced)) if replaced else None
    version = next_version(replaced) if replaced else 0
    location: str = metadata["location"]
    uri = metadata_file(location, version, engine.names.new_uid())
    content = msgspec.json.encode(metadata)
    info = engine.objects.put(uri, content, CONTENT_TYPE)
    if look and look() is None:
        raise _collected(replaced)
    table = IcebergTable(uri, metadata)
    _remember(repo, table, len(content))
    return table, value_of(repo, uri, len(content), info.checksum, described(metadata))


def value_of(
    repo: OpenRepository,
    uri: str,
    size_bytes: int,
    checksum: str,
    user_metadata: Mapping[str, str],
) -> bytes:
    """Return the stored value of a table or a namespace whose JSON file is at the URI."""
    return entry_value(
        Entry(
            address=uri.removeprefix(f"{repo.record.storage_namespace}/"),
            address_type=AddressType.RELATIVE,
            size_bytes=size_bytes,
            checksum=checksum,
            last_modified_ns=repo.engine.clock.now_ns(),
            content_type=CONTENT_TYPE,
            metadata=user_metadata,
        )
    )


def described(metadata: Document) -> Mapping[str, str]:
    """Return user metadata, with which a diff of refs says what changed in a table."""
    snapshot_id = current_snapshot_id(metadata)
    return {
        "iceberg-table-uuid": str(metadata.get("table-uuid")),
        "iceberg-schema-id": str(metadata["current-schema-id"]),
        **({} if snapshot_id is None else {"iceberg-snapshot-id": str(snapshot_id)}),
    }


def check_files(metadata: Document, location: str) -> None:
    """Check that the table's files are at the location or below it, and that clients keep them.

    Raises:
        InvalidInputError: a folder or a manifest list is elsewhere, where no collection would find
            the files, or clients may delete them.
    """
    if metadata["location"] != location:
        raise InvalidInputError(
            f"location {metadata['location']!r} is not the table's own, {location!r}: leave it out"
        )
    properties = metadata["properties"]
    lists = filter(None, (each.get("manifest-list") for each in metadata["snapshots"]))
    folders = {each.rpartition("/")[0]: "the folder of a manifest-list" for each in lists}
    folders |= {properties[name]: f"property {name}" for name in _FOLDERS if name in properties}
    for folder, name in folders.items():
        if not is_in_location(folder, location):
            raise InvalidInputError(
                f"{name} is {folder!r}, which is not below the table's location, {location!r}"
            )
    for name, value in KEPT_FILES.items():
        if properties.get(name) != value:
            raise InvalidInputError(
                f"property {name} must stay {value}: other branches and commits share the "
                "table's files, so no client may delete them"
            )
