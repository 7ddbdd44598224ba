"""Stores that fail at a chosen call: the process dies there, or only the answer is lost."""

from collections.abc import Callable
from typing import Any

from graveler.errors import GravelerError


class Crash(BaseException):
    """The process dies here and does nothing afterwards."""


class CrashAt:
    """Kills the process right after the effect of the n-th call of any port."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._count = 0

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        self._count += 1
        if self._count <= self._number:
            result = call()
        if self._count >= self._number:
            raise Crash(name)
        return result


class FailAt:
    """Fails the n-th call of any port with an error, after its effect if landed."""

    def __init__(self, number: int, error: GravelerError, *, landed: bool) -> None:
        self._number = number
        self._error = error
        self._landed = landed
        self._count = 0
        self.has_failed = False

    def __call__(self, _name: str, call: Callable[[], Any]) -> Any:
        self._count += 1
        if self._count != self._number:
            return call()
        self.has_failed = True
        if self._landed:
            call()
        raise self._error


class Meanwhile:
    """Lets another process finish some work just before the n-th call of any port."""

    def __init__(self, number: int, do: Callable[[], object]) -> None:
        self._number = number
        self._do = do
        self._count = 0
        self.has_happened = False

    def __call__(self, _name: str, call: Callable[[], Any]) -> Any:
        self._count += 1
        if self._count == self._number:
            self.has_happened = True
            self._do()
        return call()
