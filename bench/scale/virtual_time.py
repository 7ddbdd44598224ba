"""Virtual time: greenlets sleep, and the one whose moment comes first goes on.

It is the clock of engines, and owns the product's threads (`tests/simulation/threads.py`).
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from heapq import heappop, heappush
from itertools import count
from typing import TypeVar

from greenlet import getcurrent, greenlet

from graveler.aws import deadlines
from graveler.times import NS_PER_S, Moment

T = TypeVar("T")

# A thread that waits for another one looks so often; a real one wakes up sooner.
LOOK_S = 0.0002
_BEGIN_NS = 1_700_000_000 * NS_PER_S


class VirtualTime:
    """The clock, and all that runs by it; see the module."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._hub = getcurrent()
        self._sleeping: list[tuple[float, int, greenlet]] = []
        self._numbers = count()  # of two at one moment, the first goes first

    # What runs

    @property
    def is_stepping(self) -> bool:
        """Whether the caller runs by this clock."""
        return getcurrent() is not self._hub

    def spawn(self, work: Callable[[], object], delay_s: float = 0.0) -> None:
        """Let the work begin after the delay."""
        self._wake(greenlet(work, self._hub), delay_s)

    def add_thread(self, work: Callable[[], object], context: Context) -> None:
        """Let the work begin now, in the context."""
        thread = greenlet(work, self._hub)
        thread.gr_context = context
        self._wake(thread)

    def run(self) -> None:
        """Return when all work has ended."""
        while self._sleeping:
            self.now_s, _, following = heappop(self._sleeping)
            following.switch()

    def pause(self) -> None:
        """Let others go on for a moment."""
        self.sleep(LOOK_S)

    def result(self, future: Future[T]) -> T:
        """Return the result when it is there, and let others go on before."""
        if not future.done():
            waiting = getcurrent()
            future.add_done_callback(lambda _: self._wake(waiting))
            self._hub.switch()
        return future.result()

    def _wake(self, sleeping: greenlet, delay_s: float = 0.0) -> None:
        heappush(self._sleeping, (self.now_s + delay_s, next(self._numbers), sleeping))

    # The clock

    def sleep(self, seconds: float) -> None:
        """Let others go on for so long; preparations take no time."""
        if self.is_stepping:
            self._wake(getcurrent(), seconds)
            self._hub.switch()

    def monotonic(self) -> float:
        return self.now_s

    def now_ns(self) -> int:
        return _BEGIN_NS + round(self.now_s * NS_PER_S)

    def moment(self) -> Moment:
        return Moment(self.now_ns(), round(self.now_s * NS_PER_S))

    def left_s(self) -> float:
        return deadlines.left_s()
