"""The deadline of the work in hand, from which every call to a store takes its time-outs.

Theory of operation. A function has a bounded time: API Gateway waits 30 seconds for a request, and
Lambda ends a worker. Calls to stores, each with its retries, may add up to more. So the function
sets one deadline when its work begins. No attempt waits beyond it, and none begins after it. Enough
time is left to answer.

A connection that hangs must not fail the request. An attempt is much shorter than the time for all
attempts (`retries.py`), so another one follows on another connection.

A write without a confirmation is read back. So a write keeps some of the time for that, and ends
earlier than a read would.

A request that runs out of time after a write has an unknown outcome. No time is left to read back,
or to undo a first step. So the deadline also records whether a write took effect, or may have. A
write that no client can see, such as a seal, does not count.

The deadline is a context variable, which `graveler.threads` pass on to worker threads. Without one,
only the attempts' own bounds hold.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct


class WorkDeadline(Struct):
    """The end of some work, on time.monotonic's clock."""

    at_s: float = math.inf
    has_written: bool = False


_NONE = WorkDeadline()
_current: ContextVar[WorkDeadline] = ContextVar("deadline", default=_NONE)
# The time that calls of the block leave for the work after it.
_kept_s: ContextVar[float] = ContextVar("kept_s", default=0.0)
_is_unseen: ContextVar[bool] = ContextVar("is_unseen", default=False)


@contextmanager
def within(seconds: float) -> Iterator[WorkDeadline]:
    """Bound the calls in the block, and in its threads, to these seconds from now.

    The deadline of a block around it holds as well.
    """
    outer = _current.get()
    deadline = WorkDeadline(min(time.monotonic() + seconds, outer.at_s))
    token = _current.set(deadline)
    try:
        yield deadline
    finally:
        _current.reset(token)
        if deadline.has_written:
            write_landed()


@contextmanager
def keeping(seconds: float) -> Iterator[None]:
    """End the calls in the block earlier by these seconds, or by half of the time left."""
    token = _kept_s.set(max(0.0, min(seconds, left_s() / 2)))
    try:
        yield
    finally:
        _kept_s.reset(token)


@contextmanager
def unseen() -> Iterator[None]:
    """Ignore writes of the block, because clients cannot see them."""
    token = _is_unseen.set(True)
    try:
        yield
    finally:
        _is_unseen.reset(token)


def left_s() -> float:
    """Return the seconds until the deadline: negative after it, infinite without one."""
    return _current.get().at_s - time.monotonic() - _kept_s.get()


def write_landed() -> None:
    """Record that a write took effect, or may have, unless clients cannot see it."""
    deadline = _current.get()
    if deadline is not _NONE and not _is_unseen.get():
        deadline.has_written = True


def may_have_written() -> bool:
    """Whether a write of the work in hand took effect, or may have."""
    return _current.get().has_written
