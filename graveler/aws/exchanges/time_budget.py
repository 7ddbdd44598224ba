"""The time that an exchange may still take."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from graveler.aws import deadlines

# A connection that is slower than this is of no use.
BYTES_PER_S_MIN = 50_000

_silence_s: ContextVar[float | None] = ContextVar("silence_s", default=None)


class TimeBudget:
    """The time that an exchange may still take: limit_s at most, while no byte passes.

    Bytes that pass extend it. An exchange slower than BYTES_PER_S_MIN still uses it up, unless
    is_silence: then every byte restarts the limit.
    """

    def __init__(self, limit_s: float, *, is_silence: bool = False) -> None:
        self._limit_s = limit_s
        self._is_silence = is_silence
        self._until_s = time.monotonic() + limit_s

    def left_s(self) -> float:
        """Return the seconds that are left, more than 0.

        Raises:
            TimeoutError: no time is left.
        """
        left_s = min(self._until_s - time.monotonic(), deadlines.left_s())
        if left_s <= 0:
            raise TimeoutError("timed out")
        return left_s

    def restart(self) -> None:
        """Give the server the whole limit again: another party took the time until now."""
        self._until_s = time.monotonic() + self._limit_s

    def passed(self, size_bytes: int) -> None:
        """Extend the budget by bytes that were sent or received."""
        latest_s = time.monotonic() + self._limit_s
        earned_s = math.inf if self._is_silence else size_bytes / BYTES_PER_S_MIN
        self._until_s = min(self._until_s + earned_s, latest_s)


@contextmanager
def silence_of(limit_s: float) -> Iterator[None]:
    """Wait up to limit_s for each byte of the answers in the block.

    While S3 copies, it sends blanks. The whole answer may take long, and the blanks prove that S3
    works. A slow store may send nothing for a while.
    """
    token = _silence_s.set(limit_s)
    try:
        yield
    finally:
        _silence_s.reset(token)


def response_budget(limit_s: float) -> TimeBudget:
    """Return the budget for an answer: that of the `silence_of` block, else limit_s."""
    silence_s = _silence_s.get()
    return TimeBudget(limit_s) if silence_s is None else TimeBudget(silence_s, is_silence=True)
