"""Live addresses: those of staged entries, and of the ranges of active commits.

Ranges are immutable and shared by many commits. The metaranges of all active commits are read
first, each block that they share once in a task, and then each of their ranges once.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter

import pyarrow as pa
from pyspark import Accumulator
from pyspark.sql import DataFrame, SparkSession

from graveler.aws.settings import DeploymentSettings
from graveler.model import MetaRangeID, RangeHeader, StagingToken
from graveler.operations.collection_reads import staged_addresses
from graveler.retention.ranges import MetarangeReader, RangeReader
from graveler_jobs import parquet_files
from graveler_jobs.garbage_collection.files_ahead import FilesAhead
from graveler_jobs.session import stores

ADDRESS = "address string"
_ADDRESS_SCHEMA = pa.schema([("address", pa.string())])

# A range, described by its metaranges.
RANGE = "id string, min_key binary, max_key binary, records long"
_RANGE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("min_key", pa.binary()),
        ("max_key", pa.binary()),
        ("records", pa.int64()),
    ]
)


def staged(
    spark: SparkSession,
    tokens: Sequence[StagingToken],
    namespace: str,
    settings: DeploymentSettings,
) -> DataFrame:
    """Return the addresses in the namespace's data that the tokens' entries keep alive."""

    def rows(token: StagingToken) -> Iterator[pa.RecordBatch]:
        return _address_batches(staged_addresses(stores(settings).staging, namespace, token))

    return parquet_files.spread(spark, tokens, rows, ADDRESS)


def ranges(
    spark: SparkSession,
    metarange_ids: Iterable[MetaRangeID],
    namespace: str,
    settings: DeploymentSettings,
) -> DataFrame:
    """Return the ranges of the metaranges, each once."""

    def rows(some: Iterator[MetaRangeID]) -> Iterator[pa.RecordBatch]:
        files = FilesAhead(stores(settings).files.read_all, namespace)
        reader = MetarangeReader(files.read, namespace)
        rest = (header for each in files.before(some, str) for header in reader.headers(each))
        while held := list(islice(rest, parquet_files.ROWS_PER_BATCH)):
            columns = (
                [header.id for header in held],
                [header.min_key for header in held],
                [header.max_key for header in held],
                [header.count for header in held],
            )
            arrays = [
                pa.array(values, of.type) for values, of in zip(columns, _RANGE_SCHEMA, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=_RANGE_SCHEMA)

    # A metarange without objects has the empty ID and no file.
    ids = sorted({each for each in metarange_ids if each})
    return parquet_files.spread_by_task(spark, ids, rows, RANGE).dropDuplicates(["id"])


def committed(
    found: DataFrame,
    namespace: str,
    settings: DeploymentSettings,
    ranges_read: Accumulator[int],
    records_read: Accumulator[int],
) -> DataFrame:
    """Return the addresses in the namespace's data that the entries of the ranges keep alive."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files = FilesAhead(stores(settings).files.read_all, namespace)
        reader = RangeReader(files.read, namespace)
        headers = (
            RangeHeader(row["id"], row["min_key"], row["max_key"], row["records"], 0)
            for batch in batches
            for row in batch.to_pylist()
        )
        for header in files.before(headers, attrgetter("id")):
            yield from _address_batches(reader.addresses(header))
            ranges_read.add(1)
            records_read.add(header.count)

    # After sorting, versions of one range are neighbours: the reader skips their equal blocks. They
    # share a first key, so the ID lets several tasks read the versions that many branches have.
    tasks = parquet_files.TASKS_PER_CORE * found.sparkSession.sparkContext.defaultParallelism
    sorted_ = found.repartitionByRange(tasks, "min_key", "id").sortWithinPartitions("min_key", "id")
    return sorted_.mapInArrow(rows, ADDRESS)


def _address_batches(addresses: Iterable[str]) -> Iterator[pa.RecordBatch]:
    rest = iter(addresses)
    while held := list(islice(rest, parquet_files.ROWS_PER_BATCH)):
        yield pa.RecordBatch.from_arrays([pa.array(held)], schema=_ADDRESS_SCHEMA)
