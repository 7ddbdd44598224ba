"""Places: how many runners work for one repository at the same time.

Theory of operation. A deployment runs a limited number of tasks at once, and one repository could
hold all of them for minutes. So each repository has a record of what its runners work on. It
changes by compare-and-swap on its version. A runner takes a place before it takes the work's own
record, which decides who works. If the work has a place already, of a runner that died or is about
to win, it needs no other: whoever wins has it. A runner leaves its place when it stops. One that
dies leaves nothing, so each place is free after the time that its invocation may take.

Work without a place comes again after a pause. The oldest of it is noted in the record, and who
leaves a place wakes it.
"""

from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

T = TypeVar("T")

# So much work is noted as waiting: the oldest. The rest only comes again after its pauses.
_WAITING_MAX = 8


class PlaceLimit(Struct, frozen=True):
    """How many places each repository has for one kind of work; None: as many as it wants."""

    kind: str
    places_max: int | None = None


UNLIMITED = PlaceLimit("")


def below_half(at_once: int) -> int | None:
    """Return how many of so many places one repository or user gets; None if there are none.

    It is less than half of three or more, so that others need not wait.
    """
    return max(1, (at_once - 1) // 2) if at_once else None


class Place(Struct, frozen=True):
    """A place: its runner has it until then, unless it leaves it before."""

    runner: str
    until_ns: int


class Places(Struct, frozen=True):
    """The places that are taken, by the work; version 0 is stored nowhere.

    waiting: work without a place, and since when it waits, in ns.
    """

    kind: str
    taken: Mapping[str, Place] = {}
    waiting: Mapping[str, int] = {}
    version: int = 0

    def at(self, now_ns: int) -> "Places":
        """Return the places without those whose time is over."""
        held = {work: place for work, place in self.taken.items() if place.until_ns > now_ns}
        return replace(self, taken=held)

    def with_place(self, work: str, place: Place) -> "Places":
        """Return the places with one for the work, in place of another that it may have."""
        return replace(
            self, taken={**self.taken, work: place}, waiting=_without(self.waiting, work)
        )

    def with_waiting(self, work: str, since_ns: int) -> "Places":
        """Return the places with the work among those that wait, if it is one of the oldest."""
        waiting = {work: since_ns, **self.waiting}
        oldest = sorted(waiting, key=lambda each: waiting[each])[:_WAITING_MAX]
        return replace(self, waiting={each: waiting[each] for each in oldest})

    def without(self, work: str, runner: str) -> "Places":
        """Return the places without that of the work, if the runner has it; "" is any runner."""
        held = self.taken.get(work)
        is_mine = held is not None and runner in ("", held.runner)
        waiting = self.waiting if runner else _without(self.waiting, work)
        return replace(
            self, taken=_without(self.taken, work) if is_mine else self.taken, waiting=waiting
        )

    def woken(self) -> tuple["Places", str]:
        """Return the places without the work that has waited for the longest; "" if none waits."""
        work = min(self.waiting, key=lambda each: self.waiting[each], default="")
        return replace(self, waiting=_without(self.waiting, work)), work


def _without(of: Mapping[str, T], work: str) -> Mapping[str, T]:
    return {other: each for other, each in of.items() if other != work}
