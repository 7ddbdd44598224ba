"""Scans and listings, as the API's operations read them."""

from collections.abc import Iterator

from bench.engine.scale import Scale
from bench.figures import Figure, peak_memory_mb, spent
from bench.repository import NAMESPACE, Repository
from graveler.branches.views import object_stat
from graveler.committed.metarange import MetaRange
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import Record, RepositoryUID
from graveler.model import Repository as RepositoryRecord
from graveler.staging.listing import CommonPrefix, PageQuery, list_page

_RECORD = RepositoryRecord("bench", RepositoryUID(""), NAMESPACE, "main", 0)
_PAGES_MAX = 50


def measure_reading(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Measure records per second of a scan, and milliseconds per page of a listing."""
    dataset = repository.dataset
    scanned = scale.scanned_records
    first = (dataset.objects - scanned) // 2
    start, last = dataset.key(first), dataset.key(first + scanned - 1)
    content = repository.content(repository.committed())
    with spent() as times:
        found = sum(1 for _ in content.records(start, last))
    assert found == scanned - 1
    yield Figure(f"scan of {scanned:,}", found / times.cpu_s, "records/s cpu")
    yield Figure(f"scan of {scanned:,}, wall", found / times.wall_s, "records/s wall")
    whole = PageQuery(PAGE_AMOUNT_MAX)
    middle = dataset.sections[0]
    table = middle.folder(middle.folders // 2).split(b"dt=")[0]
    for name, query in (
        ("page of 1,000 objects", whole),
        ("page of the root's folders", PageQuery(PAGE_AMOUNT_MAX, delimiter=b"/")),
        ("page of the days of a table", PageQuery(PAGE_AMOUNT_MAX, table, delimiter=b"/")),
        ("page of the users' folders", PageQuery(PAGE_AMOUNT_MAX, b"users/", delimiter=b"/")),
    ):
        yield from _measure_page(repository, name, query)
    yield Figure("peak memory", peak_memory_mb(), "MB")


def _measure_page(repository: Repository, name: str, query: PageQuery) -> Iterator[Figure]:
    with repository.scratch() as files:
        content = repository.content(repository.committed(files))
        with spent() as times:
            shown = _page(content, query)
        yield Figure(f"{name}, cold", times.cpu_s * 1e3, "ms cpu")
        yield Figure(f"{name}, shows", shown, "")
        yield Figure(f"{name}, cold, reads", files.traffic.reads, "requests")
        yield Figure(f"{name}, cold, read", files.traffic.bytes_read / 1e6, "MB")
        with spent() as times:
            for _ in range(_PAGES_MAX):
                _page(content, query)
        yield Figure(f"{name}, warm", times.cpu_s / _PAGES_MAX * 1e3, "ms cpu")


def _page(content: MetaRange, query: PageQuery) -> int:
    """Read a page as an answer would; return its number of objects and folders."""

    def key_of(record: Record) -> bytes:
        return record[0]

    page = list_page(content.records, key_of, query)
    results = [
        item if isinstance(item, CommonPrefix) else object_stat(_RECORD, *item)
        for item in page.results
    ]
    return len(results)
