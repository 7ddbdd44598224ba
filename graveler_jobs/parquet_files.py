"""Tables of any size in the object store: folders of Parquet files that executors write and read.

They use the ObjectStore, so a job needs no other access to S3, and runs wherever the engine does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from graveler.aws.settings import DeploymentSettings
from graveler.ports import ObjectData, ObjectListing
from graveler_jobs.session import stores

T = TypeVar("T")

ROWS_PER_PART = 100_000
ROWS_PER_BATCH = 10_000

# More than one, so that no core waits long for one with larger values.
TASKS_PER_CORE = 4

SUFFIX = ".parquet"


class PartWriter:
    """Writes rows into Parquet files of a folder, each file when it is full."""

    def __init__(
        self, objects: ObjectData, folder_uri: str, name: str, rows_per_part: int = ROWS_PER_PART
    ) -> None:
        self._files = _Files(objects, folder_uri, name, SUFFIX, "application/vnd.apache.parquet")
        self._rows_per_part = rows_per_part
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        while batch.num_rows > 0:
            fitting = batch.slice(0, self._rows_per_part - self._rows)
            batch = batch.slice(fitting.num_rows)
            self._batches.append(fitting)
            self._rows += fitting.num_rows
            if self._rows == self._rows_per_part:
                self.finish()

    def finish(self) -> None:
        """Write the remaining rows."""
        if self._rows > 0:
            content = BytesIO()
            pq.write_table(pa.Table.from_batches(self._batches), content)
            self._files.put(content.getvalue())
        self._batches.clear()
        self._rows = 0


class LineWriter:
    """Writes lines of text into files of a folder, each file when it is full."""

    def __init__(self, objects: ObjectData, folder_uri: str, name: str) -> None:
        self._files = _Files(objects, folder_uri, name, ".txt", "text/plain")
        self._lines: list[str] = []

    def add(self, lines: Sequence[str]) -> None:
        """Append lines."""
        self._lines += lines
        if len(self._lines) >= ROWS_PER_PART:
            self.finish()

    def finish(self) -> None:
        """Write the remaining lines."""
        if self._lines:
            self._files.put("".join(f"{line}\n" for line in self._lines).encode())
        self._lines.clear()


class _Files:
    """The numbered files that one task writes into a folder."""

    def __init__(
        self, objects: ObjectData, folder_uri: str, name: str, suffix: str, content_type: str
    ) -> None:
        self._objects = objects
        self._prefix_uri = f"{folder_uri}{name}-{task_name()}"
        self._suffix = suffix
        self._content_type = content_type
        self._count = 0

    def put(self, content: bytes) -> None:
        uri = f"{self._prefix_uri}-{self._count:04d}{self._suffix}"
        self._objects.put(uri, content, self._content_type)
        self._count += 1


def task_name() -> str:
    """Return the number of the running task among parallel tasks.

    A repeated task has the same number, so its files replace those of the failed attempt.
    """
    context = TaskContext.get()
    assert context is not None, "only tasks have numbers"
    return f"{context.partitionId():05d}"


def write(
    frame: DataFrame,
    folder_uri: str,
    settings: DeploymentSettings,
    rows_per_part: int = ROWS_PER_PART,
) -> None:
    """Write the rows of the frame into the folder, which must have no parts."""

    def stored(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        writer = PartWriter(stores(settings).objects, folder_uri, "part", rows_per_part)
        for batch in batches:
            writer.add(batch)
        writer.finish()
        return iter(())

    frame.mapInArrow(stored, "nothing int").collect()


def uris(objects: ObjectListing, folder_uri: str) -> list[str]:
    """Return the parts in the folder, in order."""
    found = (listed.uri for listed in objects.list_objects(folder_uri))
    return [uri for uri in found if uri.endswith(SUFFIX)]


def read(
    spark: SparkSession, part_uris: Sequence[str], schema: str, settings: DeploymentSettings
) -> DataFrame:
    """Return the rows of the parts."""

    def rows(uri: str) -> Iterator[pa.RecordBatch]:
        table = pq.read_table(BytesIO(stores(settings).objects.get(uri)))
        return iter(table.to_batches(max_chunksize=ROWS_PER_BATCH))

    return spread(spark, part_uris, rows, schema)


def spread(
    spark: SparkSession,
    values: Sequence[T],
    rows: Callable[[T], Iterator[pa.RecordBatch]],
    schema: str,
) -> DataFrame:
    """Return the rows that executors make of the values, in parallel.

    Each task contains all values: a hundred thousand are possible, a hundred million are not.
    """

    def of_each(some: Iterator[T]) -> Iterator[pa.RecordBatch]:
        for value in some:
            yield from rows(value)

    return spread_by_task(spark, values, of_each, schema)


def spread_by_task(
    spark: SparkSession,
    values: Sequence[T],
    rows: Callable[[Iterator[T]], Iterator[pa.RecordBatch]],
    schema: str,
) -> DataFrame:
    """Return the same for rows that are made of all values of a task together."""

    def of_numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return rows(values[each] for batch in batches for each in batch.column(0).to_pylist())

    tasks = max(1, min(len(values), TASKS_PER_CORE * spark.sparkContext.defaultParallelism))
    return spark.range(0, len(values), 1, tasks).mapInArrow(of_numbers, schema)
