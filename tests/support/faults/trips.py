"""Requests to the stores, and how many of them wait for one another.

A request costs a trip. Requests of several threads overlap, so an operation takes as long as its
longest chain of trips. Chains are counted, not timed: each thread knows the longest chain that led
to where it is. Work in another thread begins with the chain of the code that submitted it, and
whoever takes its result continues the longer of the two.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Event
from typing import Any, ParamSpec, TypeVar

from graveler.threads import ContextThreads

P = ParamSpec("P")
T = TypeVar("T")

# What a trip takes where the stores are far away, as on AWS.
DYNAMODB_MS = 4
S3_MS = 15


@dataclass(frozen=True, slots=True)
class Chain:
    """Trips one after the other."""

    dynamodb: int = 0
    s3: int = 0

    @property
    def far_ms(self) -> int:
        """The time of the trips where the stores are far away."""
        return DYNAMODB_MS * self.dynamodb + S3_MS * self.s3

    def then(self, request: str) -> "Chain":
        """The chain with one more trip."""
        is_s3 = request.startswith("S3 ")
        return Chain(self.dynamodb + (not is_s3), self.s3 + is_s3)


_NO_TRIPS = Chain()
_chain: ContextVar[Chain] = ContextVar("chain", default=_NO_TRIPS)


def made(request: str) -> None:
    """Note a request of this thread."""
    _chain.set(_chain.get().then(request))


def longest_chain(do: Callable[[], object]) -> Chain:
    """Do it; return its longest chain of trips."""
    token = _chain.set(_NO_TRIPS)
    try:
        do()
        return _chain.get()
    finally:
        _chain.reset(token)


class _Joined(Future[T]):
    """The result of work in another thread, and the chain at its end."""

    chain = _NO_TRIPS

    def result(self, timeout: float | None = None) -> T:
        try:
            return super().result(timeout)
        finally:
            _chain.set(max(_chain.get(), self.chain, key=lambda chain: chain.far_ms))


class CountedThreads(ContextThreads):
    """Threads whose work continues the chain of its submitter, and has begun at once."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        joined: _Joined[Any] = _Joined()
        has_begun = Event()

        def run() -> None:
            joined.set_running_or_notify_cancel()
            has_begun.set()
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - the taker of the result raises it
                joined.chain = _chain.get()
                joined.set_exception(error)
            else:
                joined.chain = _chain.get()
                joined.set_result(result)

        super().submit(run)
        assert has_begun.wait(60), "there are too few threads"
        return joined
