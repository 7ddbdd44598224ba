"""What users ask of an import: sources with their destinations, and the commit's fields."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from graveler.errors import ForbiddenError, InvalidInputError
from graveler.imports.keys import KeyInterval
from graveler.limits import (
    IMPORT_INVENTORIES_MAX,
    IMPORT_PREFIXES_MAX,
    IMPORT_REQUEST_BYTES_MAX,
    OBJECT_KEY_BYTES_MAX,
    PATH_BYTES_MAX,
)
from graveler.messages import Refusal
from graveler.names import READABLE_BUCKET, check_path, leaves_its_folder

DEFAULT_MESSAGE = "Import objects"

# The bucket, and the key or the prefix of keys.
_SOURCE = re.compile(rf"s3://({READABLE_BUCKET})(?:/([^\x00]*))?")
# JSON around the texts of one source.
_SOURCE_BYTES = 50


class SourceType(StrEnum):
    """The types of sources, as the API names them."""

    PREFIX = "common_prefix"
    OBJECT = "object"
    INVENTORY = "inventory"  # not lakeFS's: the manifest of an S3 Inventory report


class ImportSource(Struct, frozen=True):
    """Objects to import, and where to.

    uri: of one object, or the beginning of the URIs of many. With a whole bucket it ends in "/". Or
        of the manifest of an inventory, whose objects are imported by their whole keys.
    destination: the object's path, or a prefix of paths.
    """

    type: SourceType
    uri: str
    destination: str

    @property
    def is_object(self) -> bool:
        """Whether the source is a single object."""
        return self.type is SourceType.OBJECT

    @property
    def folder_uri(self) -> str:
        """The part of the URI that destination replaces: up to the last slash.

        The objects `s3://b/logs/2026-01` and `s3://b/logs/2026-02/x` of the prefix
        `s3://b/logs/2026` are imported as `2026-01` and `2026-02/x`.
        """
        return self.uri[: self.uri.rindex("/") + 1]

    @property
    def path_prefix(self) -> bytes:
        """The beginning of all paths that are imported; an object's path itself."""
        is_complete = self.is_object or self.destination[-1:] in ("", "/")
        return (self.destination if is_complete else f"{self.destination}/").encode()

    @property
    def replaced(self) -> KeyInterval:
        """The paths whose content the import replaces."""
        if self.is_object:
            return KeyInterval.of_key(self.path_prefix)
        return KeyInterval.of_prefix(self.path_prefix)


class ImportRequest(Struct, frozen=True):
    """The sources of an import, the later ones over the earlier, and the fields of its commit."""

    sources: tuple[ImportSource, ...]
    committer: str
    message: str = ""
    metadata: Mapping[str, str] = {}
    force: bool = False


def source_of(source_type: SourceType, uri: str, destination: str) -> ImportSource:
    """Return the source, its URI normalized.

    Raises:
        InvalidInputError: the URI or the destination cannot be one.
    """
    parts = _SOURCE.fullmatch(uri)
    if parts is None:
        raise InvalidInputError(f"import path {uri[:1100]!r} is not an S3 URI: use s3://bucket/key")
    key = parts[2] or ""
    if leaves_its_folder(key) or len(key.encode()) > OBJECT_KEY_BYTES_MAX:
        raise InvalidInputError(
            f"import path {uri[:1100]!r} has a segment '..' or is too long: a key has at most "
            f"{OBJECT_KEY_BYTES_MAX} bytes"
        )
    source = ImportSource(source_type, f"s3://{parts[1]}/{key}", destination)
    if not key and source_type is not SourceType.PREFIX:
        raise InvalidInputError(f"import path {uri!r} is a bucket: use type common_prefix")
    if source.is_object:
        check_path(source.path_prefix)
    elif len(source.path_prefix) > PATH_BYTES_MAX:
        raise Refusal.LONG_PATH.error(size=len(source.path_prefix), most=PATH_BYTES_MAX)
    return source


def check_request(request: ImportRequest, namespace: str, allowed_prefixes: Sequence[str]) -> None:
    """Check the sources against the repository's namespace, the deployment and the limits.

    Raises:
        InvalidInputError: a source overlaps with the namespace, or the request is too large.
        ForbiddenError: the deployment does not allow to import from a source.
    """
    for source in request.sources:
        check_source(source.uri, namespace, allowed_prefixes)
        if source.type is SourceType.PREFIX and f"{namespace}/".startswith(source.uri):
            raise Refusal.IMPORT_OVER_NAMESPACE.error(path=source.uri, namespace=namespace)
    prefixes = sum(not source.is_object for source in request.sources)
    if prefixes > IMPORT_PREFIXES_MAX:
        raise InvalidInputError(
            f"the request has {prefixes} prefixes, at most {IMPORT_PREFIXES_MAX} are allowed: "
            "import in several requests"
        )
    inventories = sum(source.type is SourceType.INVENTORY for source in request.sources)
    if inventories > IMPORT_INVENTORIES_MAX:
        raise InvalidInputError(
            f"the request has {inventories} inventories, at most {IMPORT_INVENTORIES_MAX} are "
            "allowed: import in several requests"
        )
    size_bytes = _size_bytes(request)
    if size_bytes > IMPORT_REQUEST_BYTES_MAX:
        raise InvalidInputError(
            f"the request has {size_bytes} bytes of paths, message and metadata, at most "
            f"{IMPORT_REQUEST_BYTES_MAX} are allowed: import in several requests"
        )


def check_source(uri: str, namespace: str, allowed_prefixes: Iterable[str]) -> None:
    """Check that the object, or the objects that begin with the URI, may be imported.

    Objects of the namespace may not: they would be deleted as garbage. Unlike lakeFS, a sibling
    whose name begins with the namespace's is no part of it.

    Raises:
        InvalidInputError: the URI is in the repository's namespace.
        ForbiddenError: the deployment does not allow to import it.
    """
    if f"{uri}/".startswith(f"{namespace}/"):
        raise Refusal.IMPORT_FROM_NAMESPACE.error(path=uri, namespace=namespace)
    folders = [f"{prefix.rstrip('/')}/" for prefix in allowed_prefixes if prefix]
    if not uri.startswith(tuple(folders)):
        allowed = f"only from {', '.join(folders)}" if folders else "from nowhere"
        raise ForbiddenError(
            f"import path {uri!r} is not allowed: this deployment imports {allowed} "
            "(setting readable; of a server, GRAVELER_IMPORT_PREFIXES)"
        )


def _size_bytes(request: ImportRequest) -> int:
    texts = [request.message, *request.metadata, *request.metadata.values()]
    for source in request.sources:
        texts += [source.uri, source.destination]
    return sum(len(text.encode()) for text in texts) + _SOURCE_BYTES * len(request.sources)
