"""The bound on what open tables hold of their blocks.

A table keeps what it read in its own index (`Partition`), where a lookup finds it without another
search. This cache only evicts, by the clock algorithm: things stand in a queue in the order in
which they came, and when the budget is exceeded, the first one goes; but if it was asked for since
its last turn, it goes to the end. A table that nobody holds any more takes what it holds along: the
queue refers to partitions weakly. (Its share of the budget comes back as the queue moves on, so the
cache may for a while hold less than it could, and never more.)
"""

from collections import deque
from threading import Lock
from typing import Any, TypeVar
from weakref import ReferenceType, ref

from graveler.sstable.index import Partition

B = TypeVar("B")

# What a place takes itself, its cost as an integer and its share of a weak reference included.
_PLACE_BYTES = 150
_BYTES_OBJECT = 33


class _Place:
    """Where the queue has a block."""

    __slots__ = ("at", "cost", "partition", "raw")

    def __init__(
        self, partition: ReferenceType[Partition[Any]], at: int, cost: int, raw: bytes | None
    ) -> None:
        self.partition: ReferenceType[Partition[Any]] | None = partition
        self.at = at
        self.cost = cost
        self.raw = raw

    def empty(self) -> None:
        """Leave a place without a block, to be thrown away when its turn comes."""
        self.partition = self.raw = None
        self.cost = _PLACE_BYTES


class BlockCache:
    """What any number of tables hold of their blocks, within budget_bytes together."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self.held_bytes = 0
        self._queue: deque[_Place] = deque()
        self._lock = Lock()

    def hold(self, partition: Partition[B], at: int, block: B, size_bytes: int) -> None:
        """Hold the decoded block, which takes so much memory, and its raw form no more."""
        with self._lock:
            raw = partition.raw[at]
            if isinstance(raw, _Place):
                self.held_bytes -= raw.cost - _PLACE_BYTES
                partition.raw[at] = None
                raw.empty()
            if partition.held[at] is None and self._admit(partition, at, size_bytes, None):
                partition.held[at] = block

    def hold_raw(self, partition: Partition[B], at: int, raw: bytes) -> None:
        """Hold the block as it was encoded."""
        with self._lock:
            if partition.held[at] is not None or partition.raw[at] is not None:
                return  # another thread was faster
            partition.raw[at] = self._admit(partition, at, len(raw) + _BYTES_OBJECT, raw)

    def _admit(
        self, partition: Partition[B], at: int, size_bytes: int, raw: bytes | None
    ) -> _Place | None:
        """A place at the end of the queue, after making room; None if the block does not fit."""
        cost = size_bytes + _PLACE_BYTES
        if cost > self.budget_bytes:
            return None
        while self.held_bytes + cost > self.budget_bytes:
            self._evict()
        partition.used[at] = 0
        place = _Place(ref(partition), at, cost, raw)
        self._queue.append(place)
        self.held_bytes += cost
        return place

    def _evict(self) -> None:
        """Drop the first block in the queue, or move it to the end if it was used."""
        place = self._queue.popleft()
        at = place.at
        partition = None if place.partition is None else place.partition()
        if partition is not None:
            if partition.used[at]:
                partition.used[at] = 0
                self._queue.append(place)
                return
            if place.raw is None:
                partition.held[at] = None
            else:
                partition.raw[at] = None
        self.held_bytes -= place.cost
