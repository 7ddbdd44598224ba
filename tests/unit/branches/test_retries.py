"""Retries of changes that lost a compare-and-swap."""

import pytest

from graveler.branches.retries import retry_stale
from graveler.errors import ContentionError, NotFoundError, StaleVersionError
from graveler.limits import BRANCH_UPDATE_TRIES_MAX


class Rivals:
    """An attempt that loses against other writers that many times."""

    def __init__(self, rivals: int) -> None:
        self.rivals = rivals
        self.tries = 0

    def __call__(self) -> int:
        self.tries += 1
        if self.tries <= self.rivals:
            raise StaleVersionError("changed")
        return self.tries


def test_a_stale_attempt_is_repeated_until_it_succeeds():
    assert retry_stale(Rivals(0), "it") == 1
    assert retry_stale(Rivals(BRANCH_UPDATE_TRIES_MAX - 1), "it") == BRANCH_UPDATE_TRIES_MAX


def test_an_attempt_that_always_loses_ends_with_an_error_that_says_what_to_do():
    attempt = Rivals(BRANCH_UPDATE_TRIES_MAX)
    with pytest.raises(ContentionError, match="too many concurrent updates of branch 'b': retry"):
        retry_stale(attempt, "branch 'b'")
    assert attempt.tries == BRANCH_UPDATE_TRIES_MAX
    attempt = Rivals(3)
    with pytest.raises(ContentionError):
        retry_stale(attempt, "it", tries_max=3)
    assert attempt.tries == 3


def test_other_errors_are_not_retried():
    tries = []

    def attempt():
        tries.append(1)
        raise NotFoundError("gone")

    with pytest.raises(NotFoundError):
        retry_stale(attempt, "it")
    assert tries == [1]
