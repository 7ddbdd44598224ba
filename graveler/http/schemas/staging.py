"""Direct writes: a physical address, and the data that a client stored there."""

from msgspec import Struct

from graveler.http.schemas.fields import Count, UnixTime


class StorageLocation(Struct, frozen=True, omit_defaults=True):
    physical_address: str
    presigned_url: str | None  # null unless requested
    presigned_url_expiry: int | None = None


class StagingAddress(Struct, frozen=True):
    physical_address: str


class StagingMetadata(Struct, frozen=True):
    staging: StagingAddress
    checksum: str
    size_bytes: Count
    user_metadata: dict[str, str] = {}
    content_type: str = ""
    mtime: UnixTime | None = None
    force: bool = False
