"""Jobs run over some connections, and how long they took."""

import asyncio
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from bench.api.client import AnswerError

# Sends one or more requests; returns how many things it did, such as objects that it listed.
Job = Callable[[], Awaitable[int]]

# A busy server may refuse one request in so many.
_REFUSED_ONE_IN = 200

T = TypeVar("T")

# Branches that are prepared at the same time.
_PREPARED_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Timed:
    """The durations of jobs, and what they did in all."""

    durations_s: Sequence[float]
    wall_s: float
    amount: int

    @property
    def per_s(self) -> float:
        return self.amount / self.wall_s

    def percentile_ms(self, percent: float) -> float:
        """Return the duration below which so many percent of the jobs are."""
        ordered = sorted(self.durations_s)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] * 1000

    @property
    def median_ms(self) -> float:
        return statistics.median(self.durations_s) * 1000


async def run_jobs(jobs: Sequence[Job], connections: int) -> Timed:
    """Run the jobs in order, so many at a time.

    Raises:
        AnswerError: more than a few requests were refused.
    """
    durations_s: list[float] = []
    refused: list[AnswerError] = []
    amounts: list[int] = []
    waiting = iter(jobs)

    async def work() -> None:
        for job in waiting:
            began_s = perf_counter()
            try:
                amounts.append(await job())
            except AnswerError as error:
                refused.append(error)
                if len(refused) > len(jobs) / _REFUSED_ONE_IN:
                    raise
            durations_s.append(perf_counter() - began_s)

    began_s = perf_counter()
    await asyncio.gather(*(work() for _ in range(min(connections, len(jobs)))))
    wall_s = perf_counter() - began_s
    if refused:
        print(f"  {len(refused)} of {len(jobs)} refused: {refused[0]}", flush=True)
    return Timed(durations_s, wall_s, sum(amounts))


async def prepared(makers: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Return what the makers return, in order; some of them run at the same time."""
    made: list[T] = []
    for first in range(0, len(makers), _PREPARED_AT_ONCE):
        group = makers[first : first + _PREPARED_AT_ONCE]
        made += await asyncio.gather(*(make() for make in group))
    return made
