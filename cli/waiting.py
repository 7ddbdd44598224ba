"""Waiting for work that outlives the request that asked for it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from cli.errors import CommandError

_FIRST_WAIT_S = 0.1


class Work(Protocol):
    """The state of work as the server last reported it."""

    @property
    def has_ended(self) -> bool:
        """Whether the state will not change any more."""

    @property
    def update_time(self) -> datetime:
        """When the work last came further."""


WorkT = TypeVar("WorkT", bound=Work)


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to look at work, and after how long without progress to give up."""

    poll_interval_s: float
    timeout_s: float  # a negative one is endless


def finished(what: str, ask: Callable[[], WorkT], patience: Patience) -> WorkT:
    """Return the state of work when it has ended.

    The first looks come sooner than the interval, since most work is short.

    Raises:
        CommandError: the work made no progress for too long.
    """
    wait_s = min(_FIRST_WAIT_S, patience.poll_interval_s)
    seen_at_s, update_time = time.monotonic(), None
    while True:
        found = ask()
        if found.has_ended:
            return found
        # The clocks of the server and of this machine are not compared.
        if found.update_time != update_time:
            seen_at_s, update_time = time.monotonic(), found.update_time
        if 0 <= patience.timeout_s < time.monotonic() - seen_at_s:
            raise CommandError(
                f"{what} made no progress for {patience.timeout_s:.0f} s: `graveler tasks list` "
                "shows its task"
            )
        time.sleep(wait_s)
        wait_s = min(wait_s * 2, patience.poll_interval_s)
