"""A generated year of a data lake: the objects that each commit changes.

The data-model document reports that 5-20 % of the blocks of two real inventories changed a day, and
assumes 20 commits a day. So each day a share drawn from 5-20 % of all partitions changes, in 20
commits; in a changed partition the last tenth of its files changes. The positions of a day's
partitions decide how many ranges they hit, so there are three workloads:

    scattered   single partitions, anywhere: the worst case
    days        24 neighbours at a time, as the hours of one day of a table
    blocks      168 neighbours at a time, 10,000 objects: a block in the sense of that document
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.dataset import Dataset

Numbers = NDArray[np.int64]

DAILY_SHARE = (0.05, 0.20)
COMMITS_A_DAY = 20
CHANGED_FILES = 10  # one in so many of a partition's files, rounded up
WORKLOADS = {"scattered": 1, "days": 24, "blocks": 168}  # neighbours that change together


@dataclass(frozen=True, slots=True)
class Changed:
    """The changes of one commit: the first object and the number of objects of each partition."""

    firsts: Numbers
    amounts: Numbers

    @property
    def objects(self) -> int:
        """Return the number of changed objects."""
        return int(self.amounts.sum())

    def numbers(self) -> list[int]:
        """Return the changed objects, ascending."""
        pairs = zip(self.firsts.tolist(), self.amounts.tolist(), strict=True)
        return [first + place for first, amount in pairs for place in range(amount)]


def partition_starts(dataset: Dataset) -> Numbers:
    """The first objects of the partitions, and of what follows them: the sections in folders by
    time, which come first."""
    timed = dataset.sections[:3]
    starts = [section.start(folder) for section in timed for folder in range(section.folders)]
    last = timed[-1]
    return np.array([*starts, last.first + last.objects])


def commits(dataset: Dataset, workload: str, days: int, seed: int = 1) -> Iterator[Changed]:
    """Yield the commits of so many days in order, without those that change nothing."""
    starts = partition_starts(dataset)
    neighbours = WORKLOADS[workload]
    partitions = len(starts) - 1
    groups = max(1, partitions // neighbours)
    random = np.random.default_rng(seed)
    for _ in range(days):
        share = random.uniform(*DAILY_SHARE)
        chosen = random.choice(groups, size=max(1, round(groups * share)), replace=False)
        for commit in np.array_split(chosen, min(COMMITS_A_DAY, len(chosen))):
            first = np.sort(commit)[:, None] * neighbours + np.arange(neighbours)
            changed = first.ravel()
            changed = changed[changed < partitions]
            files = starts[changed + 1] - starts[changed]
            amounts = -(-files // CHANGED_FILES)
            yield Changed(starts[changed + 1] - amounts, amounts)
