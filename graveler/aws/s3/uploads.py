"""Multipart uploads to S3, and what S3 says of an object."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import md5
from typing import TYPE_CHECKING, Any

from graveler.aws.s3.client import S3, Location, S3Error
from graveler.aws.s3.descriptions import content_type_parameters
from graveler.aws.s3.presigning import part_urls
from graveler.aws.signing import Credentials
from graveler.errors import GoneError, InvalidInputError, NotFoundError
from graveler.ports import ObjectInfo, UploadedPart
from graveler.times import NS_PER_S

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

Answer = Mapping[str, Any]

_BAD_PARTS = frozenset(
    {"EntityTooSmall", "InvalidPart", "InvalidPartOrder", "InvalidRequest", "MalformedXML"}
)
_MD5 = re.compile("[0-9a-f]{32}")


class S3Uploads:
    """The part of ObjectStore that concerns multipart uploads."""

    def __init__(
        self,
        s3: S3,
        public: "S3Client | None" = None,
        credentials: Callable[[], Credentials] | None = None,
    ) -> None:
        """Credentials are those that the public client signs with."""
        self._s3 = s3
        self._public = public or s3.client
        self._credentials = credentials

    def head(self, uri: str) -> ObjectInfo | None:
        stored = self._head(Location.of(uri))
        return None if stored is None else info_of(stored)

    def _head(self, location: Location) -> Answer | None:
        try:
            return self._s3.call("head_object", location)
        except S3Error as error:
            if error.status == 404:
                return None
            raise

    def _head_existing(self, uri: str) -> Answer:
        stored = self._head(Location.of(uri))
        if stored is None:
            raise GoneError(f"{uri} does not exist")
        return stored

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        part = {"UploadId": upload_id, "PartNumber": part_number}
        return self._presign("upload_part", uri, expires_s, part)

    def presign_parts(self, uri: str, upload_id: str, parts: int, expires_s: int) -> Sequence[str]:
        if parts == 0:
            return ()
        first = self.presign_part(uri, upload_id, 1, expires_s)
        if self._credentials is not None:
            urls = part_urls(first, parts, self._credentials())
            if urls is not None:
                return urls
        # The credentials were renewed just now, or boto3 signs in a way of its own.
        rest = range(2, parts + 1)
        return [first, *(self.presign_part(uri, upload_id, each, expires_s) for each in rest)]

    def _presign(
        self, operation: str, uri: str, expires_s: int, parameters: Mapping[str, object]
    ) -> str:
        return self._public.generate_presigned_url(
            operation,
            Params={**Location.of(uri).parameters, **parameters},
            ExpiresIn=expires_s,
        )

    def create_upload(self, uri: str, content_type: str) -> str:
        return self._create_upload(uri, content_type_parameters(content_type))

    def _create_upload(self, uri: str, parameters: Mapping[str, object]) -> str:
        answer = self._s3.call("create_multipart_upload", Location.of(uri), **parameters)
        upload_id: str = answer["UploadId"]
        return upload_id

    def upload_part(self, uri: str, upload_id: str, part_number: int, content: bytes) -> str:
        part = {"UploadId": upload_id, "PartNumber": part_number, "Body": content}
        try:
            return checksum_of(self._s3.call("upload_part", Location.of(uri), **part))
        except S3Error as error:
            if error.code == "NoSuchUpload":
                raise _no_upload(uri, upload_id) from error
            raise

    def copy_part(
        self,
        uri: str,
        upload_id: str,
        part_number: int,
        source_uri: str,
        byte_range: tuple[int, int] | None,
    ) -> str:
        optional = {} if byte_range is None else {"CopySourceRange": range_header(byte_range)}
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
                raise _no_upload(uri, upload_id) from error
            if error.code in ("InvalidRange", "InvalidArgument", "InvalidRequest"):
                raise InvalidInputError(f"{source_uri} has no such part: {error}") from error
            raise gone(source_uri, error) from error
        return checksum_of(answer["CopyPartResult"])

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
                raise _no_upload(uri, upload_id) from error
            return stored  # completed by an earlier attempt
        return info_of(self._head_existing(uri))

    def abort_upload(self, uri: str, upload_id: str) -> None:
        try:
            self._s3.call("abort_multipart_upload", Location.of(uri), UploadId=upload_id)
        except S3Error as error:
            if error.status != 404:
                raise
            if not error.may_have_landed:
                raise _no_upload(uri, upload_id) from error


def _no_upload(uri: str, upload_id: str) -> NotFoundError:
    return NotFoundError(f"upload {upload_id} of {uri} does not exist")


def _checksum_of_parts(parts: Sequence[UploadedPart]) -> str | None:
    """What S3 answers as the whole's ETag when those of the parts are MD5 digests."""
    if not all(_MD5.fullmatch(part.checksum) for part in parts):
        return None
    digests = b"".join(bytes.fromhex(part.checksum) for part in parts)
    return f"{md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"


def gone(uri: str, error: S3Error) -> Exception:
    """The error, or what it means when S3 does not find the object."""
    return GoneError(f"{uri} does not exist any more") if error.status == 404 else error


def range_header(first_and_last: tuple[int, int]) -> str:
    """A range of bytes as HTTP writes it."""
    return f"bytes={first_and_last[0]}-{first_and_last[1]}"


def checksum_of(answer: Answer) -> str:
    """The ETag of the answer without its quotes."""
    etag: str = answer["ETag"]
    return etag.strip('"')


def time_ns(moment: datetime) -> int:
    """A time as HTTP has it, to the second, in ns since the Unix epoch."""
    return int(moment.timestamp()) * NS_PER_S


def info_of(answer: Answer) -> ObjectInfo:
    """The object that S3 answered HEAD of."""
    return ObjectInfo(
        size_bytes=answer["ContentLength"],
        checksum=checksum_of(answer),
        last_modified_ns=time_ns(answer["LastModified"]),
        content_type=answer.get("ContentType", ""),
    )
