"""Scans of a staging token: the pages of its shards, merged by path.

A token's paths are spread over its shards by a hash. So a page of the scan needs a page of each
shard, and they are fetched side by side. The scan goes on up to the least path at which a shard
may have more. What other shards have behind that waits for the next page.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from graveler.aws.dynamodb.staged_items import partitions_of
from graveler.aws.dynamodb.staged_pages import (
    FIRST_PAGE_ITEMS,
    PAGE_ITEMS_MAX,
    StagedPage,
    StagedPath,
    pages,
)
from graveler.aws.dynamodb.tables import Request, Tables
from graveler.model import StagingToken
from graveler.threads import ContextThreads

_SHARDS_AT_ONCE = 16
# A shard has more or less than its share of the items that the reader needs.
_BEYOND_SHARE_ITEMS = 8


def scan(
    tables: Tables,
    token: StagingToken,
    start: bytes,
    end: bytes | None,
    wanted: Request,
    limit: int = FIRST_PAGE_ITEMS,
) -> Iterator[StagedPage]:
    """Yield the token's items with start <= path < end in pages, by path; a page may be empty."""
    partitions = partitions_of(token)
    if len(partitions) == 1:
        return pages(tables, token, start, end, wanted, limit)
    share = limit // len(partitions) + _BEYOND_SHARE_ITEMS
    share_max = max(PAGE_ITEMS_MAX // len(partitions), share)
    shards = [
        _Shard(pages(tables, partition, start, end, wanted, share, limit_max=share_max))
        for partition in partitions
    ]
    return _merged(shards)


def _merged(shards: Sequence["_Shard"]) -> Iterator[StagedPage]:
    with ContextThreads(min(_SHARDS_AT_ONCE, len(shards))) as pool:
        while shards:
            for _ in pool.map(_Shard.fill, [shard for shard in shards if shard.is_low]):
                pass
            ends = [shard.items[-1].path.B for shard in shards if shard.has_more]
            end = min(ends, default=None)
            found = [item for shard in shards for item in shard.take(end)]
            shards = [shard for shard in shards if shard.has_more or shard.items]
            found.sort(key=lambda item: item.path.B)
            yield StagedPage(found, found[-1] if shards else None)


class _Shard:
    """A shard's items that were fetched and wait for those of others."""

    def __init__(self, pages_: Iterator[StagedPage]) -> None:
        self.items: list[StagedPath] = []
        self.has_more = True
        self._pages = pages_
        self._page_items = 0

    @property
    def is_low(self) -> bool:
        """Whether to fetch more: a shard that has few left would soon be fetched alone."""
        return self.has_more and 2 * len(self.items) <= self._page_items

    def fill(self) -> None:
        """Fetch pages until there are items, or no more pages."""
        while self.has_more:
            page = next(self._pages, None)
            self.has_more = page is not None and page.LastEvaluatedKey is not None
            if page is not None and page.Items:
                self.items += page.Items
                self._page_items = len(page.Items)
                return

    def take(self, end: bytes | None) -> list[StagedPath]:
        """Remove and return the items up to this path; None: all."""
        amount = len(self.items)
        if end is not None:
            amount = bisect_right(self.items, end, key=lambda item: item.path.B)
        taken, self.items = self.items[:amount], self.items[amount:]
        return taken
