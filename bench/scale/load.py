"""Clients in a closed loop: each sends its next request when the one before has ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TypeVar

from bench.scale.functions import Fleet, World
from graveler.engine import Engine
from graveler.errors import GravelerError

T = TypeVar("T")

# Clients begin one by one in this time.
BEGIN_S = 0.5
# A refused client comes again after this time.
RETRY_AFTER_S = 1.0


@dataclass
class Timed:
    """The requests of one kind: those that ended in the measured time, and how long each took.

    durations_s: of all that began in the measured time.
    """

    ended: int = 0
    refused: int = 0
    durations_s: list[float] = field(default_factory=list)

    def quantile_ms(self, share: float) -> float:
        """Return the duration that this share of the requests does not exceed; NaN without any."""
        found = sorted(self.durations_s)
        return 1e3 * found[int(share * (len(found) - 1))] if found else float("nan")


class Load:
    """Clients of a fleet, and what they measured from warm_s on, for measured_s."""

    def __init__(
        self, world: World, *, functions_max: int, warm_s: float, measured_s: float, seed: int
    ) -> None:
        self.world = world
        self.random = Random(seed)
        self.timed: dict[str, Timed] = {}
        self.measured_s = measured_s
        self._fleet = Fleet(world, functions_max)
        self._warm_s, self._end_s = warm_s, warm_s + measured_s

    @property
    def is_over(self) -> bool:
        """Whether clients should stop."""
        return self.world.time.now_s >= self._end_s

    def request(self, kind: str, work: Callable[[Engine], object]) -> None:
        """Send a request of a kind until it is served; measure each try."""
        time, timed = self.world.time, self.timed.setdefault(kind, Timed())
        while not self.is_over:
            begun_s = time.now_s
            try:
                self._fleet.serve(work)
            except GravelerError:
                timed.refused += self._is_measured(time.now_s)
                time.sleep(RETRY_AFTER_S)
                continue
            self.note(kind, begun_s)
            return

    def note(self, kind: str, begun_s: float, amount: int = 1) -> None:
        """Measure work of a kind that ends now; amount: how many pieces."""
        now_s, timed = self.world.time.now_s, self.timed.setdefault(kind, Timed())
        if self._is_measured(begun_s):
            timed.durations_s.append(now_s - begun_s)
        if self._is_measured(now_s):
            timed.ended += amount

    def _is_measured(self, at_s: float) -> bool:
        return self._warm_s <= at_s < self._end_s

    def run(self, clients: Sequence[Callable[[], None]]) -> None:
        """Repeat the work of each client until the time is over; return when all have ended."""
        for client in clients:
            self.world.time.spawn(partial(self._repeat, client), self.random.uniform(0.0, BEGIN_S))
        self.world.time.run()

    def _repeat(self, client: Callable[[], None]) -> None:
        while not self.is_over:
            client()
