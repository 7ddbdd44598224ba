"""Watching long work: whoever started it sees it pass, and may stop it; pages end in time."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from graveler.operations.engine import Engine
from graveler.times import NS_PER_S

T = TypeVar("T")


class Watching(Protocol):
    """Passes things on, one by one; may raise to stop the work that consumes them."""

    def __call__(self, things: Iterable[T], /) -> Iterator[T]: ...


def unwatched(things: Iterable[T], /) -> Iterator[T]:
    """Pass the things on."""
    return iter(things)


class TimeLimit:
    """The time in which a request has to answer with a page: it may read much and find little."""

    def __init__(self, engine: Engine) -> None:
        """Begin now."""
        settings, self._clock = engine.task_settings, engine.clock
        wait_s = None if settings.request_work_s is None else settings.request_wait_s
        self._until_ns = None if wait_s is None else self._clock.now_ns() + int(wait_s * NS_PER_S)

    @property
    def is_over(self) -> bool:
        return self._until_ns is not None and self._clock.now_ns() > self._until_ns
