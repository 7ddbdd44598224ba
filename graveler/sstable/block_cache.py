"""The bound on what open tables hold of their blocks.

A table keeps what it read in its own index (`Partition`), where a lookup finds it without another
search. This cache only evicts, by the clock algorithm: things stand in a queue in the order in
which they came, and when the budget is exceeded, the first one goes; but if it was asked for since
its last turn, it goes to the end. A table that nobody holds any more takes what it holds along: the
queue refers to tables and partitions weakly. (Their share of the budget comes back as the queue
moves on, so the cache may for a while hold less than it could, and never more.)

The partitions themselves, decoded blocks of the index, are evicted in the same way, in a cache of
their own: one that goes takes along what is held of its data blocks.
"""

from collections import deque
from threading import Lock
from typing import Any, Protocol, TypeVar
from weakref import ReferenceType, ref

from graveler.sstable.index import Partition

B = TypeVar("B")

# What a place takes itself, its cost as an integer and its share of a weak reference included.
_PLACE_BYTES = 150
_BYTES_OBJECT = 33


class PartitionHolder(Protocol):
    """A table, as far as its decoded partitions are concerned."""

    def give_up_partition(self, number: int) -> bool:
        """Drop the partition, unless it was used since its last turn; whether it is gone."""


class _BlockPlace:
    """Where the queue has a data block."""

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

    def leave(self) -> bool:
        """Drop the block, unless it was used since its last turn; whether it is gone."""
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
    """Where the queue has a partition of an index."""

    __slots__ = ("cost", "number", "table")

    def __init__(self, table: ReferenceType[PartitionHolder], number: int, cost: int) -> None:
        self.table = table
        self.number = number
        self.cost = cost

    def leave(self) -> bool:
        """Drop the partition, unless it was used since its last turn; whether it is gone."""
        table = self.table()
        return table is None or table.give_up_partition(self.number)


class BlockCache:
    """What any number of tables hold of their blocks, within budget_bytes together."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self.held_bytes = 0
        self._queue: deque[_BlockPlace | _PartitionPlace] = deque()
        self._lock = Lock()

    def hold(self, partition: Partition[B], at: int, block: B, size_bytes: int) -> None:
        """Hold the decoded block, which takes so much memory, and its raw form no more."""
        with self._lock:
            raw = partition.raw[at]
            if isinstance(raw, _BlockPlace):
                self.held_bytes -= raw.cost - _PLACE_BYTES
                partition.raw[at] = None
                raw.empty()
            if partition.held[at] is None and self._admit_block(partition, at, size_bytes, None):
                partition.held[at] = block

    def hold_raw(self, partition: Partition[B], at: int, raw: bytes) -> None:
        """Hold the block as it was encoded."""
        with self._lock:
            if partition.held[at] is not None or partition.raw[at] is not None:
                return  # another thread was faster
            partition.raw[at] = self._admit_block(partition, at, len(raw) + _BYTES_OBJECT, raw)

    def admits_partition(self, table: PartitionHolder, number: int, size_bytes: int) -> bool:
        """Return whether the table may hold the partition, until it is asked to give it up."""
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
        """Whether the budget allows the place, at the end of the queue, after making room."""
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
