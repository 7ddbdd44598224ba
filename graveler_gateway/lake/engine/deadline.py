"""Deadlines of the lake's steps: a request may take long, but none of its steps may."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from graveler.aws import deadlines
from graveler.limits import REQUEST_S_MAX

P = ParamSpec("P")
T = TypeVar("T")

# S3 itself takes minutes to copy gigabytes, or to join thousands of parts.
_COPY_S_MAX = 5 * 60.0


def in_time(step: Callable[P, T]) -> Callable[P, T]:
    """Return the step, whose calls to the stores end within REQUEST_S_MAX seconds.

    A step that runs out of time raises ThrottledError; after a write, UnknownOutcomeError.
    """
    return _bounded(step, REQUEST_S_MAX)


def in_time_of_copies(step: Callable[P, T]) -> Callable[P, T]:
    """Return the step, in which the object store may move data for some minutes."""
    return _bounded(step, _COPY_S_MAX)


def _bounded(step: Callable[P, T], seconds: float) -> Callable[P, T]:
    @wraps(step)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        with deadlines.within(seconds):
            return step(*args, **kwargs)

    return bounded
