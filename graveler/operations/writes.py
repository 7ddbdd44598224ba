"""What users do to objects: upload, stage, delete, copy, set user metadata."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graveler.addresses import new_address, relative_address
from graveler.entries import entry_value, value_entry
from graveler.errors import ForbiddenError, GravelerError, InvalidInputError
from graveler.limits import DELETE_OBJECTS_MAX, OBJECT_KEY_BYTES_MAX, USER_METADATA_BYTES_MAX
from graveler.messages import Refusal, within
from graveler.model import AddressType, Entry, Repository
from graveler.names import check_checksum, check_path, leaves_its_folder
from graveler.operations.engine import Engine
from graveler.operations.objects import object_not_found, stat
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
from graveler.times import NS_PER_S

DEFAULT_CONTENT_TYPE = "application/octet-stream"

# Nothing else could be read, and one such object would spoil every listing with presigned URLs.
_OBJECT_URI = re.compile(r"s3://(?!\.{1,2}/)[^/\x00]+/[^\x00]+")


def check_user_metadata(metadata: Mapping[str, str]) -> None:
    """Refuse metadata that no record can hold.

    Raises:
        InvalidInputError: they are too large.
    """
    size_bytes = sum(len(key.encode()) + len(value.encode()) for key, value in metadata.items())
    if size_bytes > USER_METADATA_BYTES_MAX:
        raise InvalidInputError(
            f"user metadata of {size_bytes} bytes are too large: "
            f"at most {USER_METADATA_BYTES_MAX} bytes fit"
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

    read_content gives content and content type; it is called once the branch is known to take the
    write, so that nobody decodes a body that has nowhere to go.

    Raises:
        PreconditionFailedError: if_absent, and there is an object.
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
    """Store the content at a new address; return the entry that names it."""
    address = new_address(engine.names.new_uid())
    uri = f"{repository.storage_namespace}/{address}"
    info = engine.objects.put(uri, content, content_type)
    return Entry(
        address=address,
        address_type=AddressType.RELATIVE,
        size_bytes=len(content),
        checksum=info.checksum,
        last_modified_ns=engine.clock.now_ns(),
        content_type=content_type,
        metadata=metadata,
    )


def described_entry(
    engine: Engine,
    repository: Repository,
    *,
    physical_address: str,
    checksum: str,
    size_bytes: int,
    content_type: str | None,
    metadata: Mapping[str, str],
    mtime_s: int | None,
) -> Entry:
    """The entry of an object that the caller has put where physical_address says.

    Raises:
        InvalidInputError: the description cannot be true.
    """
    checksum = checksum.removeprefix("W/").strip('"')
    check_checksum(checksum)
    if size_bytes < 0:
        raise InvalidInputError(f"size_bytes {size_bytes} is negative")
    key = physical_address.removeprefix("s3://").partition("/")[2]
    is_object = _OBJECT_URI.fullmatch(physical_address) and not leaves_its_folder(key)
    if not is_object or len(key.encode(errors="replace")) > OBJECT_KEY_BYTES_MAX:
        raise InvalidInputError(
            f"physical address {physical_address[:1100]!r} is no object's in S3: "
            "s3://<bucket>/<key>, without '..' between slashes"
        )
    check_user_metadata(metadata)
    address, address_type = relative_address(repository.storage_namespace, physical_address)
    return Entry(
        address=address,
        address_type=address_type,
        size_bytes=size_bytes,
        checksum=checksum,
        last_modified_ns=engine.clock.now_ns() if mtime_s is None else mtime_s * NS_PER_S,
        content_type=content_type or DEFAULT_CONTENT_TYPE,
        metadata=metadata,
    )


def stage(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    physical_address: str,
    checksum: str,
    size_bytes: int,
    content_type: str | None = None,
    metadata: Mapping[str, str],
    mtime_s: int | None = None,
    if_absent: bool = False,
    force: bool = False,
) -> ObjectStat:
    """Make the data at physical_address the object at the path, without looking at them."""
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    entry = described_entry(
        engine,
        found,
        physical_address=physical_address,
        checksum=checksum,
        size_bytes=size_bytes,
        content_type=content_type,
        metadata=metadata,
        mtime_s=mtime_s,
    )
    return stage_entry(engine, found, current, path, entry, if_absent=if_absent)


def delete(
    engine: Engine, repository: str, branch: str, path: bytes, *, force: bool = False
) -> None:
    """Make readers of the branch see no object at the path; a missing one is fine."""
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    if view_of_branch(engine, found, current).get(path) is None:
        return
    stage_changes(engine, found, current, [(path, None)])


def delete_many(
    engine: Engine, repository: str, branch: str, paths: Sequence[bytes], *, force: bool = False
) -> list[tuple[bytes, GravelerError]]:
    """Delete all the paths; those that could not be, with their errors.

    Raises:
        InvalidInputError: there are too many.
        NotFoundError: there is no such repository or branch.
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
            continue  # clients send their own root along; there is nothing to delete
        try:
            check_path(path)
            tombstones[path] = None
        except InvalidInputError as error:
            errors.append((path, error))
    # Whether the objects exist is not asked: a tombstone over nothing changes nothing.
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
    """Copy an object's data, inside the object store, to a new address at the path.

    Raises:
        UnsupportedError: a shallow copy is asked for.
        GoneError: the source's data are gone.
    """
    if shallow:
        raise Refusal.NOT_SERVED.error("shallow copies; copy without shallow")
    found, current = branch_for_staging(
        engine, repository, branch, path, force=force, not_found=branch_of_upload_not_found
    )
    source = stat(engine, repository, source_ref or branch, source_path)
    address = new_address(engine.names.new_uid())
    info = engine.objects.copy(
        source.physical_address,
        f"{found.storage_namespace}/{address}",
        source.entry.size_bytes,
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
    """Replace the object's user metadata.

    Raises:
        NotFoundError: there is no object.
    """
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    check_user_metadata(metadata)

    def with_metadata(seen: bytes | None) -> bytes:
        if seen is None:
            raise object_not_found(path)
        return entry_value(replace(value_entry(seen), metadata=metadata))

    with within(f"update user metadata on {repository}/{branch}/{path.decode('utf-8', 'replace')}"):
        stage_in_place(engine, found, current, path, with_metadata)
