"""Commits of some numbers of changes, the diffs of those commits, and merges.

Changes are `clustered`, objects in a row from the start of a partition, or `random` over the whole
repository; of ten, eight overwrite, one deletes and one adds. `first` is a commit by a process that
has read nothing yet (local files, no latency: the requests say what a store would add), `again` its
next commit of other versions in the same places.
"""

from collections.abc import Iterator, Sequence
from random import Random

from bench.dataset import Dataset
from bench.engine.scale import Scale
from bench.figures import Figure, peak_memory_mb, spent
from bench.files import Traffic
from bench.repository import NAMESPACE, Repository
from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import diff
from graveler.merge import merge

SPREADS = ("clustered", "random")
# For small amounts the best of three runs counts, for large ones there is one run.
_TRIES = 3
_TRIED_ONCE_FROM = 100_000


def measure_changes(repository: Repository, scale: Scale, spread: str) -> Iterator[Figure]:
    """Measure commits and diffs of each amount."""
    for amount in scale.changes:
        tries = 1 if amount >= _TRIED_ONCE_FROM else _TRIES
        measured = [
            _measure_commit(repository, spread, amount, Random(f"{spread} {amount} {seed}"))
            for seed in range(tries)
        ]
        for figures in zip(*measured, strict=True):
            yield Figure(figures[0].name, min(each.value for each in figures), figures[0].unit)
    yield Figure(f"{spread}, peak memory", peak_memory_mb(), "MB")


def _numbers(dataset: Dataset, spread: str, amount: int, random: Random) -> Sequence[int]:
    if spread == "random":
        return dataset.random_numbers(random, amount)
    return dataset.neighbours(random, amount)


def _measure_commit(
    repository: Repository, spread: str, amount: int, random: Random
) -> list[Figure]:
    dataset = repository.dataset
    numbers = _numbers(dataset, spread, amount, random)
    changes = list(dataset.changes(numbers, version=1))
    again = list(dataset.changes(numbers, version=2))
    name = f"commit of {amount:,} {spread}"
    with repository.scratch() as files:
        committed = repository.committed(files)
        base = repository.content(committed)
        with spent() as times:
            made = apply_changes(committed, base, changes)
        assert made.total == amount
        yielded = [
            Figure(f"{name}, first", times.cpu_s * 1e3, "ms cpu"),
            Figure(f"{name}, first, wall", times.wall_s * 1e3, "ms wall"),
            *_traffic_figures(name, files.traffic),
        ]
        changed = MetaRange(committed, NAMESPACE, made.metarange_id)
        with spent() as times:
            apply_changes(committed, changed, again)
        yielded.append(Figure(f"{name}, again", times.cpu_s * 1e3, "ms cpu"))
        cold = repository.committed(files)
        left, right = (MetaRange(cold, NAMESPACE, each.id) for each in (base, changed))
        reads = files.traffic.reads
        with spent() as times:
            assert sum(1 for _ in diff(left, right)) == amount
        name = f"diff of {amount:,} {spread}"
        yielded.append(Figure(name, times.cpu_s * 1e3, "ms cpu"))
        yielded.append(Figure(f"{name}, reads", files.traffic.reads - reads, "requests"))
    return yielded


def _traffic_figures(name: str, traffic: Traffic) -> list[Figure]:
    return [
        Figure(f"{name}, reads", traffic.reads, "requests"),
        Figure(f"{name}, writes", traffic.writes, "requests"),
        Figure(f"{name}, written", traffic.bytes_written / 1e6, "MB"),
    ]


def measure_merges(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Measure three-way merges with as many random changes on each side."""
    dataset = repository.dataset
    for amount in scale.merged_changes:
        with repository.scratch() as files:
            committed = repository.committed(files)
            base = repository.content(committed)
            sides = []
            for version in (1, 2):
                numbers = dataset.random_numbers(Random(version), amount)
                made = apply_changes(committed, base, dataset.changes(numbers, version))
                sides.append(made.metarange_id)
            cold = repository.committed(files)
            base, source, destination = (
                MetaRange(cold, NAMESPACE, each) for each in (base.id, *sides)
            )
            files.traffic = Traffic()
            with spent() as times:
                assert merge(cold, base, source, destination, "source-wins").total
            name = f"merge of {amount:,} random on each side"
            yield Figure(name, times.cpu_s * 1e3, "ms cpu")
            yield from _traffic_figures(name, files.traffic)
    yield Figure("peak memory", peak_memory_mb(), "MB")
