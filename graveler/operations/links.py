"""Direct uploads: hand out a physical address, and link the object that was put there."""

from collections.abc import Mapping

from graveler.addresses import DATA_PREFIX, new_address, sign_address, verify_address
from graveler.messages import Refusal
from graveler.model import Repository
from graveler.names import check_path
from graveler.operations.engine import Engine
from graveler.operations.protocol.lookup import read_repository
from graveler.operations.protocol.staging import branch_for_staging, stage_entry
from graveler.operations.protocol.views import ObjectStat
from graveler.operations.writes import described_entry


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
    """Make the data that were put at a handed-out address the object at the path.

    Raises:
        InvalidInputError: the address is forged, foreign or expired.
        PreconditionFailedError: if_absent, and there is an object.
    """
    found, current = branch_for_staging(engine, repository, branch, path, force=force)
    if _is_in_data(found, physical_address):
        check_issued(engine, found, branch, path, physical_address)
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
