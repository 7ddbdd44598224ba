"""Recorded multipart uploads."""

from typing import Annotated

from msgspec import Meta, Struct

from graveler.http.schemas.fields import text_of
from graveler.http.schemas.uploads import CopyPartSource, Part
from graveler.limits import UPLOAD_PARTS_MAX
from graveler.model.recorded_uploads import Upload
from graveler.ports import PartInfo
from graveler.times import NS_PER_S


class RecordedUploadCreation(Struct, frozen=True):
    content_type: str = ""
    user_metadata: dict[str, str] = {}
    headers: dict[str, str] = {}
    encryption: dict[str, str] = {}


class RecordedUploadRow(Struct, frozen=True, omit_defaults=True):
    path_type: str
    key: str  # the branch, a slash and the path, or the beginning of several keys
    upload_id: str | None = None
    branch: str | None = None
    path: str | None = None
    creation_date: int | None = None


def recorded_upload(upload: Upload) -> RecordedUploadRow:
    return RecordedUploadRow(
        "upload",
        text_of(upload.key),
        upload.id,
        upload.branch,
        text_of(upload.path),
        upload.created_ns // NS_PER_S,
    )


def prefix_of_uploads(key: bytes) -> RecordedUploadRow:
    """Return the common prefix of several uploads' keys."""
    return RecordedUploadRow("common_prefix", text_of(key))


class PartLocation(Struct, frozen=True):
    presigned_url: str
    presigned_url_expiry: int


class RecordedPartCopy(Struct, frozen=True):
    copy_source: CopyPartSource
    src_physical_address: str = ""


class RecordedPartRow(Struct, frozen=True):
    part_number: int
    etag: str
    size_bytes: int
    mtime: int


def recorded_part(part: PartInfo) -> RecordedPartRow:
    return RecordedPartRow(
        part.number, part.checksum, part.size_bytes, part.last_modified_ns // NS_PER_S
    )


class RecordedUploadCompletion(Struct, frozen=True):
    parts: Annotated[list[Part], Meta(max_length=UPLOAD_PARTS_MAX)]
    # What the object must have; any size if it is absent.
    size_bytes: int | None = None
