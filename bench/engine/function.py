"""One cold lookup in a new process: the engine's share of a function's first request."""

from collections.abc import Iterator
from random import Random
from statistics import median

from bench.engine.scale import Scale
from bench.figures import Figure, in_fresh_process, memory_mb, spent
from bench.repository import Repository

_TRIES = 5


def measure_first_lookup(repository: Repository, scale: Scale, seed: int) -> Iterator[Figure]:
    """The cost of the first lookup of this process, which has imported the engine."""
    key = repository.dataset.key(Random(seed).randrange(repository.objects))
    with repository.scratch(scale.latency_s) as files:
        before_mb = memory_mb()
        with spent() as times:
            found = repository.content(repository.committed(files)).get(key)
        assert found is not None
        yield Figure("requests", files.traffic.reads, "")
        yield Figure("read", files.traffic.bytes_read / 1e3, "KB")
        yield Figure("processor", times.cpu_s * 1e3, "ms cpu")
        yield Figure(f"store of {scale.latency_s * 1e3:.0f} ms", times.wall_s * 1e3, "ms wall")
        yield Figure("memory above that of the imports", memory_mb() - before_mb, "MB")
        yield Figure("memory of the imports", before_mb, "MB")


def measure_function(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Measure the median of a few such processes."""
    tries = [
        list(in_fresh_process(measure_first_lookup, repository, scale, seed))
        for seed in range(_TRIES)
    ]
    for figures in zip(*tries, strict=True):
        yield Figure(figures[0].name, median(each.value for each in figures), figures[0].unit)
