"""A year of commits to a repository that is too large to write, by the model of its ranges."""

from collections.abc import Generator, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.dataset import Dataset
from bench.figures import Figure, peak_memory_mb, spent
from bench.files import CountedFiles, FolderFiles
from bench.repository import NAMESPACE
from bench.reuse.model import Model, Written
from bench.reuse.year import WORKLOADS, Numbers, commits
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Committed
from graveler.committed.writer import MetaRangeWriter
from graveler.model import RangeHeader

_SEEKS = 20


def measure_large(
    dataset: Dataset, hashed_ends: Numbers, bytes_per_record: float, days: int
) -> Iterator[Figure]:
    """The repository's ranges, its metarange, and what each workload's commits write."""
    model = Model(hashed_ends, bytes_per_record, metarange_bytes=0)
    yield Figure("ranges", len(model.ends), "")
    yield Figure("size of a range", float(model.records.mean()) * bytes_per_record / 1e6, "MB")
    with TemporaryDirectory() as folder:
        files = CountedFiles(FolderFiles(Path(folder)))
        metarange_id = yield from _measure_metarange(dataset, model, files)
        metarange_bytes = files.traffic.bytes_written
        yield from _measure_seeks(dataset, files, metarange_id)
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


def _measure_metarange(
    dataset: Dataset, model: Model, files: CountedFiles
) -> Generator[Figure, None, str]:
    """Write the metarange of ranges that are not there; its ID is returned."""
    writer = MetaRangeWriter(Committed(files), NAMESPACE)
    first = 0
    for end, records in zip(model.ends.tolist(), model.records.tolist(), strict=True):
        header = RangeHeader(
            id=sha256(b"%d" % first).hexdigest(),
            min_key=dataset.key(first),
            max_key=dataset.key(end),
            count=records,
            size_bytes=int(records * model.bytes_per_record),
        )
        writer.write_range(header)
        first = end + 1
    with spent() as writing:
        metarange_id = writer.finish()
    with spent() as reading:
        headers = MetaRange(Committed(files), NAMESPACE, metarange_id).headers()
        assert sum(1 for _ in headers) == len(model.ends)
    yield Figure("size of the metarange", files.traffic.bytes_written / 1e6, "MB")
    yield Figure("metarange written", writing.cpu_s * 1e3, "ms cpu")
    yield Figure("metarange read whole", reading.cpu_s * 1e3, "ms cpu")
    return metarange_id


def _measure_seeks(dataset: Dataset, files: CountedFiles, metarange_id: str) -> Iterator[Figure]:
    """What finding the range of a key takes a process that has read nothing."""
    before = files.traffic.reads, files.traffic.bytes_read
    with spent() as seeking:
        for at in range(_SEEKS):
            key = dataset.key(dataset.objects * at // _SEEKS)
            content = MetaRange(Committed(files), NAMESPACE, metarange_id)
            assert next(content.headers(key)).max_key >= key
    reads, bytes_read = files.traffic.reads - before[0], files.traffic.bytes_read - before[1]
    yield Figure("range of a key found, cold", seeking.cpu_s / _SEEKS * 1e3, "ms cpu")
    yield Figure("range of a key found, cold, requests", reads / _SEEKS, "")
    yield Figure("range of a key found, cold, read", bytes_read / _SEEKS / 1e3, "KB")
