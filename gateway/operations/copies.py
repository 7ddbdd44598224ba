"""CopyObject: S3 copies the data to a new address, inside the store."""

from dataclasses import replace

from gateway.lake.port import Description, Object, Place
from gateway.operations.request import Call
from gateway.operations.responses import Answer, of_document
from gateway.operations.tagging import tags_of, tags_of_header, with_tags
from gateway.operations.writes import (
    check_storage_class,
    data_headers_of,
    description_of,
    requirement_of,
)
from gateway.protocol import checksums, conditions
from gateway.protocol.addressing import copy_source
from gateway.protocol.conditions import Verdict
from gateway.protocol.documents import results
from gateway.protocol.errors import Code, S3Error
from graveler.errors import BucketRefusedError, InvalidInputError, NotFoundError

_COPY, _REPLACE = "COPY", "REPLACE"


def copy_object(call: Call) -> Answer:
    """Copy the object that `x-amz-copy-source` names."""
    check_storage_class(call)
    replaces_metadata = _replaces(call, "x-amz-metadata-directive")
    replaces_tags = _replaces(call, "x-amz-tagging-directive")
    repository, source = source_of(call)
    call.lake.check_write(call.place)
    call.content.discard()
    description = _described(
        call, source, replaces_metadata=replaces_metadata, replaces_tags=replaces_tags
    )
    is_itself = (repository, call.target.key) == (call.bucket, _key_of(call))
    if is_itself and description is None:
        raise S3Error(
            Code.INVALID_REQUEST,
            "This copy request is illegal because it is trying to copy an object to itself "
            "without changing the object's metadata, storage class, website redirect location or "
            "encryption attributes.",
        )
    copied = call.lake.copy(source, repository, call.place, description, requirement_of(call))
    elements = checksums.as_elements(copied.headers)
    document = results.copied(copied.checksum, copied.last_modified_ns, elements)
    return of_document(document, checksums.without(copied.headers))


def source_of(call: Call) -> tuple[str, Object]:
    """Return the repository and the object to copy, if its conditions hold.

    Raises:
        S3Error: the header is malformed, there is no such object, or a condition does not hold.
    """
    named = copy_source(call.header("x-amz-copy-source") or "")
    try:
        found = call.lake.stat(Place(named.bucket, named.ref, named.path))
    except BucketRefusedError:
        raise
    except (NotFoundError, InvalidInputError) as error:
        code = Code.NO_SUCH_KEY if call.lake.has_repository(named.bucket) else Code.NO_SUCH_BUCKET
        raise S3Error(code, str(error)) from error
    verdict = conditions.copy_verdict(call.head, found.checksum, found.last_modified_ns)
    if verdict is not Verdict.PROCEED:
        raise S3Error(Code.PRECONDITION_FAILED)
    return named.bucket, found


def _key_of(call: Call) -> bytes:
    named = copy_source(call.header("x-amz-copy-source") or "")
    return named.ref.encode() + b"/" + named.path


def _replaces(call: Call, name: str) -> bool:
    directive = call.header(name) or _COPY
    if directive not in {_COPY, _REPLACE}:
        raise S3Error(
            Code.INVALID_ARGUMENT,
            "Unknown directive.",
            details={"ArgumentName": name, "ArgumentValue": directive},
        )
    return directive == _REPLACE


def _described(
    call: Call, source: Object, *, replaces_metadata: bool, replaces_tags: bool
) -> Description | None:
    """Return what the copy is described by; None if it is as the source."""
    headers = data_headers_of(call.head)
    if not (replaces_metadata or replaces_tags or headers.chosen):
        return None
    if replaces_metadata:
        described = description_of(call)
    else:
        kept = replace(headers, kept=None)  # the source's
        described = Description(source.content_type, source.metadata, kept)
    tags = (
        tags_of_header(call.header("x-amz-tagging")) if replaces_tags else tags_of(source.metadata)
    )
    return replace(described, metadata=with_tags(described.metadata, tags))
