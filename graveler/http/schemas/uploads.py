"""Presigned multipart uploads."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from graveler.http.schemas.fields import PartNumber
from graveler.limits import UPLOAD_PARTS_MAX


class MultipartUploadRow(Struct, frozen=True, omit_defaults=True):
    upload_id: str
    physical_address: str
    presigned_urls: Sequence[str] | None = None


class UploadAddress(Struct, frozen=True):
    physical_address: str


class UploadTo(Struct, frozen=True):
    presigned_url: str


class CopyPartSource(Struct, frozen=True):
    repository: str
    ref: str
    path: str
    range: str | None = None


class UploadPartCopy(Struct, frozen=True):
    physical_address: str
    copy_source: CopyPartSource


class Part(Struct, frozen=True):
    part_number: PartNumber
    etag: str


class UploadCompletion(Struct, frozen=True):
    physical_address: str
    parts: Annotated[list[Part], Meta(max_length=UPLOAD_PARTS_MAX)]
    user_metadata: dict[str, str] = {}
    content_type: str = ""
