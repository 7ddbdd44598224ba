"""The ObjectStore on S3."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from email.utils import parsedate_to_datetime
from hashlib import md5
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from graveler.aws.s3 import S3, Location, S3Error
from graveler.errors import (
    GoneError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    RangeNotSatisfiableError,
)
from graveler.limits import SINGLE_COPY_BYTES_MAX, UPLOAD_PARTS_MAX
from graveler.ports import ObjectInfo, UploadedPart

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

Answer = Mapping[str, Any]

_COPY_PART_BYTES = 512 * 1024**2
_COPIES_AT_ONCE = 8

# Metadata that name the one attempt that stored an object: known again after a lost answer.
_WRITE_ID = "graveler-write"

_BAD_PARTS = frozenset(
    {"EntityTooSmall", "InvalidPart", "InvalidPartOrder", "InvalidRequest", "MalformedXML"}
)
_MD5 = re.compile("[0-9a-f]{32}")


class S3ObjectStore:
    """`graveler.ports.ObjectStore` over S3; presigned URLs lead to the public endpoint."""

    def __init__(
        self,
        s3: S3,
        public: "S3Client | None" = None,
        copy_bytes_max: int = SINGLE_COPY_BYTES_MAX,
    ) -> None:
        self._s3 = s3
        self._public = public or s3.client
        self._copy_bytes_max = copy_bytes_max

    def put(
        self, uri: str, content: bytes, content_type: str, *, if_absent: bool = False
    ) -> ObjectInfo:
        location = Location.of(uri)
        optional: dict[str, object] = _content_type(content_type)
        write_id = str(uuid4())
        if if_absent:
            optional |= {"IfNoneMatch": "*", "Metadata": {_WRITE_ID: write_id}}
        try:
            answer = self._s3.call("put_object", location, Body=content, **optional)
        except S3Error as error:
            if error.status != 412:
                raise
            stored = self._head(location)
            if stored is None or stored["Metadata"].get(_WRITE_ID) != write_id:
                raise PreconditionFailedError(f"{uri} exists already") from error
            return _info(stored)
        return ObjectInfo(
            size_bytes=len(content),
            checksum=_checksum(answer),
            last_modified_ns=_time_ns(
                parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
            ),
            content_type=content_type,
        )

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes:
        optional = {} if byte_range is None else {"Range": _range(byte_range)}
        try:
            content: bytes = self._s3.call("get_object", Location.of(uri), **optional)["Body"]
        except S3Error as error:
            if error.status == 416:
                size = error.headers.get("content-range", "").rpartition("/")[2]
                raise RangeNotSatisfiableError(
                    f"{uri} has no {optional.get('Range')}",
                    int(size) if size.isdecimal() else None,
                ) from error
            raise _gone(uri, error) from error
        return content

    def head(self, uri: str) -> ObjectInfo | None:
        stored = self._head(Location.of(uri))
        return None if stored is None else _info(stored)

    def _head(self, location: Location) -> Answer | None:
        try:
            return self._s3.call("head_object", location)
        except S3Error as error:
            if error.status == 404:
                return None
            raise

    def _head_existing(self, uri: str) -> ObjectInfo:
        info = self.head(uri)
        if info is None:
            raise GoneError(f"{uri} does not exist")
        return info

    def copy(self, source_uri: str, target_uri: str, size_bytes: int) -> ObjectInfo:
        if size_bytes > self._copy_bytes_max:
            self._copy_in_parts(source_uri, target_uri)
        else:
            source = Location.of(source_uri).parameters
            try:
                self._s3.call("copy_object", Location.of(target_uri), CopySource=source)
            except S3Error as error:
                raise _gone(source_uri, error) from error
        return self._head_existing(target_uri)

    def _copy_in_parts(self, source_uri: str, target_uri: str) -> None:
        # The true size: a part beyond the end is refused, and what is not asked for is lost.
        source = self._head_existing(source_uri)
        size_bytes = source.size_bytes
        least = -(-size_bytes // UPLOAD_PARTS_MAX)
        part_bytes = max(least, min(_COPY_PART_BYTES, self._copy_bytes_max))
        upload_id = self.create_upload(target_uri, source.content_type)

        def copied(start: int) -> UploadedPart:
            number = start // part_bytes + 1
            last = min(start + part_bytes, size_bytes) - 1
            return UploadedPart(
                number, self.copy_part(target_uri, upload_id, number, source_uri, (start, last))
            )

        try:
            with ThreadPoolExecutor(_COPIES_AT_ONCE) as pool:
                parts = list(pool.map(copied, range(0, size_bytes, part_bytes)))
            self.complete_upload(target_uri, upload_id, parts)
        except BaseException:
            self.abort_upload(target_uri, upload_id)
            raise

    def delete(self, uri: str) -> None:
        try:
            self._s3.call("delete_object", Location.of(uri))
        except S3Error as error:
            if error.status != 404:
                raise

    def presign_get(self, uri: str, expires_s: int, file_name: str) -> str:
        name = {"ResponseContentDisposition": _attachment(file_name)}
        return self._presign("get_object", uri, expires_s, name)

    def presign_put(self, uri: str, expires_s: int) -> str:
        return self._presign("put_object", uri, expires_s, {})

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        part = {"UploadId": upload_id, "PartNumber": part_number}
        return self._presign("upload_part", uri, expires_s, part)

    def _presign(
        self, operation: str, uri: str, expires_s: int, parameters: Mapping[str, object]
    ) -> str:
        return self._public.generate_presigned_url(
            operation,
            Params={**Location.of(uri).parameters, **parameters},
            ExpiresIn=expires_s,
        )

    def create_upload(self, uri: str, content_type: str) -> str:
        optional = _content_type(content_type)
        answer = self._s3.call("create_multipart_upload", Location.of(uri), **optional)
        upload_id: str = answer["UploadId"]
        return upload_id

    def copy_part(
        self,
        uri: str,
        upload_id: str,
        part_number: int,
        source_uri: str,
        byte_range: tuple[int, int] | None,
    ) -> str:
        optional = {} if byte_range is None else {"CopySourceRange": _range(byte_range)}
        try:
            answer = self._s3.call(
                "upload_part_copy",
                Location.of(uri),
                UploadId=upload_id,
                PartNumber=part_number,
                CopySource=Location.of(source_uri).parameters,
                **optional,
            )
        except S3Error as error:
            if error.code == "NoSuchUpload":
                raise NotFoundError(f"upload {upload_id} of {uri} does not exist") from error
            if error.code in ("InvalidRange", "InvalidArgument", "InvalidRequest"):
                raise InvalidInputError(f"{source_uri} has no such part: {error}") from error
            raise _gone(source_uri, error) from error
        return _checksum(answer["CopyPartResult"])

    def complete_upload(
        self, uri: str, upload_id: str, parts: Sequence[UploadedPart]
    ) -> ObjectInfo:
        listed = [{"PartNumber": part.number, "ETag": part.checksum} for part in parts]
        try:
            self._s3.call(
                "complete_multipart_upload",
                Location.of(uri),
                UploadId=upload_id,
                MultipartUpload={"Parts": listed},
            )
        except S3Error as error:
            if error.code in _BAD_PARTS:
                raise InvalidInputError(f"the parts of {uri} do not fit: {error}") from error
            if error.code != "NoSuchUpload":
                raise
            stored = self.head(uri)
            if stored is None or stored.checksum != _checksum_of_parts(parts):
                raise NotFoundError(f"upload {upload_id} of {uri} does not exist") from error
            return stored  # completed by an earlier attempt
        return self._head_existing(uri)

    def abort_upload(self, uri: str, upload_id: str) -> None:
        try:
            self._s3.call("abort_multipart_upload", Location.of(uri), UploadId=upload_id)
        except S3Error as error:
            if error.status != 404:
                raise
            if not error.may_have_landed:
                raise NotFoundError(f"upload {upload_id} of {uri} does not exist") from error


def _gone(uri: str, error: S3Error) -> Exception:
    return GoneError(f"{uri} does not exist any more") if error.status == 404 else error


def _content_type(content_type: str) -> dict[str, object]:
    if not (content_type.isascii() and content_type.isprintable()):
        raise InvalidInputError(f"{content_type!r} is no content type")
    return {"ContentType": content_type} if content_type else {}


def _range(first_and_last: tuple[int, int]) -> str:
    return f"bytes={first_and_last[0]}-{first_and_last[1]}"


def _checksum(answer: Answer) -> str:
    etag: str = answer["ETag"]
    return etag.strip('"')


def _checksum_of_parts(parts: Sequence[UploadedPart]) -> str | None:
    """What S3 answers as the whole's ETag when those of the parts are MD5 digests."""
    if not all(_MD5.fullmatch(part.checksum) for part in parts):
        return None
    digests = b"".join(bytes.fromhex(part.checksum) for part in parts)
    return f"{md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"


def _time_ns(moment: datetime) -> int:
    return int(moment.timestamp()) * 10**9


def _info(answer: Answer) -> ObjectInfo:
    return ObjectInfo(
        size_bytes=answer["ContentLength"],
        checksum=_checksum(answer),
        last_modified_ns=_time_ns(answer["LastModified"]),
        content_type=answer.get("ContentType", ""),
    )


def _attachment(file_name: str) -> str:
    """A Content-Disposition for any file name (RFC 6266): plain for old clients, and exact."""
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\%' else "_"
        for letter in file_name
    )
    exact = quote(file_name, safe="", errors="replace")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}"
