"""A very large change: committed, merged, and imported into an empty repository."""

from collections.abc import Iterator
from random import Random

from bench.engine.scale import Scale
from bench.figures import Figure, peak_memory_mb, spent
from bench.repository import NAMESPACE, Repository, Timed
from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.merge import merge

_DESTINATION_CHANGES = 100


def measure_large_import(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Records into an empty repository."""
    amount = scale.large_changes
    with repository.scratch() as files:
        committed = repository.committed(files)
        records = Timed(repository.dataset.records(end=amount))
        empty = MetaRange(committed, NAMESPACE + "/new", "")
        with spent() as times:
            apply_changes(committed, empty, records)
    name = f"import of {amount:,} into an empty repository"
    yield Figure(name, times.cpu_s - records.cpu_s, "s cpu")
    yield Figure(f"{name}, wall", times.wall_s - records.cpu_s, "s wall")
    yield Figure(f"{name}, peak memory", peak_memory_mb(), "MB")


def measure_large_commit(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Changes to objects in a row, and a merge of them into another branch."""
    amount = scale.large_changes
    dataset = repository.dataset
    numbers = dataset.neighbours(Random(1), amount)
    with repository.scratch() as files:
        committed = repository.committed(files)
        base = repository.content(committed)
        few = dataset.random_numbers(Random(2), min(_DESTINATION_CHANGES, dataset.objects // 10))
        destination = apply_changes(committed, base, dataset.changes(few, 1)).metarange_id
        changes = Timed(dataset.changes(numbers, 2))
        committed = repository.committed(files)
        base = repository.content(committed)
        with spent() as times:
            source = apply_changes(committed, base, changes).metarange_id
        name = f"commit of {len(numbers):,} clustered"
        yield Figure(name, times.cpu_s - changes.cpu_s, "s cpu")
        yield Figure(f"{name}, wall", times.wall_s - changes.cpu_s, "s wall")
        committed = repository.committed(files)
        base = repository.content(committed)
        left, right = (MetaRange(committed, NAMESPACE, each) for each in (source, destination))
        with spent() as times:
            assert merge(committed, base, left, right, "source-wins").total
        name = f"merge of {len(numbers):,} clustered"
        yield Figure(name, times.cpu_s, "s cpu")
        yield Figure(f"{name}, wall", times.wall_s, "s wall")
    yield Figure("commit and merge, peak memory", peak_memory_mb(), "MB")
