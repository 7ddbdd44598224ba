"""What is run: a program for each client, who takes each step, and what goes wrong where.

A schedule that was run is written down whole, so that it can be run again, and be made smaller.
"""

from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Op:
    """One operation of a client; what the arguments mean is the action's business.

    is_slow: others may make many steps between two of its requests.
    """

    kind: str
    branch: str = "main"
    path: bytes = b"a"
    text: str = ""  # content, metadata, ref
    id: int = 0  # unique in the program
    is_slow: bool = False

    def __str__(self) -> str:
        text = f" {self.text}" if self.text else ""
        slowly = " slowly" if self.is_slow else ""
        return f"{self.kind}{slowly} {self.branch}/{self.path.decode()}{text} (#{self.id})"


# A call of a port: the operation's ID, and the number of the call in it.
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong at a call; s is how long a pause takes by the clock."""

    kind: str
    s: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.s} s" if self.s else self.kind


@dataclass(frozen=True, slots=True)
class Schedule:
    """One run: the world it begins in, programs by client, steps by client number, faults."""

    world: str
    programs: tuple[tuple[Op, ...], ...]
    steps: tuple[int, ...] | None = None  # None: chosen by the seed
    faults: dict[Place, Fault] | None = field(default=None)  # as above
    seed: int = 0

    @property
    def size(self) -> tuple[int, int, int, int]:
        """What shrinking makes smaller: operations, clients, faults, changes of client."""
        steps = self.steps or ()
        switches = sum(one != other for one, other in pairwise(steps))
        operations = sum(map(len, self.programs))
        clients = sum(map(bool, self.programs))
        return operations, clients, len(self.faults or {}), switches
