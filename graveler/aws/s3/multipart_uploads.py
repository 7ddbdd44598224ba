"""Multipart uploads to S3."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import md5

from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.direct_client import HEADERS
from graveler.aws.s3.object_metadata import content_type_parameters
from graveler.aws.s3.responses import (
    checksum_of,
    checksums_of,
    condition,
    find,
    find_existing,
    gone,
    headers_of,
    info_of,
    refused,
    time_ns,
)
from graveler.aws.s3.uris import Location, range_header
from graveler.data_headers import CHECKSUM_MODE, NO_HEADERS, DataHeaders, of_write
from graveler.errors import (
    BadPartsError,
    GravelerError,
    InvalidInputError,
    UnknownOutcomeError,
    UploadNotFoundError,
)
from graveler.ports import (
    NOTHING_EXPECTED,
    BegunUpload,
    CopiedPart,
    ExpectedObject,
    ObjectInfo,
    PartInfo,
    PartsPage,
    UploadedPart,
)

_BAD_PARTS = frozenset(
    {
        "BadDigest",
        "EntityTooSmall",
        "InvalidPart",
        "InvalidPartOrder",
        "InvalidRequest",
        "MalformedXML",
    }
)
_MD5 = re.compile("[0-9a-f]{32}")


class S3Uploads:
    """The part of ObjectStore that makes multipart uploads."""

    _s3: S3

    def create_upload(
        self, uri: str, content_type: str, headers: DataHeaders = NO_HEADERS
    ) -> BegunUpload:
        sent = {HEADERS: headers.sent}
        return self._create_upload(uri, content_type_parameters(content_type) | sent)

    def _create_upload(self, uri: str, parameters: Mapping[str, object]) -> BegunUpload:
        try:
            answer = self._s3.call("create_multipart_upload", Location.of(uri), **parameters)
        except S3Error as error:
            if error.status in {400, 501}:  # for a header that the client chose
                raise refused(f"{uri} cannot be stored", error) from error
            raise
        return BegunUpload(answer["UploadId"], of_write(headers_of(answer)))

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
        *,
        if_match: str = "",
    ) -> CopiedPart:
        optional = {} if byte_range is None else {"CopySourceRange": range_header(byte_range)}
        optional |= condition("CopySourceIfMatch", if_match)
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
                raise InvalidInputError(f"{source_uri} has no such range: {error}") from error
            raise gone(source_uri, error) from error
        copied = answer["CopyPartResult"]
        headers = of_write(headers_of(answer))
        return CopiedPart(checksum_of(copied), headers, checksums_of(copied))

    def complete_upload(
        self,
        uri: str,
        upload_id: str,
        parts: Sequence[UploadedPart],
        expected: ExpectedObject = NOTHING_EXPECTED,
    ) -> ObjectInfo:
        numbers = [part.number for part in parts]
        if numbers != sorted(set(numbers)):
            raise BadPartsError(
                f"parts of {uri} are not in ascending order", reason="InvalidPartOrder"
            )
        listed = [
            {"PartNumber": part.number, "ETag": part.checksum, **part.checksums} for part in parts
        ]
        try:
            self._s3.call(
                "complete_multipart_upload",
                Location.of(uri),
                UploadId=upload_id,
                MultipartUpload={"Parts": listed},
                **{HEADERS: expected.sent},
            )
        except UnknownOutcomeError:
            with suppress(GravelerError, S3Error):
                if (joined := self._joined(uri, parts, expected)) is not None:
                    return joined
            raise
        except S3Error as error:
            has_cause = error.code == "NoSuchUpload" or error.may_have_landed
            if has_cause and (joined := self._joined(uri, parts, expected)) is not None:
                return joined
            if error.code in _BAD_PARTS:
                raise BadPartsError(
                    f"the parts cannot be joined: {error}",
                    reason=error.code,
                ) from error
            if error.code == "NoSuchUpload":
                raise _no_upload(uri, upload_id) from error
            raise
        return info_of(find_existing(self._s3, uri, _asking(expected)))

    def _joined(
        self, uri: str, parts: Sequence[UploadedPart], expected: ExpectedObject
    ) -> ObjectInfo | None:
        """Return the object if an earlier attempt joined the parts, else None.

        A store may refuse a repetition with any error while it still deletes the parts.
        """
        stored = find(self._s3, Location.of(uri), _asking(expected))
        is_joined = stored is not None and checksum_of(stored) == _checksum_of_parts(parts)
        return info_of(stored) if is_joined and stored is not None else None

    def list_parts(self, uri: str, upload_id: str, after: int, amount: int) -> PartsPage:
        listed = {"UploadId": upload_id, "PartNumberMarker": after, "MaxParts": amount}
        try:
            answer = self._s3.call("list_parts", Location.of(uri), **listed)
        except S3Error as error:
            if error.code == "NoSuchUpload":
                raise _no_upload(uri, upload_id) from error
            raise
        parts = tuple(
            PartInfo(
                number=each["PartNumber"],
                checksum=checksum_of(each),
                size_bytes=each["Size"],
                last_modified_ns=time_ns(each["LastModified"]),
                checksums=checksums_of(each),
            )
            for each in answer.get("Parts", ())
        )
        return PartsPage(parts, has_more=answer["IsTruncated"])

    def abort_upload(self, uri: str, upload_id: str) -> None:
        try:
            self._s3.call("abort_multipart_upload", Location.of(uri), UploadId=upload_id)
        except S3Error as error:
            if error.status != 404:
                raise
            if not error.may_have_landed:
                raise _no_upload(uri, upload_id) from error


def _asking(expected: ExpectedObject) -> Mapping[str, str]:
    """Return the headers that request the expected checksums."""
    return CHECKSUM_MODE if expected.headers else {}


def _no_upload(uri: str, upload_id: str) -> UploadNotFoundError:
    return UploadNotFoundError(f"upload {upload_id} of {uri} does not exist")


def _checksum_of_parts(parts: Sequence[UploadedPart]) -> str | None:
    """Return S3's ETag of the whole object; None unless the parts' ETags are MD5 digests."""
    if not all(_MD5.fullmatch(part.checksum) for part in parts):
        return None
    digests = b"".join(bytes.fromhex(part.checksum) for part in parts)
    return f"{md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"
