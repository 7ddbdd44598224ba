"""How much time a function's invocation leaves a runner, and what it may still do in it."""

from collections.abc import Callable

from graveler.operations.exports.lease import StoppedError

# With less time than this, a runner begins no more steps, and finishes those that are under way...
TIME_TO_END_S = 30
# ...and with less time than this, it writes nothing more at the destination.
_TIME_TO_STOP_S = 10
# With less time than this, a runner does not take a run.
TIME_TO_BEGIN_S = 2 * TIME_TO_END_S
# A runner that makes no progress in this much time never will: the next step is one huge object, or
# a huge manifest.
_TIME_TO_PROGRESS_S = 600


class OutOfTimeError(StoppedError):
    """The function's invocation is about to end."""


class Deadline:
    """The end of the invocation in which a runner works."""

    def __init__(self, time_left_s: Callable[[], float]) -> None:
        """Start with the time that is left now."""
        self._time_left_s = time_left_s
        self._begun_with_s = time_left_s()

    @property
    def is_near(self) -> bool:
        """Whether no more steps may begin."""
        return self._time_left_s() < TIME_TO_END_S

    @property
    def was_far(self) -> bool:
        """Whether the runner began with so much time that it should have made progress."""
        return self._begun_with_s >= _TIME_TO_PROGRESS_S

    def check(self) -> None:
        """Raise if a request that writes must not begin any more; for many threads.

        Raises:
            OutOfTimeError: too little time is left.
        """
        if self._time_left_s() < _TIME_TO_STOP_S:
            raise OutOfTimeError("the function is about to be ended")
