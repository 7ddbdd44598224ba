"""How many objects a prefix has, and how large they are together.

Theory of operation. A metarange says how many records each of its ranges has. A process computes
once how large the objects of a range are together, and remembers it by the range's ID. So only the
ranges at the prefix's ends are read record by record. Each staged change then adds or takes off
what it changes.
"""

from collections.abc import Iterator

from msgspec import Struct

from graveler.branches.lookup import in_repository
from graveler.branches.request_time import TimeLimit
from graveler.branches.views import view_of_ref
from graveler.committed.metarange import MetaRange
from graveler.engine import Engine
from graveler.entries import object_size
from graveler.model import RangeHeader
from graveler.open_repository import OpenRepository
from graveler.operations.prefixes.requests import check_prefix
from graveler.staging.listing import PageQuery

# A reader waits for a page no longer than this.
_PAGE_S = 2.0
_RANGES_AHEAD = 4


class ObjectTotal(Struct):
    """The objects of a page, and their bytes; next_after is where the next page begins."""

    objects: int = 0
    size_bytes: int = 0
    next_after: bytes = b""

    def add(self, value: bytes | None, times: int) -> None:
        """Add the object of a stored value so many times; None is no object."""
        if value is not None:
            self.objects += times
            self.size_bytes += times * object_size(value)


def total(engine: Engine, repository: str, ref: str, prefix: str, after: bytes) -> ObjectTotal:
    """Return the total of a prefix at a ref behind the path `after`: of all, or of a first part.

    Raises:
        InvalidInputError: a name, the prefix or the ref is malformed.
        NotFoundError: the repository does not exist, or the ref names no commit.
        CorruptDataError: a file is missing, or is not what was written.
    """
    check_prefix(prefix)

    def read(repo: OpenRepository) -> ObjectTotal:
        query = PageQuery(1, prefix=prefix.encode(), after=after)
        view, limit = view_of_ref(repo, ref), TimeLimit(engine, _PAGE_S)
        committed, start, end = view.committed, query.start, query.end
        changes = view.staged(end).from_path(start) if view.tokens else iter(())
        found, change = ObjectTotal(), next(changes, None)

        def add_changes(last: bytes | None) -> bytes | None:
            """Add changes up to the key last; return the key of the last one if the time is up."""
            nonlocal change
            while change is not None and (last is None or change[0] <= last):
                path, value = change
                found.add(committed.get(path), -1)
                found.add(value, 1)
                change = next(changes, None)
                if limit.is_over:
                    return path
            return None

        for header in _ranges(repo, committed, start, end):
            cut = add_changes(header.max_key)
            last = cut or header.max_key
            beyond = last + b"\0" if end is None else min(last + b"\0", end)
            objects, size_bytes = _range_total(repo, committed, header, start, beyond)
            found.objects += objects
            found.size_bytes += size_bytes
            if cut or limit.is_over:
                found.next_after = last
                return found
            start = beyond
        found.next_after = add_changes(None) or b""
        return found

    return in_repository(engine, repository, read)


def _ranges(
    repo: OpenRepository, content: MetaRange, start: bytes, end: bytes | None
) -> Iterator[RangeHeader]:
    """Yield the ranges with keys from start to end, and fetch those ahead that will be read."""
    headers = [header for header in content.headers(start) if end is None or header.min_key < end]
    for number, header in enumerate(headers):
        for ahead in headers[number + 1 : number + 1 + _RANGES_AHEAD]:
            if repo.engine.range_sizes.get((content.namespace, ahead.id)) is None:
                repo.engine.committed.fetch_ahead(content.namespace, ahead.id)
        yield header


def _range_total(
    repo: OpenRepository, content: MetaRange, header: RangeHeader, start: bytes, end: bytes
) -> tuple[int, int]:
    """Return the number and the bytes of the range's objects with keys from start to before end."""
    is_whole = start <= header.min_key and header.max_key < end
    key = content.namespace, header.id
    size_bytes = repo.engine.range_sizes.get(key) if is_whole else None
    if size_bytes is not None:
        return header.count, size_bytes
    records = content.records(max(start, header.min_key), end)
    sizes = [object_size(value) for _, value in records]
    if is_whole:
        repo.engine.range_sizes.put(key, sum(sizes))
    return len(sizes), sum(sizes)
