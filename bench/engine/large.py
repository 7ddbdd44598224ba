"""A very large change: committed, merged, and imported into an empty repository.

Each runs in one pass, and in slices. Each core applies slices one after another in its own process,
as functions would. The figures exclude generating the changes, but include planning.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from random import Random

from bench.dataset import Dataset
from bench.engine.scale import Scale
from bench.figures import Figure, cores, peak_memory_mb, spent
from bench.files import CountedFiles
from bench.repository import NAMESPACE, Repository, Timed
from graveler.committed.apply import apply_changes, apply_slice, assemble
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import Slice, SliceResult, plan
from graveler.committed.store import Committed
from graveler.merge import merge_changes, plan_merge
from graveler.model import EMPTY_METARANGE, Change

_DESTINATION_CHANGES = 100
_STRATEGY = "source-wins"


@dataclass(frozen=True, slots=True)
class MadeUp:
    """Changes at some objects, or their first records (version None), from a key to another."""

    dataset: Dataset
    numbers: range
    version: int | None

    def keys(self) -> Iterator[bytes]:
        """Return the changed keys."""
        keys = self.dataset.keys(self.numbers.start, self.numbers.stop)
        if self.version is None:
            return keys
        return map(self.dataset.changed, keys, self.numbers)

    def __call__(self, start: bytes, end: bytes | None) -> Iterator[Change]:
        key = self.dataset.key if self.version is None else self.dataset.changed_key
        first = bisect_left(self.numbers, start, key=key)
        last = len(self.numbers) if end is None else bisect_left(self.numbers, end, key=key)
        if self.version is None:
            return self.dataset.records(first, last)
        return self.dataset.changes(self.numbers[first:last], self.version)


@dataclass(frozen=True, slots=True)
class Work:
    """A large change to one metarange; made_up says that its changes are none of the engine's work.

    changes and plan get the engine of the process that asks.
    """

    name: str
    content: Callable[[Committed], MetaRange]
    changes: Callable[[Committed, bytes, bytes | None], Iterator[Change]]
    plan: Callable[[Committed], Iterable[Slice]]
    made_up: bool

    def make(self, committed: Committed, part: Slice) -> tuple[SliceResult, float]:
        """Apply one slice; also return the processor seconds of generating its changes."""
        changes = Timed(self.changes(committed, part.start, part.end))
        result = apply_slice(committed, self.content(committed), part, changes)
        return result, changes.cpu_s if self.made_up else 0


# In a process that applies slices: its work, and its engine.
_working: list[tuple[Work, Committed]] = []


def _begin(work: Work, committed: Committed) -> None:
    _working[:] = [(work, committed)]


def _make(part: Slice) -> tuple[SliceResult, float]:
    work, committed = _working[0]
    return work.make(committed, part)


def _measure(repository: Repository, before: CountedFiles, work: Work) -> Iterator[Figure]:
    """Measure the work in one pass, then in slices, each with its own folder to write to."""
    with repository.scratch(over=before) as files, spent() as times:
        committed = repository.committed(files)
        result, made_up_s = work.make(committed, Slice())
        in_one_pass = assemble(committed, work.content(committed), [result]).metarange_id
    yield Figure(work.name, times.cpu_s - made_up_s, "s cpu")
    yield Figure(f"{work.name}, wall", times.wall_s - made_up_s, "s wall")
    yield Figure(f"{work.name}, peak memory", peak_memory_mb(), "MB")
    with repository.scratch(over=before) as files, spent() as times:
        committed = repository.committed(files)
        slices = list(work.plan(committed))
        begin_with = (work, repository.committed(files))
        with get_context("fork").Pool(cores(), _begin, begin_with) as pool:
            made = list(pool.imap(_make, slices))
        results = [result for result, _ in made]
        by_slices = assemble(committed, work.content(committed), results).metarange_id
    assert by_slices == in_one_pass, "slices make another metarange"
    made_up_s = sum(seconds for _, seconds in made) / cores()
    yield Figure(f"{work.name}, by slices, all cores", times.wall_s - made_up_s, "s wall")
    yield Figure(f"{work.name}, slices", len(slices), "")


def _made_up(name: str, content: Callable[[Committed], MetaRange], changes: MadeUp) -> Work:
    return Work(
        name,
        content,
        lambda _, start, end: changes(start, end),
        lambda committed: plan(content(committed), committed.breaking, changes, changes.keys()),
        made_up=True,
    )


def measure_large_import(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Import records into an empty repository."""
    amount = scale.large_changes
    work = _made_up(
        f"import of {amount:,} into an empty repository",
        lambda committed: MetaRange(committed, NAMESPACE + "/new", EMPTY_METARANGE),
        MadeUp(repository.dataset, range(amount), version=None),
    )
    with repository.scratch() as files:
        yield from _measure(repository, files, work)


def measure_large_commit(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Commit changes to neighbouring objects."""
    dataset = repository.dataset
    numbers = dataset.neighbours(Random(1), scale.large_changes)
    work = _made_up(
        f"commit of {scale.large_changes:,} clustered",
        repository.content,
        MadeUp(dataset, numbers, version=1),
    )
    with repository.scratch() as files:
        yield from _measure(repository, files, work)


def measure_large_merge(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Merge those changes into a branch with a few random ones."""
    dataset = repository.dataset
    few = dataset.random_numbers(Random(2), min(_DESTINATION_CHANGES, dataset.objects // 10))
    many = dataset.neighbours(Random(1), scale.large_changes)
    with repository.scratch() as files:
        committed = repository.committed(files)
        base = repository.content(committed)
        source, destination = (
            apply_changes(committed, base, dataset.changes(numbers, version)).metarange_id
            for version, numbers in enumerate((many, few), 1)
        )

        def sides(engine: Committed) -> tuple[MetaRange, MetaRange, MetaRange]:
            left, right = (MetaRange(engine, NAMESPACE, each) for each in (source, destination))
            return repository.content(engine), left, right

        work = Work(
            f"merge of {scale.large_changes:,} clustered",
            lambda engine: sides(engine)[2],
            lambda engine, start, end: merge_changes(*sides(engine), _STRATEGY, start, end),
            lambda engine: plan_merge(engine, *sides(engine), _STRATEGY),
            made_up=False,
        )
        yield from _measure(repository, files, work)
