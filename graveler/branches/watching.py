"""Watching long work: its starter sees each thing pass, and may stop the work."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")


class Watching(Protocol):
    """Passes things on, one by one; may raise to stop the work that consumes them."""

    def __call__(self, things: Iterable[T], /) -> Iterator[T]: ...


def unwatched(things: Iterable[T], /) -> Iterator[T]:
    """Pass the things on."""
    return iter(things)
