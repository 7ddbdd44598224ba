"""A repository's places: taken before long work begins, and left when it stops."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from msgspec import Struct

from graveler.branches.retries import retry_stale
from graveler.errors import GravelerError
from graveler.model.places import Place, PlaceLimit, Places
from graveler.open_repository import OpenRepository
from graveler.times import NS_PER_S

# Lambda's longest invocation: no place is held for longer.
_HELD_S_MAX = 900

# Work without a place is tried again after a quarter of the time for which it has waited, if nobody
# wakes it. lakectl gives an import up that does not change for 25 seconds.
_WAITED_PART = 4
_PAUSE_S_MAX = 20


class Seat(Struct, frozen=True):
    """The place of some work of a repository, for one runner.

    work: a task's ID, or an exported branch.
    wake: sends a message for work that may have a place now.
    """

    repo: OpenRepository
    limit: PlaceLimit
    work: str
    runner: str
    wake: Callable[[str], None]

    def take(self, time_left_s: float, since_ns: int) -> Place | None:
        """Return the work's place: a new one, or that of another runner; None if others hold all.

        time_left_s: how long the runner may hold it. since_ns: when the work was asked for.

        Raises:
            ContentionError: other runners changed the places in each try.
        """
        places_max = self.limit.places_max
        if places_max is None:
            return Place(self.runner, 0)

        def changed(places: Places, now_ns: int) -> Places:
            current = places.at(now_ns)
            if self.work in current.taken:
                return places
            if len(current.taken) >= places_max:
                return current.with_waiting(self.work, since_ns)
            return current.with_place(self.work, self._place(time_left_s, now_ns))

        return self._change(changed).taken.get(self.work)

    @contextmanager
    def keeping(self, place: Place, time_left_s: float) -> Iterator[None]:
        """Keep the place if the block takes the work, whoever took the place; leave it if not."""
        try:
            yield
        except GravelerError:
            self.leave()
            raise
        if place.runner != self.runner:
            with suppress(GravelerError):
                self._change(
                    lambda places, now_ns: places.at(now_ns).with_place(
                        self.work, self._place(time_left_s, now_ns)
                    )
                )

    def leave(self, *, of_any: bool = False) -> None:
        """Leave the place, and wake the oldest work that waits; if a store fails, later.

        of_any: also if another runner has it, because the work has ended.
        """
        places_max = self.limit.places_max
        if places_max is None:
            return
        woken = ""

        def changed(places: Places, now_ns: int) -> Places:
            nonlocal woken
            left = places.without(self.work, "" if of_any else self.runner)
            woken = ""
            has_room = len(left.at(now_ns).taken) < places_max
            if left.taken != places.taken or (of_any and has_room):
                left, woken = left.woken()
            return left

        with suppress(GravelerError):
            self._change(changed)
            if woken:
                self.wake(woken)

    def _place(self, time_left_s: float, now_ns: int) -> Place:
        return Place(self.runner, now_ns + int(min(time_left_s, _HELD_S_MAX) * NS_PER_S))

    def _change(self, changed: Callable[[Places, int], Places]) -> Places:
        """Store the places as they are changed, unless they stay as they are; return them."""

        def attempt() -> Places:
            places = self.repo.engine.refs.places(self.repo.record, self.limit.kind)
            new = changed(places, self.repo.engine.clock.now_ns())
            if new == places:
                return places
            return self.repo.engine.refs.replace_places(self.repo.record, places, new)

        return retry_stale(attempt, f"the places of repository {self.repo.record.name!r}")


def pause_s(waited_ns: int) -> int:
    """Return when work without a place is tried again, after it has waited for so long."""
    return min(max(1, waited_ns // NS_PER_S // _WAITED_PART), _PAUSE_S_MAX)
