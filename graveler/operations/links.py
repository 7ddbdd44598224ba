"""Objects whose data clients put into the object store themselves: address, link, stage."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from graveler.addresses import (
    DATA_PREFIX,
    new_address,
    relative_address,
    sign_address,
    verify_address,
)
from graveler.errors import InvalidInputError
from graveler.limits import OBJECT_KEY_BYTES_MAX
from graveler.messages import Refusal
from graveler.model import Branch, Entry, Repository
from graveler.names import check_checksum, check_path, leaves_its_folder
from graveler.operations.engine import NS_PER_S, Engine
from graveler.operations.protocol.lookup import read_repository
from graveler.operations.protocol.staging import branch_for_staging, stage_entry
from graveler.operations.protocol.views import ObjectStat
from graveler.operations.writes import DEFAULT_CONTENT_TYPE, check_user_metadata

# Any other address could not be read, and would break each listing that presigns URLs.
_OBJECT_URI = re.compile(r"s3://(?!\.{1,2}/)[^/\x00]+/[^\x00]+")


@dataclass(frozen=True, slots=True)
class ObjectDescription:
    """Data in the object store, as the client that put them there describes them."""

    physical_address: str  # the whole URI
    checksum: str
    size_bytes: int
    metadata: Mapping[str, str] = field(default_factory=dict)
    content_type: str | None = None
    mtime_s: int | None = None  # Unix seconds; None means now


def get_physical_address(engine: Engine, repository: str, branch: str, path: bytes) -> str:
    """The URI of a new address for the path's data, good for linking for 24 hours.

    Whether there is such a branch is told by what links, as in lakeFS: lakectl shows nobody what an
    error says here.

    Raises:
        NotFoundError: there is no such repository.
    """
    check_path(path)
    found = read_repository(engine, repository)
    address = new_address(engine.names.new_uid())
    signed = sign_address(engine.signing_key, repository, branch, path, address)
    return f"{found.storage_namespace}/{signed}"


def _is_in_data(repository: Repository, physical_address: str) -> bool:
    """Whether the URI lies where the engine puts data, and so must have been handed out."""
    return physical_address.startswith(f"{repository.storage_namespace}/{DATA_PREFIX}")


def check_issued(
    engine: Engine, repository: Repository, branch: str, path: bytes, physical_address: str
) -> None:
    """Check that the address was handed out for the path less than 24 hours ago.

    Raises:
        InvalidInputError: it was not, or has expired.
    """
    if not _is_in_data(repository, physical_address):
        raise Refusal.FOREIGN_ADDRESS.error(f"{physical_address!r} was not issued for this path")
    signed = physical_address.removeprefix(f"{repository.storage_namespace}/")
    verify_address(engine.signing_key, repository.name, branch, path, signed, engine.now_s())


def link(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    description: ObjectDescription,
    *,
    if_absent: bool = False,
    force: bool = False,
) -> ObjectStat:
    """Make data at an address from get_physical_address the object at the path.

    An address outside of the repository's data is staged as `stage` does.

    Raises:
        InvalidInputError: the address was not issued for the path, or expired; or as `stage`.
        NotFoundError, ForbiddenError, PreconditionFailedError: as `stage`.
    """
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    if _is_in_data(found, description.physical_address):
        check_issued(engine, found, branch, path, description.physical_address)
    return stage_described(engine, found, current, path, description, if_absent=if_absent)


def stage(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    description: ObjectDescription,
    *,
    if_absent: bool = False,
    force: bool = False,
) -> ObjectStat:
    """Make the described data the object at the path, without reading them.

    Raises:
        InvalidInputError: a name, the path or the description is malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: if_absent, and an object exists.
    """
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    return stage_described(engine, found, current, path, description, if_absent=if_absent)


def stage_described(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    path: bytes,
    description: ObjectDescription,
    *,
    if_absent: bool,
) -> ObjectStat:
    """Make the described data the object at the path of a branch that takes the change.

    Raises:
        InvalidInputError: the description is malformed.
        PreconditionFailedError: if_absent, and an object exists.
    """
    entry = _described_entry(engine, repository, description)
    return stage_entry(engine, repository, branch, path, entry, if_absent=if_absent)


def _described_entry(
    engine: Engine, repository: Repository, description: ObjectDescription
) -> Entry:
    checksum = description.checksum.removeprefix("W/").strip('"')
    check_checksum(checksum)
    if description.size_bytes < 0:
        raise InvalidInputError(f"size_bytes {description.size_bytes} is negative")
    uri = description.physical_address
    key = uri.removeprefix("s3://").partition("/")[2]
    is_object = _OBJECT_URI.fullmatch(uri) and not leaves_its_folder(key)
    if not is_object or len(key.encode(errors="replace")) > OBJECT_KEY_BYTES_MAX:
        raise InvalidInputError(
            f"physical address {uri[:1100]!r} is not an S3 object URI: "
            f"use s3://<bucket>/<key>, with a key of at most {OBJECT_KEY_BYTES_MAX} bytes and "
            "without a segment '..'"
        )
    check_user_metadata(description.metadata)
    address, address_type = relative_address(repository.storage_namespace, uri)
    mtime_s = description.mtime_s
    return Entry(
        address=address,
        address_type=address_type,
        size_bytes=description.size_bytes,
        checksum=checksum,
        last_modified_ns=engine.clock.now_ns() if mtime_s is None else mtime_s * NS_PER_S,
        content_type=description.content_type or DEFAULT_CONTENT_TYPE,
        metadata=description.metadata,
    )
