"""Sweeping: executors delete a thousand objects with each request, and record the deleted ones.

Before each request, an executor checks that the run still has its lease. It also checks the look's
age, by the object store's clock. So a stalled driver, or an executor that resumes after an hour,
deletes nothing by an expired look. One gap remains: a process that stalls between the check and the
request's signature sends one late request. S3 refuses requests whose signature is older than 15
minutes.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame

from graveler.aws.settings import DeploymentSettings
from graveler.errors import CorruptDataError
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.model import Repository
from graveler.ports import JobStore, ObjectData
from graveler.retention.candidates import Territory
from graveler.retention.liveness import Look
from graveler.retention.report import Tally
from graveler.retention.runs import LEASE
from graveler_jobs import parquet_files
from graveler_jobs.garbage_collection.listing import CANDIDATE_SCHEMA
from graveler_jobs.session import stores

_TALLY = "objects long, size_bytes long, failed long, failure string, left long, stopped string"
_TALLY_SCHEMA = pa.schema(
    [
        ("objects", pa.int64()),
        ("size_bytes", pa.int64()),
        ("failed", pa.int64()),
        ("failure", pa.string()),
        ("left", pa.int64()),
        ("stopped", pa.string()),
    ]
)

# Why executors stop before the end of a round.
LEASE_IS_LOST = "another run has taken over"
LOOK_IS_OLD = "the look is too old"

# S3 reports each object that it could not delete; these are retried.
_TRIES = 4
_FIRST_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True)
class Round:
    """The data with which executors delete: the territory, the look, and the lease's holder.

    folder_uri is the run's folder; holder is the run's ID in the lease.
    """

    repository: Repository
    holder: str
    look: Look
    territory: Territory
    folder_uri: str
    deletes_per_s: int

    @property
    def name(self) -> str:
        """The prefix of the names of this round's files."""
        return f"round-{self.look.number:04d}"

    def stopped(self, jobs: JobStore, objects: ObjectData, task: str) -> str:
        """Return the reason why no request may delete by this look any more; "" if there is none.

        The look's age is checked last, right before the request.
        """
        if not jobs.has_lease(self.repository, LEASE, self.holder):
            return LEASE_IS_LOST
        return "" if self.look.is_current(objects, task) else LOOK_IS_OLD


@dataclass(slots=True)
class SweptRound:
    """The result of a round; failed counts the objects that S3 refused, left the untried ones."""

    deleted: Tally = field(default_factory=Tally)
    failed: int = 0
    failure: str = ""
    left: int = 0
    stopped: str = ""


def sweep(doomed: DataFrame, this: Round, settings: DeploymentSettings) -> SweptRound:
    """Delete the objects of the frame (CANDIDATE) until the look expires.

    The folder gets the addresses that were deleted: `deleted/` as Parquet, `deleted.text/` as
    lines.
    """
    tasks = doomed.sparkSession.sparkContext.defaultParallelism
    pause_s = tasks * DELETE_OBJECTS_MAX / this.deletes_per_s if this.deletes_per_s else 0.0

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        mine = stores(settings)
        writer = parquet_files.PartWriter(mine.objects, f"{this.folder_uri}deleted/", this.name)
        lines = parquet_files.LineWriter(mine.objects, f"{this.folder_uri}deleted.text/", this.name)
        task = parquet_files.task_name()
        done = Deleted()
        for batch in thousands(batches):
            if done.stopped:  # read to the end, as Spark expects of a task
                done = Deleted(left=batch.num_rows, stopped=done.stopped)
            else:
                done = delete(
                    mine.objects,
                    this.territory,
                    batch,
                    time.sleep,
                    lambda: this.stopped(mine.jobs, mine.objects, task),
                )
            if done.rows is not None:
                writer.add(done.rows)
                lines.add(done.rows.column("address").to_pylist())
            yield _tally(done)
            if pause_s and not done.stopped:
                time.sleep(pause_s)
        writer.finish()
        lines.finish()

    swept = SweptRound()
    for row in doomed.mapInArrow(rows, _TALLY).collect():
        swept.deleted.add(row.objects, row.size_bytes)
        swept.failed += row.failed
        swept.failure = swept.failure or row.failure
        swept.left += row.left
        if swept.stopped != LEASE_IS_LOST:
            swept.stopped = row.stopped or swept.stopped
    return swept


def thousands(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches of DELETE_OBJECTS_MAX, the maximum of one request."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            taken = batch.slice(start, DELETE_OBJECTS_MAX - rows)
            held.append(taken)
            rows += taken.num_rows
            start += taken.num_rows
            if rows == DELETE_OBJECTS_MAX:
                yield _joined(held)
                held, rows = [], 0
    if held:
        yield _joined(held)


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    table = pa.Table.from_batches(batches).combine_chunks()
    return pa.RecordBatch.from_arrays(
        [column.combine_chunks() for column in table.columns], schema=CANDIDATE_SCHEMA
    )


@dataclass(frozen=True, slots=True)
class Deleted:
    """The result of a batch: the deleted rows, the failures by URI, and how many were not tried."""

    rows: pa.RecordBatch | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    left: int = 0
    stopped: str = ""


def delete(
    objects: ObjectData,
    territory: Territory,
    batch: pa.RecordBatch,
    sleep: Callable[[float], None],
    stopped: Callable[[], str],
) -> Deleted:
    """Delete the batch; before each request, `stopped` returns a reason to stop, or "".

    Raises:
        CorruptDataError: the run may not delete one of the addresses; nothing was deleted.
    """
    addresses = batch.column("address").to_pylist()
    for address in addresses:
        if not territory.holds(address):
            raise CorruptDataError(
                f"{address} is marked, and is neither an object of the repository's own nor a "
                f"table's in {territory.namespace}: make a new mark"
            )
    uris = {f"{territory.namespace}/{address}": address for address in addresses}
    waiting = list(uris)
    problems: Mapping[str, str] = {}
    reason = ""
    for attempt in range(_TRIES):
        if attempt:
            sleep(_FIRST_PAUSE_S * 2 ** (attempt - 1))
        if reason := stopped():
            problems = {}
            break
        problems = objects.delete_many(waiting)
        waiting = list(problems)
        if not waiting:
            break
    remaining = {uris[uri] for uri in waiting}
    gone = pa.array([address not in remaining for address in addresses], pa.bool_())
    return Deleted(batch.filter(gone), problems, len(waiting) - len(problems), reason)


def _tally(done: Deleted) -> pa.RecordBatch:
    failure = next((f"{uri}: {problem}" for uri, problem in done.problems.items()), "")
    sizes = [] if done.rows is None else done.rows.column("size_bytes").to_pylist()
    values = (len(sizes), sum(sizes), len(done.problems), failure, done.left, done.stopped)
    return pa.RecordBatch.from_arrays([pa.array([v]) for v in values], schema=_TALLY_SCHEMA)
