"""Pages of a listing: sorted items from a point on, folded by a delimiter.

With a delimiter, keys that share the text from the prefix to the next delimiter are folded into one
common prefix. The listing skips them instead of reading them. So the cost of a page depends on its
results, not on the folded keys.
"""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from msgspec import Struct

from graveler.times import NS_PER_S

T = TypeVar("T")

# People wait for a page. But some clients take an empty page for the last one: older ones of
# Hadoop, and all that ask for one object to see whether a folder exists. So the time begins with
# the first result.
_FURTHER_RESULTS_NS = NS_PER_S // 5


class PageQuery(Struct, frozen=True):
    """Which page: keys that begin with prefix and come after `after`, folded by delimiter."""

    amount: int
    prefix: bytes = b""
    after: bytes = b""
    delimiter: bytes = b""

    @property
    def start(self) -> bytes:
        """The first key that can be on the page."""
        if not self.after:
            return self.prefix
        folded = self.folded(self.after)
        if folded is not None and folded == self.after:
            # The last page ended with a common prefix, which covers every key under it.
            return max(self.prefix, prefix_end(folded) or self.after + b"\0")
        return max(self.prefix, self.after + b"\0")

    @property
    def end(self) -> bytes | None:
        """The first key beyond the prefix; None if there is no end."""
        return prefix_end(self.prefix)

    def folded(self, key: bytes) -> bytes | None:
        """Return the common prefix that the key is folded into; None if it is an item itself."""
        if not self.delimiter or not key.startswith(self.prefix):
            return None
        at = key.find(self.delimiter, len(self.prefix))
        return None if at < 0 else key[: at + len(self.delimiter)]

    def may_continue_after(self, key: bytes) -> bool:
        """Whether the next page may begin after any key: after a folder's, it skips the folder."""
        return self.folded(key) != key


class CommonPrefix(Struct, frozen=True):
    """A text that many keys begin with, in place of those keys."""

    path: bytes


def prefix_end(prefix: bytes) -> bytes | None:
    """Return the least key greater than all keys with the prefix; None if there is none."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        return None
    return stripped[:-1] + bytes([stripped[-1] + 1])


class ListPage(Struct, Generic[T], frozen=True):
    """Items and common prefixes by key; next_after is b"" when there are no more."""

    results: list[T | CommonPrefix]
    next_after: bytes


class PageOverError(Exception):
    """A page takes too long: it ends after this key, and the next one goes on."""

    def __init__(self, after: bytes) -> None:
        super().__init__(after)
        self.after = after


class PageTime:
    """Ends a page some time after its first result."""

    def __init__(self, now_ns: Callable[[], int], query: PageQuery) -> None:
        self._now_ns = now_ns
        self._query = query
        self._until_ns: int | None = None

    def begun(self, items: Iterator[T]) -> Iterator[T]:
        """Return the items; the first one of all starts the time."""
        return items if self._until_ns is not None else self._begin(items)

    def _begin(self, items: Iterator[T]) -> Iterator[T]:
        for item in items:
            self._until_ns = self._now_ns() + _FURTHER_RESULTS_NS
            yield item
            break
        yield from items

    @property
    def is_over(self) -> bool:
        return self._until_ns is not None and self._now_ns() > self._until_ns

    def check(self, key: bytes) -> None:
        """Check that the page may go on behind the key.

        Raises:
            PageOverError: the time is up.
        """
        if self.is_over and self._query.may_continue_after(key):
            raise PageOverError(key)


def list_page(
    items: Callable[[bytes, bytes | None], Iterator[T]],
    key_of: Callable[[T], bytes],
    query: PageQuery,
    is_over: Callable[[], bool] = lambda: False,
) -> ListPage[T]:
    """Return the page; items(start, end) returns the items with start <= key < end, by key.

    is_over is asked after each common prefix, and ends the page early. If items raises
    PageOverError, the page has what was found so far, and there are more.
    """
    results: list[T | CommonPrefix] = []
    try:
        return ListPage(results, _fill(results, items, key_of, query, is_over))
    except PageOverError as over:
        return ListPage(results, over.after)


def _fill(
    results: list[T | CommonPrefix],
    items: Callable[[bytes, bytes | None], Iterator[T]],
    key_of: Callable[[T], bytes],
    query: PageQuery,
    is_over: Callable[[], bool],
) -> bytes:
    """Add the page's items and common prefixes; return the page's next_after."""
    start: bytes | None = query.start
    end = query.end
    last = b""
    while start is not None and (end is None or start < end):
        resume: bytes | None = None
        for item in items(start, end):
            key = key_of(item)
            if len(results) == query.amount:
                return last
            folded = query.folded(key)
            if folded is None:
                results.append(item)
                last = key
            else:
                results.append(CommonPrefix(folded))
                last = folded
                resume = prefix_end(folded)
                if is_over():
                    return last
                break
        start = resume
    return b""
