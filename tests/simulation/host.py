"""A client's machine: its clock, and how it lets steps and time pass."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from graveler.times import NS_PER_S
from tests.support.fakes.clocks import SkewedClock

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

_SKEWS_S = (0, 3, -3)
_LOOKS_MAX = 30
_AWAITED_MAX = 300


class Host:
    """The machine of one client.

    is_writing: the runner of an export has begun to write at the destination.
    export_workers: slices of exports under way here; they may outlive their runner.
    is_listing: it has listed some branches, for a collection that looks for what is alive.
    is_deleting: it deletes, for a collection.
    awaits_look: it lets others go on until a collection has listed some branches.
    """

    def __init__(self, simulation: "Simulation", number: int) -> None:
        self.is_writing = self.is_listing = self.is_deleting = self._is_runner = False
        self.awaits_look = False
        self.export_workers = 0
        self._simulation = simulation
        self._stalled_until = 0
        skew_ns = _SKEWS_S[number % len(_SKEWS_S)] * NS_PER_S
        self.clock = SkewedClock(simulation.world.clock, skew_ns, self._stall)

    @property
    def is_exporting(self) -> bool:
        """Whether it carries out an export. It may stall before it reads its clock."""
        return self._is_runner or self.export_workers > 0

    def _stall(self) -> None:
        """Let others go on before the runner of an export reads its clock.

        What it then writes at the destination takes no time: a lease allows for that.
        """
        if self.is_exporting:
            self._simulation.scheduler.pause()
            self._wait_until(self._stalled_until)

    def _wait_until(self, step: int) -> None:
        scheduler = self._simulation.scheduler
        scheduler.pause_until(lambda: False, step - len(scheduler.steps))

    def begins_operation(self) -> None:
        self._simulation.working.add(self)

    def ends_operation(self) -> None:
        self._simulation.working.discard(self)
        self.is_writing = self.is_listing = self.is_deleting = self._is_runner = False
        self.awaits_look = False

    def begins_export(self) -> None:
        """Set the clock right: leases allow for seconds only when a run is taken."""
        self.clock.set_right()
        self._is_runner, self.is_writing = True, False

    def wait(self, steps: int) -> None:
        """Let others make so many steps."""
        self._wait_until(len(self._simulation.scheduler.steps) + steps)

    def sleep(self, seconds: float) -> None:
        """Let days pass while no request is under way; all who sleep then wake up together."""
        simulation, scheduler = self._simulation, self._simulation.scheduler
        simulation.working.discard(self)
        nights = simulation.nights
        scheduler.pause_until(
            lambda: (
                simulation.nights > nights or (not simulation.working and not scheduler.has_late)
            )
        )
        if simulation.nights == nights:
            simulation.nights += 1
            simulation.world.clock.tick(seconds)
        simulation.working.add(self)

    @property
    def true_ns(self) -> int:
        """The world's time, whatever the clock shows."""
        return self._simulation.world.clock.peek_ns

    def let_clock_be_fast(self, seconds: int) -> None:
        """Set the clock forward from the right time."""
        self.clock.set_right()
        self.clock.step(seconds)

    def pass_time(self, seconds: float) -> None:
        """Let time pass for all, whatever they are doing."""
        self._simulation.world.clock.tick(seconds)

    def await_other(self, is_ready: Callable[["Host"], bool]) -> None:
        """Let others go on until one of them is ready, or none is soon."""
        simulation = self._simulation
        simulation.scheduler.pause_until(
            lambda: any(is_ready(actor.host) for actor in simulation.actors), _AWAITED_MAX
        )

    def await_look(self) -> None:
        """Let others go on until a collection has listed some branches."""
        self.awaits_look = True
        self.await_other(lambda host: host.is_listing)
        self.awaits_look = False

    def step_clock_of_runner(self, seconds: int, stall_steps: int) -> None:
        """Set the clock of a client that carries out an export, and let it stall for some steps."""
        scheduler = self._simulation.scheduler
        for _ in range(_LOOKS_MAX):
            for actor in self._simulation.actors:
                if actor.host.is_writing:
                    actor.host.clock.step(seconds)
                    actor.host._stalled_until = len(scheduler.steps) + stall_steps
                    return
            scheduler.pause()
