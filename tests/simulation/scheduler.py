"""Owns every step: clients are greenlets that stop before each call of a store.

A chooser says who goes on. However clients are interleaved it is one after the other, and the same
every time.
"""

from collections.abc import Callable, Sequence
from contextvars import Context
from random import Random

from greenlet import getcurrent, greenlet

STEPS_MAX = 10_000
# The numbers of late requests, and of threads, are above those of clients.
_LATE = 100
_THREAD = 1000


class Client:
    """One thing that runs: a client with its program, or a request that is still under way."""

    __slots__ = ("awaits", "awaits_until", "greenlet", "held_until", "name", "number")

    def __init__(self, number: int, name: str, work: Callable[[], object], hub: greenlet) -> None:
        self.number = number
        self.name = name
        self.held_until = 0
        self.awaits: Callable[[], bool] | None = None
        self.awaits_until = 0
        self.greenlet = greenlet(work, hub)


class SeededChooser:
    """Chooses by chance: now and then somebody is held while the others go on."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._stay = chance.choice((0.0, 0.5, 0.8, 0.95))
        self._hold = chance.choice((0.0, 0.02, 0.08))
        self._last: Client | None = None

    def __call__(self, runnable: list[Client], step: int) -> Client:
        chance = self._chance
        last = self._last
        if self._hold and last is not None and chance.random() < self._hold:
            last.held_until = step + chance.choice((5, 20, 100, 1000))
        free = [client for client in runnable if client.held_until <= step]
        if not free:
            chosen = min(runnable, key=lambda client: client.held_until)
        elif last in free and chance.random() < self._stay:
            chosen = last
        else:
            chosen = free[int(chance.random() * len(free))]
        self._last = chosen
        return chosen


class WrittenChooser:
    """Takes the steps that are written down; what is not written is done one after the other."""

    def __init__(self, steps: Sequence[int]) -> None:
        self._steps = iter(steps)

    def __call__(self, runnable: list[Client], _step: int) -> Client:
        by_number = {client.number: client for client in runnable}
        for number in self._steps:
            if number in by_number:
                return by_number[number]
        return runnable[0]


class Scheduler:
    """Lets clients run, one at a time, each to its next call of a store."""

    def __init__(self, choose: Callable[[list[Client], int], Client]) -> None:
        self.steps: list[int] = []
        self.now = 0  # a count of all that happened, for the history
        self.after_step: Callable[[], None] | None = None
        self._choose = choose
        self._hub = getcurrent()
        self._runnable: list[Client] = []
        self._now_running: Client
        self._ghosts = 0
        self._threads = 0

    def add(self, name: str, work: Callable[[], object], number: int) -> None:
        """A client that is to run."""
        self._runnable.append(Client(number, name, work, self._hub))

    def add_ghost(self, work: Callable[[], object], number: int) -> None:
        """A request whose sender has gone, still on its way."""
        self._ghosts += 1
        self.add(f"late {self._ghosts}", work, _LATE + number)

    def add_thread(self, work: Callable[[], object], context: Context) -> None:
        """A thread of a client, which may outlive the client's process."""
        self._threads += 1
        self.add(f"thread {self._threads}", work, _THREAD + self._threads)
        self._runnable[-1].greenlet.gr_context = context

    @property
    def has_late(self) -> bool:
        """Whether requests and threads are under way beside the clients."""
        return any(client.number >= _LATE for client in self._runnable)

    @property
    def is_stepping(self) -> bool:
        """Whether the caller is one of those that run here."""
        return getcurrent() is not self._hub

    def run(self) -> bool:
        """Let them run until all are done; False if that would take for ever."""
        runnable = self._runnable
        while runnable:
            ready = [each for each in runnable if each.awaits is None or each.awaits()]
            if not ready:
                ready = [min(runnable, key=lambda each: each.awaits_until)]
            client = self._choose(ready, len(self.steps))
            self.steps.append(client.number)
            self._now_running = client
            client.awaits = None
            client.greenlet.switch()
            if client.greenlet.dead:
                runnable.remove(client)
            if self.after_step is not None:
                self.after_step()
            if len(self.steps) > STEPS_MAX:
                return False
        return True

    def pause(self, hold_steps: int = 0) -> None:
        """Let others go on, for so many steps if they can; outside of a run, nobody else is there."""
        if self.is_stepping:
            if hold_steps:
                self._now_running.held_until = len(self.steps) + hold_steps
            self._hub.switch()

    def pause_until(self, is_over: Callable[[], bool], steps_max: int = STEPS_MAX) -> None:
        """Let others go on until it is over, for so many steps at most, and while they can."""
        if self.is_stepping and steps_max > 0:
            client, end = self._now_running, len(self.steps) + steps_max
            client.awaits_until = end
            client.awaits = lambda: len(self.steps) >= end or is_over()
            self._hub.switch()

    def tick(self) -> int:
        """The next moment."""
        self.now += 1
        return self.now
