"""Deleting: by executors, a thousand objects with each request, and telling what was deleted."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from glue_jobs import parts
from glue_jobs.garbage_collection.listing import CANDIDATE_SCHEMA
from glue_jobs.session import stores
from graveler.aws.settings import Settings
from graveler.errors import CorruptDataError
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.ports import ObjectStore
from graveler.retention.candidates import Territory
from graveler.retention.report import Report

_TALLY = "objects long, size_bytes long, failed long, failure string"
_TALLY_SCHEMA = pa.schema(
    [
        ("objects", pa.int64()),
        ("size_bytes", pa.int64()),
        ("failed", pa.int64()),
        ("failure", pa.string()),
    ]
)

# S3 answers for every object of a request; those that it could not delete are tried again.
_TRIES = 4
_FIRST_PAUSE_S = 0.2


def sweep(
    doomed: DataFrame,
    territory: Territory,
    folder_uri: str,
    number: int,
    deletes_per_s: int,
    settings: Settings,
    report: Report,
) -> None:
    """Delete the objects of the frame (CANDIDATE), and tell the report.

    The folder gets the addresses that were deleted: `deleted/` as Parquet, `deleted.text/` as
    lines. number tells the rounds of a run apart.
    """
    tasks = doomed.sparkSession.sparkContext.defaultParallelism
    pause_s = tasks * DELETE_OBJECTS_MAX / deletes_per_s if deletes_per_s else 0.0

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        objects = stores(settings).objects
        writer = parts.PartWriter(objects, f"{folder_uri}deleted/", f"round-{number:04d}")
        lines = parts.LineWriter(objects, f"{folder_uri}deleted.text/", f"round-{number:04d}")
        for batch in thousands(batches):
            deleted, problems = delete(objects, territory, batch, time.sleep)
            writer.add(deleted)
            lines.add(deleted.column("address").to_pylist())
            yield _tally(deleted, problems)
            if pause_s:
                time.sleep(pause_s)
        writer.finish()
        lines.finish()

    for objects, size_bytes, failed, failure in doomed.mapInArrow(rows, _TALLY).collect():
        report.deleted.add(objects, size_bytes)
        report.failed += failed
        report.failure = report.failure or failure


def thousands(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows in batches of as many as one request deletes."""
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


def delete(
    objects: ObjectStore,
    territory: Territory,
    batch: pa.RecordBatch,
    sleep: Callable[[float], None],
) -> tuple[pa.RecordBatch, Mapping[str, str]]:
    """Delete the batch; the rows that were deleted, and why others were not.

    Raises:
        CorruptDataError: an address is none that the run may delete; nothing was deleted.
    """
    addresses = batch.column("address").to_pylist()
    for address in addresses:
        if not territory.holds(address):
            raise CorruptDataError(
                f"{address} is marked, and is not an object of the repository's own in "
                f"{territory.data_uri}: make a new mark"
            )
    uris = {f"{territory.namespace}/{address}": address for address in addresses}
    problems = objects.delete_many(list(uris))
    pause_s = _FIRST_PAUSE_S
    for _ in range(_TRIES - 1):
        if not problems:
            break
        sleep(pause_s)
        pause_s *= 2
        problems = objects.delete_many(list(problems))
    failed = {uris[uri] for uri in problems}
    gone = pa.array([address not in failed for address in addresses], pa.bool_())
    return batch.filter(gone), problems


def _tally(deleted: pa.RecordBatch, problems: Mapping[str, str]) -> pa.RecordBatch:
    failure = next((f"{uri}: {problem}" for uri, problem in problems.items()), "")
    size_bytes = sum(deleted.column("size_bytes").to_pylist())
    columns = [[deleted.num_rows], [size_bytes], [len(problems)], [failure]]
    return pa.RecordBatch.from_arrays([pa.array(c) for c in columns], schema=_TALLY_SCHEMA)
