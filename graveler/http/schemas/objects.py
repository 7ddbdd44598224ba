"""Objects."""

from collections.abc import Mapping

from msgspec import Struct

from graveler.http.schemas.fields import Count, UnixTime, text_of
from graveler.model import Entry
from graveler.operations.two_step_writes import DEFAULT_CONTENT_TYPE
from graveler.times import NS_PER_S


class PathList(Struct, frozen=True):
    paths: list[str]


class ObjectCopyCreation(Struct, frozen=True):
    src_path: str
    src_ref: str | None = None
    force: bool = False
    shallow: bool = False
    # Ours: another repository, the data that the source must still have, and a new description.
    src_repository: str = ""
    src_physical_address: str = ""
    content_type: str | None = None
    user_metadata: dict[str, str] | None = None
    # Those of the copy's data (`graveler.data_headers`); without `headers`, the source's stay.
    headers: dict[str, str] | None = None
    encryption: dict[str, str] = {}


class UserMetadataUpdate(Struct, frozen=True):
    set: dict[str, str]


class ObjectStageCreation(Struct, frozen=True):
    physical_address: str
    checksum: str
    size_bytes: Count
    mtime: UnixTime | None = None
    metadata: dict[str, str] = {}
    content_type: str = ""
    force: bool = False


class ObjectStats(Struct, frozen=True, gc=False, omit_defaults=True):
    path: str
    path_type: str
    physical_address: str
    checksum: str
    size_bytes: int
    mtime: int
    metadata: Mapping[str, str] | None = None
    content_type: str | None = None
    physical_address_expiry: int | None = None


def object_stats(
    path: bytes,
    entry: Entry,
    physical_address: str,
    *,
    user_metadata: bool = True,
    expiry: int | None = None,
) -> ObjectStats:
    return ObjectStats(
        text_of(path),
        "object",
        physical_address,
        entry.checksum,
        entry.size_bytes,
        entry.last_modified_ns // NS_PER_S,
        entry.metadata if user_metadata else {},
        shown_content_type(entry),
        expiry,
    )


def common_prefix(path: bytes) -> ObjectStats:
    """Return a folder of a listing; clients require all its fields, although they are empty."""
    return ObjectStats(text_of(path), "common_prefix", "", "", 0, 0)


def shown_content_type(entry: Entry) -> str:
    """Return the content type; the store does not list the types of imported objects."""
    return entry.content_type or DEFAULT_CONTENT_TYPE


class ObjectError(Struct, frozen=True):
    status_code: int
    message: str
    path: str


class ObjectErrorList(Struct, frozen=True):
    errors: list[ObjectError]


class UnderlyingProperties(Struct, frozen=True, omit_defaults=True):
    storage_class: str | None = None
    headers: Mapping[str, str] = {}  # ours: those that the object store keeps with the data
