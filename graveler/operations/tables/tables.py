"""Tables: loading, creating, registering, renaming and dropping them."""

from collections.abc import Callable, Mapping

from graveler.addresses import METADATA_FILE_MARK, relative_address
from graveler.branches.claims import claim
from graveler.branches.staging import stage_in_place, stage_together
from graveler.branches.views import object_stat
from graveler.engine import Engine
from graveler.errors import AlreadyExistsError, InvalidInputError
from graveler.iceberg.creation import new_metadata
from graveler.iceberg.places import Namespace, is_in_location, table_location, table_path
from graveler.iceberg.shapes import Document, checked
from graveler.layout import TABLES_FOLDER
from graveler.open_repository import OpenRepository
from graveler.operations.tables.commits import no_table, uuid_for
from graveler.operations.tables.metadata import (
    KEPT_FILES,
    IcebergTable,
    check_files,
    decoded,
    described,
    read_table,
    value_of,
    written,
)
from graveler.operations.tables.namespaces import check_exists
from graveler.operations.tables.places import branch_of_tables, committed_event, value_at
from graveler.ports import ObjectInfo
from graveler.times import NS_PER_MS

# Raises if the caller must not make the metadata file at the URI a table.
CheckFile = Callable[[str], None]


def load(
    engine: Engine, repository: str, ref: str, namespace: Namespace, table: str
) -> IcebergTable:
    """Return the table.

    Raises:
        InvalidInputError: a name or the ref is malformed, or the object at the path is no table.
        NotFoundError: the repository or the ref does not exist.
        NoTableError: the ref has no such table.
        GoneError: its metadata file does not exist any more.
        CorruptDataError: its metadata file is none.
    """
    path = table_path(namespace, table)
    repo, stored = value_at(engine, repository, ref, path)
    if stored is None:
        raise no_table(namespace, table)
    return read_table(repo, path, stored)


def exists(engine: Engine, repository: str, ref: str, namespace: Namespace, table: str) -> bool:
    """Whether the ref has the table.

    Raises:
        InvalidInputError: a name or the ref is malformed.
        NotFoundError: the repository or the ref does not exist.
    """
    return value_at(engine, repository, ref, table_path(namespace, table))[1] is not None


def create(
    engine: Engine,
    repository: str,
    ref: str,
    namespace: Namespace,
    table: str,
    request: Document,
    *,
    is_staged: bool = False,
) -> IcebergTable:
    """Create the table that a CreateTableRequest describes.

    is_staged: only return the metadata that it would have. A commit creates it.

    Raises:
        InvalidInputError: a name or the request is malformed, or names a location elsewhere.
        NotFoundError: the repository, the ref or the namespace does not exist.
        ForbiddenError: the ref is no branch, the branch is protected, or the repository read-only.
        AlreadyExistsError: the table exists.
        ContentionError: other writers came first in each try.
        UnknownOutcomeError: the table may have been created.
    """
    path = table_path(namespace, table)
    repo, branch, read = branch_of_tables(engine, repository, ref, path)
    check_exists(engine, repository, ref, namespace)
    uuid = uuid_for(repo, path)
    location = table_location(repo.record.storage_namespace, uuid)
    if request.get("location"):
        raise InvalidInputError(
            "location: the catalog chooses it, so that all branches share the files: leave it out"
        )
    time_ms = engine.clock.now_ns() // NS_PER_MS
    properties = checked(request.get("properties") or {}, dict[str, str], "field 'properties'")
    asked = {**request, "properties": {**KEPT_FILES, **properties}}
    metadata = new_metadata(asked, uuid=uuid, location=location, time_ms=time_ms)
    check_files(metadata, location)
    if exists(engine, repository, ref, namespace, table):
        raise _already_there(namespace, table)
    if is_staged:
        return IcebergTable(None, metadata)
    made, value = written(repo, metadata, None)

    def make(stored: bytes | None) -> bytes:
        if stored is not None:
            raise _already_there(namespace, table)
        return value

    stage_in_place(repo, branch, path, make, read, committed_event(repo, branch))
    return made


def register(
    engine: Engine,
    repository: str,
    ref: str,
    namespace: Namespace,
    table: str,
    metadata_location: str,
    *,
    overwrite: bool = False,
    check_file: CheckFile,
) -> IcebergTable:
    """Make a metadata file of this repository's storage a table; check_file is called with its URI.

    Raises:
        InvalidInputError: a name is malformed, or the file is elsewhere or no metadata file.
        GravelerError: the others of `create`, without overwrite AlreadyExistsError.
    """
    path = table_path(namespace, table)
    repo, branch, read = branch_of_tables(engine, repository, ref, path)
    check_exists(engine, repository, ref, namespace)
    folder = f"{repo.record.storage_namespace}/{TABLES_FOLDER}".rstrip("/")
    if not is_in_location(metadata_location, folder):
        raise InvalidInputError(
            f"metadata-location {metadata_location!r} is not below {folder!r}: "
            "only tables of this repository can be registered"
        )
    if METADATA_FILE_MARK not in metadata_location.rpartition("/")[2]:
        raise InvalidInputError(
            f"metadata-location {metadata_location!r} has not the name of a metadata file, "
            f"<version>-<uuid>{METADATA_FILE_MARK}"
        )
    check_file(metadata_location)
    # No claim of what is no table: a collection ends if it cannot read a claimed file.
    metadata, value = _registered(repo, metadata_location)
    _claim(repo, metadata_location)
    _stored(repo, metadata_location)  # still: a collection may have been about to delete it

    def make(stored: bytes | None) -> bytes:
        if stored is not None and not overwrite:
            raise _already_there(namespace, table)
        return value

    stage_in_place(repo, branch, path, make, read, committed_event(repo, branch))
    return IcebergTable(metadata_location, metadata)


def _registered(repo: OpenRepository, uri: str) -> tuple[Document, bytes]:
    info = _stored(repo, uri)
    try:
        metadata = decoded(repo.engine.objects.get(uri))
    except InvalidInputError as error:
        raise error.within(f"metadata-location {uri!r}") from error
    uuid = str(metadata.get("table-uuid"))
    location = table_location(repo.record.storage_namespace, uuid)
    if not is_in_location(uri, location):
        raise InvalidInputError(f"metadata-location {uri!r} is not below {location!r}")
    check_files(metadata, location)
    return metadata, value_of(repo, uri, info.size_bytes, info.checksum, described(metadata))


def _stored(repo: OpenRepository, uri: str) -> ObjectInfo:
    info = repo.engine.objects.head(uri)
    if info is None:
        raise InvalidInputError(f"metadata-location {uri!r} does not exist")
    return info


def drop(engine: Engine, repository: str, ref: str, namespace: Namespace, table: str) -> None:
    """Drop the table from the branch. Its files stay: other branches and commits may have it.

    Raises:
        InvalidInputError: a name is malformed.
        NoTableError: the branch has no such table.
        GravelerError: the others of `create`.
    """
    path = table_path(namespace, table)
    repo, branch, read = branch_of_tables(engine, repository, ref, path)

    def make(stored: bytes | None) -> bytes | None:
        if stored is None:
            raise no_table(namespace, table)
        return None

    stage_in_place(repo, branch, path, make, read, committed_event(repo, branch))


def rename(
    engine: Engine,
    repository: str,
    ref: str,
    source: tuple[Namespace, str],
    destination: tuple[Namespace, str],
) -> None:
    """Give the table another name; its files stay where they are.

    Raises:
        NoTableError: the branch has no table of the source's name.
        AlreadyExistsError: it has one of the destination's name.
        GravelerError: the others of `create`.
    """
    old, new = table_path(*source), table_path(*destination)
    repo, branch, _ = branch_of_tables(engine, repository, ref, old, new)
    check_exists(engine, repository, ref, destination[0])

    def make(values: Mapping[bytes, bytes | None]) -> Mapping[bytes, bytes | None]:
        value = values[old]
        if value is None:
            raise no_table(*source)
        if values[new] is not None:
            raise _already_there(*destination)
        # A collection that has read the new path finds the claim; the store checks the old path.
        _claim(repo, object_stat(repo.record, old, value).physical_address)
        return {old: None, new: value}

    paths = list(dict.fromkeys([old, new]))
    stage_together(repo, branch, paths, make, event=committed_event(repo, branch))


def _claim(repo: OpenRepository, metadata_location: str) -> None:
    """Keep the metadata file, and what it names, while it gets another name."""
    claim(repo, [relative_address(repo.record.storage_namespace, metadata_location)[0]])


def _already_there(namespace: Namespace, table: str) -> AlreadyExistsError:
    return AlreadyExistsError(f"Table already exists: {'.'.join((*namespace, table))}")
