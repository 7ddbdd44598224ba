"""Intervals of keys, and their unions."""

from collections.abc import Iterable, Iterator

from msgspec import Struct


class KeyInterval(Struct, frozen=True):
    """The keys from start up to, but not including, end; None: no end."""

    start: bytes
    end: bytes | None

    @classmethod
    def of_key(cls, key: bytes) -> "KeyInterval":
        """Return the interval of one key."""
        return cls(key, key + b"\x00")

    @classmethod
    def of_prefix(cls, prefix: bytes) -> "KeyInterval":
        """Return the interval of all keys that begin with the prefix."""
        shortened = prefix.rstrip(b"\xff")
        if not shortened:
            return cls(prefix, None)
        return cls(prefix, shortened[:-1] + bytes([shortened[-1] + 1]))

    @property
    def is_everything(self) -> bool:
        """Whether every key is in the interval."""
        return not self.start and self.end is None


def union(intervals: Iterable[KeyInterval]) -> list[KeyInterval]:
    """Return the union of the intervals as disjoint ones, in order."""
    joined: list[KeyInterval] = []
    for each in sorted(intervals, key=lambda interval: interval.start):
        last = joined[-1] if joined else None
        if last is None or (last.end is not None and last.end < each.start):
            joined.append(each)
        elif last.end is not None and (each.end is None or each.end > last.end):
            joined[-1] = KeyInterval(last.start, each.end)
    return joined


def clipped(
    intervals: Iterable[KeyInterval], start: bytes, end: bytes | None
) -> Iterator[KeyInterval]:
    """Yield the parts of disjoint intervals in order with start <= key < end."""
    for each in intervals:
        low = max(each.start, start)
        high = end if each.end is None else each.end if end is None else min(each.end, end)
        if high is None or low < high:
            yield KeyInterval(low, high)


def outside(intervals: Iterable[KeyInterval], excluded: KeyInterval) -> list[KeyInterval]:
    """Return the parts of the intervals that are outside of one, as disjoint intervals in order."""
    joined = union(intervals)
    behind = [] if excluded.end is None else clipped(joined, excluded.end, None)
    return [*clipped(joined, b"", excluded.start), *behind]
