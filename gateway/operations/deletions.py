"""DeleteObject and DeleteObjects."""

from contextlib import suppress

from gateway.lake.port import Place
from gateway.operations.errors import error_of
from gateway.operations.request import NULL_VERSION, Call
from gateway.operations.responses import Answer, of_document
from gateway.operations.writes import requirement_of
from gateway.protocol.addressing import split_key
from gateway.protocol.documents import deletions
from gateway.protocol.documents.deletions import DeletedObject, DeletionError
from gateway.protocol.errors import Code, S3Error
from graveler.errors import (
    GravelerError,
    InvalidInputError,
    NotFoundError,
    ObjectMissingError,
)
from graveler.model import Requirement


def delete_object(call: Call) -> Answer:
    """Delete the object; a missing one is no error."""
    if call.is_root:  # Spark deletes the folders that it made
        branch = split_key(call.target.key).ref
        for _, error in call.lake.delete_many(call.bucket, branch, [b""]):
            raise error_of(error)
        return Answer(204)
    _delete(call, call.place, requirement_of(call))
    return Answer(204)


def _delete(call: Call, place: Place, requirement: Requirement) -> None:
    """Delete the object; a missing one is no error, even if a requirement names its checksum.

    So a client can repeat a conditional deletion whose answer it did not get.
    """
    with suppress(ObjectMissingError):
        call.lake.delete(place, requirement)


def delete_objects(call: Call) -> Answer:
    """Delete up to 1,000 objects; report each of them."""
    deletion = deletions.parse_delete(call.document())
    errors: dict[str, DeletionError] = {}
    by_branch: dict[str, list[tuple[bytes, str]]] = {}
    for wanted in deletion.objects:
        place = split_key(wanted.key.encode())
        if wanted.version_id not in {None, "", NULL_VERSION}:
            errors[wanted.key] = _of_version(wanted.key)
        elif wanted.etag is not None and place.path:
            _delete_if(call, place.ref, place.path, wanted, errors)
        else:
            by_branch.setdefault(place.ref, []).append((place.path, wanted.key))
    for branch, some in by_branch.items():
        _delete_some(call, branch, some, errors)
    deleted = [wanted.key for wanted in deletion.objects if wanted.key not in errors]
    listed = () if deletion.quiet else deleted
    return of_document(deletions.deletion_result(listed, list(errors.values())))


def _of_version(key: str) -> DeletionError:
    """Return the error of a version: the object at the key is another one."""
    code = Code.NO_SUCH_VERSION
    return DeletionError(key, code.text, code.message)


def _delete_if(
    call: Call, ref: str, path: bytes, wanted: DeletedObject, errors: dict[str, DeletionError]
) -> None:
    assert wanted.etag is not None
    checksums = frozenset({wanted.etag.strip('"')})
    requirement = (
        Requirement(is_present=True) if wanted.etag == "*" else Requirement(checksums=checksums)
    )
    try:
        _delete(call, Place(call.bucket, ref, path), requirement)
    except GravelerError as error:
        errors[wanted.key] = _of_key(call, wanted.key, error)


def _delete_some(
    call: Call, branch: str, some: list[tuple[bytes, str]], errors: dict[str, DeletionError]
) -> None:
    keys: dict[bytes, list[str]] = {}
    for path, key in some:
        keys.setdefault(path, []).append(key)
    paths = [path for path in keys if path]
    try:
        failures = call.lake.delete_many(call.bucket, branch, paths) if paths else ()
    except GravelerError as error:
        failures = [(path, error) for path in paths]
    for path, failure in failures:
        errors |= {key: _of_key(call, key, failure) for key in keys[path]}


def _of_key(call: Call, key: str, error: GravelerError) -> DeletionError:
    """Return the key's error.

    Raises:
        GravelerError: there is no repository, which is no error of a key.
    """
    refusal = error_of(error)
    if isinstance(error, NotFoundError | InvalidInputError):
        if not call.lake.has_repository(call.bucket):
            raise error
        if isinstance(error, NotFoundError):  # the branch: DeleteObject answers so as well
            refusal = S3Error(Code.NO_SUCH_BUCKET, str(error))
    return DeletionError(key, refusal.code.text, refusal.message)
