"""The size of a repository on disk, and the rate of writing it."""

from collections.abc import Iterator

from bench.engine.scale import Scale
from bench.figures import Figure, peak_memory_mb, spent
from bench.repository import NAMESPACE, Repository, Timed
from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.model import EMPTY_METARANGE


def measure_writing(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Sizes of the repository as it was made, and the rate of writing the first records again."""
    made = repository.making
    ranges = sum(1 for _ in repository.content(repository.committed()).headers())
    range_bytes = made.bytes_written - made.metarange_bytes
    yield Figure("ranges", ranges, "")
    yield Figure("size of a range", range_bytes / ranges / 1e6, "MB")
    yield Figure("size of the metarange", made.metarange_bytes / 1e3, "KB")
    yield Figure("on disk", made.bytes_written / repository.objects, "B/record")
    yield Figure(
        "written whole, when it was made", repository.objects / made.cpu_s, "records/s cpu"
    )
    yield Figure("written whole, when it was made, wall", made.wall_s, "s")
    yield Figure("memory while it was made", made.peak_memory_mb, "MB")
    amount = scale.written_records
    with repository.scratch() as files:
        committed = repository.committed(files)
        records = Timed(repository.dataset.records(end=amount))
        with spent() as times:
            apply_changes(
                committed, MetaRange(committed, NAMESPACE + "/new", EMPTY_METARANGE), records
            )
    yield Figure(
        f"write {amount:,} records", amount / (times.cpu_s - records.cpu_s), "records/s cpu"
    )
    yield Figure(
        f"write {amount:,} records, wall", amount / (times.wall_s - records.cpu_s), "records/s wall"
    )
    yield Figure("peak memory", peak_memory_mb(), "MB")
