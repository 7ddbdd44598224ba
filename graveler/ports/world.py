"""Time, and names that nobody else makes."""

from typing import Protocol

from graveler.model import Repository


class Clock(Protocol):
    """Tells the time."""

    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch."""

    def sleep(self, seconds: float) -> None:
        """Return when so much time has passed."""


class Names(Protocol):
    """Makes names that nobody else makes."""

    def new_uid(self) -> str:
        """An xid: 20 characters, 12 bytes that begin with the time (`graveler.addresses`)."""

    def new_staging_token(self, repository: Repository, branch: str) -> str:
        """Text `<repository>-<branch>:<uuid4>`."""
