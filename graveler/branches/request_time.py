"""The time that a request has for its work, and the limit of a page."""

from math import inf

from graveler.engine import Engine
from graveler.times import NS_PER_S

# The time that a request needs after its work, to store its progress and to answer.
_TIME_TO_END_S = 2.0


def time_for_request(engine: Engine, limit_s: float) -> float:
    """Return the seconds of the limit that the request's deadline leaves; it may leave none."""
    return max(0.0, min(limit_s, engine.clock.left_s() - _TIME_TO_END_S))


class TimeLimit:
    """The time in which a request has to answer with a page: it may read much and find little."""

    def __init__(self, engine: Engine, limit_s: float = inf) -> None:
        """Begin now, for that long at most."""
        settings, self._clock = engine.task_settings, engine.clock
        self._until_ns: int | None = None
        if settings.request_work_s is not None:
            limit_s = time_for_request(engine, min(limit_s, settings.request_wait_s))
            self._until_ns = self._clock.now_ns() + int(limit_s * NS_PER_S)

    @property
    def is_over(self) -> bool:
        return self._until_ns is not None and self._clock.now_ns() > self._until_ns
