"""What the service may choose: each weakness is decided here.

`Choices` has no weakness. `WorstChoices` decides for the worst that is allowed, always the same
way. A simulator overrides them and decides by its seed.
"""

import time
from collections.abc import Sequence


class Choices:
    """The choices of a service that is as strong as possible."""

    def stale_by(self, _earlier: int, /) -> int:
        """Return by how many writes of an item an eventually consistent read is late.

        The argument is the number of writes that the item has had.
        """
        return 0

    def index_stale_by(self, _earlier: int, /) -> int:
        """Return by how many writes of an item a global index is late."""
        return 0

    def page_items(self, items: int, /) -> int:
        """Return the number of items, 1 to `items`, after which a page of a query ends."""
        return items

    def has_read(self, size_bytes: int, /) -> None:
        """Called with the size of the items that a page of a query has read."""

    def promises_more(self) -> bool:
        """Whether a page that reads the last item has a LastEvaluatedKey."""
        return False

    def left_out(self, _parts: int, /) -> Sequence[int]:
        """Return the parts of a batch that stay unprocessed, by position; never all of them."""
        return ()

    def throttles(self, _operation: str, /) -> bool:
        """Whether a request is throttled, without effect."""
        return False

    def write_order(self, writes: int, /) -> Sequence[int]:
        """Return the order in which the parts of a transaction or a batch happen."""
        return range(writes)

    def frees_checked(self) -> bool:
        """Whether an item that a transaction checked may change before its writes are visible."""
        return False

    def between(self) -> None:
        """Called before each visible write of a transaction, and between the parts of a batch.

        Others may send requests meanwhile.
        """


class WorstChoices(Choices):
    """Reads are late by one write, pages are short, batches are half done, and more.

    The global index is current: a test cannot wait for it. Every fifth request is throttled.
    """

    def __init__(self) -> None:
        self._requests = 0

    def stale_by(self, earlier: int, /) -> int:
        return min(earlier, 1)

    def page_items(self, items: int, /) -> int:
        return (items + 1) // 2

    def promises_more(self) -> bool:
        return True

    def left_out(self, parts: int, /) -> Sequence[int]:
        return range(1, parts, 2)

    def throttles(self, _operation: str, /) -> bool:
        self._requests += 1
        return self._requests % 5 == 0

    def write_order(self, writes: int, /) -> Sequence[int]:
        return range(writes)[::-1]

    def between(self) -> None:
        time.sleep(0)  # lets another thread run
