"""Listings of branches on which much is staged: whole ones, page by page."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter

from bench.figures import Figure, spent
from bench.large_commits.load import tables_of
from bench.large_commits.run import engine_of
from graveler.aws.settings import DeploymentSettings
from graveler.aws.usage import Counted, measured
from graveler.branches.lookup import current_branch
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.model import AddressType, Change, Entry
from graveler.model.tasks import TaskSettings
from graveler.operations import branches, objects
from graveler.staging.listing import PageQuery
from graveler_jobs.session import JobDeployment

REPOSITORY = "staged"
_OF_FOLDER = 500
_ITEMS_AT_ONCE = 2_000

# What is staged, by what a listing of it is called: the paths, and whether they are deleted.
_Paths = Callable[[int], tuple[bytes, bool]]
SHAPES: dict[str, tuple[_Paths, bytes]] = {
    "objects": (lambda n: (b"table/%09d.parquet" % n, False), b""),
    "folders of 2": (lambda n: (b"table/%09d/%d" % (n // 2, n % 2), False), b"/"),
    "folders of 500": (lambda n: (b"table/%09d/%d" % divmod(n, _OF_FOLDER), False), b"/"),
    "one folder": (lambda n: (b"table/%09d.parquet" % n, False), b"/"),
    # Half of the paths are deleted in a row; a page must pass all of them.
    "deleted objects": (lambda n: (b"table/%d/%09d" % (n % 2, n), n % 2 == 0), b""),
}


def measure_listings(made: JobDeployment, amount: int) -> Iterator[Figure]:
    """Stage so many paths in each shape, and list each branch, from a process that has read it."""
    for number, (name, (path_of, delimiter)) in enumerate(SHAPES.items()):
        branch = f"b{number}"
        branches.create(made.engine, REPOSITORY, name=branch, source="main")
        _stage(made, branch, (_change(path_of, number) for number in range(amount)))
        prefix = b"" if name == "one folder" else b"table/"
        query = PageQuery(PAGE_AMOUNT_MAX, prefix, delimiter=delimiter)
        yield from _listed(made.settings, branch, name, query)


def _change(path_of: _Paths, number: int) -> Change:
    path, is_deleted = path_of(number)
    entry = Entry(
        address=f"data/{number:020}/{number:020}",
        address_type=AddressType.RELATIVE,
        size_bytes=number,
        checksum=f"{number:032x}",
        last_modified_ns=1_700_000_000_000_000_000 + number,
        content_type="application/octet-stream",
    )
    return path, None if is_deleted else entry_value(entry)


def _stage(made: JobDeployment, branch: str, changes: Iterator[Change]) -> None:
    """Stage the changes directly in the table, which is much faster than as users do."""
    _, current = current_branch(made.engine, REPOSITORY, branch)
    tables = tables_of(made.settings)
    puts = []
    for path, value in changes:
        item = {"token": {"S": current.staging_token}, "path": {"B": path}}
        puts.append({"PutRequest": {"Item": item | ({"value": {"B": value}} if value else {})}})
        if len(puts) == _ITEMS_AT_ONCE:
            tables.write_batch(made.settings.staging_table, puts)
            puts = []
    tables.write_batch(made.settings.staging_table, puts)


def _listed(
    settings: DeploymentSettings, branch: str, name: str, query: PageQuery
) -> Iterator[Figure]:
    # As in a request: its pages end in time.
    engine = replace(engine_of(settings), task_settings=TaskSettings(settings.request_work_s))
    objects.list_objects(engine, REPOSITORY, branch, PageQuery(1))
    with spent() as times, measured() as usage:
        pages_s = list(_pages(engine, branch, query))
    yield Figure(f"{name}: slowest page", max(pages_s) * 1e3, "ms wall")
    yield Figure(f"{name}: a page", sum(pages_s) / len(pages_s) * 1e3, "ms wall")
    yield Figure(f"{name}: a page, our processor", times.cpu_s / len(pages_s) * 1e3, "ms cpu")
    yield Figure(f"{name}: pages", len(pages_s), "")
    yield Figure(f"{name}: requests to DynamoDB", usage[Counted.DYNAMODB_REQUESTS], "")


def _pages(engine: Engine, branch: str, query: PageQuery) -> Iterator[float]:
    """List all pages; yield the seconds of each."""
    while True:
        start_s = perf_counter()
        page = objects.list_objects(engine, REPOSITORY, branch, query)
        yield perf_counter() - start_s
        if not page.next_after:
            return
        query = PageQuery(query.amount, query.prefix, page.next_after, query.delimiter)
