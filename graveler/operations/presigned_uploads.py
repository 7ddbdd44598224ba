"""Presigned multipart uploads: clients send the parts directly to the object store."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from graveler.branches import data
from graveler.branches.lookup import branch_of_upload_not_found, current_branch
from graveler.branches.staging import branch_for_staging
from graveler.branches.views import ObjectStat
from graveler.data_headers import NO_HEADERS, DataHeaders
from graveler.engine import Engine
from graveler.errors import InvalidInputError
from graveler.limits import PRESIGNED_URL_LIFE_S, UPLOAD_PARTS_MAX
from graveler.messages import Refusal
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.operations.links import (
    StoredData,
    check_issued,
    get_physical_address,
    stage_data,
)
from graveler.operations.objects import stat
from graveler.operations.two_step_writes import DEFAULT_CONTENT_TYPE, check_user_metadata
from graveler.ports import CopiedPart, UploadedPart


class MultipartUpload(Struct, frozen=True):
    """A new upload, with presigned URLs for its first parts."""

    upload_id: str
    physical_address: str
    presigned_urls: Sequence[str]


def create(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    parts: int = 0,
    headers: DataHeaders = NO_HEADERS,
) -> MultipartUpload:
    """Begin an upload for the path, with presigned URLs for that many parts.

    Raises:
        InvalidInputError: there are too many parts, or a name or the path is malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
    """
    if not 0 <= parts <= UPLOAD_PARTS_MAX:
        raise Refusal.TOO_MANY_PARTS.error(f"not {parts}", most=UPLOAD_PARTS_MAX)
    branch_for_staging(
        engine, repository, branch, path, force=False, not_found=branch_of_upload_not_found
    )
    address = get_physical_address(engine, repository, branch, path)
    upload_id = engine.objects.create_upload(address, DEFAULT_CONTENT_TYPE, headers).id
    urls = engine.objects.presign_parts(address, upload_id, parts, PRESIGNED_URL_LIFE_S)
    return MultipartUpload(upload_id, address, urls)


def _check_part_number(part_number: int) -> None:
    if not 1 <= part_number <= UPLOAD_PARTS_MAX:
        raise InvalidInputError(f"part number {part_number} must be from 1 to {UPLOAD_PARTS_MAX}")


def presign_part(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    upload_id: str,
    part_number: int,
    *,
    physical_address: str,
) -> str:
    """Return a URL to which the client sends one part of the upload by PUT.

    Raises:
        InvalidInputError: the part number or a name is malformed, or the address is not the path's.
        NotFoundError: the repository or the branch does not exist.
    """
    _check_part_number(part_number)
    repo, _ = current_branch(engine, repository, branch)
    check_issued(repo, branch, path, physical_address)
    return engine.objects.presign_part(
        physical_address, upload_id, part_number, PRESIGNED_URL_LIFE_S
    )


def copy_part(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    upload_id: str,
    part_number: int,
    *,
    physical_address: str,
    source_ref: str,
    source_path: bytes,
    byte_range: tuple[int, int] | None = None,
) -> CopiedPart:
    """Copy an object, or the bytes from first to last inclusive, to a part of the upload.

    Raises:
        InvalidInputError: the part number, a name, the ref or a path is malformed, or the address
            is not the path's.
        NotFoundError: the repository, the branch, the source object or the upload does not exist.
        GoneError: the source's data do not exist any more, or were replaced.
    """
    _check_part_number(part_number)
    repo, _ = current_branch(engine, repository, branch)
    check_issued(repo, branch, path, physical_address)
    source = stat(engine, repository, source_ref, source_path)
    return data.copy_part(engine, source, physical_address, upload_id, part_number, byte_range)


def complete(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    upload_id: str,
    *,
    physical_address: str,
    parts: Sequence[UploadedPart],
    content_type: str | None = None,
    metadata: Mapping[str, str],
    requirement: Requirement = NO_REQUIREMENT,
    force: bool = False,
) -> ObjectStat:
    """Join the parts and make them the object at the path.

    Raises:
        InvalidInputError: a name, the path or the metadata are malformed, the parts are not the
            uploaded ones, or the address is not the path's.
        NotFoundError: the repository, the branch or the upload does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: the path does not meet the requirement.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the object may have been written.
    """
    repo, current = branch_for_staging(engine, repository, branch, path, force=force)
    check_user_metadata(metadata)
    check_issued(repo, branch, path, physical_address)
    # Clients send parts in the order in which they ended, and lakeFS takes them.
    ordered = sorted(parts, key=lambda part: part.number)
    info = engine.objects.complete_upload(physical_address, upload_id, ordered)
    stored = StoredData(physical_address, info.checksum, info.size_bytes, metadata, content_type)
    return stage_data(repo, current, path, stored, requirement=requirement)


def abort(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    upload_id: str,
    *,
    physical_address: str,
) -> None:
    """Abort the upload and delete its parts.

    Raises:
        InvalidInputError: a name is malformed, or the address is not the path's.
        NotFoundError: the repository, the branch or the upload does not exist.
    """
    repo, _ = current_branch(engine, repository, branch)
    check_issued(repo, branch, path, physical_address)
    engine.objects.abort_upload(physical_address, upload_id)
