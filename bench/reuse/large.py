"""A year of commits to a repository that is too large to write, by the model of its ranges."""

from collections.abc import Iterator

import numpy as np

from bench.dataset import Dataset
from bench.figures import Figure, peak_memory_mb
from bench.reuse.metarange import measure_metarange
from bench.reuse.model import Model, Written
from bench.reuse.year import WORKLOADS, Numbers, commits


def measure_large(
    dataset: Dataset, hashed_ends: Numbers, bytes_per_record: float, raggedness: int, days: int
) -> Iterator[Figure]:
    """Measure the repository's ranges, its metarange, and the writes of each workload's commits."""
    model = Model(hashed_ends, bytes_per_record, metarange_bytes=0)
    yield Figure("ranges", len(model.ends), "")
    yield Figure("size of a range", float(model.records.mean()) * bytes_per_record / 1e6, "MB")
    metarange_bytes = yield from measure_metarange(dataset, model, raggedness)
    model = Model(hashed_ends, bytes_per_record, metarange_bytes)
    for workload in WORKLOADS:
        made = [model.commit(changed) for changed in commits(dataset, workload, days)]
        yield from _summary(workload, made, model)
    yield Figure("peak memory", peak_memory_mb(), "MB")


def _summary(workload: str, made: list[Written], model: Model) -> Iterator[Figure]:
    reuse = np.array([each.reuse for each in made]) * 100
    changes = sum(each.changes for each in made)
    written = sum(each.bytes_written for each in made)
    files = sum(each.ranges + 1 for each in made)
    metarange = model.metarange_bytes * len(made) / written
    amplification = written / (changes * model.bytes_per_record)
    yield Figure(f"{workload}: objects changed", changes / len(made), "per commit")
    yield Figure(f"{workload}: ranges reused", float(reuse.mean()), "%")
    yield Figure(f"{workload}: ranges reused, least", float(reuse.min()), "%")
    yield Figure(f"{workload}: commits that reuse 99 %", float((reuse >= 99).mean()) * 100, "%")
    yield Figure(f"{workload}: written", written / len(made) / 1e6, "MB per commit")
    yield Figure(f"{workload}: of it the metarange", metarange * 100, "%")
    yield Figure(f"{workload}: written per byte changed", amplification, "")
    yield Figure(f"{workload}: files written", files / len(made), "per commit")
