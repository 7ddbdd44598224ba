"""Compare-and-swap: a change that another writer made stale is read and attempted again."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from graveler.errors import ContentionError, StaleVersionError
from graveler.limits import BRANCH_UPDATE_TRIES_MAX

T = TypeVar("T")


def retry_stale(
    attempt: Callable[[], T], subject: str, *, tries_max: int = BRANCH_UPDATE_TRIES_MAX
) -> T:
    """Return the result of attempt; repeat it while it raises StaleVersionError.

    Each attempt must work on a fresh read of the subject: the read that went stale fails again.

    Raises:
        ContentionError: other writers came first in every try; the message names the subject.
    """
    for _ in range(tries_max):
        with suppress(StaleVersionError):
            return attempt()
    raise contention(subject)


def contention(subject: str) -> ContentionError:
    """Return the error for a subject that other writers changed in every try."""
    return ContentionError(f"too many concurrent updates of {subject}: retry")
