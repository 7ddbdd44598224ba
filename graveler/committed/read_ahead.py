"""Fetch the ranges that changes touch before they are needed.

A change all over a large repository rewrites hundreds of ranges. One after the other, their
requests would take longer than all other work.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from operator import itemgetter

from graveler.committed.metarange import MetaRange
from graveler.committed.store import Committed
from graveler.model import Change, RangeID

# Ranges that are fetched at a time; more would only take memory.
_RANGES_AHEAD = 4
# Few: the watcher of the changes must be able to stop the work between two batches.
_CHANGES_AHEAD = 100


def fetching_ahead(
    committed: Committed, base: MetaRange, changes: Iterable[Change]
) -> Iterable[Change]:
    """Yield the changes; meanwhile, fetch the ranges of base that the next ones touch.

    Changes ascend by key. Without an executor, nothing is fetched ahead.

    Raises:
        CorruptDataError: a file of base is missing.
    """
    if not committed.has_threads or not base.id:
        return changes
    return _fetching_ahead(committed, base, iter(changes))


def _fetching_ahead(
    committed: Committed, base: MetaRange, changes: Iterator[Change]
) -> Iterator[Change]:
    while batch := list(islice(changes, _CHANGES_AHEAD)):
        fetches: deque[Future[bytes] | None] = deque([None])  # the consumer fetches the first range
        stretches = list(_stretches(base, batch))
        for number, (stretch, _) in enumerate(stretches):
            for _, range_id in stretches[number + len(fetches) : number + 1 + _RANGES_AHEAD]:
                fetch = committed.fetch_ahead(base.namespace, range_id) if range_id else None
                fetches.append(fetch)
            fetched = fetches.popleft()
            if fetched is not None:
                fetched.result()
            yield from batch[stretch]


def _stretches(base: MetaRange, batch: Sequence[Change]) -> Iterator[tuple[slice, RangeID | None]]:
    """Yield the changes up to the end of each range, with the ID of the range if they touch it."""
    first = 0
    while first < len(batch):
        header = base.range_from(batch[first][0])
        if header is None:
            yield slice(first, len(batch)), None
            return
        last = bisect_right(batch, header.max_key, first, key=itemgetter(0))
        is_touched = batch[last - 1][0] >= header.min_key
        yield slice(first, last), header.id if is_touched else None
        first = last
