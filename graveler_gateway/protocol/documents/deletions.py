"""DeleteObjects: its request and its result."""

from collections.abc import Iterable
from dataclasses import dataclass

from graveler_gateway.protocol.documents.markup import branch, document, leaf
from graveler_gateway.protocol.documents.reading import Element, malformed, root_of
from graveler_gateway.protocol.errors import Code, S3ResponseError

# S3's limit.
_OBJECTS_MAX = 1000
# Conditions of directory buckets. Without them, more would be deleted than the client wants.
_CONDITIONS_NOT_SERVED = ("LastModifiedTime", "Size")


@dataclass(frozen=True, slots=True)
class DeletedObject:
    """An object to delete; etag is a condition, without quotes."""

    key: str
    etag: str | None = None
    version_id: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """A request to delete objects; the result of a quiet one has errors only."""

    objects: tuple[DeletedObject, ...]
    quiet: bool


@dataclass(frozen=True, slots=True)
class FailedDeletion:
    """An object that was not deleted."""

    key: str
    code: str
    message: str


def parse_delete(body: bytes) -> DeleteRequest:
    """Return the objects to delete, in their order.

    Raises:
        S3ResponseError: MALFORMED_XML, also for no object or more than 1,000;
            NOT_IMPLEMENTED for conditions other than ETag.
    """
    root = root_of(body, "Delete")
    objects = tuple(_deleted(element) for element in root.named("Object"))
    if not 1 <= len(objects) <= _OBJECTS_MAX:
        raise malformed()
    quiet = (root.value("Quiet") or "").strip().lower()
    return DeleteRequest(objects, quiet in ("true", "1"))


def deletion_result(deleted: Iterable[str], errors: Iterable[FailedDeletion]) -> bytes:
    """Return DeleteResult; a quiet request passes no deleted keys."""
    return document(
        "DeleteResult",
        [
            *(branch("Deleted", [leaf("Key", key)]) for key in deleted),
            *(
                branch(
                    "Error",
                    [leaf("Key", row.key), leaf("Code", row.code), leaf("Message", row.message)],
                )
                for row in errors
            ),
        ],
    )


def _deleted(element: Element) -> DeletedObject:
    if any(element.value(name) is not None for name in _CONDITIONS_NOT_SERVED):
        raise S3ResponseError(Code.NOT_IMPLEMENTED)
    etag = element.value("ETag")
    return DeletedObject(
        key=element.required("Key"),
        etag=None if etag is None else etag.strip().strip('"'),
        version_id=element.value("VersionId"),
    )
