"""Pages of a listing: sorted items from a point on, folded by a delimiter.

With a delimiter, all keys that share the text from the prefix to the next delimiter are folded into
one common prefix. The listing skips them instead of reading them, so the cost of a page depends on
its results, not on the folded keys.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageQuery:
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


@dataclass(frozen=True, slots=True)
class CommonPrefix:
    """A text that many keys begin with, in place of those keys."""

    path: bytes


def prefix_end(prefix: bytes) -> bytes | None:
    """Return the least key greater than all keys with the prefix; None if there is none."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        return None
    return stripped[:-1] + bytes([stripped[-1] + 1])


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """Items and common prefixes by key; next_after is b"" when there are no more."""

    results: list[T | CommonPrefix]
    next_after: bytes


class PageOverError(Exception):
    """A page takes too long: it ends after this key, and the next one goes on."""

    def __init__(self, after: bytes) -> None:
        super().__init__(after)
        self.after = after


def list_page(
    items: Callable[[bytes, bytes | None], Iterator[T]],
    key_of: Callable[[T], bytes],
    query: PageQuery,
) -> ListPage[T]:
    """Return the page; items(start, end) returns the items with start <= key < end, by key.

    If items raises PageOverError, the page has what was found so far, and there are more.
    """
    results: list[T | CommonPrefix] = []
    try:
        return ListPage(results, _fill(results, items, key_of, query))
    except PageOverError as over:
        return ListPage(results, over.after)


def _fill(
    results: list[T | CommonPrefix],
    items: Callable[[bytes, bytes | None], Iterator[T]],
    key_of: Callable[[T], bytes],
    query: PageQuery,
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
                break
        start = resume
    return b""
