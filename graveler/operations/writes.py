"""Staging changes of objects: upload, stage, delete, copy, user metadata.

Theory of operation. A write reads the branch, writes under its staging token, and reads the branch
again. If a commit sealed the token meanwhile, it may or may not have seen the write, so the write
is repeated under the new token; only then is it acknowledged. So an acknowledged write is either
in the commit or staged over it.

A conditional write (if_absent) must not lose against itself: its own value, found in a sealed
token or in the commit, is not somebody else's. Values are unique because addresses are.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graveler.addresses import new_address, relative_address
from graveler.entries import entry_value, value_entry
from graveler.errors import (
    ContentionError,
    ForbiddenError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    UnsupportedError,
)
from graveler.limits import BRANCH_WRITE_TRIES_MAX, DELETE_OBJECTS_MAX, USER_METADATA_BYTES_MAX
from graveler.model import AddressType, Branch, Change, Entry, Repository
from graveler.names import check_path
from graveler.operations.engine import NS_PER_S, Engine
from graveler.operations.lookup import branch_not_found, check_can_stage, current_branch
from graveler.operations.objects import ObjectStat, object_stat, stat
from graveler.operations.reading import View, view_of_branch

DEFAULT_CONTENT_TYPE = "application/octet-stream"

# Nothing else could be read, and one such object would spoil every listing with presigned URLs.
_OBJECT_URI = re.compile(r"s3://[^/]+/.+", re.DOTALL)


def branch_for_staging(
    engine: Engine, repository: str, branch: str, path: bytes, *, force: bool
) -> tuple[Repository, Branch]:
    """Repository and branch, if a change of the path may be staged there.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: there is no such repository or branch.
        ForbiddenError: the branch is protected, or the repository read-only.
    """
    check_path(path)
    found, current = current_branch(engine, repository, branch)
    check_can_stage(found, branch, force=force)
    return found, current


def until_unsealed(
    engine: Engine, repository: Repository, branch: Branch, write: Callable[[Branch], None]
) -> None:
    """Repeat the write until no commit has sealed its token before it was there.

    Raises:
        NotFoundError: the branch is gone.
        ContentionError: commits kept sealing the token.
    """
    for _ in range(BRANCH_WRITE_TRIES_MAX):
        write(branch)
        after = engine.refs.branch(repository, branch.name)
        if after is None:
            raise branch_not_found(branch.name)
        engine.remember(repository, after)
        if after.staging_token == branch.staging_token:
            return
        branch = after
    raise ContentionError(f"branch {branch.name!r} is being committed all the time: try again")


def stage_value(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    path: bytes,
    value: bytes,
    *,
    if_absent: bool = False,
) -> None:
    """Make the value what readers of the branch see at the path.

    Raises:
        PreconditionFailedError: if_absent, and there is an object.
        ContentionError: commits kept sealing the token.
    """
    if if_absent:
        _stage_in_place(engine, repository, branch, path, lambda seen: _absent(path, seen, value))
    else:
        until_unsealed(
            engine,
            repository,
            branch,
            lambda now: engine.staging.put(now.staging_token, path, value),
        )


def stage_changes(
    engine: Engine, repository: Repository, branch: Branch, changes: Sequence[Change]
) -> None:
    """Stage changes of distinct paths; as stage_value."""
    until_unsealed(
        engine,
        repository,
        branch,
        lambda current: engine.staging.put_many(current.staging_token, changes),
    )


def _stage_in_place(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    path: bytes,
    make: Callable[[bytes | None], bytes],
) -> None:
    """Stage what make makes of the value that readers see at the path, and of no older one.

    Raises:
        ContentionError: others kept writing the path, or commits sealing the token.
    """

    def write(now: Branch) -> None:
        below = View(
            engine, repository, now.sealed_tokens, engine.content(repository, now.commit_id)
        )
        for _ in range(BRANCH_WRITE_TRIES_MAX):
            staged = engine.staging.get(now.staging_token, path)
            seen = below.get(path) if staged is None else staged.value
            if engine.staging.put_if(now.staging_token, path, make(seen), staged):
                return
        raise ContentionError(f"path {_shown(path)} is being written: try again")

    until_unsealed(engine, repository, branch, write)


def _absent(path: bytes, seen: bytes | None, value: bytes) -> bytes:
    """The value, if nothing but itself is there."""
    if seen not in (None, value):
        raise PreconditionFailedError(f"path already exists: {_shown(path)}")
    return value


def _shown(path: bytes) -> str:
    return repr(path.decode("utf-8", "replace"))


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
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    check_user_metadata(metadata)
    if if_absent:
        _absent(path, view_of_branch(engine, found, current).get(path), b"")
    content, content_type = read_content()
    address = new_address(engine.names.new_uid())
    info = engine.objects.put(
        f"{found.storage_namespace}/{address}", content, content_type or DEFAULT_CONTENT_TYPE
    )
    entry = Entry(
        address=address,
        address_type=AddressType.RELATIVE,
        size_bytes=len(content),
        checksum=info.checksum,
        last_modified_ns=engine.clock.now_ns(),
        content_type=content_type or DEFAULT_CONTENT_TYPE,
        metadata=metadata,
    )
    return stage_entry(engine, found, current, path, entry, if_absent=if_absent)


def stage_entry(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    path: bytes,
    entry: Entry,
    *,
    if_absent: bool = False,
) -> ObjectStat:
    """Make the entry the object at the path; as stage_value."""
    value = entry_value(entry)
    stage_value(engine, repository, branch, path, value, if_absent=if_absent)
    return object_stat(repository, path, value)


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
    if not checksum:
        raise InvalidInputError("checksum is empty: give the object's ETag")
    if size_bytes < 0:
        raise InvalidInputError(f"size_bytes {size_bytes} is negative")
    if not _OBJECT_URI.fullmatch(physical_address):
        raise InvalidInputError(
            f"physical address {physical_address!r} is no object's in S3: s3://<bucket>/<key>"
        )
    check_user_metadata(metadata)
    address, address_type = relative_address(repository.storage_namespace, physical_address)
    return Entry(
        address=address,
        address_type=address_type,
        size_bytes=size_bytes,
        checksum=checksum.strip('"'),
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
    until_unsealed(
        engine, found, current, lambda now: engine.staging.put(now.staging_token, path, None)
    )


def delete_many(
    engine: Engine, repository: str, branch: str, paths: Sequence[bytes], *, force: bool = False
) -> list[tuple[bytes, GravelerError]]:
    """Delete all the paths; those that could not be, with their errors.

    Raises:
        InvalidInputError: there are too many.
        NotFoundError: there is no such repository or branch.
    """
    if len(paths) > DELETE_OBJECTS_MAX:
        raise InvalidInputError(
            f"{len(paths)} paths are too many: delete at most {DELETE_OBJECTS_MAX} at a time"
        )
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
        raise UnsupportedError("shallow copies are not served: copy without shallow")
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
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
            raise NotFoundError(f"object not found: {_shown(path)}")
        return entry_value(replace(value_entry(seen), metadata=metadata))

    _stage_in_place(engine, found, current, path, with_metadata)
