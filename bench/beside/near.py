"""Rows of both systems in turns, over stores that are near: which is ahead, and by how much."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from bench.api.lake import Lake, Scale
from bench.api.load import run_jobs
from bench.api.row import Row, chosen
from bench.api.run import all_rows
from bench.beside.systems import Spent, System
from bench.report import shown

# The rows of the comparison, in the order of the table.
NAMES = (
    *("post", "post-1", "stage", "stage-1", "link", "get", "delete"),
    *("stat-branch", "stat-branch-1", "stat-commit", "stat-commit-1"),
    *("list-flat", "list-directory", "branch-create", "branch-delete"),
    *("commit-1-random", "commit-1000-clustered", "commit-1000-random"),
    *("diff-10-random", "diff-1000-random", "merge-100", "log"),
)
SCALE = Scale(
    requests=1_000,
    stats=4_000,
    branches=200,
    bases=(20_000,),
    objects=20_000,
    commits=200,
)
QUICK = Scale(
    connections=4,
    requests=60,
    stats=100,
    singles=20,
    repeats=2,
    branches=20,
    bases=(2_000,),
    objects=2_000,
    commits=20,
)
WARMING_REQUESTS = 1_000


@dataclass(slots=True)
class Measured:
    """The figures of one row and one system: a value of each round, and what all rounds took."""

    values: list[float] = field(default_factory=list)
    spent: Spent = field(default_factory=lambda: Spent(0, 0))
    jobs: int = 0

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def system_cpu_ms(self) -> float:
        """The processor time that a job took in the system."""
        return self.spent.system_s / self.jobs * 1000

    @property
    def stores_cpu_ms(self) -> float:
        """The processor time that a job took in the system's stores."""
        return self.spent.stores_s / self.jobs * 1000


@dataclass(frozen=True, slots=True)
class Compared:
    """A row, measured for Graveler (ours) and for lakeFS (theirs)."""

    row: Row
    ours: Measured = field(default_factory=Measured)
    theirs: Measured = field(default_factory=Measured)

    @property
    def ratio(self) -> float:
        """How many times better ours is: the median of the rounds.

        Both figures of a round are of about the same time, when the machine was equally busy.
        """
        return statistics.median(self.ratios)

    @property
    def ratios(self) -> list[float]:
        """How many times better ours was in each round: above 1 is ahead."""
        pairs = zip(self.ours.values, self.theirs.values, strict=True)
        return [ahead(self.row.is_rate, ours, theirs) for ours, theirs in pairs]


def ahead(is_rate: bool, ours: float, theirs: float) -> float:  # noqa: FBT001 - of the row
    """Return how many times better ours is: as a rate, or as a duration."""
    return ours / theirs if is_rate else theirs / ours


def rows_of(scale: Scale) -> list[Row]:
    """Return the rows of the comparison."""
    known = {row.name: row for row in all_rows(scale)}
    return [known[name] for name in NAMES]


def turns(number: int, first: int) -> tuple[int, int]:
    """Return who is measured first, and who second: it alternates by round and by row."""
    return (0, 1) if (number + first) % 2 == 0 else (1, 0)


async def warm_up(lakes: Sequence[Lake], rows: Sequence[Row], requests: int) -> None:
    """Have both systems and their stores answer at least so many writes, and every row once."""
    began_s = perf_counter()
    for lake in lakes:
        for row in chosen(all_rows(lake.scale), ["post", "stage"]):
            sent = 0
            while sent < requests:
                sent += (await row.measure(lake)).amount
    for row in rows:
        for lake in lakes:
            await row.measure(lake)
        print(f"  {row.name:24} {perf_counter() - began_s:4.0f} s", flush=True)


async def compare(
    systems: Sequence[System], lakes: Sequence[Lake], rows: Sequence[Row], rounds: int
) -> list[Compared]:
    """Measure the rows in rounds, each row of both systems in turns; print them as they come."""
    compared = [Compared(row) for row in rows]
    for number in range(rounds):
        print(f"\nround {number + 1} of {rounds}", flush=True)
        for index, each in enumerate(compared):
            found = (each.ours, each.theirs)
            for which in turns(number, index):
                await _measure(systems[which], lakes[which], each.row, found[which])
            _print(each)
    _print_medians(compared, rounds)
    return compared


async def _measure(system: System, lake: Lake, row: Row, measured: Measured) -> None:
    jobs = await row.prepare(lake)
    before = system.spent()
    timed = await run_jobs(jobs, row.connections)
    measured.spent += system.spent() - before
    measured.jobs += len(jobs)
    measured.values.append(row.value(timed))


def _print(each: Compared) -> None:
    row, ours, theirs = each.row, each.ours.values[-1], each.theirs.values[-1]
    ratio = ahead(row.is_rate, ours, theirs)
    figures = f"{shown(ours):>10} {shown(theirs):>10} {row.unit:10} {ratio:6.2f}"
    print(f"  {row.name:24} {figures}", flush=True)


def _print_medians(compared: Sequence[Compared], rounds: int) -> None:
    print(f"\nmedians of {rounds}; processor time of a request in systems and stores", flush=True)
    for each in compared:
        row, ours, theirs = each.row, each.ours, each.theirs
        figures = f"{shown(ours.median):>10} {shown(theirs.median):>10} {row.unit:10}"
        systems = f"{shown(ours.system_cpu_ms):>7} {shown(theirs.system_cpu_ms):>7}"
        stores = f"{shown(ours.stores_cpu_ms):>7} {shown(theirs.stores_cpu_ms):>7}"
        print(f"  {row.name:24} {figures} {each.ratio:6.2f}   {systems}   {stores}", flush=True)
