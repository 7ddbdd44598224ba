"""The clocks of one machine among others."""

from collections.abc import Callable

from graveler.times import Moment
from tests.support.fakes.memory_objects import FixedClock


class SkewedClock:
    """The clocks of a machine whose wall clock is fast or slow.

    stall: called before each reading; the machine may stall there.
    step: the wall clock of this machine alone is set, forwards or back.
    freeze: time passes for all, and the monotonic clock of this machine does not count it.
    """

    def __init__(
        self, clock: FixedClock, skew_ns: int, stall: Callable[[], None] = lambda: None
    ) -> None:
        self._clock = clock
        self._skew_ns = self._usual_ns = skew_ns
        self._stall = stall
        self._frozen_ns = 0
        self.sleep = clock.sleep

    def now_ns(self) -> int:
        return self.moment().wall_ns

    def moment(self) -> Moment:
        self._stall()
        now = self._clock.moment()
        return Moment(now.wall_ns + self._skew_ns, now.monotonic_ns - self._frozen_ns)

    def step(self, seconds: float) -> None:
        self._skew_ns += round(seconds * 10**9)

    def set_right(self) -> None:
        self._skew_ns = self._usual_ns

    def freeze(self, seconds: float) -> None:
        self._clock.tick(seconds)
        self._frozen_ns += round(seconds * 10**9)

    def left_s(self) -> float:
        return self._clock.left_s()
