"""Requests of an export to the object store: each try checks the lease first."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TypeVar

from msgspec import Struct

from graveler.engine import Engine
from graveler.errors import GoneError, InvalidInputError
from graveler.operations.leases import StoppedError
from graveler.threads import ContextThreads

T = TypeVar("T")

TRIES_MAX = 5
_FIRST_DELAY_S = 0.2


class GaveUpError(Exception):
    """A request failed on every try; the message names the object and the last error."""


class RetriedRequests(Struct, frozen=True):
    """Requests to the engine's object store; before_request runs before each try and may raise."""

    engine: Engine
    before_request: Callable[[], None]

    def retry(self, uri: str, request: Callable[[], T]) -> T:
        """Make the request until it succeeds, and return its result.

        Raises:
            GaveUpError: every try failed, or another try cannot help.
        """
        problem: Exception | None = None
        for number in range(TRIES_MAX):
            if number:
                self.engine.clock.sleep(_delay_s(uri, number))
            self.before_request()
            try:
                return request()
            except StoppedError:
                raise
            except (GoneError, InvalidInputError) as error:
                problem = error  # another try would fail as well
                break
            except Exception as error:  # noqa: BLE001 - one object must not stop the others
                problem = error
        raise GaveUpError(f"{uri}: {problem}") from problem

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes | None:
        """Return an object, or its bytes from first to last inclusive; None if it does not exist.

        Raises:
            GaveUpError: it cannot be read.
        """

        def read() -> bytes | None:
            with suppress(GoneError):
                return self.engine.objects.get(uri, byte_range)
            return None

        return self.retry(uri, read)

    def put(self, uri: str, content: bytes, content_type: str) -> None:
        """Store an object.

        Raises:
            GaveUpError: it cannot be stored.
        """
        self.retry(uri, lambda: self.engine.objects.put(uri, content, content_type))

    def delete(self, uri: str) -> None:
        """Delete an object, if there is one.

        Raises:
            GaveUpError: it cannot be deleted.
        """
        self.retry(uri, lambda: self.engine.objects.delete(uri))


def _delay_s(uri: str, number: int) -> float:
    """Return the delay before a try: it doubles each time, times a jitter of 0.5 to 1.5.

    The jitter depends on the object, so that the retries of many objects spread out.
    """
    jitter = sha256(f"{uri} {number}".encode()).digest()[0] / 255
    return _FIRST_DELAY_S * float(2 ** (number - 1)) * (0.5 + jitter)


@contextmanager
def pool_of(at_once: int) -> Iterator[ThreadPoolExecutor | None]:
    """Provide threads for this many requests at once; None for one request at a time."""
    if at_once == 1:
        yield None
        return
    with ContextThreads(at_once, thread_name_prefix="export") as pool:
        yield pool
