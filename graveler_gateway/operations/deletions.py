"""DeleteObject and DeleteObjects."""

from contextlib import suppress

from graveler.errors import (
    GravelerError,
    InvalidInputError,
    NotFoundError,
    ObjectMissingError,
)
from graveler.model import Requirement
from graveler_gateway.lake.port import ObjectPlace
from graveler_gateway.operations.errors import error_of
from graveler_gateway.operations.request import NULL_VERSION, S3Request
from graveler_gateway.operations.responses import S3Response, xml_response
from graveler_gateway.operations.writes import requirement_of
from graveler_gateway.protocol.addressing import split_key
from graveler_gateway.protocol.documents import deletions
from graveler_gateway.protocol.documents.deletions import DeletedObject, FailedDeletion
from graveler_gateway.protocol.errors import Code, S3ResponseError


def delete_object(request: S3Request) -> S3Response:
    """Delete the object; a missing one is no error."""
    if request.is_root:  # Spark deletes the folders that it made
        branch = split_key(request.target.key).ref
        for _, error in request.lake.delete_many(request.bucket, branch, [b""]):
            raise error_of(error)
        return S3Response(204)
    _delete(request, request.place, requirement_of(request))
    return S3Response(204)


def _delete(request: S3Request, place: ObjectPlace, requirement: Requirement) -> None:
    """Delete the object; a missing one is no error, even if a requirement names its checksum.

    So a client can repeat a conditional deletion whose answer it did not get.
    """
    with suppress(ObjectMissingError):
        request.lake.delete(place, requirement)


def delete_objects(request: S3Request) -> S3Response:
    """Delete up to 1,000 objects; report each of them."""
    deletion = deletions.parse_delete(request.document())
    errors: dict[str, FailedDeletion] = {}
    by_branch: dict[str, dict[bytes, str]] = {}
    for wanted in deletion.objects:
        place = split_key(wanted.key.encode())
        if wanted.version_id not in {None, "", NULL_VERSION}:
            errors[wanted.key] = _of_version(wanted.key)
        elif wanted.etag is not None and place.path:
            _delete_if(request, place.ref, place.path, wanted, errors)
        elif place.path:
            by_branch.setdefault(place.ref, {})[place.path] = wanted.key
    for branch, keys in by_branch.items():
        _delete_some(request, branch, keys, errors)
    deleted = [wanted.key for wanted in deletion.objects if wanted.key not in errors]
    listed = () if deletion.quiet else deleted
    return xml_response(deletions.deletion_result(listed, list(errors.values())))


def _of_version(key: str) -> FailedDeletion:
    """Return the error for a named version: objects have no versions here."""
    code = Code.NO_SUCH_VERSION
    return FailedDeletion(key, code.text, code.message)


def _delete_if(
    request: S3Request,
    ref: str,
    path: bytes,
    wanted: DeletedObject,
    errors: dict[str, FailedDeletion],
) -> None:
    assert wanted.etag is not None
    checksums = frozenset({wanted.etag.strip('"')})
    requirement = (
        Requirement(is_present=True) if wanted.etag == "*" else Requirement(checksums=checksums)
    )
    try:
        _delete(request, ObjectPlace(request.bucket, ref, path), requirement)
    except GravelerError as error:
        errors[wanted.key] = _of_key(request, wanted.key, error)


def _delete_some(
    request: S3Request,
    branch: str,
    keys: dict[bytes, str],
    errors: dict[str, FailedDeletion],
) -> None:
    try:
        failures = request.lake.delete_many(request.bucket, branch, [*keys])
    except GravelerError as error:
        failures = [(path, error) for path in keys]
    for path, failure in failures:
        errors[keys[path]] = _of_key(request, keys[path], failure)


def _of_key(request: S3Request, key: str, error: GravelerError) -> FailedDeletion:
    """Return the key's error.

    Raises:
        GravelerError: the repository does not exist, which fails the whole request.
    """
    refusal = error_of(error)
    if isinstance(error, NotFoundError | InvalidInputError):
        if not request.lake.has_repository(request.bucket):
            raise error
        if isinstance(error, NotFoundError):  # the branch: DeleteObject answers so as well
            refusal = S3ResponseError(Code.NO_SUCH_BUCKET, str(error))
    return FailedDeletion(key, refusal.code.text, refusal.message)
