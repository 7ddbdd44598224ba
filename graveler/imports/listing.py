"""Records of the objects that an import finds, as one stream in the order of their paths.

Theory of operation. The object store lists a source by key. All of a source's keys begin with one
prefix. The destination replaces it by another, so the paths ascend as well. Sources are merged like
sorted runs. Each is opened when the merge reaches its first possible path. So sources with
different destinations are listed one after another. A resumed import begins each listing behind the
last path that it has. Single objects are one sorted stream, in which the next ones are read ahead.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import NamedTuple

from graveler.entries import entry_value
from graveler.errors import InvalidInputError, NotFoundError
from graveler.imports.parallel_listing import AHEAD_OBJECTS, list_tree
from graveler.imports.request import ImportSource, SourceType
from graveler.layout import TABLES_PREFIX
from graveler.limits import OBJECT_KEY_BYTES_MAX
from graveler.model import AddressType, Entry, Record
from graveler.names import check_checksum, check_path, leaves_its_folder
from graveler.ports import ListedObject, ObjectStore
from graveler.threads import ContextThreads, begun_ahead

# Single objects to read at a time; S3 takes some 20 ms for each.
_OBJECTS_AT_ONCE = 16


class _Found(NamedTuple):
    """A record of one source, sorted by path and then from the last source to the first.

    value is None at the start of a source, which has not been opened.
    """

    path: bytes
    order: int
    value: bytes | None


def records_after(
    objects: ObjectStore,
    sources: Sequence[ImportSource],
    after: bytes = b"",
    inventories: Mapping[int, Iterable[Record]] | None = None,
    report: Callable[[], None] = lambda: None,
) -> Iterator[Record]:
    """Yield the records of all sources with paths behind `after`, in order.

    If several sources have one path, the last of them counts. lakeFS lets either win.

    inventories: the records behind `after` of the sources that are inventories, by their numbers.
    report: called for each object that a source has, also if another source has its path; it may
        raise.

    Raises:
        InvalidInputError: a bucket cannot be listed, or an object cannot be imported.
        NotFoundError: the object of a source does not exist.
    """
    last = after
    prefixes = [source for source in sources if source.type is SourceType.PREFIX]
    streams = [
        _found(source, -number, _listed(objects, source, after, _share(source, prefixes), report))
        for number, source in enumerate(sources)
        if source.type is SourceType.PREFIX
    ]
    for number, records in (inventories or {}).items():
        streams.append(_sorted(sources[number].path_prefix, -number, records))
    singles = [
        (source.path_prefix, -number, source.uri)
        for number, source in enumerate(sources)
        if source.is_object and source.path_prefix > after
    ]
    if singles:
        streams.append(_single(objects, sorted(singles)))
    for path, _, value in merge(*streams):
        report()
        if value is not None and path > last:
            yield path, value
            last = path


def _sorted(prefix: bytes, order: int, records: Iterable[Record]) -> Iterator[_Found]:
    yield _Found(prefix, order, None)
    for path, value in records:
        yield _Found(path, order, value)


def record_in(source: ImportSource, listed: ListedObject) -> Record:
    """Return the record of an object that an inventory lists.

    Raises:
        InvalidInputError: the object cannot be imported.
    """
    key = listed.uri.removeprefix("s3://").partition("/")[2]
    path = source.path_prefix + key.encode()
    _check_importable(path, listed)
    return path, _value_of(listed)


def _single(objects: ObjectStore, singles: Sequence[tuple[bytes, int, str]]) -> Iterator[_Found]:
    """Yield the single objects with these paths, orders and URIs."""
    first_path, first_order, _ = singles[0]
    yield _Found(first_path, first_order, None)

    def existing(single: tuple[bytes, int, str]) -> ListedObject:
        return _existing(objects, single[2])

    pool = ContextThreads(_OBJECTS_AT_ONCE)
    try:
        ahead = 2 * _OBJECTS_AT_ONCE - 1
        for (path, order, _), listed in begun_ahead(pool, existing, singles, ahead):
            yield _Found(path, order, _value_of(listed.result()))
    finally:
        pool.shutdown(cancel_futures=True)


def _share(source: ImportSource, prefixes: Iterable[ImportSource]) -> int:
    """Return how many objects to list ahead, so that sources share what an import may hold.

    Only sources are listed at the same time of which one's destination is inside the other's.
    """
    own = source.path_prefix
    together = sum(
        own.startswith(other.path_prefix) or other.path_prefix.startswith(own) for other in prefixes
    )
    return AHEAD_OBJECTS // together


def _found(source: ImportSource, order: int, listing: Iterable[ListedObject]) -> Iterator[_Found]:
    prefix = source.path_prefix
    yield _Found(prefix, order, None)
    last = b""
    for listed in listing:
        path = prefix + listed.uri.removeprefix(source.folder_uri).encode()
        if not path:  # a folder's own marker
            continue
        if path <= last:
            # A directory bucket of S3 Express lists by no order.
            raise InvalidInputError(f"{source.uri} cannot be imported: it is not listed by key")
        _check_importable(path, listed)
        yield _Found(path, order, _value_of(listed))
        last = path


def _listed(
    objects: ObjectStore,
    source: ImportSource,
    after: bytes,
    ahead_objects: int,
    report: Callable[[], None],
) -> Iterable[ListedObject]:
    prefix = source.path_prefix
    if after < prefix:
        return list_tree(objects, source.uri, ahead_objects=ahead_objects, report=report)
    if not after.startswith(prefix):  # behind all paths of the source
        return ()
    relative = after.removeprefix(prefix).decode()
    start_after = source.folder_uri + relative
    # S3 takes no empty key here.
    start_after = start_after if start_after > source.uri else ""
    return list_tree(objects, source.uri, start_after, ahead_objects=ahead_objects, report=report)


def _existing(objects: ObjectStore, uri: str) -> ListedObject:
    info = objects.head(uri)
    if info is None:
        raise NotFoundError(f"{uri} does not exist: it cannot be imported")
    return ListedObject(uri, info.size_bytes, info.last_modified_ns, info.checksum)


def _check_importable(path: bytes, listed: ListedObject) -> None:
    """Check that the object can be imported to the path.

    Raises:
        InvalidInputError: the path is too long, or readers would misread the address.
    """
    key = listed.uri.removeprefix("s3://").partition("/")[2]
    if leaves_its_folder(key) or len(key.encode()) > OBJECT_KEY_BYTES_MAX:
        raise InvalidInputError(
            f"{listed.uri} cannot be imported: many tools resolve a segment '..' to another place"
        )
    if path.startswith(TABLES_PREFIX):
        raise InvalidInputError(
            f"{listed.uri} cannot be imported: its path would be an Iceberg table's"
        )
    try:
        check_path(path)
        check_checksum(listed.checksum)
    except InvalidInputError as error:
        raise error.within(f"{listed.uri} cannot be imported") from error


def _value_of(listed: ListedObject) -> bytes:
    """Return the object's entry as lakeFS makes it: without content type and metadata."""
    return entry_value(
        Entry(
            address=listed.uri,
            address_type=AddressType.FULL,
            size_bytes=listed.size_bytes,
            checksum=listed.checksum,
            last_modified_ns=listed.last_modified_ns,
        )
    )
