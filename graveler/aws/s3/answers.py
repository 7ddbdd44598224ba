"""What S3 reports of an object, and what its absence means."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.locations import Location
from graveler.errors import DataReplacedError, GoneError
from graveler.ports import ObjectInfo
from graveler.times import NS_PER_S

Answer = Mapping[str, Any]


def find(s3: S3, location: Location) -> Answer | None:
    """Return S3's answer to HEAD of the object; None if it does not exist."""
    try:
        return s3.call("head_object", location)
    except S3Error as error:
        if error.status == 404:
            return None
        raise


def find_existing(s3: S3, uri: str) -> Answer:
    """Return S3's answer to HEAD of the object.

    Raises:
        GoneError: it does not exist.
    """
    stored = find(s3, Location.of(uri))
    if stored is None:
        raise GoneError(f"{uri} does not exist")
    return stored


def gone(uri: str, error: S3Error) -> Exception:
    """Return the GoneError of a refused read; the error itself if that has another reason."""
    if error.status == 412:
        return DataReplacedError(f"{uri} has another ETag than the one that was recorded")
    return GoneError(f"{uri} does not exist any more") if error.code == "NoSuchKey" else error


def info_of(answer: Answer) -> ObjectInfo:
    """Return what an answer to HEAD says of the object."""
    return ObjectInfo(
        size_bytes=answer["ContentLength"],
        checksum=checksum_of(answer),
        last_modified_ns=time_ns(answer["LastModified"]),
        content_type=answer.get("ContentType", ""),
    )


def condition(name: str, etag: str) -> Mapping[str, str]:
    """Return the parameter of that name that requires the ETag; none if the ETag is ""."""
    return {name: f'"{etag}"'} if etag else {}


def checksum_of(answer: Answer) -> str:
    """Return the answer's ETag without its quotes."""
    etag: str = answer["ETag"]
    return etag.strip('"')


def time_ns(moment: datetime) -> int:
    """Return a time that HTTP gives to the second in ns since the Unix epoch."""
    return int(moment.timestamp()) * NS_PER_S
