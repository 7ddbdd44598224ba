"""Rows of committed metadata: stat, listings, the log."""

from collections.abc import Iterator, Sequence

from bench.api.client import quoted
from bench.api.lake import Lake, Repository, Scale, directories, directory_of
from bench.api.load import Job
from bench.api.row import MILLISECONDS, OBJECTS, Row, pair

_PAGE = 1_000
_FIRST_PAGE = 100
_LISTINGS = 3


def rows(scale: Scale) -> Iterator[Row]:
    """Yield the rows of reads."""
    yield from pair(scale, "stat-branch", "stat", "stat by branch", _stats_by_branch, scale.stats)
    yield from pair(scale, "stat-commit", "stat", "stat by commit", _stats_by_commit, scale.stats)
    missing = pair(scale, "stat-missing", "stat", "stat of nothing", _missing, scale.requests)
    yield from missing
    flat = f"list {scale.objects:,} flat, pages of {_PAGE:,}"
    yield Row("list-flat", "list", flat, OBJECTS, _flat)
    directory = f"list a directory of {directories(scale.objects)[0]:,}"
    yield Row("list-directory", "list", directory, MILLISECONDS, _directories)
    yield Row("list-prefixes", "list", "list all prefixes", MILLISECONDS, _prefixes)
    first = f"list the first {_FIRST_PAGE}"
    yield Row("list-page", "list", first, MILLISECONDS, _first_pages)
    of_branch = f"list the first {_FIRST_PAGE} of a branch"
    yield Row("list-branch", "list", of_branch, MILLISECONDS, _first_pages_of_branch)
    yield Row("log", "log", f"log of {scale.commits:,} commits", MILLISECONDS, _logs)
    pages = f"log of {scale.commits:,} commits, pages of 100"
    yield Row("log-pages", "log", pages, MILLISECONDS, _logs_by_page)


async def _base(lake: Lake) -> Repository:
    return await lake.base(lake.scale.objects)


async def _branch(lake: Lake) -> str:
    """Return a branch that is read, without changes."""
    base = await _base(lake)
    return await lake.once("branch that is read", lambda: lake.changed(base, []))


async def _stats_by_branch(lake: Lake, amount: int) -> Sequence[Job]:
    return _stats(lake, await _base(lake), await _branch(lake), amount)


async def _stats_by_commit(lake: Lake, amount: int) -> Sequence[Job]:
    base = await _base(lake)
    return _stats(lake, base, base.commit_id, amount)


def _stats(lake: Lake, base: Repository, ref: str, amount: int) -> Sequence[Job]:
    path = f"{base.path}/refs/{ref}/objects/stat?path="
    keys = (lake.some_keys(lake.scale.objects, 1)[0] for _ in range(amount))
    return [lake.job(lake.client.encode("GET", path + quoted(key)), 200) for key in keys]


async def _missing(lake: Lake, amount: int) -> Sequence[Job]:
    base = await _base(lake)
    path = f"{base.path}/refs/{base.commit_id}/objects/stat?path=data/no-"
    return [lake.job(lake.client.encode("GET", f"{path}{i}"), 404) for i in range(amount)]


def _listing(
    base: Repository, prefix: str = "", delimiter: str = "", amount: int = _PAGE, ref: str = ""
) -> str:
    query = f"amount={amount}&prefix={quoted(prefix)}&delimiter={quoted(delimiter)}"
    return f"{base.path}/refs/{ref or base.commit_id}/objects/ls?{query}"


async def _flat(lake: Lake) -> Sequence[Job]:
    return [lake.reading(_listing(await _base(lake)), lake.scale.objects)] * _LISTINGS


async def _directories(lake: Lake) -> Sequence[Job]:
    base = await _base(lake)
    return [
        lake.reading(_listing(base, directory_of(number), "/"), objects)
        for number, objects in enumerate(directories(lake.scale.objects))
    ]


async def _prefixes(lake: Lake) -> Sequence[Job]:
    prefixes = len(directories(lake.scale.objects))
    return [lake.reading(_listing(await _base(lake), "data/", "/"), prefixes)] * lake.scale.repeats


async def _first_pages(lake: Lake) -> Sequence[Job]:
    return _pages_of(lake, _listing(await _base(lake), amount=_FIRST_PAGE))


async def _first_pages_of_branch(lake: Lake) -> Sequence[Job]:
    ref = await _branch(lake)
    return _pages_of(lake, _listing(await _base(lake), amount=_FIRST_PAGE, ref=ref))


def _pages_of(lake: Lake, path: str) -> Sequence[Job]:
    expected = min(_FIRST_PAGE, lake.scale.objects)
    return [lake.reading(path, expected, expected)] * lake.scale.singles


async def _logs(lake: Lake) -> Sequence[Job]:
    return await _logs_of(lake, 1_000)


async def _logs_by_page(lake: Lake) -> Sequence[Job]:
    return await _logs_of(lake, 100)


async def _logs_of(lake: Lake, amount: int) -> Sequence[Job]:
    async def make() -> Repository:
        made = await lake.create_repository("log")
        for number in range(lake.scale.commits):
            await lake.stage(made, "main", [f"{number % 50:03d}"])
            await lake.commit(made, "main")
        return made

    made = await lake.once("log", make)
    # The creation of the repository is a commit as well.
    path = f"{made.path}/refs/main/commits?amount={amount}"
    return [lake.reading(path, lake.scale.commits + 1)] * lake.scale.singles
