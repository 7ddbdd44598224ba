"""The time of one step of a request: a request may take long, but no step of the lake may."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from graveler.aws import deadlines
from graveler.limits import REQUEST_S_MAX

P = ParamSpec("P")
T = TypeVar("T")


def in_time(step: Callable[P, T]) -> Callable[P, T]:
    """Return the step, whose calls to the stores end within REQUEST_S_MAX seconds.

    A step that ends without time raises ThrottledError; after a write, UnknownOutcomeError.
    """

    @wraps(step)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        with deadlines.within(REQUEST_S_MAX):
            return step(*args, **kwargs)

    return bounded
