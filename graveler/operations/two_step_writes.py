"""Writes in two steps: an address for the data, and then their entry.

Between the steps, a client may send its content for hours. So the last step repeats the checks of
the first one, unless that was a moment ago.
"""

from collections.abc import Mapping

from msgspec import Struct

from graveler.addresses import new_address
from graveler.branches.lookup import StagedRead, branch_of_upload_not_found
from graveler.branches.staging import (
    branch_for_staging,
    check_requirement,
    path_for_staging,
    stage_entry,
)
from graveler.branches.views import ObjectStat, value_on_branch
from graveler.engine import Engine
from graveler.errors import InvalidInputError, ThrottledError
from graveler.limits import USER_METADATA_BYTES_MAX, WRITE_LIFE_S
from graveler.model import NO_REQUIREMENT, AddressType, Branch, Entry, Requirement
from graveler.open_repository import OpenRepository
from graveler.times import Moment

# The age that the cached record of a repository may have, too.
_CHECK_AGE_MAX_S = 5

DEFAULT_CONTENT_TYPE = "application/octet-stream"


def check_user_metadata(metadata: Mapping[str, str], content_type: str = "") -> None:
    """Check that user metadata fit into one record, beside the content type.

    Raises:
        InvalidInputError: they are too large.
    """
    size_bytes = sum(len(key.encode()) + len(value.encode()) for key, value in metadata.items())
    size_bytes += len(content_type.encode())
    if size_bytes > USER_METADATA_BYTES_MAX:
        raise InvalidInputError(
            f"user metadata and content type of {size_bytes} bytes are too large: "
            f"shorten them to {USER_METADATA_BYTES_MAX} bytes"
        )


class Prepared(Struct, frozen=True):
    """A new address for the data of a path, on a branch that was checked."""

    repo: OpenRepository
    branch: Branch
    path: bytes
    address: str  # relative to the storage namespace
    force: bool
    since: Moment
    read: StagedRead | None = None

    @property
    def uri(self) -> str:
        """The whole URI of the address."""
        return f"{self.repo.record.storage_namespace}/{self.address}"


def prepare(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    metadata: Mapping[str, str],
    address: str = "",
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
) -> Prepared:
    """Return a new address for the path's data, or the given one; `finish` makes them its object.

    All checks are made here, so that the content of a refused write is not read.

    Raises:
        InvalidInputError: a name or the path is malformed, or the metadata are too large.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: the path does not meet the requirement.
    """
    since = engine.clock.moment()
    place = engine, repository, branch, path
    not_found = branch_of_upload_not_found
    read = None
    if requirement == NO_REQUIREMENT:
        repo, current = branch_for_staging(*place, force=force, not_found=not_found)
    else:
        repo, current, read = path_for_staging(*place, force=force, not_found=not_found)
    check_user_metadata(metadata)
    if requirement != NO_REQUIREMENT:
        seen = value_on_branch(repo, current, path, read)
        check_requirement(path, seen, requirement)
    address = address or new_address(engine.names.new_uid())
    return Prepared(repo, current, path, address, force, since, read)


def branch_now(prepared: Prepared) -> tuple[OpenRepository, Branch, StagedRead | None]:
    """Return the repository and the branch on which a prepared write may be staged now.

    The third is the staged change that was read together with the branch, if any.

    Raises:
        NotFoundError: the repository or the branch was deleted.
        ForbiddenError: the branch is protected by now, or the repository is read-only.
        ThrottledError: the write took too long.
    """
    engine = prepared.repo.engine
    now = engine.clock.moment()
    if prepared.since.is_within(_CHECK_AGE_MAX_S, now):
        return prepared.repo, prepared.branch, prepared.read
    took_s = prepared.since.passed_s(now)
    if took_s > WRITE_LIFE_S:
        raise ThrottledError(f"the write took {took_s:.0f} s: send the content again, in parts")
    repo, branch = branch_for_staging(
        engine,
        prepared.repo.record.name,
        prepared.branch.name,
        prepared.path,
        force=prepared.force,
        not_found=branch_of_upload_not_found,
    )
    if (repo.record.uid, branch.uid) != (prepared.repo.record.uid, prepared.branch.uid):
        raise branch_of_upload_not_found(prepared.branch.name)
    return repo, branch, None


def finish(
    prepared: Prepared,
    *,
    size_bytes: int,
    checksum: str,
    content_type: str,
    metadata: Mapping[str, str],
    requirement: Requirement,
) -> ObjectStat:
    """Make the data at the prepared address the object at the path.

    Raises:
        GravelerError: as `branch_now`.
        PreconditionFailedError: the path does not meet the requirement any more.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the object may have been written.
    """
    entry = Entry(
        address=prepared.address,
        address_type=AddressType.RELATIVE,
        size_bytes=size_bytes,
        checksum=checksum,
        last_modified_ns=prepared.repo.engine.clock.now_ns(),
        content_type=content_type,
        metadata=metadata,
    )
    repo, branch, read = branch_now(prepared)
    return stage_entry(repo, branch, prepared.path, entry, requirement, read)
