"""The job of garbage collection without Spark: frames are dictionaries, executors are threads.

All rules are the job's own: its order of reads, its lease, its looks, and what it deletes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import msgspec
import pyarrow as pa

from graveler.engine import Engine
from graveler.model import EMPTY_METARANGE, MetaRangeID, StagingToken
from graveler.operations.collection_reads import staged_addresses
from graveler.ports import ObjectStore
from graveler.retention.files import encode_commits
from graveler.retention.ranges import MetarangeReader, RangeReader, ReadFile
from graveler_jobs.garbage_collection import lease, marking, run
from graveler_jobs.garbage_collection.listing import CANDIDATE_SCHEMA
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.garbage_collection.sweeping import Deleted, Round, SweptRound, delete

# A renewing thread lets others make so many steps between two renewals.
_RENEWAL_STEPS = 15


class Frame:
    """Rows by their key: an address, or the ID of a range."""

    def __init__(self, rows: Mapping[str, Any]) -> None:
        self.rows = rows

    def union(self, other: "Frame") -> "Frame":
        return Frame({**self.rows, **other.rows})

    def join(self, other: "Frame", _on: str, _how: str) -> "Frame":
        return Frame({key: row for key, row in self.rows.items() if key not in other.rows})

    def select(self, _column: str) -> "Frame":
        return self

    def localCheckpoint(self) -> "Frame":  # noqa: N802 - Spark's name
        return self

    def count(self) -> int:
        return len(self.rows)


class Spark:
    """A session of Spark."""

    conf = SimpleNamespace(set=lambda *_: None)
    sparkContext = SimpleNamespace(accumulator=lambda value: SimpleNamespace(value=value))  # noqa: N815 - Spark's name

    def createDataFrame(self, rows: Iterable[tuple[str]], _schema: str) -> Frame:  # noqa: N802 - Spark's name
        return Frame(dict.fromkeys(key for (key,) in rows))


@dataclass
class Driver:
    """One run of the job, where the job expects its settings.

    parts: the frames that runs have written, by URI.
    pause: lets others make a step. has_heart: whether the renewing thread works.
    marks_all: the run marks all candidates, so that a single look decides.
    begins_look: called before the first read of each look.
    begins_request: called before an executor checks whether it may delete; returns what to call
        before it deletes.
    """

    engine: Engine
    read_file: ReadFile
    parts: dict[str, Mapping[str, Any]]
    pause: Callable[[], None]
    has_heart: bool
    marks_all: bool
    begins_look: Callable[[], None]
    begins_request: Callable[[Round], Callable[[], None]]
    marked: list[str] = field(default_factory=list)


class Objects:
    """The object store of a run, which has its frames, too."""

    def __init__(self, objects: ObjectStore, parts: Mapping[str, Mapping[str, Any]]) -> None:
        self.parts = parts
        self._objects = objects

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)


def _write(frame: Frame, folder_uri: str, driver: Driver, _rows_per_part: int = 0) -> None:
    for number, key in enumerate(sorted(frame.rows)):
        driver.parts[f"{folder_uri}{number:02}"] = {key: frame.rows[key]}


def _uris(objects: Objects, folder_uri: str) -> list[str]:
    return sorted(uri for uri in objects.parts if uri.startswith(folder_uri))


def _read(_spark: Spark, uris: Sequence[str], _schema: str, driver: Driver) -> Frame:
    return Frame({key: row for uri in uris for key, row in driver.parts[uri].items()})


def _staged(_spark: Spark, tokens: Sequence[StagingToken], namespace: str, driver: Driver) -> Frame:
    staging = driver.engine.staging
    found = (each for token in tokens for each in staged_addresses(staging, namespace, token))
    return Frame(dict.fromkeys(found))


def _ranges(
    _spark: Spark, metarange_ids: Iterable[MetaRangeID], namespace: str, driver: Driver
) -> Frame:
    reader = MetarangeReader(driver.read_file, namespace)
    return Frame(
        {
            header.id: header
            for each in sorted(set(metarange_ids) - {EMPTY_METARANGE})
            for header in reader.headers(each)
        }
    )


def _committed(found: Frame, namespace: str, driver: Driver, *_: object) -> Frame:
    reader = RangeReader(driver.read_file, namespace)
    headers = sorted(found.rows.values(), key=lambda header: (header.min_key, header.id))
    return Frame({address: None for header in headers for address in reader.addresses(header)})


def _nothing(*_: object) -> Frame:
    """No repository of the simulation has tables."""
    return Frame({})


class _Marking(marking.Marking):
    """The job's marking; what it needs Spark for is done here."""

    def mark(self, options: CollectionOptions) -> marking.Mark:
        driver: Any = self.deployment.settings
        mark = self._all(options, driver) if driver.marks_all else super().mark(options)
        driver.marked.append(mark.mark_id)
        return mark

    def _all(self, options: CollectionOptions, driver: Driver) -> marking.Mark:
        frame: Any = self._candidates(options)
        _write(frame, self.folder.marked_uri, driver)
        self._describe()
        mark, objects = self._mark(), self.deployment.engine.objects
        objects.put(self.folder.commits_uri, encode_commits({}), "text/csv")
        objects.put(self.folder.mark_uri, msgspec.json.encode(mark), "application/json")
        return mark

    def come_to_life(self) -> Any:
        driver: Any = self.deployment.settings
        driver.begins_look()
        return super().come_to_life()

    def _candidates(self, _options: CollectionOptions) -> Any:
        own, objects = self.territory(), self.deployment.engine.objects
        return Frame(
            {
                each: listed
                for uri in own.uris
                for each, listed in own.candidates(objects.list_objects(uri))
            }
        )

    def _describe(self) -> None:
        frame: Any = self._read(self.folder.marked_uri, "")
        self.report.marked.add(frame.count(), 0)


def _sweep(doomed: Frame, this: Round, driver: Driver) -> SweptRound:
    """As the job's sweep: two executors share the addresses, one in each request."""
    addresses = sorted(doomed.rows)
    swept = SweptRound()
    threads = driver.engine.threads
    assert threads is not None
    executors = [
        threads.submit(_executor, addresses[part::2], this, driver, f"{part}") for part in range(2)
    ]
    for executor in executors:
        for address, done in executor.result():
            deleted = 0 if done.rows is None else done.rows.num_rows
            swept.deleted.add(deleted, 0)
            swept.left += done.left
            swept.stopped = done.stopped or swept.stopped
            if deleted:
                uri = f"{this.folder_uri}deleted/{this.name}-{address}"
                driver.parts[uri] = {address: None}
    return swept


def _executor(
    addresses: Sequence[str], this: Round, driver: Driver, task: str
) -> list[tuple[str, Deleted]]:
    engine, ended = driver.engine, []
    done = Deleted()
    for address in addresses:
        if done.stopped:
            done = Deleted(left=1, stopped=done.stopped)
        else:
            objects: Any = Objects(engine.objects, driver.parts)
            objects.delete_many = _reported(driver.begins_request(this), engine.objects.delete_many)
            batch = pa.RecordBatch.from_pylist([{"address": address}], CANDIDATE_SCHEMA)
            done = delete(
                objects,
                this.territory,
                batch,
                lambda _seconds: driver.pause(),
                lambda: this.stopped(engine.jobs, engine.objects, task),
            )
        ended.append((address, done))
    return ended


def _reported(report: Callable[[], None], call: Callable[..., Any]) -> Callable[..., Any]:
    def reported(*args: Any) -> Any:
        report()
        return call(*args)

    return reported


class _Heart:
    """The thread that renews a lease, as the scheduler's."""

    def __init__(self, target: Callable[[], None], **_: object) -> None:
        self._target = target
        held: Any = target
        self._lease: lease.CollectionLease = held.__self__
        driver: Any = self._lease.deployment.settings
        self._driver: Driver = driver
        self._is_stopped = False
        ended: Any = self
        self._lease.ended = ended

    def start(self) -> None:
        threads = self._driver.engine.threads
        assert threads is not None
        threads.submit(self._target)

    def join(self) -> None:
        """Do nothing: a renewal may still be under way."""

    def set(self) -> None:
        self._is_stopped = True

    def wait(self, _seconds: float) -> bool:
        """Let time pass; a thread without a heart never renews."""
        for _ in range(_RENEWAL_STEPS):
            if self._is_stopped or not self._driver.has_heart:
                return True
            self._driver.pause()
        return self._is_stopped


@contextmanager
def without_spark() -> Iterator[None]:
    """Let the job run over Driver and Frame."""
    parquet = SimpleNamespace(write=_write, uris=_uris, read=_read, ROWS_PER_PART=1)
    live = SimpleNamespace(
        staged=_staged, ranges=_ranges, committed=_committed, RANGE="id", ADDRESS="address"
    )
    tables = SimpleNamespace(ranges_with_tables=_nothing, alive=_nothing)
    with ExitStack() as stack:
        for module, name, value in (
            (marking, "parquet_files", parquet),
            (marking, "live", live),
            (marking, "table_files", tables),
            (run, "parquet_files", parquet),
            (run, "Marking", _Marking),
            (run, "sweep", _sweep),
            (lease, "threading", SimpleNamespace(Thread=_Heart)),
        ):
            stack.enter_context(patch.object(module, name, value))
        yield
