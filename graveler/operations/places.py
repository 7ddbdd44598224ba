"""A repository's places: taken before long work begins, and left when it stops."""

from contextlib import suppress

from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import GravelerError
from graveler.model import Repository
from graveler.model.places import Place, PlaceLimit
from graveler.times import NS_PER_S

# Lambda's longest invocation: no place is held for longer.
_HELD_S_MAX = 900

# Work without a place is tried again after a quarter of the time for which it has waited. So a few
# tasks wait hardly longer than they must, and many do not keep the functions busy.
_WAITED_PART = 4
_PAUSE_S_MAX = 20


def take_place(
    engine: Engine,
    repository: Repository,
    limit: PlaceLimit,
    work: str,
    runner: str,
    time_left_s: float,
) -> bool:
    """Take a place for the work; return False if the repository's other work holds all.

    Raises:
        ContentionError: other runners changed the places in each try.
    """
    places_max = limit.places_max
    if places_max is None:
        return True
    held_s = min(time_left_s, _HELD_S_MAX)

    def attempt() -> bool:
        now_ns = engine.clock.now_ns()
        places = engine.refs.places(repository, limit.kind)
        place = Place(runner, now_ns + int(held_s * NS_PER_S))
        changed = places.with_place(work, place, now_ns, places_max)
        if changed is None:
            return False
        engine.refs.replace_places(repository, places, changed)
        return True

    return retry_stale(attempt, f"the places of repository {repository.name!r}")


def leave_place(
    engine: Engine, repository: Repository, limit: PlaceLimit, work: str, runner: str
) -> None:
    """Leave the runner's place, if it still has it; if a store fails, it is free later."""

    def attempt() -> None:
        places = engine.refs.places(repository, limit.kind)
        changed = places.without(work, runner)
        if changed is not None:
            engine.refs.replace_places(repository, places, changed)

    if limit.places_max is not None:
        with suppress(GravelerError):
            retry_stale(attempt, f"the places of repository {repository.name!r}")


def pause_s(waited_ns: int) -> int:
    """Return when work without a place is tried again, after it has waited for so long."""
    return min(max(1, waited_ns // NS_PER_S // _WAITED_PART), _PAUSE_S_MAX)
