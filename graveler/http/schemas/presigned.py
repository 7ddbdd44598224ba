"""Presigned URLs of the objects that match a glob."""

from collections.abc import Sequence

from msgspec import Struct

from graveler.http.schemas.listings import Pagination


class PresignedObject(Struct, frozen=True):
    """An object, and a URL from which anyone can read it until the expiry, in Unix seconds."""

    path: str
    size_bytes: int
    checksum: str
    url: str
    expiry: int


class PresignedObjects(Struct, frozen=True):
    """A page of objects of one commit: the next page names that commit in place of the ref."""

    commit_id: str
    pagination: Pagination
    results: Sequence[PresignedObject]
