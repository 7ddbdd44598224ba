"""Bounded caches of immutable things: no invalidation, only eviction.

The cache keeps two generations. New and recently used things are in the young one; when the young
one holds half of the budget it becomes the old one, and the things of the old one that nobody
asked for since are dropped. A hit in the young generation is one dictionary look-up in C, without
a lock and without a move, which is what a point lookup can afford; a hit in the old one moves the
thing over. The cost of everything held never exceeds the budget (a single thing that costs more
than half of it is not kept).
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# What a cache whose budget is bytes spends on an entry beside key and thing: its places in two
# dictionaries (up to 60 bytes in each just after it grew), and its cost as an integer.
ENTRY_BYTES = 160


class _Young(dict[K, V]):
    """The young generation; it is asked for what it lacks, too, and then asks the old one."""

    __slots__ = ("find_old",)

    find_old: Callable[[K], V | None]

    def __missing__(self, key: K) -> V | None:
        return self.find_old(key)


class BoundedCache(Generic[K, V]):
    """A map that forgets what was not used lately, holding at most budget in cost.

    `get(key)` is the thing of that key, or None if it is not held.
    """

    __slots__ = ("_costs", "_half", "_lock", "_old", "_young", "_young_cost", "get")

    def __init__(self, budget: int) -> None:
        self._half = budget // 2
        self._young: _Young[K, V] = _Young()
        self._young.find_old = self._find_old
        self._costs: dict[K, int] = {}  # of the young ones
        self._young_cost = 0
        self._old: tuple[dict[K, V], dict[K, int]] = ({}, {})
        self._lock = Lock()
        self.get: Callable[[K], V | None] = self._young.__getitem__

    def _find_old(self, key: K) -> V | None:
        old, costs = self._old
        found = old.get(key)
        if found is not None:
            self.put(key, found, costs.get(key, self._half))
        return found

    def put(self, key: K, value: V, cost: int = 1) -> None:
        """Hold the thing, which costs so much of the budget."""
        if cost > self._half:
            return
        with self._lock:
            self._young_cost += cost - self._costs.get(key, 0)
            if self._young_cost > self._half:
                # Whoever asks meanwhile finds a thing in one of the two, or misses it.
                self._old = (dict(self._young), self._costs)
                self._young.clear()
                self._costs = {}
                self._young_cost = cost
            self._young[key] = value
            self._costs[key] = cost

    def clear(self) -> None:
        """Hold nothing any more."""
        with self._lock:
            self._young.clear()
            self._costs = {}
            self._young_cost = 0
            self._old = ({}, {})

    def forget(self, key: K) -> None:
        """Drop the thing of that key, if it is held."""
        with self._lock:
            self._young.pop(key, None)
            self._young_cost -= self._costs.pop(key, 0)
            for generation in self._old:
                generation.pop(key, None)
