"""Direct writes: a physical address, and the data that a client stored there."""

from msgspec import Struct

from graveler.http.schemas.fields import Count, UnixTime
from graveler.http.schemas.objects import ObjectError, ObjectStats


class StorageLocation(Struct, frozen=True, omit_defaults=True):
    physical_address: str
    presigned_url: str | None  # null unless requested
    presigned_url_expiry: int | None = None


class StagingAddress(Struct, frozen=True):
    physical_address: str


class DescribedData(Struct, frozen=True):
    staging: StagingAddress
    checksum: str
    size_bytes: Count
    user_metadata: dict[str, str] = {}
    content_type: str = ""
    mtime: UnixTime | None = None


class StagingMetadata(DescribedData, frozen=True):
    force: bool = False


class PathData(DescribedData, frozen=True, kw_only=True):
    path: str


class PathDataList(Struct, frozen=True):
    objects: list[PathData]


class LinkedObjects(Struct, frozen=True):
    objects: list[ObjectStats]
    errors: list[ObjectError]


class PathLocation(StorageLocation, frozen=True, kw_only=True):
    path: str


class StorageLocations(Struct, frozen=True):
    addresses: list[PathLocation]
    errors: list[ObjectError]
