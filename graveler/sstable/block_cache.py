"""Bound the memory of the blocks that open tables hold.

Theory of operation. A table keeps the blocks that it read in its own index (`Partition`). A lookup
finds them there without another search. This cache only evicts, by the clock algorithm. Blocks are
queued in the order of arrival. When the budget is exceeded, the first one is evicted. If it was
used since its last turn, it moves to the end instead. The queue has weak references to tables and
partitions, so an unused table frees its blocks. The queue returns their share of the budget when it
reaches them. Until then the cache may hold less than its budget, and never more.

Partitions are decoded blocks of the index. A cache of their own evicts them in the same way. An
evicted partition frees its data blocks.
"""

from collections import deque
from threading import Lock
from typing import Any, Protocol, TypeVar
from weakref import ReferenceType, ref

from graveler.sstable.index import Partition

B = TypeVar("B")

# The memory of a place, its cost as an integer and its share of a weak reference included.
_PLACE_BYTES = 150
_BYTES_OBJECT = 33


class PartitionHolder(Protocol):
    """A table that can evict its decoded partitions."""

    def give_up_partition(self, number: int) -> bool:
        """Drop the partition, unless it was used since its last turn; return whether it is gone."""


class _BlockPlace:
    """The place of a data block in the queue."""

    __slots__ = ("at", "cost", "partition", "raw")

    def __init__(
        self, partition: ReferenceType[Partition[Any]], at: int, cost: int, raw: bytes | None
    ) -> None:
        self.partition: ReferenceType[Partition[Any]] | None = partition
        self.at = at
        self.cost = cost
        self.raw = raw

    def empty(self) -> None:
        """Remove the block; the queue drops the empty place at its turn."""
        self.partition = self.raw = None
        self.cost = _PLACE_BYTES

    def leave(self) -> bool:
        """Drop the block, unless it was used since its last turn; return whether it is gone."""
        partition = None if self.partition is None else self.partition()
        if partition is None:
            return True
        if partition.used[self.at]:
            partition.used[self.at] = 0
            return False
        if self.raw is None:
            partition.held[self.at] = None
        else:
            partition.raw[self.at] = None
        return True


class _PartitionPlace:
    """The place of a partition in the queue."""

    __slots__ = ("cost", "number", "table")

    def __init__(self, table: ReferenceType[PartitionHolder], number: int, cost: int) -> None:
        self.table = table
        self.number = number
        self.cost = cost

    def leave(self) -> bool:
        """Drop the partition, unless it was used since its last turn; return whether it is gone."""
        table = self.table()
        return table is None or table.give_up_partition(self.number)


class BlockCache:
    """Keeps the blocks of any number of tables within budget_bytes together."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self.held_bytes = 0
        self._queue: deque[_BlockPlace | _PartitionPlace] = deque()
        self._lock = Lock()

    def hold(self, partition: Partition[B], at: int, block: B, size_bytes: int) -> None:
        """Hold the decoded block, which takes size_bytes, instead of its raw form."""
        with self._lock:
            raw = partition.raw[at]
            if isinstance(raw, _BlockPlace):
                self.held_bytes -= raw.cost - _PLACE_BYTES
                partition.raw[at] = None
                raw.empty()
            if partition.held[at] is None and self._admit_block(partition, at, size_bytes, None):
                partition.held[at] = block

    def hold_raw(self, partition: Partition[B], at: int, raw: bytes) -> None:
        """Hold the block's raw form."""
        with self._lock:
            if partition.held[at] is not None or partition.raw[at] is not None:
                return  # another thread was faster
            partition.raw[at] = self._admit_block(partition, at, len(raw) + _BYTES_OBJECT, raw)

    def admits_partition(self, table: PartitionHolder, number: int, size_bytes: int) -> bool:
        """Return whether the table may hold the partition until give_up_partition drops it."""
        with self._lock:
            return self._admit(_PartitionPlace(ref(table), number, size_bytes + _PLACE_BYTES))

    def _admit_block(
        self, partition: Partition[B], at: int, size_bytes: int, raw: bytes | None
    ) -> _BlockPlace | None:
        """Return the block's place in the queue; None if it does not fit."""
        place = _BlockPlace(ref(partition), at, size_bytes + _PLACE_BYTES, raw)
        if not self._admit(place):
            return None
        partition.used[at] = 0
        return place

    def _admit(self, place: _BlockPlace | _PartitionPlace) -> bool:
        """Append the place to the queue, evicting others; return whether it fits the budget."""
        if place.cost > self.budget_bytes:
            return False
        while self.held_bytes + place.cost > self.budget_bytes:
            first = self._queue.popleft()
            if first.leave():
                self.held_bytes -= first.cost
            else:
                self._queue.append(first)
        self._queue.append(place)
        self.held_bytes += place.cost
        return True
