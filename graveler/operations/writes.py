"""Changing objects of a branch: upload, delete, copy, set user metadata."""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from graveler.addresses import new_address
from graveler.branches.claims import claimed_source
from graveler.branches.data import of_recorded
from graveler.branches.lookup import (
    current_branch,
    object_not_found,
    remembered_repository,
    shown,
)
from graveler.branches.protection import check_can_stage, check_changeable
from graveler.branches.retries import contention
from graveler.branches.staging import (
    check_requirement,
    path_for_staging,
    stage_changes,
    stage_entry,
    stage_in_place,
    stage_value,
)
from graveler.branches.views import ObjectStat, value_on_branch
from graveler.data_headers import NO_HEADERS, DataHeaders, of_write
from graveler.engine import Engine
from graveler.entries import entry_value, value_entry
from graveler.errors import (
    ForbiddenError,
    GravelerError,
    InvalidInputError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.limits import BESIDE_CHECKS_BYTES_MAX, DELETE_OBJECTS_MAX
from graveler.messages import Refusal, within
from graveler.model import NO_REQUIREMENT, AddressType, Entry, Requirement
from graveler.operations.objects import stat
from graveler.operations.two_step_writes import (
    DEFAULT_CONTENT_TYPE,
    Prepared,
    branch_now,
    check_user_metadata,
    finish,
    prepare,
)
from graveler.ports import ObjectDescription, ObjectInfo


def upload(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    read_content: Callable[[], tuple[bytes, str]],
    body_bytes: int = 0,
    metadata: Mapping[str, str],
    headers: DataHeaders = NO_HEADERS,
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
) -> ObjectStat:
    """Store content and make it the object at the path.

    body_bytes: of the body that has the content.
    read_content: returns content and content type. Unless the body is small, and the repository
        writable, it is called after all checks, so that the body of a refused request is neither
        decoded nor stored.

    Raises:
        GravelerError: as `prepare` and `finish`.
        ThrottledError: the object store cannot store the content now.
    """
    address = new_address(engine.names.new_uid())

    def store(namespace: str) -> tuple[bytes, str, ObjectInfo]:
        content, content_type = read_content()
        kind, uri = content_type or DEFAULT_CONTENT_TYPE, f"{namespace}/{address}"
        info = unnamed(lambda: engine.objects.put(uri, content, kind, headers=headers))
        return content, kind, info

    def check() -> Prepared:
        return prepare(
            engine,
            repository,
            branch,
            path,
            address=address,
            metadata=metadata,
            requirement=requirement,
            force=force,
        )

    known = remembered_repository(engine, repository)
    stored, stored_in = None, ""
    # A read-only repository's namespace may be another's, whose collections do not look there.
    if known is None or known.read_only or body_bytes > BESIDE_CHECKS_BYTES_MAX:
        prepared = check()
    else:
        checked, stored_in = engine.ahead(check), known.storage_namespace
        try:
            stored = store(stored_in)
        except GravelerError:
            checked()  # what it refuses comes first
            raise
        prepared = checked()
    namespace = prepared.repo.record.storage_namespace
    if stored is None or stored_in != namespace:
        stored = store(namespace)
    content, content_type, info = stored
    return finish(
        prepared,
        size_bytes=len(content),
        checksum=info.checksum,
        content_type=content_type,
        metadata=metadata,
        requirement=requirement,
    )


def unnamed(store: Callable[[], ObjectInfo]) -> ObjectInfo:
    """Return the result of `store`, which stores data at a new address.

    Raises:
        ThrottledError: they may be stored, but no entry names them: repeat the request.
    """
    try:
        return store()
    except UnknownOutcomeError as error:
        raise ThrottledError(error.message) from error


def delete(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
) -> None:
    """Delete the object at the path from the branch; a missing one is an error if it is required.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: the path does not meet the requirement.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the object may have been deleted.
    """
    repo, current, read = path_for_staging(engine, repository, branch, path, force=force)
    if requirement == NO_REQUIREMENT:
        if value_on_branch(repo, current, path, read) is None:
            return
        read = None  # the write is unconditional
    stage_value(repo, current, path, None, requirement, read)


def delete_many(
    engine: Engine, repository: str, branch: str, paths: Sequence[bytes], *, force: bool = False
) -> list[tuple[bytes, GravelerError]]:
    """Delete the objects at the paths; missing ones are no error.

    Returns:
        The paths that are malformed or may not be deleted, each with its error.

    Raises:
        InvalidInputError: there are more than DELETE_OBJECTS_MAX paths, or a name is malformed.
        NotFoundError: the repository or the branch does not exist.
        ContentionError: commits came first in each try; some objects may be deleted.
        UnknownOutcomeError: some objects may be deleted, and others not.
    """
    if len(paths) > DELETE_OBJECTS_MAX:
        raise Refusal.TOO_MANY_PATHS.error(f"not {len(paths)}", most=DELETE_OBJECTS_MAX)
    repo, current = current_branch(engine, repository, branch)
    try:
        check_can_stage(repo.record, branch, force=force)
    except ForbiddenError as error:
        return [(path, error) for path in paths]
    errors: list[tuple[bytes, GravelerError]] = []
    tombstones: dict[bytes, None] = {}
    for path in paths:
        if not path:
            continue  # clients include the root of their listing, which is no object
        try:
            check_changeable(path)
            tombstones[path] = None
        except (InvalidInputError, ForbiddenError) as error:
            errors.append((path, error))
    # No check that the objects exist: a tombstone over nothing changes nothing.
    if tombstones:
        stage_changes(repo, current, list(tombstones.items()))
    return errors


def copy(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    source_ref: str | None,
    source_path: bytes,
    source_repository: str | None = None,
    source: ObjectStat | None = None,
    content_type: str | None = None,
    metadata: Mapping[str, str] | None = None,
    headers: DataHeaders = NO_HEADERS,
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
    shallow: bool = False,
) -> ObjectStat:
    """Copy an object to the path; the object store copies the data to a new address.

    A shallow copy names the source's data instead, so that two paths share them. The data stay
    while one of the two needs them.

    source_ref: None means a branch of the same name.
    source_repository: None means the same repository.
    source: the object at the source's path, if the caller has read it.
    content_type, metadata: replace those of the source, unless they are None.
    headers: of the copy's data.

    Raises:
        InvalidInputError: a name, a ref or a path is malformed, the metadata are too large, or a
            shallow copy crosses repositories or needs data of its own.
        NotFoundError: a repository, the branch, the source ref or its object does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: the path does not meet the requirement.
        GoneError: the source's data do not exist any more, or were replaced.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the object may have been written.
    """
    prepared = prepare(
        engine,
        repository,
        branch,
        path,
        metadata=metadata or {},
        requirement=requirement,
        force=force,
    )
    repo, ref = prepared.repo, source_ref or branch
    written: Mapping[str, str] = {}
    if shallow:
        _check_shallow(repository, source_repository or repository, headers)
        entry = _unchanged(claimed_source(repo, ref, source_path), source)
    else:
        read = source or stat(engine, source_repository or repository, ref, source_path)
        entry, written = _copied(prepared, read, headers, content_type)
    entry = replace(
        entry,
        content_type=entry.content_type if content_type is None else content_type,
        metadata=entry.metadata if metadata is None else metadata,
    )
    repo, current, seen = branch_now(prepared)
    staged = stage_entry(repo, current, path, entry, requirement, seen)
    return replace(staged, headers=written)


def _check_shallow(repository: str, source_repository: str, headers: DataHeaders) -> None:
    if headers != NO_HEADERS:
        raise InvalidInputError(
            "a shallow copy has its source's data, with their headers: make a full copy"
        )
    if repository != source_repository:
        raise InvalidInputError(
            f"a shallow copy cannot share data of repository {source_repository!r} with "
            f"{repository!r}: make a full copy"
        )


def _unchanged(claimed: Entry, source: ObjectStat | None) -> Entry:
    """Return the claimed entry if it has the data of the source that the caller read."""
    if source is not None and claimed.address != source.entry.address:
        raise contention(f"path {shown(source.path)}")
    return claimed


def _copied(
    prepared: Prepared,
    source: ObjectStat,
    headers: DataHeaders,
    content_type: str | None,
) -> tuple[Entry, Mapping[str, str]]:
    """Copy the data to the prepared address.

    Returns:
        The entry of the copy, and the headers of its encryption for the client.
    """
    engine, address, entry = prepared.repo.engine, source.physical_address, source.entry
    # With a description, the store does not read the source's first.
    described = None
    if headers.kept is not None:
        described = ObjectDescription(content_type or entry.content_type, {})

    def copied_from(etag: str) -> ObjectInfo:
        return engine.objects.copy(
            address, prepared.uri, entry.size_bytes, described, headers=headers, if_match=etag
        )

    info = unnamed(lambda: of_recorded(engine, source, copied_from))
    copied = replace(
        entry,
        address=prepared.address,
        address_type=AddressType.RELATIVE,
        size_bytes=info.size_bytes,  # of the same data as the checksum
        checksum=info.checksum,
        last_modified_ns=engine.clock.now_ns(),
    )
    return copied, of_write(info.headers)


def set_user_metadata(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    metadata: Mapping[str, str],
    *,
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
) -> None:
    """Replace the user metadata of the object at the path.

    Raises:
        InvalidInputError: a name or the path is malformed, or the metadata are too large.
        NotFoundError: the repository, the branch or the object does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: the path does not meet the requirement.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the metadata may have been replaced.
    """
    change_user_metadata(
        engine,
        repository,
        branch,
        path,
        lambda _: metadata,
        requirement=requirement,
        force=force,
    )


def change_user_metadata(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    change: Callable[[Mapping[str, str]], Mapping[str, str]],
    *,
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
) -> None:
    """Replace the user metadata with the result of `change`, which takes the current ones.

    `change` is called again if another writer was faster.

    Raises:
        GravelerError: as `set_user_metadata`.
    """
    repo, current, read = path_for_staging(engine, repository, branch, path, force=force)

    def changed(current: bytes | None) -> bytes:
        check_requirement(path, current, requirement)
        if current is None:
            raise object_not_found(path)
        entry = value_entry(current)
        metadata = change(entry.metadata)
        check_user_metadata(metadata)
        return entry_value(replace(entry, metadata=metadata))

    with within(f"update user metadata on {repository}/{branch}/{path.decode('utf-8', 'replace')}"):
        stage_in_place(repo, current, path, changed, read)
