"""Requests of an export: the runner's lease lets each pass or stops it, and each is tried again."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from graveler.errors import GoneError, InvalidInputError
from graveler.operations.engine import Engine
from graveler.operations.exports.lease import StoppedError
from graveler.threads import ContextThreads

T = TypeVar("T")

TRIES_MAX = 5
_FIRST_DELAY_S = 0.2


class GaveUpError(Exception):
    """Every try failed; the message names the object and the last error."""


@dataclass(frozen=True, slots=True)
class ExportWrites:
    """Requests to the engine's object store; before_write may stop each by raising."""

    engine: Engine
    before_write: Callable[[], None]

    def repeat(self, uri: str, write: Callable[[], T]) -> T:
        """What write returns when it succeeds.

        Raises:
            GaveUpError: it never does.
        """
        problem: Exception | None = None
        for number in range(TRIES_MAX):
            if number:
                self.engine.clock.sleep(_delay_s(uri, number))
            self.before_write()
            try:
                return write()
            except StoppedError:
                raise
            except (GoneError, InvalidInputError) as error:
                problem = error  # another try would end the same
                break
            except Exception as error:  # noqa: BLE001 - whatever one object has, it stops no other
                problem = error
        raise GaveUpError(f"{uri}: {problem}") from problem

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes | None:
        """The object, or its bytes from first to last inclusive; None if it does not exist.

        Raises:
            GaveUpError: it cannot be read.
        """

        def read() -> bytes | None:
            with suppress(GoneError):
                return self.engine.objects.get(uri, byte_range)
            return None

        return self.repeat(uri, read)

    def put(self, uri: str, content: bytes, content_type: str) -> None:
        """Store an object.

        Raises:
            GaveUpError: it cannot be stored.
        """
        self.repeat(uri, lambda: self.engine.objects.put(uri, content, content_type))

    def delete(self, uri: str) -> None:
        """Delete an object, if there is one.

        Raises:
            GaveUpError: it stays.
        """
        self.repeat(uri, lambda: self.engine.objects.delete(uri))


def _delay_s(uri: str, number: int) -> float:
    """Twice as long each time, and between half and one and a half of it: objects spread out."""
    jitter = sha256(f"{uri} {number}".encode()).digest()[0] / 255
    return _FIRST_DELAY_S * float(2 ** (number - 1)) * (0.5 + jitter)


@contextmanager
def pool_of(at_once: int) -> Iterator[ThreadPoolExecutor | None]:
    """Threads for so many requests at a time; None for one."""
    if at_once == 1:
        yield None
        return
    with ContextThreads(at_once, thread_name_prefix="export") as pool:
        yield pool
