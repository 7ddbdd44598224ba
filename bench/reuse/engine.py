"""The year's commits by the engine itself, on a repository of affordable size."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from statistics import mean

from bench.figures import Figure, Spent, spent
from bench.files import Traffic
from bench.repository import NAMESPACE, Repository
from bench.reuse.model import Model, Written
from bench.reuse.year import WORKLOADS, commits
from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange

_LOOKUPS = 50


@dataclass(frozen=True, slots=True)
class Made:
    """A commit as made by the engine, and as predicted by the model."""

    written: Written
    foreseen: Written
    traffic: Traffic
    times: Spent


def make_commits(repository: Repository, model: Model, workload: str, days: int) -> Iterator[Made]:
    """Make the workload's commits, each on top of the previous one, in one warm process."""
    dataset = repository.dataset
    with repository.scratch() as files:
        committed = repository.committed(files)
        content = repository.content(committed)
        before = {header.id for header in content.headers()}
        for version, changed in enumerate(commits(dataset, workload, days), 1):
            changes = list(dataset.changes(changed.numbers(), version))
            files.traffic = Traffic()
            with spent() as times:
                made = apply_changes(committed, content, changes)
            traffic = files.traffic
            content = MetaRange(committed, NAMESPACE, made.metarange_id)
            after = {header.id for header in content.headers()}
            reused = len(after & before)
            written = Written(len(after) - reused, reused, traffic.bytes_written, made.total)
            yield Made(written, model.commit(changed), traffic, times)
            before = after


def measure_engine(repository: Repository, model: Model, days: int) -> Iterator[Figure]:
    """Measure the engine's reuse and its price, beside the model's prediction."""
    yield from _measure_lookups(repository)
    yield from _measure_small_commit(repository)
    for workload in WORKLOADS:
        made = list(make_commits(repository, model, workload, days))
        changed_bytes = sum(each.written.changes for each in made) * model.bytes_per_record
        reuse = mean(each.written.reuse for each in made)
        foreseen = mean(each.foreseen.reuse for each in made)
        amplification = sum(each.written.bytes_written for each in made) / changed_bytes
        foreseen_bytes = sum(each.foreseen.bytes_written for each in made)
        puts = mean(each.traffic.writes for each in made)
        yield Figure(f"{workload}: ranges reused", reuse * 100, "%")
        yield Figure(f"{workload}: ranges reused, says the model", foreseen * 100, "%")
        yield Figure(f"{workload}: written per byte changed", amplification, "")
        name = f"{workload}: written per byte changed, says the model"
        yield Figure(name, foreseen_bytes / changed_bytes, "")
        yield Figure(f"{workload}: files written", puts, "per commit")
        cpu_s = mean(each.times.cpu_s for each in made)
        yield Figure(f"{workload}: commit", cpu_s * 1e3, "ms cpu")


def _measure_lookups(repository: Repository) -> Iterator[Figure]:
    dataset, random = repository.dataset, Random(1)
    with repository.scratch() as files, spent() as times:
        for _ in range(_LOOKUPS):
            key = dataset.key(random.randrange(dataset.objects))
            assert repository.content(repository.committed(files)).get(key) is not None
    yield Figure("cold lookup", times.cpu_s / _LOOKUPS * 1e3, "ms cpu")
    yield Figure("cold lookup, requests", files.traffic.reads / _LOOKUPS, "")
    yield Figure("cold lookup, read", files.traffic.bytes_read / _LOOKUPS / 1e3, "KB")


def _measure_small_commit(repository: Repository) -> Iterator[Figure]:
    dataset = repository.dataset
    tries = []
    for seed in range(5):
        changes = list(dataset.changes(dataset.random_numbers(Random(seed), 1), 1))
        with repository.scratch() as files:
            committed = repository.committed(files)
            with spent() as times:
                apply_changes(committed, repository.content(committed), changes)
        tries.append((times.cpu_s, files.traffic.bytes_written))
    yield Figure("commit of 1, by a fresh process", mean(cpu for cpu, _ in tries) * 1e3, "ms cpu")
    yield Figure("commit of 1, written", mean(written for _, written in tries) / 1e6, "MB")
