"""Single requests to both systems in turns, over stores far away: what a user waits for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from bench.api.lake import Lake, Scale
from bench.api.load import Timed
from bench.api.row import Row
from bench.api.run import all_rows
from bench.beside.near import turns
from bench.report import shown

# The requests, in the order of the table.
NAMES = (
    *("post-1", "stage-1", "get-1", "stat-branch-1", "stat-commit-1", "list-branch"),
    *("commit-10-random", "branch-create-1", "diff-branches", "merge-10", "log"),
    *("delete-1", "branch-delete-1"),
)
SCALE = Scale(
    requests=200,
    stats=1_000,
    singles=100,
    repeats=40,
    bases=(5_000,),
    objects=5_000,
    commits=50,
)
QUICK = Scale(
    connections=4,
    requests=20,
    stats=20,
    singles=8,
    repeats=4,
    bases=(1_000,),
    objects=1_000,
    commits=10,
)


@dataclass(frozen=True, slots=True)
class Waited:
    """How long the requests of a row took, ours and theirs."""

    row: Row
    ours_s: list[float] = field(default_factory=list)
    theirs_s: list[float] = field(default_factory=list)

    def ms(self, percent: float) -> tuple[float, float]:
        """Return a percentile of ours and of theirs."""
        both = (Timed(each, sum(each), len(each)) for each in (self.ours_s, self.theirs_s))
        ours, theirs = (each.percentile_ms(percent) for each in both)
        return ours, theirs

    def ratio(self, percent: float) -> float:
        """Return our share of lakeFS's time: below 1 is ahead."""
        ours, theirs = self.ms(percent)
        return ours / theirs


def rows_of(scale: Scale) -> list[Row]:
    """Return the rows of the comparison."""
    known = {row.name: row for row in all_rows(scale)}
    return [known[name] for name in NAMES]


async def wait(lakes: Sequence[Lake], rows: Sequence[Row], rounds: int) -> list[Waited]:
    """Send the requests of each row one at a time, to both in turns; print each row."""
    waited = [Waited(row) for row in rows]
    for number in range(rounds):
        print(f"\nround {number + 1} of {rounds}: p50 and p95 in ms", flush=True)
        for each in waited:
            jobs = [await each.row.prepare(lake) for lake in lakes]
            durations = (each.ours_s, each.theirs_s)
            for index, pair in enumerate(zip(*jobs, strict=True)):
                for which in turns(number, index):
                    began_s = perf_counter()
                    await pair[which]()
                    durations[which].append(perf_counter() - began_s)
            _print(each)
    return waited


def _print(each: Waited) -> None:
    (ours, theirs), (late, theirs_late) = each.ms(50), each.ms(95)
    p50 = f"{shown(ours):>8} {shown(theirs):>8} {each.ratio(50):6.2f}"
    p95 = f"{shown(late):>8} {shown(theirs_late):>8} {each.ratio(95):6.2f}"
    print(f"  {each.row.name:24} {p50}   {p95}", flush=True)
