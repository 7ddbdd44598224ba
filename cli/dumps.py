"""Dumps of a repository's refs, and waiting until the server has made or restored one."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

import typer
from msgspec import Struct

from cli.errors import CommandError, UsageError
from cli.waiting import Patience, finished
from graveler.times import duration_s

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

    @property
    def has_ended(self) -> bool:
        """Whether the task is over."""
        return self.done or self.error != ""


def patience(poll_interval: str, timeout: str) -> Patience:
    """Return the patience that the options ask for.

    Raises:
        UsageError: one is no duration, or too short.
    """
    try:
        found = Patience(duration_s(poll_interval), duration_s(timeout))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if found.poll_interval_s < _POLL_INTERVAL_S_MIN:
        raise UsageError(f"poll interval must be at least {_POLL_INTERVAL_S_MIN:.0f}s")
    return found


def done(what: str, ask: Callable[[], Status], how: Patience) -> Status:
    """Return the status when the task has done its work.

    Raises:
        CommandError: it failed, or made no progress for too long.
    """
    found = finished(what, ask, how)
    if found.error:
        raise CommandError(f"{what} failed: {found.error}")
    return found
