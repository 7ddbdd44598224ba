"""Dumps of a repository's refs: their options and schemas, and waiting for one."""

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from graveler.times import duration_s
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import option
from graveler_cli.polling import Polling, ended

_POLL_INTERVAL_S_MIN = 1.0

poll_interval_option = option(
    "--poll-interval", default="3s", metavar="DURATION", help="How often to look, as 3s."
)
timeout_option = option(
    "--timeout",
    default="1h",
    metavar="DURATION",
    help="Give up after this time without progress; a negative one waits for ever.",
)


class RefsDump(Struct, frozen=True):
    """The metaranges of a dump, in the repository's storage namespace."""

    branches_meta_range_id: str
    commits_meta_range_id: str
    tags_meta_range_id: str


class DumpStatus(Struct, frozen=True):
    """The state of a dump or a restore."""

    id: str
    done: bool
    update_time: datetime
    error: str = ""
    refs: RefsDump | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the task is over."""
        return self.done or self.error != ""


def polling_of(poll_interval: str, timeout: str) -> Polling:
    """Return the polling that the options ask for.

    Raises:
        UsageError: one is not a duration, or too short.
    """
    try:
        found = Polling(duration_s(poll_interval), duration_s(timeout))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if found.interval_s < _POLL_INTERVAL_S_MIN:
        raise UsageError(f"poll interval must be at least {_POLL_INTERVAL_S_MIN:.0f}s")
    return found


def completed(what: str, ask: Callable[[], DumpStatus], polling: Polling) -> DumpStatus:
    """Wait for a dump or a restore; return its last status.

    Raises:
        CommandError: it failed, or made no progress for too long.
    """
    found = ended(what, ask, polling)
    if found.error:
        raise CommandError(f"{what} failed: {found.error}")
    return found
