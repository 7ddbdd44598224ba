"""Changing objects of a branch: upload, delete, copy, set user metadata."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graveler.addresses import new_address
from graveler.entries import entry_value, value_entry
from graveler.errors import (
    ForbiddenError,
    GravelerError,
    InvalidInputError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.limits import DELETE_OBJECTS_MAX, USER_METADATA_BYTES_MAX
from graveler.messages import Refusal, within
from graveler.model import AddressType, Entry, Repository
from graveler.names import check_path
from graveler.operations.engine import Engine
from graveler.operations.objects import object_not_found, stat
from graveler.operations.protocol.claims import claimed_source
from graveler.operations.protocol.lookup import branch_of_upload_not_found, current_branch
from graveler.operations.protocol.protection import check_can_stage
from graveler.operations.protocol.staging import (
    branch_for_staging,
    require_absent,
    stage_changes,
    stage_entry,
    stage_in_place,
)
from graveler.operations.protocol.views import ObjectStat, view_of_branch
from graveler.ports import ObjectInfo

DEFAULT_CONTENT_TYPE = "application/octet-stream"


def check_user_metadata(metadata: Mapping[str, str]) -> None:
    """Check that user metadata fit into one record.

    Raises:
        InvalidInputError: they are too large.
    """
    size_bytes = sum(len(key.encode()) + len(value.encode()) for key, value in metadata.items())
    if size_bytes > USER_METADATA_BYTES_MAX:
        raise InvalidInputError(
            f"user metadata of {size_bytes} bytes are too large: "
            f"shorten them to {USER_METADATA_BYTES_MAX} bytes"
        )


def upload(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    read_content: Callable[[], tuple[bytes, str]],
    metadata: Mapping[str, str],
    if_absent: bool = False,
    force: bool = False,
) -> ObjectStat:
    """Store content and make it the object at the path.

    read_content returns content and content type. It is called after all checks, so that the body
    of a refused request is not decoded.

    Raises:
        InvalidInputError: a name or the path is malformed, or the metadata are too large.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: if_absent, and an object exists.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the object may have been written.
    """
    found, current = branch_for_staging(
        engine, repository, branch, path, force=force, not_found=branch_of_upload_not_found
    )
    check_user_metadata(metadata)
    if if_absent:
        require_absent(path, view_of_branch(engine, found, current).get(path))
    content, content_type = read_content()
    entry = stored_entry(engine, found, content, content_type or DEFAULT_CONTENT_TYPE, metadata)
    return stage_entry(engine, found, current, path, entry, if_absent=if_absent)


def stored_entry(
    engine: Engine,
    repository: Repository,
    content: bytes,
    content_type: str,
    metadata: Mapping[str, str],
) -> Entry:
    """Store content at a new address; return its entry."""
    address = new_address(engine.names.new_uid())
    uri = f"{repository.storage_namespace}/{address}"
    info = _unnamed(lambda: engine.objects.put(uri, content, content_type))
    return Entry(
        address=address,
        address_type=AddressType.RELATIVE,
        size_bytes=len(content),
        checksum=info.checksum,
        last_modified_ns=engine.clock.now_ns(),
        content_type=content_type,
        metadata=metadata,
    )


def _unnamed(store: Callable[[], ObjectInfo]) -> ObjectInfo:
    """Return the object that was stored at a new address, which no entry names yet.

    Raises:
        ThrottledError: it may be stored, but nobody sees it, so the request can be repeated.
    """
    try:
        return store()
    except UnknownOutcomeError as error:
        raise ThrottledError(error.message) from error


def delete(
    engine: Engine, repository: str, branch: str, path: bytes, *, force: bool = False
) -> None:
    """Delete the object at the path from the branch; a missing object is no error.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        ContentionError: commits came first in each try.
        UnknownOutcomeError: the object may have been deleted.
    """
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    if view_of_branch(engine, found, current).get(path) is None:
        return
    stage_changes(engine, found, current, [(path, None)])


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
    found, current = current_branch(engine, repository, branch)
    try:
        check_can_stage(found, branch, force=force)
    except ForbiddenError as error:
        return [(path, error) for path in paths]
    errors: list[tuple[bytes, GravelerError]] = []
    tombstones: dict[bytes, None] = {}
    for path in paths:
        if not path:
            continue  # clients include the root of their listing, which is no object
        try:
            check_path(path)
            tombstones[path] = None
        except InvalidInputError as error:
            errors.append((path, error))
    # No check that the objects exist: a tombstone over nothing changes nothing.
    if tombstones:
        stage_changes(engine, found, current, list(tombstones.items()))
    return errors


def copy(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    source_ref: str | None,
    source_path: bytes,
    force: bool = False,
    shallow: bool = False,
) -> ObjectStat:
    """Copy an object to the path; the object store copies the data to a new address.

    A shallow copy names the source's data instead, so that two paths share them. The data stay
    while one of the two needs them.

    Raises:
        InvalidInputError: a name, a ref or a path is malformed.
        NotFoundError: the repository, the branch, the source ref or its object does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        GoneError: the source's data do not exist any more.
        ContentionError: commits came first in each try.
        UnknownOutcomeError: the object may have been written.
    """
    found, current = branch_for_staging(
        engine, repository, branch, path, force=force, not_found=branch_of_upload_not_found
    )
    if shallow:
        entry = claimed_source(engine, found, source_ref or branch, source_path)
        return stage_entry(engine, found, current, path, entry)
    source = stat(engine, repository, source_ref or branch, source_path)
    address = new_address(engine.names.new_uid())
    target = f"{found.storage_namespace}/{address}"
    info = _unnamed(
        lambda: engine.objects.copy(source.physical_address, target, source.entry.size_bytes)
    )
    entry = replace(
        source.entry,
        address=address,
        address_type=AddressType.RELATIVE,
        checksum=info.checksum,
        last_modified_ns=engine.clock.now_ns(),
    )
    return stage_entry(engine, found, current, path, entry)


def set_user_metadata(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    metadata: Mapping[str, str],
    *,
    force: bool = False,
) -> None:
    """Replace the user metadata of the object at the path.

    Raises:
        InvalidInputError: a name or the path is malformed, or the metadata are too large.
        NotFoundError: the repository, the branch or the object does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the metadata may have been replaced.
    """
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    check_user_metadata(metadata)

    def with_metadata(current: bytes | None) -> bytes:
        if current is None:
            raise object_not_found(path)
        return entry_value(replace(value_entry(current), metadata=metadata))

    with within(f"update user metadata on {repository}/{branch}/{path.decode('utf-8', 'replace')}"):
        stage_in_place(engine, found, current, path, with_metadata)
