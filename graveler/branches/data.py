"""Requests for the data of objects, which others may have replaced outside of the namespace.

An import records the store's ETag. Reads and copies require it of the data, so changed data are
refused, and never taken for the recorded ones. An entry that was staged by hand may have another
checksum than the ETag. An example is the MD5 of data that the store got in parts. Such an entry has
a content type, and the time of the staging or of the data. If the data are not younger, and have
the recorded size, they are the recorded ones.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from graveler.branches.lookup import shown
from graveler.branches.views import ObjectStat
from graveler.cache import ENTRY_BYTES
from graveler.engine import Engine
from graveler.errors import DataReplacedError, GoneError, RangeNotSatisfiableError
from graveler.messages import Refusal
from graveler.model import AddressType
from graveler.ports import CopiedPart, ObjectInfo, StoredContent
from graveler.times import NS_PER_S

T = TypeVar("T")


def of_recorded(engine: Engine, source: ObjectStat, request: Callable[[str], T]) -> T:
    """Return the result of a request for the recorded data.

    request takes the ETag that it has to require, "" for none. It may be called twice.

    Raises:
        DataReplacedError: others have replaced the data.
        GoneError: the data do not exist any more.
    """
    try:
        return request(source.if_match)
    except DataReplacedError:
        return request(check_data(engine, source).checksum)


def check_data(engine: Engine, found: ObjectStat) -> ObjectInfo:
    """Check that the object's data are the recorded ones; return the store's report of them.

    Raises:
        DataReplacedError: others have replaced them.
        GoneError: they do not exist any more.
    """
    info = engine.objects.head(found.physical_address)
    if info is None:
        # lakeFS's message alone: the request names the path, and there is no remedy.
        raise Refusal.NO_DATA.error()
    _check_recorded(found, info)
    return info


def data_headers(
    engine: Engine, found: ObjectStat, *, with_checksums: bool = False
) -> Mapping[str, str]:
    """Return the headers that the object store keeps with data; none if these do not exist.

    Raises:
        DataReplacedError: others have replaced the data.
    """
    uri = found.physical_address
    key = (uri, with_checksums)
    known = engine.data_headers.get(key)
    if known is not None:
        return known
    info = engine.objects.head(uri, with_checksums=with_checksums)
    if info is None:
        return {}
    # Others may replace the data of imports at any time.
    if found.entry.address_type is AddressType.RELATIVE:
        size_bytes = sum(len(name) + len(value) for name, value in info.headers.items())
        engine.data_headers.put(key, info.headers, ENTRY_BYTES + len(uri) + size_bytes)
    _check_recorded(found, info)
    return info.headers


def _check_recorded(found: ObjectStat, info: ObjectInfo) -> None:
    if found.if_match not in {"", info.checksum} and not _was_staged_later(found, info):
        raise DataReplacedError(
            f"the data of {shown(found.path)} were replaced: "
            f"{found.physical_address} has the ETag {info.checksum!r} instead of "
            f"{found.if_match!r}: import or stage it again"
        )


def _was_staged_later(found: ObjectStat, info: ObjectInfo) -> bool:
    # Stores report whole seconds, and so do clients that stage data with their own time.
    entry = found.entry
    is_younger = info.last_modified_ns // NS_PER_S > entry.last_modified_ns // NS_PER_S
    has_size = info.size_bytes == entry.size_bytes
    return bool(entry.content_type) and has_size and not is_younger


def read_content(
    engine: Engine, found: ObjectStat, byte_range: tuple[int, int] | None = None
) -> StoredContent:
    """Return the object's content, or its bytes from first to last inclusive.

    No more bytes are read than the entry records: a linked object may have any size.

    Raises:
        GoneError: the data do not exist any more, are shorter than recorded, or were replaced.
    """
    first, last = byte_range or (0, found.entry.size_bytes - 1)
    length = min(last, found.entry.size_bytes - 1) - first + 1
    if length <= 0:
        info = check_data(engine, found)
        return StoredContent(b"", info.headers, info.checksum)
    uri, wanted = found.physical_address, (first, first + length - 1)
    try:
        stored = of_recorded(
            engine, found, lambda etag: engine.objects.get_stored(uri, wanted, if_match=etag)
        )
    except DataReplacedError:
        raise
    except GoneError as error:
        raise Refusal.NO_DATA.error() from error
    except RangeNotSatisfiableError as error:
        # Not 416: clients take it for the end of the object.
        raise _too_short(found) from error
    if len(stored.content) < length:
        raise _too_short(found)
    return stored


def _too_short(found: ObjectStat) -> GoneError:
    return GoneError(
        f"the data of {shown(found.path)} are shorter than the "
        f"{found.entry.size_bytes} bytes that are recorded: upload or stage the object again"
    )


def copy_part(
    engine: Engine,
    source: ObjectStat,
    uri: str,
    upload_id: str,
    part_number: int,
    byte_range: tuple[int, int] | None,
) -> CopiedPart:
    """Copy the object, or its bytes from first to last, to a part.

    Raises:
        GoneError: as `of_recorded`.
        UploadNotFoundError: the upload does not exist.
        InvalidInputError: the data have no such range.
    """

    def copied(etag: str) -> CopiedPart:
        return engine.objects.copy_part(
            uri, upload_id, part_number, source.physical_address, byte_range, if_match=etag
        )

    return of_recorded(engine, source, copied)
