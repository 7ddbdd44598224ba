"""One process of a client: its engine with its caches, and its own way to DynamoDB.

A crash ends it. Its requests under way may still take effect.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graveler.engine import Engine
from graveler.threads import ContextThreads
from tests.simulation.schedule import Fault, Place
from tests.simulation.transport import tables_of_process
from tests.support.faults.counting import over_ports
from tests.support.faults.faults import Crash

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation

_READS_AHEAD_MAX = 16


class Process:
    """A process; see the module."""

    def __init__(self, simulation: "Simulation", actor: "Actor") -> None:
        self.simulation = simulation
        self.is_dead = False
        self._actor = actor
        self.tables = tables_of_process(self)
        made = simulation.new_engine(self.tables)
        self.engine: Engine = over_ports(
            replace(made, clock=actor.host.clock, threads=ContextThreads(_READS_AHEAD_MAX)),
            self.around,
        )

    def around(
        self, name: str, target: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Call a port, while the process lives."""
        self.require_life()
        try:
            return self._actor.call(name, target, args, options)
        except Crash:
            self.is_dead = True
            raise

    def require_life(self) -> None:
        if self.is_dead:
            raise Crash

    def crash(self) -> None:
        """End here."""
        self.is_dead = True
        raise Crash

    # Its requests to DynamoDB

    def pause(self) -> None:
        """Let others go on."""
        self._actor.pause()

    def freeze(self) -> None:
        """Let others go on while this process is frozen."""
        self._actor.freeze()

    def request(self, operation: str, body: bytes, *, is_again: bool) -> tuple[Place, Fault | None]:
        """Return the place of a new request, and what goes wrong with it.

        is_again: the answer to the request before was lost.
        """
        return self._actor.request(operation, body, is_again=is_again)

    def later(self, work: Callable[[], object]) -> None:
        """Let a request arrive at some later time."""
        self.simulation.scheduler.add_ghost(work, self._actor.number)
