"""The ObjectStore on S3."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from email.utils import parsedate_to_datetime
from hashlib import md5
from urllib.parse import quote
from uuid import uuid4
from xml.sax.saxutils import escape

from graveler.aws.s3 import S3, Location, S3Error, S3Request, xml_text
from graveler.errors import (
    GoneError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    RangeNotSatisfiableError,
)
from graveler.limits import SINGLE_COPY_BYTES_MAX, UPLOAD_PARTS_MAX
from graveler.ports import ObjectInfo, UploadedPart

_COPY_PART_BYTES = 512 * 1024**2
_COPIES_AT_ONCE = 8

# Names the one attempt that stored an object, to recognize it by after a lost answer.
_WRITE_ID = "x-amz-meta-graveler-write"

_BAD_PARTS = frozenset(
    {"EntityTooSmall", "InvalidPart", "InvalidPartOrder", "InvalidRequest", "MalformedXML"}
)
_MD5 = re.compile("[0-9a-f]{32}")


class S3ObjectStore:
    """`graveler.ports.ObjectStore` over S3; presigned URLs lead to the public endpoint."""

    def __init__(
        self, s3: S3, public: S3 | None = None, copy_bytes_max: int = SINGLE_COPY_BYTES_MAX
    ) -> None:
        self._s3 = s3
        self._public = public or s3
        self._copy_bytes_max = copy_bytes_max

    def put(
        self, uri: str, content: bytes, content_type: str, *, if_absent: bool = False
    ) -> ObjectInfo:
        location = Location.of(uri)
        headers = {"content-type": content_type} if content_type else {}
        write_id = str(uuid4())
        if if_absent:
            headers |= {"if-none-match": "*", _WRITE_ID: write_id}
        try:
            answer = self._s3.request(S3Request("PUT", location, headers=headers, body=content))
        except S3Error as error:
            if error.status != 412:
                raise
            stored = self._head(location)
            if stored is None or stored.get(_WRITE_ID) != write_id:
                raise PreconditionFailedError(f"{uri} exists already") from error
            return _info(stored)
        return ObjectInfo(
            size_bytes=len(content),
            checksum=_checksum(answer.headers),
            last_modified_ns=_time_ns(answer.headers["date"]),
            content_type=content_type,
        )

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes:
        headers = {} if byte_range is None else {"range": f"bytes={byte_range[0]}-{byte_range[1]}"}
        try:
            return self._s3.request(S3Request("GET", Location.of(uri), headers=headers)).body
        except S3Error as error:
            if error.status == 416:
                size = error.answer.headers.get("content-range", "").rpartition("/")[2]
                raise RangeNotSatisfiableError(
                    f"{uri} has no bytes from {headers['range']}",
                    int(size) if size.isdecimal() else None,
                ) from error
            raise _gone(uri, error) from error

    def head(self, uri: str) -> ObjectInfo | None:
        headers = self._head(Location.of(uri))
        return None if headers is None else _info(headers)

    def _head(self, location: Location) -> Mapping[str, str] | None:
        try:
            return self._s3.request(S3Request("HEAD", location)).headers
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
            headers = {"x-amz-copy-source": Location.of(source_uri).copy_source}
            try:
                self._s3.request(S3Request("PUT", Location.of(target_uri), headers=headers))
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
            self._s3.request(S3Request("DELETE", Location.of(uri)))
        except S3Error as error:
            if error.status != 404:
                raise

    def presign_get(self, uri: str, expires_s: int, file_name: str) -> str:
        parameters = {"response-content-disposition": _attachment(file_name)}
        return self._public.presigned_url("GET", Location.of(uri), expires_s, parameters)

    def presign_put(self, uri: str, expires_s: int) -> str:
        return self._public.presigned_url("PUT", Location.of(uri), expires_s)

    def create_upload(self, uri: str, content_type: str) -> str:
        headers = {"content-type": content_type} if content_type else {}
        request = S3Request("POST", Location.of(uri), {"uploads": ""}, headers)
        return xml_text(self._s3.request(request).body, "UploadId")

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        parameters = {"partNumber": str(part_number), "uploadId": upload_id}
        return self._public.presigned_url("PUT", Location.of(uri), expires_s, parameters)

    def copy_part(
        self,
        uri: str,
        upload_id: str,
        part_number: int,
        source_uri: str,
        byte_range: tuple[int, int] | None,
    ) -> str:
        parameters = {"partNumber": str(part_number), "uploadId": upload_id}
        headers = {"x-amz-copy-source": Location.of(source_uri).copy_source}
        if byte_range is not None:
            headers["x-amz-copy-source-range"] = f"bytes={byte_range[0]}-{byte_range[1]}"
        try:
            answer = self._s3.request(S3Request("PUT", Location.of(uri), parameters, headers))
        except S3Error as error:
            if error.code == "NoSuchUpload":
                raise NotFoundError(f"upload {upload_id} of {uri} does not exist") from error
            if error.code in ("InvalidRange", "InvalidArgument", "InvalidRequest"):
                raise InvalidInputError(f"{source_uri} has no such part: {error}") from error
            raise _gone(source_uri, error) from error
        return xml_text(answer.body, "ETag").strip('"')

    def complete_upload(
        self, uri: str, upload_id: str, parts: Sequence[UploadedPart]
    ) -> ObjectInfo:
        body = "".join(
            f"<Part><PartNumber>{part.number}</PartNumber>"
            f"<ETag>{escape(part.checksum)}</ETag></Part>"
            for part in parts
        )
        document = f"<CompleteMultipartUpload>{body}</CompleteMultipartUpload>".encode()
        request = S3Request("POST", Location.of(uri), {"uploadId": upload_id}, body=document)
        try:
            self._s3.request(request)
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
        request = S3Request("DELETE", Location.of(uri), {"uploadId": upload_id})
        try:
            self._s3.request(request)
        except S3Error as error:
            if error.status != 404:
                raise
            if not error.may_have_landed:
                raise NotFoundError(f"upload {upload_id} of {uri} does not exist") from error


def _gone(uri: str, error: S3Error) -> Exception:
    return GoneError(f"{uri} does not exist any more") if error.status == 404 else error


def _checksum(headers: Mapping[str, str]) -> str:
    return headers["etag"].strip('"')


def _checksum_of_parts(parts: Sequence[UploadedPart]) -> str | None:
    """What S3 answers as the whole's ETag when those of the parts are MD5 digests."""
    if not all(_MD5.fullmatch(part.checksum) for part in parts):
        return None
    digests = b"".join(bytes.fromhex(part.checksum) for part in parts)
    return f"{md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"


def _time_ns(text: str) -> int:
    moment: datetime = parsedate_to_datetime(text)
    return int(moment.timestamp()) * 10**9


def _info(headers: Mapping[str, str]) -> ObjectInfo:
    return ObjectInfo(
        size_bytes=int(headers["content-length"]),
        checksum=_checksum(headers),
        last_modified_ns=_time_ns(headers["last-modified"]),
        content_type=headers.get("content-type", ""),
    )


def _attachment(file_name: str) -> str:
    """A Content-Disposition for any file name (RFC 6266): plain for old clients, and exact."""
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\%' else "_"
        for letter in file_name
    )
    exact = quote(file_name, safe="", errors="replace")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}"
