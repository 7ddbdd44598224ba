"""The ports to time and to IDs that need no coordination."""

from typing import Protocol

from graveler.model import Repository, StagingToken
from graveler.model.tokens import PLAIN, Spread
from graveler.times import Moment


class Clock(Protocol):
    """The time of this machine."""

    def now_ns(self) -> int:
        """Return nanoseconds since the Unix epoch."""

    def moment(self) -> Moment:
        """Return this moment by both clocks, for what this process holds for some time."""

    def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""

    def left_s(self) -> float:
        """Return the seconds until the work in hand has to end: infinite without a deadline."""


class Names(Protocol):
    """IDs that need no coordination."""

    def new_uid(self) -> str:
        """Return an xid: 20 characters of 12 bytes that begin with the time (`addresses`)."""

    def new_staging_token(
        self, repository: Repository, branch: str, spread: Spread = PLAIN
    ) -> StagingToken:
        """Return the token `<repository>-<branch>:<uuid4>` with the spread."""
