"""Multipart uploads that one process begins and any other one completes, lists or aborts.

Theory of operation. The record of an upload decides. It is open until the transaction that stages
the object completes it, or until an abort deletes it:

    create      begin in the object store, then store the record
    complete    join the parts in the object store, then stage and complete in one transaction
    abort       delete the record if it is open, then abort in the object store

So of a completion and an abort, exactly one succeeds, and no entry names aborted data. Data that a
completion joined after an abort are garbage.

A repeated completion continues the first one. If the first stopped before its transaction, the
object store reports that the parts are joined. If it stopped later, the record has its result. Then
nothing is staged, because the path may have changed since. But the entry is confirmed, because the
first may have stopped before that.

A collection does not delete the data of a record (`operations.collection_reads`). S3 dates an
object of many parts by the start of its upload. So its age alone does not protect it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from graveler.addresses import decode_xid, new_address
from graveler.branches.lookup import branch_of_upload_not_found, read_repository
from graveler.branches.staging import branch_for_staging, check_requirement
from graveler.branches.upload_completions import confirm_again, stage_upload
from graveler.branches.views import ObjectStat, object_stat, view_of_branch
from graveler.data_headers import CHECKSUM_ALGORITHM, NO_HEADERS, DataHeaders, of_write
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.errors import (
    BadPartsError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    UploadNotFoundError,
)
from graveler.model import NO_REQUIREMENT, Repository, Requirement
from graveler.model.recorded_uploads import Completion, Upload, digest_of_parts
from graveler.names import check_branch_name, check_path
from graveler.open_repository import OpenRepository
from graveler.operations.two_step_writes import DEFAULT_CONTENT_TYPE, check_user_metadata
from graveler.ports import NOTHING_EXPECTED, ExpectedObject, ObjectInfo, UploadedPart
from graveler.staging.listing import CommonPrefix, PageQuery, prefix_end


class UploadPage(Struct, frozen=True):
    """Open uploads and common prefixes by key.

    next_after: the last key or common prefix; b"" if there are no more.
    next_id: the ID of the last upload.
    """

    results: list[Upload | CommonPrefix]
    next_after: bytes = b""
    next_id: str = ""


def create(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    content_type: str = "",
    metadata: Mapping[str, str],
    headers: DataHeaders = NO_HEADERS,
) -> Upload:
    """Begin an upload to the path, and record it.

    Raises:
        InvalidInputError: a name or the path is malformed, or the metadata are too large.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, or the repository is read-only.
        UnknownOutcomeError: the upload may have been recorded.
    """
    repo, current = branch_for_staging(
        engine, repository, branch, path, force=False, not_found=branch_of_upload_not_found
    )
    check_user_metadata(metadata)
    address = new_address(engine.names.new_uid())
    content_type = content_type or DEFAULT_CONTENT_TYPE
    uri = f"{repo.record.storage_namespace}/{address}"
    begun = engine.objects.create_upload(uri, content_type, headers)
    upload = Upload(
        id=engine.names.new_uid(),
        branch=branch,
        path=path,
        address=address,
        store_id=begun.id,
        content_type=content_type,
        created_ns=engine.clock.now_ns(),
        metadata=metadata,
        has_checksums=CHECKSUM_ALGORITHM in headers.checksum,
        headers=begun.headers,
        branch_uid=current.uid,
    )
    engine.refs.put_upload(repo.record, upload)
    return upload


def find(
    engine: Engine, repository: str, branch: str, path: bytes, upload_id: str
) -> tuple[str, Upload]:
    """Return the open upload, which takes parts, and the URI of its data.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: the repository does not exist.
        UploadNotFoundError: the path has no such upload, or it was completed.
    """
    repo, upload = _open(engine, repository, branch, path, upload_id)
    return f"{repo.record.storage_namespace}/{upload.address}", upload


def location(
    engine: Engine, repository: str, branch: str, path: bytes, upload_id: str
) -> tuple[str, str]:
    """Return where the open upload takes parts: the URI of its data, and the store's upload ID.

    Raises:
        GravelerError: as `find`.
    """
    uri, upload = find(engine, repository, branch, path, upload_id)
    return uri, upload.store_id


def _open(
    engine: Engine, repository: str, branch: str, path: bytes, upload_id: str
) -> tuple[OpenRepository, Upload]:
    """Return the repository and the open upload.

    Raises:
        GravelerError: as `find`.
    """
    repo, upload = _recorded(engine, repository, branch, path, upload_id)
    if upload.completed is not None:
        raise _not_found(upload_id)
    return repo, upload


def _recorded(
    engine: Engine, repository: str, branch: str, path: bytes, upload_id: str
) -> tuple[OpenRepository, Upload]:
    """Return the repository and the upload, open or completed.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: the repository does not exist.
        UploadNotFoundError: the path has no such upload.
    """
    check_branch_name(branch)
    check_path(path)
    repo = read_repository(engine, repository)
    with suppress(InvalidInputError):
        decode_xid(upload_id)
        upload = engine.refs.upload(repo.record, branch, path, upload_id)
        if upload is not None:
            return repo, upload
    raise _not_found(upload_id)


def _not_found(
    upload_id: str, reason: str = "it may have been completed or aborted"
) -> UploadNotFoundError:
    return UploadNotFoundError(f"upload {upload_id!r} does not exist: {reason}")


def complete(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    upload_id: str,
    parts: Sequence[UploadedPart],
    requirement: Requirement = NO_REQUIREMENT,
    expected: ExpectedObject = NOTHING_EXPECTED,
) -> ObjectStat:
    """Join the parts and make them the object at the path.

    A repeated call with the same parts returns the same while the object's change is uncommitted,
    or is what readers see. Otherwise, the outcome is unknown. It also is if the object had to meet
    a requirement, and the head has moved since.

    Raises:
        InvalidInputError: a name or the path is malformed.
        BadPartsError: the parts are not the uploaded ones, or make an unexpected object.
        NotFoundError: the repository or the branch does not exist.
        UploadNotFoundError: the path has no such upload, or other parts completed it.
        ForbiddenError: the branch is protected, or the repository is read-only.
        PreconditionFailedError: the object at the path does not meet the requirement.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the upload may have been completed.
    """
    parts = [replace(part, checksum=part.checksum.strip('"')) for part in parts]
    digest = digest_of_parts([(part.number, part.checksum) for part in parts])
    repo, upload = _recorded(engine, repository, branch, path, upload_id)
    if upload.completed is not None:
        return _repeated(repo, upload, digest)
    try:
        return _complete(repo, upload, parts, digest, requirement, expected)
    except (UploadNotFoundError, PreconditionFailedError):
        # Another request may have completed it meanwhile, with the same parts.
        now = engine.refs.upload(repo.record, branch, path, upload_id)
        if now is None or now.completed is None:
            raise
        return _repeated(repo, now, digest)


def _repeated(repo: OpenRepository, upload: Upload, digest: str) -> ObjectStat:
    """Return the object that the completed upload made, for a repeated completion.

    Raises:
        UploadNotFoundError: other parts completed it.
        UnknownOutcomeError: a commit may have missed the object, or it was replaced since.
    """
    if upload.completed is None or upload.completed.parts_digest != digest:
        raise _not_found(upload.id)
    confirm_again(repo, upload, upload.completed)
    return _stat(repo.record, upload)


def _stat(repository: Repository, upload: Upload, headers: Mapping[str, str] = {}) -> ObjectStat:
    assert upload.completed is not None
    value = entry_value(upload.entry(upload.completed))
    return object_stat(repository, upload.path, value, headers)


def _complete(
    repo: OpenRepository,
    upload: Upload,
    parts: Sequence[UploadedPart],
    digest: str,
    requirement: Requirement,
    expected: ExpectedObject,
) -> ObjectStat:
    """Complete an open upload; the errors are those of `complete`."""
    path = upload.path
    now, branch = branch_for_staging(
        repo.engine, repo.record.name, upload.branch, path, force=False
    )
    is_same = now.record.uid == repo.record.uid and upload.branch_uid in (None, branch.uid)
    if not is_same:
        raise _not_found(upload.id, "the branch that it was for was deleted: begin a new upload")
    if requirement != NO_REQUIREMENT:
        seen = view_of_branch(repo, branch).get(path)
        check_requirement(path, seen, requirement)
    uri = f"{repo.record.storage_namespace}/{upload.address}"
    if not upload.has_checksums:  # the store would refuse them
        parts = [replace(part, checksums={}) for part in parts]
    info = repo.engine.objects.complete_upload(uri, upload.store_id, parts, expected)
    _check(info, expected)
    completion = Completion(info.checksum, info.size_bytes, repo.engine.clock.now_ns(), digest)
    staged = stage_upload(repo, branch, upload, completion, requirement)
    return _stat(repo.record, staged, of_write(info.headers))


def _check(info: ObjectInfo, expected: ExpectedObject) -> None:
    """Check that the parts made the expected object: not every store does.

    Raises:
        BadPartsError: they did not. They are joined, and a corrected completion can continue.
    """
    if expected.size_bytes not in (None, info.size_bytes):
        raise BadPartsError(
            f"the parts have {info.size_bytes} bytes together, not {expected.size_bytes}",
            reason="InvalidRequest",
        )
    for name, text in expected.headers.items():
        if info.headers.get(name) != text:
            raise BadPartsError(
                f"{name} of the object is {info.headers.get(name, 'unknown')}, not {text}",
                reason="BadDigest",
            )


def abort(engine: Engine, repository: str, branch: str, path: bytes, upload_id: str) -> None:
    """Abort the open upload and delete its parts.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: the repository does not exist.
        UploadNotFoundError: the path has no such upload, or it was completed.
    """
    repo, upload = _recorded(engine, repository, branch, path, upload_id)
    if not engine.refs.delete_upload(repo.record, upload):
        raise _not_found(upload_id)
    with suppress(NotFoundError):  # a completion that lost has joined the parts
        engine.objects.abort_upload(
            f"{repo.record.storage_namespace}/{upload.address}", upload.store_id
        )


def list_uploads(
    engine: Engine, repository: str, query: PageQuery, *, after_id: str = ""
) -> UploadPage:
    """Return a page of the open uploads; a key is a branch, a slash and a path.

    With after_id, the page also has the uploads of the key `query.after` that have a greater ID.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    repo = read_repository(engine, repository)
    results: list[Upload | CommonPrefix] = []
    last = (b"", "")
    start: bytes | None = max(query.prefix, query.after) if after_id else query.start
    while start is not None and (query.end is None or start < query.end):
        resume: bytes | None = None
        for upload in engine.refs.uploads(repo.record, start, query.end):
            is_passed = after_id != "" and upload.place <= (query.after, after_id)
            if upload.completed is not None or is_passed:
                continue
            if len(results) == query.amount:
                return UploadPage(results, *last)
            folded = query.folded(upload.key)
            if folded is not None:
                results.append(CommonPrefix(folded))
                last, resume = (folded, ""), prefix_end(folded)
                break
            results.append(upload)
            last = upload.place
        start = resume
    return UploadPage(results)
