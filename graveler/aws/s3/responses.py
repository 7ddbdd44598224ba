"""Reads S3's responses about objects, and the engine's errors that refusals become."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.direct_client import HEADERS
from graveler.aws.s3.uris import Location
from graveler.data_headers import of_read
from graveler.errors import (
    DataReplacedError,
    GoneError,
    GravelerError,
    InvalidInputError,
    UnsupportedError,
)
from graveler.ports import Checksums, ObjectInfo
from graveler.times import NS_PER_S

S3Response = Mapping[str, Any]

# The prefixes of checksums' names in S3's documents, and in its headers.
_ELEMENT, _HEADER = "Checksum", "x-amz-checksum-"
# Codes for an object that is archived, or that its owner encrypted with a key of its own.
_UNREADABLE = frozenset({"InvalidObjectState", "InvalidRequest"})


def find(s3: S3, location: Location, headers: Mapping[str, str] = {}) -> S3Response | None:
    """Return S3's response to HEAD of the object; None if it does not exist.

    Raises:
        InvalidInputError: the object's owner encrypted it with a key that S3 lacks (SSE-C).
    """
    try:
        return s3.call("head_object", location, **{HEADERS: headers})
    except S3Error as error:
        if error.status == 404:
            return None
        if error.status == 400:
            raise refused(f"s3://{location.bucket}/{location.key} cannot be read", error) from error
        raise


def find_existing(s3: S3, uri: str, headers: Mapping[str, str] = {}) -> S3Response:
    """Return S3's response to HEAD of the object.

    Raises:
        GoneError: the object does not exist.
    """
    stored = find(s3, Location.of(uri), headers)
    if stored is None:
        raise GoneError(f"{uri} does not exist")
    return stored


def gone(uri: str, error: S3Error) -> Exception:
    """Return the engine's error of a refused read: the data are gone, replaced, or not readable.

    For other reasons, return S3's error unchanged.
    """
    if error.status == 412:
        return DataReplacedError(f"{uri} has another ETag than the one that was recorded")
    if error.code in _UNREADABLE:
        return refused(f"{uri} cannot be read", error)
    return GoneError(f"{uri} does not exist any more") if error.code == "NoSuchKey" else error


def refused(what: str, error: S3Error) -> GravelerError:
    """Return the error of a request that S3 refuses for good: bad input, or not supported."""
    kind = UnsupportedError if error.status == 501 else InvalidInputError
    return kind(f"{what}: {error}")


def info_of(answer: S3Response) -> ObjectInfo:
    """Return the object's description in a response to HEAD."""
    return ObjectInfo(
        size_bytes=answer["ContentLength"],
        checksum=checksum_of(answer),
        last_modified_ns=time_ns(answer["LastModified"]),
        content_type=answer.get("ContentType", ""),
        headers=of_read(headers_of(answer)),
    )


def condition(name: str, etag: str) -> Mapping[str, str]:
    """Return the parameter of that name that requires the ETag; no parameter if the ETag is ""."""
    return {name: f'"{etag}"'} if etag else {}


def headers_of(answer: S3Response) -> Mapping[str, str]:
    """Return the HTTP headers of the response, with names in lower case."""
    headers: Mapping[str, str] = answer["ResponseMetadata"]["HTTPHeaders"]
    # boto3 removes an unreadable time from the headers.
    expires = answer.get("ExpiresString")
    return {**headers, "expires": expires} if expires else headers


def checksum_of(answer: S3Response) -> str:
    """Return the response's ETag without its quotes."""
    etag: str = answer["ETag"]
    return etag.strip('"')


def checksums_of(answer: S3Response) -> Checksums:
    """Return the checksums beside the ETag in a part of a response."""
    return {name: text for name, text in answer.items() if name.startswith(_ELEMENT)}


def checksum_headers_of(answer: S3Response) -> dict[str, str]:
    """Return the checksums in a part of a response, in the form of headers."""
    return {
        _HEADER + name.removeprefix(_ELEMENT).lower(): text
        for name, text in checksums_of(answer).items()
    }


def time_ns(moment: datetime) -> int:
    """Return a time of HTTP, which has whole seconds, in ns since the Unix epoch."""
    return int(moment.timestamp()) * NS_PER_S
