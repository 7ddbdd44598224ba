"""Ranges of a repository that is too large to write: the hashes of its keys give their ends.

A range ends after a key whose hash is divisible by the raggedness, or when it is full. So keys
alone determine the ranges, and which of them a commit writes. Additions and deletions count as
changes in place: only one in as many records as a range has moves an end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from bench.dataset import VERSION, Dataset
from bench.figures import cores
from bench.reuse.year import Changed, Numbers
from graveler.identity import key_hash
from graveler.limits import RANGE_BYTES_MAX

_SLICES_A_CORE = 16


def _hashed_ends(
    dataset: Dataset, raggedness: Sequence[int], bounds: tuple[int, int]
) -> list[list[int]]:
    """Return, for each raggedness, the objects of a slice after which ranges end."""
    ends: list[list[int]] = [[] for _ in raggedness]
    numbered = list(zip(raggedness, ends, strict=True))
    from_bytes = int.from_bytes
    for number, key in enumerate(dataset.keys(*bounds), bounds[0]):
        hashed = from_bytes(key_hash(key)[:8], "big")
        for divisor, found in numbered:
            if not hashed % divisor:
                found.append(number)
    return ends


def range_ends(dataset: Dataset, raggedness: Sequence[int], folder: Path) -> dict[int, Numbers]:
    """Return, for each raggedness, the last objects of all ranges, hashing keys on all cores.

    They are kept in the folder: hashing 200 million keys takes minutes.
    """
    names = "-".join(map(str, raggedness))
    path = folder / f"ends-{VERSION}-{dataset.objects}-{dataset.seed}-{names}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        cuts = np.linspace(0, dataset.objects, cores() * _SLICES_A_CORE + 1, dtype=int).tolist()
        ends_of = partial(_hashed_ends, dataset, raggedness)
        with get_context("fork").Pool(cores()) as pool:
            parts = pool.map(ends_of, pairwise(cuts), chunksize=1)
        last = [dataset.objects - 1]
        found = [
            np.unique(np.array(sum((part[at] for part in parts), last)))
            for at in range(len(raggedness))
        ]
        np.savez(path, *found)
    with np.load(path) as kept:
        return {divisor: kept[f"arr_{at}"] for at, divisor in enumerate(raggedness)}


@dataclass(frozen=True, slots=True)
class Written:
    """The writes and the reuse of a commit."""

    ranges: int  # written
    reused: int
    bytes_written: float
    changes: int

    @property
    def reuse(self) -> float:
        """Return the share of reused ranges."""
        return self.reused / (self.reused + self.ranges)


class Model:
    """A repository as the ends of its ranges; sizes follow from the bytes of a record."""

    def __init__(
        self, hashed_ends: Numbers, bytes_per_record: float, metarange_bytes: float
    ) -> None:
        self.bytes_per_record = bytes_per_record
        self.metarange_bytes = metarange_bytes
        self.ends = _ended_when_full(hashed_ends, int(RANGE_BYTES_MAX / bytes_per_record))
        self.records = np.diff(self.ends, prepend=-1)

    def commit(self, changed: Changed) -> Written:
        """Return the writes of the commit; the repository does not change."""
        first = np.searchsorted(self.ends, changed.firsts)
        last = np.searchsorted(self.ends, changed.firsts + changed.amounts - 1)
        touched = np.unique(np.concatenate([first, last]))
        records = int(self.records[touched].sum())
        return Written(
            ranges=len(touched),
            reused=len(self.ends) - len(touched),
            bytes_written=records * self.bytes_per_record + self.metarange_bytes,
            changes=changed.objects,
        )


def _ended_when_full(ends: Numbers, records_max: int) -> Numbers:
    """Add the ends of ranges that reach the maximum size before a hash ends them."""
    lengths = np.diff(ends, prepend=-1)
    more = [
        np.arange(end - length + records_max, end, records_max)
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
        if length > records_max
    ]
    return np.unique(np.concatenate([ends, *more])) if more else ends
