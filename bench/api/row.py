"""A row of the tables: jobs that are prepared and then timed."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bench.api.lake import Lake, Scale
from bench.api.load import Job, Timed, run_jobs

REQUESTS, OBJECTS, MILLISECONDS = "requests/s", "objects/s", "ms"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. What prepare does is not timed; the jobs that it returns are."""

    name: str
    section: str
    title: str
    unit: str
    prepare: Callable[[Lake], Awaitable[Sequence[Job]]]
    connections: int = 1

    @property
    def is_rate(self) -> bool:
        """Whether more is better."""
        return self.unit != MILLISECONDS

    def value(self, timed: Timed) -> float:
        """Return the row's figure: how many a second, or the median of the durations."""
        return timed.per_s if self.is_rate else timed.median_ms

    async def measure(self, lake: Lake) -> Timed:
        """Prepare the jobs and time them."""
        return await run_jobs(await self.prepare(lake), self.connections)


def pair(
    scale: Scale,
    name: str,
    section: str,
    title: str,
    prepare: Callable[[Lake, int], Awaitable[Sequence[Job]]],
    requests: int,
) -> Iterator[Row]:
    """Yield two rows of the same jobs: over many connections, and over one, as `name-1`."""
    many = scale.connections

    async def prepare_many(lake: Lake) -> Sequence[Job]:
        return await prepare(lake, requests)

    async def prepare_singles(lake: Lake) -> Sequence[Job]:
        return await prepare(lake, scale.singles)

    yield Row(name, section, f"{title}, {many} connections", REQUESTS, prepare_many, many)
    yield Row(f"{name}-1", section, f"{title}, 1 connection", MILLISECONDS, prepare_singles)


def chosen(rows: Sequence[Row], words: Sequence[str]) -> list[Row]:
    """Return the rows that words name, in the order of the words; all rows without any.

    A word is a name, a pattern of names such as `stat-*`, or a section.

    Raises:
        ValueError: a word names no row.
    """
    if not words:
        return list(rows)
    found: dict[str, Row] = {}
    for word in words:
        named = [row for row in rows if row.section == word or fnmatchcase(row.name, word)]
        if not named:
            known = ", ".join(row.name for row in rows)
            raise ValueError(f"no row is named {word!r}: use some of {known}")
        found |= {row.name: row for row in named}
    return list(found.values())
