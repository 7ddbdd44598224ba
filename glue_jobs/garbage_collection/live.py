"""What is alive: the addresses of staged entries, and of the ranges of active commits.

Ranges are immutable and shared by many commits: the metaranges of all active commits are read,
and then every range that any of them has, once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark import Accumulator
from pyspark.sql import DataFrame, SparkSession

from glue_jobs import parts
from glue_jobs.session import stores
from graveler.aws.settings import Settings
from graveler.entries import record_range
from graveler.errors import CorruptDataError
from graveler.operations.garbage import staged_addresses
from graveler.retention.liveness import live_addresses
from graveler.sstable import Table

ADDRESS = "address string"
_ADDRESS_SCHEMA = pa.schema([("address", pa.string())])

# A range as its metaranges describe it.
RANGE = "id string, min_key binary, max_key binary, records long"
_RANGE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("min_key", pa.binary()),
        ("max_key", pa.binary()),
        ("records", pa.int64()),
    ]
)

_ROWS_PER_BATCH = 10_000

# A committed file's content, by namespace and ID.
ReadFile = Callable[[str, str], bytes]


def staged(
    spark: SparkSession, tokens: Sequence[str], namespace: str, settings: Settings
) -> DataFrame:
    """The addresses in the namespace's data that the tokens' entries keep alive."""

    def rows(token: str) -> Iterator[pa.RecordBatch]:
        return _address_batches(staged_addresses(stores(settings).staging, namespace, token))

    return parts.spread(spark, tokens, rows, ADDRESS)


def ranges(
    spark: SparkSession, metarange_ids: Iterable[str], namespace: str, settings: Settings
) -> DataFrame:
    """The ranges of the metaranges, each once."""

    def rows(metarange_id: str) -> Iterator[pa.RecordBatch]:
        yield _range_batch(stores(settings).files.read_all, namespace, metarange_id)

    # The empty ID is that of no objects at all, and of no file.
    ids = sorted({each for each in metarange_ids if each})
    return parts.spread(spark, ids, rows, RANGE).dropDuplicates(["id"])


def _range_batch(read_file: ReadFile, namespace: str, metarange_id: str) -> pa.RecordBatch:
    """The ranges of one metarange.

    Raises:
        CorruptDataError: the file is missing, or not what was written.
    """
    name = f"{namespace}/_lakefs/{metarange_id}"
    table = Table.from_bytes(name, read_file(namespace, metarange_id))
    try:
        headers = [record_range(value) for _, value in table.scan()]
    except CorruptDataError as error:
        raise _in_file(name, error) from error
    return pa.RecordBatch.from_arrays(
        [
            pa.array([header.id for header in headers], pa.string()),
            pa.array([header.min_key for header in headers], pa.binary()),
            pa.array([header.max_key for header in headers], pa.binary()),
            pa.array([header.count for header in headers], pa.int64()),
        ],
        schema=_RANGE_SCHEMA,
    )


def committed(
    found: DataFrame,
    namespace: str,
    settings: Settings,
    ranges_read: Accumulator[int],
    records_read: Accumulator[int],
) -> DataFrame:
    """The addresses in the namespace's data that the entries of the ranges keep alive."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        read_file = stores(settings).files.read_all
        for batch in batches:
            for row in batch.to_pylist():
                values = _range_values(read_file, namespace, row)
                try:
                    yield from _address_batches(live_addresses(namespace, values))
                except CorruptDataError as error:
                    raise _in_file(f"{namespace}/_lakefs/{row['id']}", error) from error
                ranges_read.add(1)
                records_read.add(row["records"])

    return found.mapInArrow(rows, ADDRESS)


def _range_values(read_file: ReadFile, namespace: str, row: dict[str, object]) -> Iterator[bytes]:
    """The values of the range that the row of RANGE describes.

    Raises:
        CorruptDataError: the file is missing, not what was written, or another range's.
    """
    name = f"{namespace}/_lakefs/{row['id']}"
    table = Table.from_bytes(name, read_file(namespace, str(row["id"])))
    first = last = None
    count = 0
    for block in table.blocks():
        yield from block.values
        first = first or block.keys[0]
        last = block.keys[-1]
        count += len(block.keys)
    if (first, last, count) != (row["min_key"], row["max_key"], row["records"]):
        raise CorruptDataError(
            f"{name} holds {count} records from {first!r} to {last!r}; its metarange says "
            f"{row['records']} from {row['min_key']!r} to {row['max_key']!r}"
        )


def _address_batches(addresses: Iterable[str]) -> Iterator[pa.RecordBatch]:
    held: list[str] = []
    for address in addresses:
        held.append(address)
        if len(held) == _ROWS_PER_BATCH:
            yield pa.RecordBatch.from_arrays([pa.array(held)], schema=_ADDRESS_SCHEMA)
            held = []
    if held:
        yield pa.RecordBatch.from_arrays([pa.array(held)], schema=_ADDRESS_SCHEMA)


def _in_file(name: str, error: CorruptDataError) -> CorruptDataError:
    """The error, with the name of the file that it is in."""
    known = error.message.startswith(name)
    return error if known else CorruptDataError(f"{name}: {error.message}")
