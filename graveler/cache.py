"""Bounded caches of immutable things: no invalidation, only eviction.

The cache keeps two generations. New and recently used things are in the young one; when the young
one holds half of the budget it becomes the old one, and the things of the old one that nobody
asked for since are dropped. A hit in the young generation is one dictionary look-up, without a
lock and without a move, which is what a point lookup can afford; a hit in the old one moves the
thing over. The cost of everything held never exceeds the budget (a single thing that costs more
than half of it is not kept).
"""

from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A map that forgets what was not used lately, holding at most budget in cost."""

    __slots__ = ("_half", "_lock", "_old", "_young", "_young_cost")

    def __init__(self, budget: int) -> None:
        self._half = budget // 2
        self._young: dict[K, tuple[V, int]] = {}
        self._old: dict[K, tuple[V, int]] = {}
        self._young_cost = 0
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The thing of that key, if it is held."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return None
            self.put(key, *found)
        return found[0]

    def put(self, key: K, value: V, cost: int = 1) -> None:
        """Hold the thing, which costs so much of the budget."""
        if cost > self._half:
            return
        with self._lock:
            replaced = self._young.get(key)
            if replaced is not None:
                self._young_cost -= replaced[1]
            if self._young_cost + cost > self._half:
                self._old = self._young
                self._young = {}
                self._young_cost = 0
            self._young[key] = (value, cost)
            self._young_cost += cost

    def forget(self, key: K) -> None:
        """Drop the thing of that key, if it is held."""
        with self._lock:
            held = self._young.pop(key, None)
            if held is not None:
                self._young_cost -= held[1]
            self._old.pop(key, None)
