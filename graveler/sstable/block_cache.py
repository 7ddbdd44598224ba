"""The bound on what open tables hold of their blocks.

A table keeps what it decoded in its own index (`Partition.held`), where a lookup finds it without
another search. This cache only evicts, by the clock algorithm: things stand in a queue in the order
in which they came, and when the budget is exceeded, the first one goes; but if it was asked for
since its last turn, it goes to the end. A table that nobody holds any more takes what it holds
along: the queue refers to partitions weakly. (Its share of the budget comes back as the queue moves
on, so the cache may for a while hold less than it could, and never more.)
"""

from collections import deque
from threading import Lock
from typing import Any, TypeVar
from weakref import ReferenceType, ref

from graveler.sstable.index import Partition

B = TypeVar("B")

# A thing's place in the queue: a tuple, its cost, and the share of a weak reference.
_PLACE_BYTES = 140


class BlockCache:
    """What any number of tables hold of their blocks, within budget_bytes together."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self.held_bytes = 0
        self._queue: deque[tuple[ReferenceType[Partition[Any]], int, int]] = deque()
        self._lock = Lock()

    def hold(self, partition: Partition[B], at: int, block: B, size_bytes: int) -> None:
        """Hold the block, which takes so much memory, in its place in the partition."""
        cost = size_bytes + _PLACE_BYTES
        if cost > self.budget_bytes:
            return
        with self._lock:
            if partition.held[at] is not None:
                return  # another thread was faster
            while self.held_bytes + cost > self.budget_bytes:
                self._evict()
            partition.held[at] = block
            self._queue.append((ref(partition), at, cost))
            self.held_bytes += cost

    def _evict(self) -> None:
        """Drop the first thing in the queue, or move it to the end if it was used."""
        first = self._queue.popleft()
        reference, at, cost = first
        partition = reference()
        if partition is not None and partition.used[at]:
            partition.used[at] = 0
            self._queue.append(first)
            return
        if partition is not None:
            partition.held[at] = None
        self.held_bytes -= cost
