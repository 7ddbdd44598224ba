"""Waits for work that outlives the request that started it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from graveler_cli.errors import CommandError

_FIRST_WAIT_S = 0.1


class PolledStatus(Protocol):
    """The last reported status of some work."""

    @property
    def has_ended(self) -> bool:
        """Whether the status is final."""

    @property
    def update_time(self) -> datetime:
        """The time of the last progress."""


StatusT = TypeVar("StatusT", bound=PolledStatus)


@dataclass(frozen=True, slots=True)
class Polling:
    """How often to ask for a status, and after how long without progress to give up."""

    interval_s: float
    timeout_s: float  # a negative one is endless


def ended(what: str, ask: Callable[[], StatusT], polling: Polling) -> StatusT:
    """Wait until work has ended; return its last status.

    The first waits are shorter than the interval, since most work is short.

    Raises:
        CommandError: the work made no progress for too long.
    """
    wait_s = min(_FIRST_WAIT_S, polling.interval_s)
    seen_at_s, update_time = time.monotonic(), None
    while True:
        found = ask()
        if found.has_ended:
            return found
        # Server and client have different clocks, so compare the server's times with each other.
        if found.update_time != update_time:
            seen_at_s, update_time = time.monotonic(), found.update_time
        if 0 <= polling.timeout_s < time.monotonic() - seen_at_s:
            raise CommandError(
                f"{what} made no progress for {polling.timeout_s:.0f} s: `graveler tasks list` "
                "shows its task"
            )
        time.sleep(wait_s)
        wait_s = min(wait_s * 2, polling.interval_s)
