"""Objects from an S3 Inventory report, for sources that take hours to list.

A report is a manifest, which names the report's gzipped CSV files and their columns. Keys in CSV
are URL-encoded. Source: "Amazon S3 Inventory" in the S3 user guide.
"""

import csv
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TypeVar
from urllib.parse import unquote_plus

from msgspec import Struct

from graveler.errors import CorruptDataError, InvalidInputError
from graveler.limits import INT64_MAX, OBJECT_KEY_BYTES_MAX
from graveler.names import is_checksum, leaves_its_folder
from graveler.ports import ListedObject, ObjectData
from graveler.times import NS_PER_S

T = TypeVar("T")

_BUCKET = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,255}")
_NEEDED = ("Key", "Size", "LastModifiedDate", "ETag")
# The bytes of a file to hold at a time, compressed and not.
_CHUNK_BYTES = 4 * 1024 * 1024
_GZIP = 31
# A key has 1,024 bytes, of which each may be encoded as three.
_ROW_BYTES_MAX = 16 * 1024
_MANIFEST_BYTES_MAX = 16 * 1024 * 1024


class Inventory(Struct, frozen=True):
    """A report: the listed bucket, the format, the columns, and each file's URI and MD5."""

    bucket: str
    format: str
    columns: tuple[str, ...]
    files: tuple[tuple[str, str], ...]


def read_manifest(objects: ObjectData, uri: str) -> Inventory:
    """Return the report of the manifest at uri.

    Raises:
        InvalidInputError: it does not exist, is not a manifest, has another format than CSV, or
            lacks columns.
    """
    info = objects.head(uri)
    if info is None:
        raise InvalidInputError(f"{uri} does not exist: it cannot be imported")
    if info.size_bytes > _MANIFEST_BYTES_MAX:
        raise InvalidInputError(f"{uri} is no manifest: it has {info.size_bytes} bytes")
    try:
        inventory = parse_manifest(objects.get(uri))
    except ValueError as error:
        raise InvalidInputError(f"{uri} is no manifest of an S3 Inventory report") from error
    missing = [name for name in _NEEDED if name not in inventory.columns]
    if inventory.format != "CSV" or missing:
        raise InvalidInputError(
            f"{uri} cannot be imported: make a report as CSV with {', '.join(_NEEDED)}"
        )
    return inventory


def parse_manifest(content: bytes) -> Inventory:
    """Return the report that a manifest describes.

    Raises:
        ValueError: it is not a manifest.
    """
    try:
        manifest = json.loads(content)
        bucket = _bucket(manifest["destinationBucket"].rpartition(":")[2])
        return Inventory(
            bucket=_bucket(manifest["sourceBucket"]),
            format=manifest["fileFormat"],
            columns=tuple(name.strip() for name in manifest["fileSchema"].split(",")),
            files=tuple(
                (f"s3://{bucket}/{_key(file['key'])}", file["MD5checksum"])
                for file in manifest["files"]
            ),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("not a manifest") from error


def _bucket(name: str) -> str:
    if _BUCKET.fullmatch(name) is None:
        raise ValueError("not the name of a bucket")
    return name


def _key(key: str) -> str:
    if leaves_its_folder(key) or len(key.encode()) > OBJECT_KEY_BYTES_MAX:
        raise ValueError("not the key of a file")
    return key


def listed_in(
    objects: ObjectData,
    inventory: Inventory,
    number: int,
    report: Callable[[], None] = lambda: None,
) -> Iterator[ListedObject]:
    """Yield the current objects that one file of the report lists, in its order.

    report: called for each part of the file, which may list no current object; it may raise.

    Raises:
        CorruptDataError: the file is missing, or is not what the manifest names. Some objects may
            have been yielded before.
        InvalidInputError: a value of a row is invalid; the message does not quote it.
    """
    uri, md5 = inventory.files[number]
    try:
        for at, row in enumerate(csv.reader(_lines(objects, uri, md5, report)), 1):
            named = _named(inventory.columns, row, at)
            is_old = named.get("IsLatest") == "false" or named.get("IsDeleteMarker") == "true"
            if not is_old:
                yield _listed(inventory.bucket, named, f"{uri}, row {at}")
    except UnicodeDecodeError as error:
        raise CorruptDataError(f"{uri} is no file of an S3 Inventory report: not UTF-8") from error
    except (ValueError, csv.Error, zlib.error) as error:
        raise CorruptDataError(f"{uri} is no file of an S3 Inventory report: {error}") from error


def _named(columns: tuple[str, ...], row: list[str], at: int) -> dict[str, str]:
    if len(row) != len(columns):
        raise ValueError(f"row {at} has {len(row)} columns, not {len(columns)}")
    return dict(zip(columns, row, strict=True))


def _listed(bucket: str, named: dict[str, str], row: str) -> ListedObject:
    def read(column: str, reader: Callable[[str], T]) -> T:
        try:
            return reader(named[column])
        except (ValueError, OverflowError) as error:
            raise InvalidInputError(
                f"{row}: the value of the column {column} is invalid"
            ) from error

    return ListedObject(
        uri=f"s3://{bucket}/{read('Key', lambda text: unquote_plus(text, errors='strict'))}",
        size_bytes=read("Size", lambda text: _int64(int(text))),
        last_modified_ns=read("LastModifiedDate", _time_ns),
        checksum=read("ETag", _checksum),
    )


def _time_ns(text: str) -> int:
    return _int64(int(datetime.fromisoformat(text).timestamp()) * NS_PER_S)


def _checksum(text: str) -> str:
    checksum = text.strip('"')
    if not is_checksum(checksum):
        raise ValueError("not an ETag")
    return checksum


def _int64(value: int) -> int:
    if not 0 <= value <= INT64_MAX:
        raise ValueError("out of range")
    return value


def _lines(objects: ObjectData, uri: str, md5: str, report: Callable[[], None]) -> Iterator[str]:
    """Yield the lines of a gzipped file; no row has a line break inside."""
    rest = b""
    for part in _decompressed(objects, uri, md5):
        report()
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.decode()
        if len(rest) > _ROW_BYTES_MAX:
            raise ValueError(f"a row has more than {_ROW_BYTES_MAX} bytes")
    if rest:
        yield rest.decode()


def _decompressed(objects: ObjectData, uri: str, md5: str) -> Iterator[bytes]:
    info = objects.head(uri)
    if info is None:
        raise CorruptDataError(f"{uri} does not exist, although the manifest names it")
    digest = hashlib.md5(usedforsecurity=False)
    member = zlib.decompressobj(_GZIP)
    for start in range(0, info.size_bytes, _CHUNK_BYTES):
        chunk = objects.get(uri, (start, min(start + _CHUNK_BYTES, info.size_bytes) - 1))
        digest.update(chunk)
        while chunk:
            yield member.decompress(chunk, _CHUNK_BYTES)
            chunk = member.unconsumed_tail
            if member.eof:
                chunk, member = member.unused_data, zlib.decompressobj(_GZIP)
    if digest.hexdigest() != md5:
        raise CorruptDataError(f"{uri} is not the file that the manifest names: its MD5 differs")
