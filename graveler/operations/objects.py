"""Reading objects: stat and list at any ref."""

from collections.abc import Iterator, Mapping

from graveler.cache import ENTRY_BYTES
from graveler.errors import GoneError, GravelerError, RangeNotSatisfiableError
from graveler.messages import Refusal
from graveler.model import Record, Repository
from graveler.operations.engine import Engine
from graveler.operations.protocol.lookup import in_repository
from graveler.operations.protocol.retries import contention
from graveler.operations.protocol.views import ObjectStat, object_stat, read_value, view_with_staged
from graveler.ports import ObjectInfo, StoredContent
from graveler.staging.listing import CommonPrefix, ListPage, PageQuery, PageTime, list_page


def stat(engine: Engine, repository: str, ref: str, path: bytes) -> ObjectStat:
    """Return the object at the path.

    Raises:
        InvalidInputError: a name, the ref or the path is malformed.
        NotFoundError: the repository, the ref or the object does not exist.
    """

    def read(found: Repository) -> ObjectStat | None:
        stored = read_value(engine, found, ref, path)
        return None if stored is None else object_stat(found, path, stored)

    seen = in_repository(engine, repository, read)
    if seen is None:  # the repository has the ref, so it is not one that was deleted since
        raise object_not_found(path)
    return seen


def stat_of_data(
    engine: Engine, repository: str, ref: str, path: bytes, physical_address: str
) -> ObjectStat:
    """Return the object at the path, which has the data at that address unless it is "".

    Raises:
        GravelerError: as `stat`.
        ContentionError: the object has other data now.
    """
    found = stat(engine, repository, ref, path)
    if physical_address not in {"", found.physical_address}:
        raise contention(f"path {path.decode('utf-8', 'replace')!r}")
    return found


def object_not_found(path: bytes) -> GravelerError:
    """Return the error for an object that does not exist."""
    return Refusal.NOT_FOUND.error(f"no object {path.decode('utf-8', 'replace')!r}")


def read_content(
    engine: Engine, found: ObjectStat, byte_range: tuple[int, int] | None = None
) -> StoredContent:
    """Return the object's content, or its bytes from first to last inclusive.

    No more bytes are read than the entry records: a linked object may have any size.

    Raises:
        GoneError: the data do not exist any more, or are shorter than recorded.
    """
    first, last = byte_range or (0, found.entry.size_bytes - 1)
    length = min(last, found.entry.size_bytes - 1) - first + 1
    if length <= 0:
        return StoredContent(b"", check_has_data(engine, found).headers)
    try:
        stored = engine.objects.get_stored(found.physical_address, (first, first + length - 1))
    except GoneError as error:
        raise _no_data() from error
    except RangeNotSatisfiableError as error:
        # Not 416: clients take it for the end of the object.
        raise _too_short(found) from error
    if len(stored.content) < length:
        raise _too_short(found)
    return stored


def check_has_data(engine: Engine, found: ObjectStat) -> ObjectInfo:
    """Return what the object store reports of the object's data.

    Raises:
        GoneError: they do not exist.
    """
    info = engine.objects.head(found.physical_address)
    if info is None:
        raise _no_data()
    return info


def data_headers(
    engine: Engine, uri: str, *, is_immutable: bool, with_checksums: bool = False
) -> Mapping[str, str]:
    """Return the headers that the object store keeps with data; none if these do not exist.

    is_immutable: the data are in a namespace. Others may replace those of imports at any time.
    """
    key = (uri, with_checksums)
    known = engine.data_headers.get(key)
    if known is not None:
        return known
    info = engine.objects.head(uri, with_checksums=with_checksums)
    if info is None:
        return {}
    if is_immutable:
        size_bytes = sum(len(name) + len(value) for name, value in info.headers.items())
        engine.data_headers.put(key, info.headers, ENTRY_BYTES + len(uri) + size_bytes)
    return info.headers


def _no_data() -> GravelerError:
    # lakeFS's message alone: the request names the path, and there is no remedy.
    return Refusal.NO_DATA.error()


def _too_short(found: ObjectStat) -> GoneError:
    return GoneError(
        f"the data of {found.path.decode('utf-8', 'replace')!r} are shorter than the "
        f"{found.entry.size_bytes} bytes that are recorded: upload or stage the object again"
    )


def list_objects(
    engine: Engine, repository: str, ref: str, query: PageQuery
) -> ListPage[ObjectStat]:
    """Return a page of objects by path; paths that share a prefix up to the delimiter are one item.

    A page with some results ends early if finding more takes long. An empty page is the last one.

    Raises:
        InvalidInputError: a name or the ref is malformed.
        NotFoundError: the repository or the ref does not exist.
    """

    def read(found: Repository) -> ListPage[ObjectStat]:
        # Without a limit of work, nobody waits for the page.
        is_limited = engine.task_settings.request_work_s is not None
        time = PageTime(engine.clock.now_ns if is_limited else lambda: 0, query)
        view, staged = view_with_staged(engine, found, ref, query, time.check)

        def records(start: bytes, end: bytes | None) -> Iterator[Record]:
            return time.begun(view.records(staged, start, end))

        page = list_page(records, _record_key, query, lambda: time.is_over)
        results: list[ObjectStat | CommonPrefix] = [
            item if isinstance(item, CommonPrefix) else object_stat(found, *item)
            for item in page.results
        ]
        return ListPage(results, page.next_after)

    return in_repository(engine, repository, read)


def _record_key(record: Record) -> bytes:
    return record[0]
