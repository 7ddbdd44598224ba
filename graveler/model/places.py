"""Places: how many runners work for one repository at the same time.

Theory of operation. A deployment runs a limited number of tasks at once, and one repository could
hold all of them for minutes. So each repository has a record of the runners that work for it. A
runner takes a place before it begins, and leaves it when it stops. The record changes by
compare-and-swap on its version. A runner that dies leaves nothing, so each place is free after the
time that its holder's invocation may take.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class PlaceLimit:
    """How many places each repository has for one kind of work; None: as many as it wants."""

    kind: str
    places_max: int | None = None


UNLIMITED = PlaceLimit("")


def below_half(at_once: int) -> int | None:
    """Return how many of so many places one repository or user gets; None if there are none.

    It is less than half of three or more, so that others need not wait.
    """
    return max(1, (at_once - 1) // 2) if at_once else None


@dataclass(frozen=True, slots=True)
class Place:
    """A place: its runner has it until then, unless it leaves it before."""

    runner: str
    until_ns: int


@dataclass(frozen=True, slots=True)
class Places:
    """The places that are taken, by what their runners work on; version 0 is stored nowhere."""

    kind: str
    taken: Mapping[str, Place] = field(default_factory=dict)
    version: int = 0

    def with_place(self, work: str, place: Place, now_ns: int, places_max: int) -> "Places | None":
        """Return the places with one for the work; None if others hold all of them.

        The runner takes over the place of an earlier one that worked on the same.
        """
        others = {
            other: held
            for other, held in self.taken.items()
            if other != work and held.until_ns > now_ns
        }
        if len(others) >= places_max:
            return None
        return replace(self, taken={**others, work: place})

    def without(self, work: str, runner: str) -> "Places | None":
        """Return the places without the runner's; None if it has none by now."""
        held = self.taken.get(work)
        if held is None or held.runner != runner:
            return None
        return replace(self, taken={other: at for other, at in self.taken.items() if other != work})
