"""Direct uploads: hand out a physical address, and link the object that was put there."""

from collections.abc import Mapping
from dataclasses import dataclass

from graveler.addresses import DATA_PREFIX, new_address, sign_address, verify_address
from graveler.model import Repository
from graveler.names import check_path
from graveler.operations.engine import Engine
from graveler.operations.lookup import current_branch
from graveler.operations.objects import ObjectStat
from graveler.operations.staged import branch_for_staging, stage_entry
from graveler.operations.writes import described_entry


@dataclass(frozen=True, slots=True)
class UploadAddress:
    """Where to put an object's data: the URI, and the signed form of it that links."""

    uri: str
    signed_uri: str


def get_physical_address(
    engine: Engine, repository: str, branch: str, path: bytes
) -> UploadAddress:
    """A new address for the path's data, good for linking for 24 hours.

    Raises:
        NotFoundError: there is no such repository or branch.
    """
    check_path(path)
    found, _ = current_branch(engine, repository, branch)
    address = new_address(engine.names.new_uid())
    signed = sign_address(engine.signing_key, repository, branch, path, address)
    return UploadAddress(
        f"{found.storage_namespace}/{address}", f"{found.storage_namespace}/{signed}"
    )


def verified_uri(
    engine: Engine, repository: Repository, branch: str, path: bytes, physical_address: str
) -> str:
    """The URI to link: without its signature if it lies in our data, as it is if elsewhere.

    Raises:
        InvalidInputError: it lies in our data, and was not handed out for this, or expired.
    """
    prefix = f"{repository.storage_namespace}/"
    if not physical_address.startswith(prefix + DATA_PREFIX):
        return physical_address
    signed = physical_address.removeprefix(prefix)
    now_s = engine.now_s()
    address = verify_address(engine.signing_key, repository.name, branch, path, signed, now_s)
    return prefix + address


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
    entry = described_entry(
        engine,
        found,
        physical_address=verified_uri(engine, found, branch, path, physical_address),
        checksum=checksum,
        size_bytes=size_bytes,
        content_type=content_type,
        metadata=metadata,
        mtime_s=mtime_s,
    )
    return stage_entry(engine, found, current, path, entry, if_absent=if_absent)
