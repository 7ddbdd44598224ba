"""Staged changes from any point on, for listings that skip what a delimiter folds.

Theory of operation. A store returns changes in pages. A jump to a later path is free if the current
page reaches that far. Otherwise it costs a request. Folders are small or large, so a jump may skip
a few changes or a million. A request takes about as long as the reading of _CHANGES_PER_JUMP
changes. So the page after a jump has that many for each jump into the page before. In a listing of
small folders pages remain large, and in one of large folders they become small.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from graveler.model import Change
from graveler.ports import ChangesPage
from graveler.staging.overlay import newest_changes

_CHANGES_PER_JUMP = 64
_PAGE_CHANGES_MAX = 1_000

# Reads pages from a path on, at first one of so many changes.
ReadPages = Callable[[bytes, int], Iterator[ChangesPage]]
# Called with the last path that the reader has passed before more changes are fetched; may raise.
Passed = Callable[[bytes], None]


class StagedChanges:
    """The newest staged changes by path from any point on; a short jump costs no request."""

    def __init__(self, tokens: Sequence["TokenChanges"]) -> None:
        """Overlay the changes of the tokens, the newest token first."""
        self._tokens = tokens

    def from_path(self, start: bytes) -> Iterator[Change]:
        """Yield the changes from start on; no call's start may be less than the last one's."""
        return newest_changes([token.from_path(start) for token in self._tokens])


class TokenChanges:
    """The changes of one staging token from any point on."""

    def __init__(
        self,
        read: ReadPages,
        amount: int,
        pages: Iterator[ChangesPage] | None = None,
        passed: Passed | None = None,
    ) -> None:
        """Read pages as they are needed, the first with that amount.

        pages, if given, have the changes from the first call's start on.
        """
        self._read = read
        self._amount = amount
        self._given = pages
        self._pages: Iterator[ChangesPage] | None = None
        self._passed = passed
        self._page: ChangesPage | None = None
        self._jumps = 0  # into the current page

    def from_path(self, start: bytes) -> Iterator[Change]:
        """Return the changes from start on, and begin to read them now.

        No call's start may be less than the last one's.
        """
        self._seek(start)
        return self._changes_from(start)

    def _changes_from(self, start: bytes) -> Iterator[Change]:
        page = self._next_page() if self._page is None else self._page
        # A merge of tokens may have taken a change ahead, so the whole page counts.
        first = bisect_left(page.changes, start, key=lambda change: change[0])
        while True:
            yield from islice(page.changes, first, None)
            if not page.has_more:
                return
            if page.changes and self._passed is not None:
                self._passed(page.changes[-1][0])
            page, first = self._next_page(), 0

    def _seek(self, start: bytes) -> None:
        """Keep the current page if it reaches that far, else begin to read pages from start on."""
        self._jumps += 1
        page = self._page
        if page is None:
            self._pages = self._given or self._read(start, self._amount)
            self._given = None
        elif page.has_more and (not page.changes or page.changes[-1][0] < start):
            amount = min(self._jumps * _CHANGES_PER_JUMP, _PAGE_CHANGES_MAX)
            self._pages = self._read(start, amount)
        else:
            return
        self._jumps, self._page = 0, None

    def _next_page(self) -> ChangesPage:
        assert self._pages is not None
        self._page = next(self._pages, ChangesPage((), has_more=False))
        return self._page
