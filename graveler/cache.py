"""Bounded caches of immutable values: no invalidation, only eviction.

Theory of operation. The cache has two generations. New and recently used values are in the young
one. When it reaches half of the budget, it becomes the old generation. The unused values of the
former old one are dropped. A hit in the young generation is one dictionary lookup in C, without
lock or move, which point lookups need. A hit in the old one moves the value to the young one. The
cost of all values never exceeds the budget. (A value that costs more than half of it is not kept.)
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# The bytes of an entry beside its key and value. These are places in two dictionaries, up to 60
# bytes each just after growing, and its cost as an integer.
ENTRY_BYTES = 160


class _Young(dict[K, V]):
    """The young generation; it looks up missing keys in the old one."""

    __slots__ = ("find_old",)

    find_old: Callable[[K], V | None]

    def __missing__(self, key: K) -> V | None:
        return self.find_old(key)


class BoundedCache(Generic[K, V]):
    """A map that evicts values not used recently, so that their cost is at most the budget.

    `get(key)` returns the value of that key, or None if it is not held.
    """

    __slots__ = ("_costs", "_half", "_lock", "_old", "_young", "_young_cost", "get")

    def __init__(self, budget: int) -> None:
        self._half = budget // 2
        self._young: _Young[K, V] = _Young()
        self._young.find_old = self._find_old
        self._costs: dict[K, int] = {}  # of the young values
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
        """Hold the value, at that cost, unless it costs more than half of the budget."""
        if cost > self._half:
            return
        with self._lock:
            self._young_cost += cost - self._costs.get(key, 0)
            if self._young_cost > self._half:
                # A concurrent `get` finds a value in one of the two, or misses it.
                self._old = (dict(self._young), self._costs)
                self._young.clear()
                self._costs = {}
                self._young_cost = cost
            self._young[key] = value
            self._costs[key] = cost

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._young.clear()
            self._costs = {}
            self._young_cost = 0
            self._old = ({}, {})

    def forget(self, key: K) -> None:
        """Drop the value of that key, if it is held."""
        with self._lock:
            self._young.pop(key, None)
            self._young_cost -= self._costs.pop(key, 0)
            for generation in self._old:
                generation.pop(key, None)
