"""Pages of a listing: sorted items from a point on, with everything behind a delimiter folded.

With a delimiter, all keys that share the text from the prefix to the next delimiter are one common
prefix. The listing jumps over them instead of reading them: the cost of a page follows what it
shows, not what it hides.
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
            # The page before ended with a common prefix: everything under it has been shown.
            return max(self.prefix, prefix_end(folded) or self.after + b"\0")
        return max(self.prefix, self.after + b"\0")

    @property
    def end(self) -> bytes | None:
        """The first key beyond the prefix; None if there is no end."""
        return prefix_end(self.prefix)

    def folded(self, key: bytes) -> bytes | None:
        """The common prefix that stands for the key on the page; None if the key itself does."""
        if not self.delimiter or not key.startswith(self.prefix):
            return None
        at = key.find(self.delimiter, len(self.prefix))
        return None if at < 0 else key[: at + len(self.delimiter)]


@dataclass(frozen=True, slots=True)
class CommonPrefix:
    """Stands for every key that begins with it."""

    path: bytes


def prefix_end(prefix: bytes) -> bytes | None:
    """The least key greater than every key that begins with prefix; None if there is none."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        return None
    return stripped[:-1] + bytes([stripped[-1] + 1])


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """Items and common prefixes by key; next_after is b"" when there are no more."""

    results: list[T | CommonPrefix]
    next_after: bytes


def list_page(
    items: Callable[[bytes, bytes | None], Iterator[T]],
    key_of: Callable[[T], bytes],
    query: PageQuery,
) -> ListPage[T]:
    """The page that the query asks for; items(start, end) tells the items from a key on."""
    results: list[T | CommonPrefix] = []
    start: bytes | None = query.start
    end = query.end
    last = b""
    while start is not None and (end is None or start < end):
        resume: bytes | None = None
        for item in items(start, end):
            key = key_of(item)
            if len(results) == query.amount:
                return ListPage(results, last)
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
    return ListPage(results, b"")
