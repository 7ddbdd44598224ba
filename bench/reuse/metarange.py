"""The metarange of a repository that is too large to write: all its ranges but one are missing.

A lookup and a commit in that range find all their files, so their cost in so large a repository can
be measured.
"""

from collections.abc import Generator, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.dataset import Dataset
from bench.figures import Figure, spent
from bench.files import CountedFiles, FolderFiles, Traffic
from bench.repository import NAMESPACE
from bench.reuse.model import Model
from graveler.committed.apply import apply_changes, assemble
from graveler.committed.counts import Counts
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import SliceResult
from graveler.committed.store import Breaking, Committed
from graveler.model import EMPTY_METARANGE, Change, MetaRangeID, RangeHeader, RangeID

_TRIES = 5


def measure_metarange(
    dataset: Dataset, model: Model, raggedness: int
) -> Generator[Figure, None, int]:
    """Measure a lookup and a commit in a cold process; return the metarange's size."""
    with TemporaryDirectory() as folder:
        files = CountedFiles(FolderFiles(Path(folder)))

        def committed() -> Committed:
            return Committed(files, breaking=Breaking(raggedness))

        # The last object of a range of ordinary length.
        at = int(abs(model.records - raggedness).argmin())
        first, end = int(model.ends[at] - model.records[at]) + 1, int(model.ends[at])
        written = _write_range(committed(), dataset, first, end)
        files.traffic = Traffic()
        with spent() as times:
            metarange_id = _write_metarange(committed(), _headers(dataset, model, written))
        size_bytes = files.traffic.bytes_written
        yield Figure("size of the metarange", size_bytes / 1e6, "MB")
        yield Figure("metarange written from its ranges", times.cpu_s * 1e3, "ms cpu")
        key = dataset.key(end)
        changes: list[list[Change]] = [
            [(key, dataset.value(end, version))] for version in range(1, _TRIES + 1)
        ]
        for name, tries in (("cold lookup", [None] * _TRIES), ("commit of 1, cold", changes)):
            files.traffic = Traffic()
            cpu_s = []
            for change in tries:
                engine = committed()
                content = MetaRange(engine, NAMESPACE, metarange_id)
                with spent() as times:
                    if change is None:
                        assert content.get(key) is not None
                    else:
                        assert apply_changes(engine, content, change).total == 1
                cpu_s.append(times.cpu_s)
            yield Figure(name, min(cpu_s) * 1e3, "ms cpu")
            yield from _traffic_figures(name, files.traffic)
    return size_bytes


def _write_range(committed: Committed, dataset: Dataset, first: int, end: int) -> RangeHeader:
    alone = apply_changes(
        committed, MetaRange(committed, NAMESPACE, EMPTY_METARANGE), dataset.records(first, end + 1)
    )
    (header,) = MetaRange(committed, NAMESPACE, alone.metarange_id).headers()
    return header


def _write_metarange(committed: Committed, headers: Iterator[RangeHeader]) -> MetaRangeID:
    edits = tuple((header.max_key, header) for header in headers)
    made = SliceResult(edits, Counts(added=len(edits)))
    return assemble(
        committed, MetaRange(committed, NAMESPACE, EMPTY_METARANGE), [made]
    ).metarange_id


def _headers(dataset: Dataset, model: Model, written: RangeHeader) -> Iterator[RangeHeader]:
    """All ranges, of which only one is written."""
    first = 0
    for end, records in zip(model.ends.tolist(), model.records.tolist(), strict=True):
        header = RangeHeader(
            id=RangeID(sha256(b"%d" % first).hexdigest()),
            min_key=dataset.key(first),
            max_key=dataset.key(end),
            count=records,
            size_bytes=int(records * model.bytes_per_record),
        )
        yield written if header.max_key == written.max_key else header
        first = end + 1


def _traffic_figures(name: str, traffic: Traffic) -> Iterator[Figure]:
    yield Figure(f"{name}, reads", traffic.reads / _TRIES, "requests")
    yield Figure(f"{name}, read", traffic.bytes_read / _TRIES / 1e3, "KB")
    if traffic.writes:
        yield Figure(f"{name}, written", traffic.bytes_written / _TRIES / 1e6, "MB")
