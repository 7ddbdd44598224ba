"""CopyObject: S3 copies the data to a new address, inside the store."""

from msgspec.structs import replace

from graveler.errors import BucketRefusedError, InvalidInputError, NotFoundError
from graveler_gateway.lake.port import Description, Object, ObjectPlace
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response, xml_response
from graveler_gateway.operations.tagging import tags_of, tags_of_header, with_tags
from graveler_gateway.operations.writes import (
    check_storage_class,
    data_headers_of,
    description_of,
    requirement_of,
)
from graveler_gateway.protocol import checksums, conditions
from graveler_gateway.protocol.addressing import copy_source
from graveler_gateway.protocol.conditions import ConditionVerdict
from graveler_gateway.protocol.documents import results
from graveler_gateway.protocol.errors import Code, S3ResponseError

_COPY, _REPLACE = "COPY", "REPLACE"


def copy_object(request: S3Request) -> S3Response:
    """Copy the object that `x-amz-copy-source` names."""
    check_storage_class(request)
    replaces_metadata = _replaces(request, "x-amz-metadata-directive")
    replaces_tags = _replaces(request, "x-amz-tagging-directive")
    repository, source = source_of(request)
    request.lake.check_write(request.place)
    request.content.discard()
    description = _described(
        request, source, replaces_metadata=replaces_metadata, replaces_tags=replaces_tags
    )
    is_itself = (repository, request.target.key) == (request.bucket, _key_of(request))
    if is_itself and description is None:
        raise S3ResponseError(
            Code.INVALID_REQUEST,
            "This copy request is illegal because it is trying to copy an object to itself "
            "without changing the object's metadata, storage class, website redirect location or "
            "encryption attributes.",
        )
    copied = request.lake.copy(
        source, repository, request.place, description, requirement_of(request)
    )
    elements = checksums.as_elements(copied.headers)
    document = results.copied(copied.checksum, copied.last_modified_ns, elements)
    return xml_response(document, checksums.without(copied.headers))


def source_of(request: S3Request) -> tuple[str, Object]:
    """Return the repository and the object to copy, if its conditions hold.

    Raises:
        S3ResponseError: the header is malformed, there is no object, or a condition does not hold.
    """
    named = copy_source(request.header("x-amz-copy-source") or "")
    try:
        found = request.lake.stat(ObjectPlace(named.bucket, named.ref, named.path))
    except BucketRefusedError:
        raise
    except (NotFoundError, InvalidInputError) as error:
        code = (
            Code.NO_SUCH_KEY if request.lake.has_repository(named.bucket) else Code.NO_SUCH_BUCKET
        )
        raise S3ResponseError(code, str(error)) from error
    verdict = conditions.copy_verdict(request.head, found.checksum, found.last_modified_ns)
    if verdict is not ConditionVerdict.PROCEED:
        raise S3ResponseError(Code.PRECONDITION_FAILED)
    return named.bucket, found


def _key_of(request: S3Request) -> bytes:
    named = copy_source(request.header("x-amz-copy-source") or "")
    return named.ref.encode() + b"/" + named.path


def _replaces(request: S3Request, name: str) -> bool:
    directive = request.header(name) or _COPY
    if directive not in {_COPY, _REPLACE}:
        raise S3ResponseError(
            Code.INVALID_ARGUMENT,
            "Unknown directive.",
            details={"ArgumentName": name, "ArgumentValue": directive},
        )
    return directive == _REPLACE


def _described(
    request: S3Request, source: Object, *, replaces_metadata: bool, replaces_tags: bool
) -> Description | None:
    """Return the copy's description; None to keep the source's."""
    headers = data_headers_of(request.head)
    if not (replaces_metadata or replaces_tags or headers.chosen):
        return None
    if replaces_metadata:
        described = description_of(request)
    else:
        kept = replace(headers, kept=None)  # the source's
        described = Description(source.content_type, source.metadata, kept)
    tags = (
        tags_of_header(request.header("x-amz-tagging"))
        if replaces_tags
        else tags_of(source.metadata)
    )
    return replace(described, metadata=with_tags(described.metadata, tags))
