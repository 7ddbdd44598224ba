"""Bounded caches: one that only evicts, and one whose values are believed for some seconds.

Theory of operation. A `BoundedCache` only evicts: its values never change, or each use checks them
against the store. It has two generations. New and recently used values are in the young one. When
it reaches half of the budget, it becomes the old generation. The unused values of the former old
one are dropped. A hit in the young generation is one dictionary lookup in C, without lock or move,
which point lookups need. A hit in the old one moves the value to the young one. The cost of all
values never exceeds the budget. (A value that costs more than half of it is not kept.)

An `AgingCache` holds what a store may change meanwhile. Its users read it again after some seconds.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from graveler.times import Moment

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


class AgingCache(Generic[K, V]):
    """A map of values, each believed for age_max_s after it was read, by both clocks (ADR 35)."""

    __slots__ = ("_age_max_s", "_entries_max", "_held", "_now")

    def __init__(self, now: Callable[[], Moment], age_max_s: float, entries_max: int) -> None:
        self._now = now
        self._age_max_s = age_max_s
        self._entries_max = entries_max
        self._held: dict[K, tuple[V, Moment]] = {}

    def get(self, key: K) -> V | None:
        """Return the value; None if it is not held, or too old."""
        held = self._held.get(key)
        if held is None or not held[1].is_within(self._age_max_s, self._now()):
            return None
        return held[0]

    def put(self, key: K, value: V, read_at: Moment) -> None:
        """Hold the value; read_at is a moment before it was read. A full cache drops all others."""
        if len(self._held) >= self._entries_max:
            self._held.clear()
        self._held[key] = value, read_at

    def get_or_read(self, key: K, read: Callable[[K], V | None]) -> V | None:
        """Return the held value, else what read(key) returns.

        None is not held: a value that is stored after that is seen at once.
        """
        held = self.get(key)
        if held is not None:
            return held
        read_at = self._now()
        value = read(key)
        if value is None:
            self._held.pop(key, None)
        else:
            self.put(key, value, read_at)
        return value

    def clear(self) -> None:
        """Drop all values."""
        self._held.clear()
