"""The ObjectStore on S3: single objects here, the rest in the modules of its base classes."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import cache
from uuid import uuid4

from msgspec.structs import replace

from graveler.aws import usage
from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.direct_client import HEADERS
from graveler.aws.s3.listing import S3Listing
from graveler.aws.s3.multipart_uploads import S3Uploads
from graveler.aws.s3.object_metadata import content_type_parameters, parameters_of_copy
from graveler.aws.s3.presigning import S3Presigning
from graveler.aws.s3.responses import (
    checksum_headers_of,
    checksum_of,
    condition,
    find,
    find_existing,
    gone,
    headers_of,
    info_of,
    refused,
    time_ns,
)
from graveler.aws.s3.signed_requests import S3Requests
from graveler.aws.s3.uris import Location, range_header
from graveler.aws.signing import SigningCredentials
from graveler.aws.usage import Counted
from graveler.data_headers import CHECKSUM_MODE, NO_HEADERS, DataHeaders, of_read, of_write
from graveler.errors import (
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    RangeNotSatisfiableError,
)
from graveler.limits import DELETE_OBJECTS_MAX, SINGLE_COPY_BYTES_MAX, UPLOAD_PARTS_MAX
from graveler.ports import ObjectDescription, ObjectInfo, StoredContent, UploadedPart
from graveler.threads import ContextThreads

_COPIES_AT_ONCE = 8

# The user metadata that identifies a write: a retry recognizes its own earlier attempt.
_WRITE_ID = "graveler-write"

# XML cannot hold these, not even escaped, so keys with them are deleted one by one.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class S3ObjectStore(S3Uploads, S3Listing, S3Presigning):
    """`graveler.ports.ObjectStore` over S3."""

    def __init__(
        self,
        s3: S3,
        credentials: Callable[[], SigningCredentials] | None = None,
        *,
        copy_bytes_max: int = SINGLE_COPY_BYTES_MAX,
        signer: S3Requests | None = None,
    ) -> None:
        """Presign with the signer, or else with s3's client."""
        self._s3 = s3
        self._credentials = credentials
        self._signer = signer
        self._copy_bytes_max = copy_bytes_max

    def put(
        self,
        uri: str,
        content: bytes,
        content_type: str,
        *,
        headers: DataHeaders = NO_HEADERS,
        if_absent: bool = False,
        if_match: str = "",
    ) -> ObjectInfo:
        location = Location.of(uri)
        optional = content_type_parameters(content_type) | {HEADERS: headers.sent}
        write_id = str(uuid4())
        if if_absent or if_match:
            required = {"IfNoneMatch": "*"} if if_absent else condition("IfMatch", if_match)
            optional |= {**required, "Metadata": {_WRITE_ID: write_id}}
        try:
            answer = self._s3.call("put_object", location, Body=content, **optional)
        except S3Error as error:
            if error.status in {400, 501} and headers.sent:  # for a header that the client chose
                raise refused(f"{uri} cannot be stored", error) from error
            is_absent = bool(if_match) and error.status == 404
            if error.status != 412 and not is_absent:
                raise
            stored = find(self._s3, location)
            if stored is None or stored["Metadata"].get(_WRITE_ID) != write_id:
                problem = "already exists" if if_absent else f"does not have the ETag {if_match}"
                raise PreconditionFailedError(f"{uri} {problem}") from error
            return info_of(stored)
        return ObjectInfo(
            size_bytes=len(content),
            checksum=checksum_of(answer),
            last_modified_ns=time_ns(
                parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
            ),
            content_type=content_type,
            headers=of_write(headers_of(answer)),
        )

    def head(self, uri: str, *, with_checksums: bool = False) -> ObjectInfo | None:
        stored = find(self._s3, Location.of(uri), CHECKSUM_MODE if with_checksums else {})
        return None if stored is None else info_of(stored)

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes:
        return self.get_stored(uri, byte_range).content

    def get_stored(
        self, uri: str, byte_range: tuple[int, int] | None = None, *, if_match: str = ""
    ) -> StoredContent:
        optional = {} if byte_range is None else {"Range": range_header(byte_range)}
        optional |= condition("IfMatch", if_match)
        try:
            answer = self._s3.call("get_object", Location.of(uri), **optional)
        except S3Error as error:
            if error.status == 416:
                size = error.headers.get("content-range", "").rpartition("/")[2]
                raise RangeNotSatisfiableError(
                    f"{uri} has no {optional.get('Range')}",
                    int(size) if size.isdecimal() else None,
                ) from error
            raise gone(uri, error) from error
        return StoredContent(answer["Body"], of_read(headers_of(answer)), checksum_of(answer))

    def copy(
        self,
        source_uri: str,
        target_uri: str,
        size_bytes: int,
        description: ObjectDescription | None = None,
        before_request: Callable[[], None] | None = None,
        *,
        if_match: str = "",
        headers: DataHeaders = NO_HEADERS,
    ) -> ObjectInfo:
        before = before_request or _do_nothing
        if size_bytes > self._copy_bytes_max:
            copied = self._copy_in_parts(
                source_uri, target_uri, description, headers, before, if_match
            )
            _count_copy(copied.size_bytes)
            return copied
        # Do not copy the source's tags: that needs permissions that nothing else needs.
        optional: dict[str, object] = {
            "TaggingDirective": "REPLACE",
            **condition("CopySourceIfMatch", if_match),
        }
        if description is None and headers.kept is None:
            optional |= {HEADERS: headers.chosen}
        else:
            # S3 has no directive to keep some of the source's headers.
            stored = cache(lambda: find_existing(self._s3, source_uri))
            described = parameters_of_copy(stored, description, headers)
            optional |= {"MetadataDirective": "REPLACE", **described}
        source = Location.of(source_uri).parameters
        before()
        try:
            answer = self._s3.call(
                "copy_object", Location.of(target_uri), CopySource=source, **optional
            )
        except (S3Error, InvalidInputError) as error:
            raise self._copy_error(source_uri, target_uri, error) from error
        _count_copy(size_bytes)
        result = answer["CopyObjectResult"]
        written = of_write(headers_of(answer)) | checksum_headers_of(result)
        if description is None:
            return replace(info_of(find_existing(self._s3, target_uri)), headers=written)
        # No HEAD of the copy: an export copies millions of objects and pays for each request.
        return ObjectInfo(
            size_bytes=size_bytes,
            checksum=checksum_of(result),
            last_modified_ns=time_ns(result["LastModified"]),
            content_type=description.content_type,
            headers=written,
        )

    def _copy_error(self, source_uri: str, target_uri: str, error: Exception) -> Exception:
        """Return the error to raise for a refused copy: S3 does not name the refused object.

        Raises:
            InvalidInputError: the source's bucket refuses us.
            GoneError: the source does not exist.
        """
        if isinstance(error, S3Error):
            if error.status in {404, 412}:
                return gone(source_uri, error)
            return refused(f"{source_uri} cannot be copied to {target_uri}", error)
        find_existing(self._s3, source_uri)
        return error

    def _copy_in_parts(
        self,
        source_uri: str,
        target_uri: str,
        description: ObjectDescription | None,
        headers: DataHeaders,
        before_request: Callable[[], None],
        if_match: str,
    ) -> ObjectInfo:
        source = find_existing(self._s3, source_uri)
        # All parts come from one version, which has this size.
        etag = if_match or checksum_of(source)
        # Use the true size: S3 refuses a part beyond the end, and bytes in no part would be lost.
        size_bytes: int = source["ContentLength"]
        least = -(-size_bytes // UPLOAD_PARTS_MAX)
        part_bytes = max(least, self._copy_bytes_max)
        parameters = parameters_of_copy(lambda: source, description, headers)
        before_request()
        upload_id = self._create_upload(target_uri, parameters).id

        def copied(start: int) -> UploadedPart:
            number = start // part_bytes + 1
            last = min(start + part_bytes, size_bytes) - 1
            before_request()
            part = self.copy_part(
                target_uri, upload_id, number, source_uri, (start, last), if_match=etag
            )
            return UploadedPart(number, part.checksum, part.checksums if headers.checksum else {})

        try:
            with ContextThreads(_COPIES_AT_ONCE) as pool:
                parts = list(pool.map(copied, range(0, size_bytes, part_bytes)))
            before_request()
            return self.complete_upload(target_uri, upload_id, parts)
        except BaseException:
            with suppress(NotFoundError):  # the upload is complete, and only the answer was lost
                self.abort_upload(target_uri, upload_id)
            raise

    def delete(self, uri: str) -> None:
        try:
            self._s3.call("delete_object", Location.of(uri))
        except S3Error as error:
            if error.status != 404:
                raise
        usage.count(Counted.OBJECTS_DELETED)

    def delete_many(self, uris: Sequence[str]) -> Mapping[str, str]:
        problems: dict[str, str] = {}
        listed: dict[str, str] = {}  # URI by key
        for uri in uris:
            if _NOT_XML.search(uri):
                self.delete(uri)
            else:
                listed[Location.of(uri).key] = uri
        keys = list(listed)
        for start in range(0, len(keys), DELETE_OBJECTS_MAX):
            batch = [{"Key": key} for key in keys[start : start + DELETE_OBJECTS_MAX]]
            answer = self._s3.call(
                "delete_objects",
                Location.of(uris[0]).whole_bucket,
                Delete={"Objects": batch, "Quiet": True},
            )
            refused = [each for each in answer.get("Errors", ()) if each["Code"] != "NoSuchKey"]
            usage.count(Counted.OBJECTS_DELETED, len(batch) - len(refused))
            for error in refused:
                problems[listed[error["Key"]]] = f"{error['Code']}: {error.get('Message', '')}"
        return problems


def _count_copy(size_bytes: int) -> None:
    usage.count(Counted.OBJECTS_COPIED)
    usage.count(Counted.BYTES_COPIED, size_bytes)


def _do_nothing() -> None:
    """The default of before_request."""
