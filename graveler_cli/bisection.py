"""The search for the first bad commit, kept in lakectl's file between commands."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from graveler_cli.errors import CommandError
from graveler_cli.schemas import Commit


class Bisection(
    Struct, rename={"bad_commit": "badCommit", "good_commit": "goodCommit"}, omit_defaults=True
):
    """The candidates for the first bad commit, newest first. The newest is known to be bad."""

    created: datetime
    repository: str
    bad_commit: str = ""
    good_commit: str = ""
    commits: list[Commit] = []

    @classmethod
    def start(cls, repository: str, bad: str, good: str, commits: list[Commit]) -> "Bisection":
        """Return a new search over the commits from a bad one down to a good one."""
        return cls(datetime.now(UTC), repository, bad, good, commits)

    @classmethod
    def read(cls) -> "Bisection":
        """Return the started search.

        Raises:
            CommandError: there is no search, or its file cannot be read.
        """
        try:
            return msgspec.json.decode(_file().read_bytes(), type=cls)
        except FileNotFoundError as error:
            raise CommandError(
                "there is no bisection: begin with `graveler bisect start BAD GOOD`"
            ) from error
        except msgspec.DecodeError as error:
            raise CommandError(
                f"{_file()} cannot be read: {error}; `graveler bisect reset` deletes it"
            ) from error

    def save(self) -> None:
        """Keep the search for the next command."""
        # Replaced in one step: an interrupt leaves the old state or the new one.
        new = _file().with_suffix(".new")
        new.write_bytes(msgspec.json.encode(self))
        new.replace(_file())

    @property
    def middle(self) -> int:
        """The index of the commit to test next."""
        return len(self.commits) // 2

    @property
    def is_open(self) -> bool:
        """Whether there is still a commit to test."""
        return len(self.commits) > 1

    def mark(self, *, is_good: bool) -> None:
        """Record whether the middle commit is good: keep the half with the first bad commit."""
        if self.is_open:
            middle = self.middle
            self.commits = self.commits[:middle] if is_good else self.commits[middle:]
            self.save()


def forget() -> bool:
    """Delete the search; return whether there was one."""
    try:
        _file().unlink()
    except FileNotFoundError:
        return False
    return True


def _file() -> Path:
    return Path.home() / ".lakectl.bisect.json"
