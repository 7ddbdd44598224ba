"""Dumps of a repository's refs, and waiting until the server has made or restored one."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated

import typer
from msgspec import Struct

from cli.durations import duration_s
from cli.errors import CommandError, UsageError

_POLL_INTERVAL_S_MIN = 1.0

PollIntervalOption = Annotated[
    str, typer.Option("--poll-interval", metavar="DURATION", help="How often to look, as 3s.")
]
TimeoutOption = Annotated[
    str,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        help="Give up when there is no progress for so long; a negative one waits for ever.",
    ),
]


class Refs(Struct, frozen=True):
    """The files of a dump, which are in the repository's storage namespace."""

    branches_meta_range_id: str
    commits_meta_range_id: str
    tags_meta_range_id: str


class Started(Struct, frozen=True):
    """The task that the server works on."""

    id: str


class Status(Struct, frozen=True):
    """The state of a dump or a restore."""

    id: str
    done: bool
    update_time: datetime
    error: str = ""
    refs: Refs | None = None


class Patience(Struct, frozen=True):
    """How often to look at a task, and when to give up."""

    poll_interval_s: float
    timeout_s: float

    @classmethod
    def of(cls, poll_interval: str, timeout: str) -> "Patience":
        """Return what the options say.

        Raises:
            UsageError: one is no duration, or too short.
        """
        try:
            found = cls(duration_s(poll_interval), duration_s(timeout))
        except ValueError as error:
            raise UsageError(str(error)) from error
        if found.poll_interval_s < _POLL_INTERVAL_S_MIN:
            raise UsageError(f"poll interval must be at least {_POLL_INTERVAL_S_MIN:.0f}s")
        return found


def finished(what: str, ask: Callable[[], Status], patience: Patience) -> Status:
    """Return the status when the task is done.

    Raises:
        CommandError: the task failed, or made no progress for too long.
    """
    seen_at_s, update_time = time.monotonic(), None
    while True:
        found = ask()
        if found.error:
            raise CommandError(f"{what} failed: {found.error}")
        if found.done:
            return found
        # The clocks of the server and of this machine are not compared.
        if found.update_time != update_time:
            seen_at_s, update_time = time.monotonic(), found.update_time
        if 0 <= patience.timeout_s < time.monotonic() - seen_at_s:
            raise CommandError(
                f"{what} made no progress for {patience.timeout_s:.0f} s; `graveler tasks` shows "
                f"its task {found.id}"
            )
        time.sleep(patience.poll_interval_s)
