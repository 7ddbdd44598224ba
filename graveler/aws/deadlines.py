"""The deadline of the work in hand, from which every call to a store takes its time-outs.

Theory of operation. A function has a bounded time: API Gateway waits 30 seconds for a request, and
Lambda ends a worker. What calls to stores may take on their own, each with its retries, adds up to
more. So the function sets one deadline when its work begins. No attempt waits beyond it, and none
begins after it. What is left then is the time to answer.

A connection that hangs must not cost the request: an attempt is much shorter than the time for all
attempts (`retries.py`), so another one follows on another connection.

A request that runs out of time after a write has an unknown outcome: nobody can read back, or undo
a first step. So the deadline also knows whether a write took effect, or may have.

The deadline is a context variable, which `graveler.threads` pass on to worker threads. Without one,
only the attempts' own bounds hold.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Deadline:
    """The end of some work, on time.monotonic's clock."""

    at_s: float = math.inf
    has_written: bool = False


_NONE = Deadline()
_current: ContextVar[Deadline] = ContextVar("deadline", default=_NONE)


@contextmanager
def within(left_s: float) -> Iterator[Deadline]:
    """Bound the calls in the block, and in its threads, to so many seconds from now."""
    deadline = Deadline(time.monotonic() + left_s)
    token = _current.set(deadline)
    try:
        yield deadline
    finally:
        _current.reset(token)


def left_s() -> float:
    """Return the seconds until the deadline: negative after it, infinite without one."""
    return _current.get().at_s - time.monotonic()


def write_landed() -> None:
    """Note that a write took effect, or may have."""
    deadline = _current.get()
    if deadline is not _NONE:
        deadline.has_written = True


def may_have_written() -> bool:
    """Whether a write of the work in hand took effect, or may have."""
    return _current.get().has_written
