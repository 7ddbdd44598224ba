"""A table's partitions: what each can take, and when it splits. README.md has the sources."""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from math import ceil
from typing import NamedTuple

# Of one partition.
PARTITION_WRITES_S = 1_000
PARTITION_READS_S = 3_000
# A partition never takes more than its limit. It saves little, so seconds of a run show what lasts.
PARTITION_BURST_S = 0.1
# A table keeps unused capacity for five minutes, and any partition may use it, up to its own limit.
TABLE_BURST_S = 300.0
# Warm throughput of a new on-demand table.
WARM_WRITES_S = 4_000
WARM_READS_S = 12_000
# A partition that refuses requests for so long is split, if that helps.
SPLIT_AFTER_S = 600.0
# A partition that refuses nothing for so long is not hot any more.
COOL_AFTER_S = 60.0
# A split is decided by so many requests, and each half must get this share of the newer ones.
HEAT_KEYS = 2_000
SPLIT_SHARE_MIN = 0.2

# Where an item is: the hash of its partition key, and its sort key.
Position = tuple[bytes, bytes]


@lru_cache(100_000)
def hashed(partition_key: bytes) -> bytes:
    """Return the hash that places a partition key; DynamoDB's own is not known."""
    return blake2b(partition_key, digest_size=8).digest()


class Demand(NamedTuple):
    """The units that a part of a request takes at a place."""

    table: str
    position: Position
    units: float
    is_write: bool


class Bucket:
    """Units that come at a rate; a request may take more than there are, and the next ones wait."""

    def __init__(self, rate_s: float, burst_s: float) -> None:
        self._rate_s = rate_s
        self._most = self._units = rate_s * burst_s
        self._at_s = 0.0

    def has_units(self, now_s: float) -> bool:
        """Whether a request is admitted now."""
        self._units = min(self._most, self._units + (now_s - self._at_s) * self._rate_s)
        self._at_s = now_s
        return self._units > 0

    def take(self, units: float) -> None:
        self._units -= units


class Buckets:
    """The write units and the read units of a partition or a table."""

    def __init__(self, writes_s: float, reads_s: float, burst_s: float) -> None:
        self.writes = Bucket(writes_s, burst_s)
        self.reads = Bucket(reads_s, burst_s)

    def of(self, demand: Demand) -> Bucket:
        """Return the one that the demand takes from."""
        return self.writes if demand.is_write else self.reads


class Partition(Buckets):
    """The items from a position on, to the next partition's."""

    def __init__(self, start: Position) -> None:
        super().__init__(PARTITION_WRITES_S, PARTITION_READS_S, PARTITION_BURST_S)
        self.start = start
        self._served: deque[Position] = deque(maxlen=HEAT_KEYS)  # while it is hot
        self._hot_since_s: float | None = None
        self._refused_s = 0.0

    def serve(self, demand: Demand, units: float) -> None:
        """Take units of the demand."""
        self.of(demand).take(units)
        if self._hot_since_s is not None:
            self._served.append(demand.position)

    def refuse(self, now_s: float) -> float:
        """Note a refused request; return for how long the partition has been hot."""
        if self._hot_since_s is None or now_s - self._refused_s > COOL_AFTER_S:
            self._served.clear()
            self._hot_since_s = now_s
        self._refused_s = now_s
        return now_s - self._hot_since_s

    def cut(self) -> Position | None:
        """Return the middle of older requests if newer ones are on both sides: a split helps there.

        So neither one hot item nor keys that ascend are split.
        """
        keys = list(self._served)
        older, newer = keys[: len(keys) // 2], keys[len(keys) // 2 :]
        self._hot_since_s = None
        if not older:
            return None
        middle = sorted(older)[len(older) // 2]
        below = sum(key < middle for key in newer) / len(newer)
        return middle if SPLIT_SHARE_MIN <= below <= 1 - SPLIT_SHARE_MIN else None


@dataclass
class Partitions:
    """The partitions of one table, by position; see the module."""

    warm_writes_s: float = WARM_WRITES_S
    warm_reads_s: float = WARM_READS_S
    split_after_s: float = SPLIT_AFTER_S
    parts: list[Partition] = field(init=False)

    def __post_init__(self) -> None:
        amount = ceil(
            max(self.warm_writes_s / PARTITION_WRITES_S, self.warm_reads_s / PARTITION_READS_S)
        )
        starts = (number * 2**64 // amount for number in range(amount))
        self.parts = [Partition((start.to_bytes(8, "big"), b"")) for start in starts]
        self._whole = Buckets(self.warm_writes_s, self.warm_reads_s, TABLE_BURST_S)

    def of(self, position: Position) -> Partition:
        """Return the partition of a position."""
        return self.parts[bisect_right(self.parts, position, key=lambda part: part.start) - 1]

    def admits(self, demand: Demand, now_s: float) -> bool:
        """Whether there are units for the demand; a hot partition is split in time."""
        part = self.of(demand.position)
        if part.of(demand).has_units(now_s) and self._whole.of(demand).has_units(now_s):
            return True
        if part.refuse(now_s) >= self.split_after_s:
            self._split(part)
        return False

    def take(self, demand: Demand, share: float = 1.0) -> None:
        """Take a share of the units; a negative one gives some back."""
        self.of(demand.position).serve(demand, share * demand.units)
        self._whole.of(demand).take(share * demand.units)

    def _split(self, part: Partition) -> None:
        start = part.cut()
        if start is not None and start > part.start:
            self.parts.insert(self.parts.index(part) + 1, Partition(start))
