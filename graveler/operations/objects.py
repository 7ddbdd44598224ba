"""Reading objects: stat and list at any ref."""

from collections.abc import Iterator

from graveler.branches.lookup import in_repository, object_not_found, shown
from graveler.branches.retries import contention
from graveler.branches.views import ObjectStat, object_stat, read_value, view_with_staged
from graveler.engine import Engine
from graveler.model import Record
from graveler.open_repository import OpenRepository
from graveler.staging.listing import CommonPrefix, ListPage, PageQuery, PageTime, list_page


def stat(engine: Engine, repository: str, ref: str, path: bytes) -> ObjectStat:
    """Return the object at the path.

    Raises:
        InvalidInputError: a name, the ref or the path is malformed.
        NotFoundError: the repository, the ref or the object does not exist.
    """

    def read(repo: OpenRepository) -> ObjectStat | None:
        stored = read_value(repo, ref, path)
        return None if stored is None else object_stat(repo.record, path, stored)

    seen = in_repository(engine, repository, read)
    if seen is None:  # the repository has the ref, so it was not deleted
        raise object_not_found(path)
    return seen


def stat_of_data(
    engine: Engine, repository: str, ref: str, path: bytes, physical_address: str
) -> ObjectStat:
    """Return the object at the path, if it has the data at that address ("": any data).

    Raises:
        GravelerError: as `stat`.
        ContentionError: the object has other data now.
    """
    found = stat(engine, repository, ref, path)
    if physical_address not in {"", found.physical_address}:
        raise contention(f"path {shown(path)}")
    return found


def list_objects(
    engine: Engine, repository: str, ref: str, query: PageQuery
) -> ListPage[ObjectStat]:
    """Return a page of objects by path; paths that share a prefix up to the delimiter are one item.

    A page with some results ends early if finding more takes long. An empty page is the last one.

    Raises:
        InvalidInputError: a name or the ref is malformed.
        NotFoundError: the repository or the ref does not exist.
    """

    def read(repo: OpenRepository) -> ListPage[ObjectStat]:
        # Without a limit of work, a page may take any time.
        is_limited = engine.task_settings.request_work_s is not None
        time = PageTime(engine.clock.now_ns if is_limited else lambda: 0, query)
        view, staged = view_with_staged(repo, ref, query, time.check)

        def records(start: bytes, end: bytes | None) -> Iterator[Record]:
            return time.begun(view.records(staged, start, end))

        page = list_page(records, _record_key, query, lambda: time.is_over)
        results: list[ObjectStat | CommonPrefix] = [
            item if isinstance(item, CommonPrefix) else object_stat(repo.record, *item)
            for item in page.results
        ]
        return ListPage(results, page.next_after)

    return in_repository(engine, repository, read)


def _record_key(record: Record) -> bytes:
    return record[0]
