"""A record with a lease: one runner at a time works on what it describes.

A runner takes the record by compare-and-swap, and extends the lease in the same way. Another one
takes the record over when the lease has ended. If another writer changed the record, the runner
reads it again, and stops if it does not hold it any more.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from graveler.branches.retries import retry_stale
from graveler.errors import StaleVersionError
from graveler.model import Event
from graveler.open_repository import OpenRepository

R = TypeVar("R")

# With less time than this, a runner leaves the rest to the next one...
TIME_TO_END_S = 30
# ...and with less time than this, it takes no record.
TIME_TO_BEGIN_S = 2 * TIME_TO_END_S


class StoppedError(Exception):
    """This runner must not continue; the message says why."""


class LeaseLostError(StoppedError):
    """Another runner holds the record, or has ended it."""


class UnwantedError(StoppedError):
    """The work is not wanted any more."""


class OutOfTimeError(StoppedError):
    """The function's invocation is about to end."""


class LeasedRecord(ABC, Generic[R]):
    """A record that one runner holds, as this runner saw it last; for many threads."""

    def __init__(self, repo: OpenRepository, record: R, what: str) -> None:
        """Hold a record that this runner has just taken; errors say what it is."""
        self.repo = repo
        self.record = record
        self._what = what
        self._lock = threading.RLock()

    @abstractmethod
    def _stored(self, changed: R, event: Event | None) -> R:
        """Replace the record in the store; return it as it is stored.

        Raises:
            StaleVersionError: another writer changed it.
        """

    @abstractmethod
    def _current(self) -> R | None:
        """Return the stored record; None if this runner does not hold it any more."""

    def change(
        self, transition: Callable[[R], R], event_of: Callable[[R], Event] | None = None
    ) -> None:
        """Store transition(record), with an event of it; retry if another writer changed it.

        Raises:
            LeaseLostError: another runner holds the record, or has ended it.
            ContentionError: too many concurrent updates of the record.
        """

        def attempt() -> None:
            changed = transition(self.record)
            try:
                self.record = self._stored(changed, event_of and event_of(changed))
            except StaleVersionError:
                self._read_again()
                raise

        with self._lock:
            retry_stale(attempt, self._what)

    def _read_again(self) -> None:
        current = self._current()
        if current is None:
            raise LeaseLostError(f"another runner holds {self._what}, or it has ended")
        self.record = current
