"""Objects whose data clients store themselves: get an address, link it, stage it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct

from graveler.addresses import (
    DATA_PREFIX,
    new_address,
    relative_address,
    sign_address,
    verify_address,
)
from graveler.branches.claims import claim
from graveler.branches.lookup import current_branch, known_repository, shown
from graveler.branches.protection import check_can_stage, check_changeable
from graveler.branches.staging import branch_for_staging, stage_each, stage_entry
from graveler.branches.views import ObjectStat, object_stat
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.errors import GravelerError, InvalidInputError, PreconditionFailedError
from graveler.limits import LINKS_MAX, OBJECT_KEY_BYTES_MAX
from graveler.messages import Refusal
from graveler.model import NO_REQUIREMENT, Branch, Entry, Repository, Requirement
from graveler.names import READABLE_BUCKET, check_checksum, leaves_its_folder
from graveler.open_repository import OpenRepository
from graveler.operations.two_step_writes import DEFAULT_CONTENT_TYPE, check_user_metadata
from graveler.retention.claims import address_to_claim
from graveler.times import NS_PER_S

# Any other address could not be read, and would break each listing that presigns URLs.
_OBJECT_URI = re.compile(rf"s3://{READABLE_BUCKET}/[^\x00]+")

# Raises if the caller must not make the data at the address an object.
CheckForeign = Callable[[str], None]


def _allow(physical_address: str) -> None:
    """Allow every address."""


class StoredData(Struct, frozen=True):
    """Data in the object store, as the client that stored them describes them."""

    physical_address: str  # the whole URI
    checksum: str
    size_bytes: int
    metadata: Mapping[str, str] = {}
    content_type: str | None = None
    mtime_s: int | None = None  # Unix seconds; None means now


def get_physical_address(engine: Engine, repository: str, branch: str, path: bytes) -> str:
    """Return the URI of a new address for the path's data; it can be linked for 24 hours.

    As in lakeFS, `link` checks the branch and the path, not this: lakectl does not show the
    message of an error here.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    repo = known_repository(engine, repository)
    address = new_address(engine.names.new_uid())
    signed = sign_address(engine.signing_key, repository, branch, path, address)
    return f"{repo.record.storage_namespace}/{signed}"


def _is_in_data(repository: Repository, physical_address: str) -> bool:
    """Whether the address is in the repository's data, where only issued ones may be linked."""
    return physical_address.startswith(f"{repository.storage_namespace}/{DATA_PREFIX}")


def check_issued(repo: OpenRepository, branch: str, path: bytes, physical_address: str) -> None:
    """Check that get_physical_address issued the address for this path less than 24 hours ago.

    Raises:
        InvalidInputError: it did not, or the address expired.
    """
    if not _is_in_data(repo.record, physical_address):
        raise Refusal.FOREIGN_ADDRESS.error(f"{physical_address!r} was not issued for this path")
    signed = physical_address.removeprefix(f"{repo.record.storage_namespace}/")
    verify_address(
        repo.engine.signing_key, repo.record.name, branch, path, signed, repo.engine.now_s()
    )


def link(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    data: StoredData,
    *,
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
    check_foreign: CheckForeign = _allow,
) -> ObjectStat:
    """Make data at an address from get_physical_address the object at the path.

    An address outside of the repository's data is staged as `stage` does, after check_foreign.

    Raises:
        InvalidInputError: the address was not issued for the path, or expired; or as `stage`.
        GravelerError: the others that `stage` raises.
    """
    repo, current = branch_for_staging(engine, repository, branch, path, force=force)
    _check_address(repo, branch, path, data, check_foreign)
    return stage_data(repo, current, path, data, requirement=requirement)


def link_each(
    engine: Engine,
    repository: str,
    branch: str,
    objects: Sequence[tuple[bytes, StoredData]],
    *,
    force: bool = False,
    check_foreign: CheckForeign = _allow,
) -> Sequence[tuple[bytes, ObjectStat | GravelerError]]:
    """Make data the objects at distinct paths, as `link` does; return the outcome of each.

    Each takes effect once, but not all at one moment. With UnknownOutcomeError, a path may have
    its object, with another error it does not.

    Raises:
        InvalidInputError: they are more than LINKS_MAX, a path occurs twice, or a name is
            malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
    """
    if len(objects) > LINKS_MAX:
        raise Refusal.TOO_MANY_PATHS.error(f"not {len(objects)}", most=LINKS_MAX)
    for path, times in Counter(path for path, _ in objects).most_common(1):
        if times > 1:
            raise InvalidInputError(f"path {shown(path)} occurs {times} times: send it once")
    repo, current = check_linkable(engine, repository, branch, force=force)
    # Nothing needs a claim: issued addresses are young, and no collection deletes foreign data.
    values: dict[bytes, bytes] = {}
    outcomes: dict[bytes, ObjectStat | GravelerError] = {}
    for path, data in objects:
        try:
            check_changeable(path)
            _check_address(repo, branch, path, data, check_foreign)
            values[path] = entry_value(_entry_of(repo, data))
            outcomes[path] = object_stat(repo.record, path, values[path])
        except GravelerError as error:
            outcomes[path] = error
    outcomes |= stage_each(repo, current, list(values.items()))
    return [(path, outcomes[path]) for path, _ in objects]


def check_linkable(
    engine: Engine, repository: str, branch: str, *, force: bool
) -> tuple[OpenRepository, Branch]:
    """Return the repository and the branch, if objects may be linked there.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
    """
    repo, current = current_branch(engine, repository, branch)
    check_can_stage(repo.record, branch, force=force)
    return repo, current


def _check_address(
    repo: OpenRepository, branch: str, path: bytes, data: StoredData, check_foreign: CheckForeign
) -> None:
    if _is_in_data(repo.record, data.physical_address):
        check_issued(repo, branch, path, data.physical_address)
    else:
        check_foreign(data.physical_address)


def stage(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    data: StoredData,
    *,
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
    check_foreign: CheckForeign = _allow,
) -> ObjectStat:
    """Make the described data the object at the path, without reading the data.

    check_foreign is called with an address that was not issued for the path: an object at another
    path may have it.

    Raises:
        InvalidInputError: a name or the path is malformed, or a field of data is invalid.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: the path does not meet the requirement.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the object may have been written.
    """
    repo, current = branch_for_staging(engine, repository, branch, path, force=force)
    try:
        check_issued(repo, branch, path, data.physical_address)
    except InvalidInputError:
        check_foreign(data.physical_address)
    return stage_data(repo, current, path, data, requirement=requirement)


def stage_data(
    repo: OpenRepository, branch: Branch, path: bytes, data: StoredData, *, requirement: Requirement
) -> ObjectStat:
    """Make the described data the object at the path, on a branch that was checked.

    Raises:
        InvalidInputError: a field of data is invalid.
        PreconditionFailedError: the path does not meet the requirement.
        NotFoundError: the branch was deleted.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the object may have been written.
    """
    entry = _entry_of(repo, data)
    # The path that has the address now may be deleted as soon as this request ends.
    address = address_to_claim(repo.record.storage_namespace, entry, repo.engine.now_s())
    if address is not None:
        claim(repo, [address])
    with _refusal_of_links(requirement):
        return stage_entry(repo, branch, path, entry, requirement)


@contextmanager
def _refusal_of_links(requirement: Requirement) -> Iterator[None]:
    """Refuse an existing path in lakeFS's words: only uploadObject has `path already exists`."""
    try:
        yield
    except PreconditionFailedError as error:
        if not requirement.is_absent:
            raise
        raise Refusal.CHANGED.error(str(error)) from error


def _entry_of(repo: OpenRepository, data: StoredData) -> Entry:
    checksum = data.checksum.removeprefix("W/").strip('"')
    check_checksum(checksum)
    if data.size_bytes < 0:
        raise InvalidInputError(f"size_bytes {data.size_bytes} is negative")
    uri = data.physical_address
    key = uri.removeprefix("s3://").partition("/")[2]
    is_object = _OBJECT_URI.fullmatch(uri) and not leaves_its_folder(key)
    if not is_object or len(key.encode(errors="replace")) > OBJECT_KEY_BYTES_MAX:
        raise InvalidInputError(
            f"physical address {uri[:1100]!r} is not an S3 object URI: "
            f"use s3://<bucket>/<key>, with a key of at most {OBJECT_KEY_BYTES_MAX} bytes and "
            "without a segment '..'"
        )
    check_user_metadata(data.metadata, data.content_type or "")
    address, address_type = relative_address(repo.record.storage_namespace, uri)
    mtime_s = data.mtime_s
    return Entry(
        address=address,
        address_type=address_type,
        size_bytes=data.size_bytes,
        checksum=checksum,
        last_modified_ns=repo.engine.clock.now_ns() if mtime_s is None else mtime_s * NS_PER_S,
        content_type=data.content_type or DEFAULT_CONTENT_TYPE,
        metadata=data.metadata,
    )
