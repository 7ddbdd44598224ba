"""Files of Iceberg tables that are alive: those that live metadata files name.

Theory of operation. An entry keeps a table's metadata file alive, as it keeps any object's data.
The metadata name a manifest list for each snapshot, a list names manifests, and a manifest names
files of data and deletes. All these are alive. Executors read each file once, whichever tables,
branches and commits share it. What cannot be read ends the run: its files could not be kept. But a
table whose metadata file is missing was collected, and names nothing.

A commit to a table replaces one live metadata file by another one. The new one names old files only
if the one before does, so it makes no difference which of the two a scan sees (ADR 34). All others
that a commit adds are younger than the cutoff for files of tables.

Formats: https://iceberg.apache.org/spec/#manifests and `#manifest-lists`.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody names them

from graveler.addresses import METADATA_FILE_PATTERN
from graveler.aws.settings import DeploymentSettings
from graveler.errors import (
    BucketRefusedError,
    CorruptDataError,
    GoneError,
    InvalidInputError,
    in_file,
)
from graveler.iceberg.files import FileKind, named_files
from graveler.layout import TABLES_PREFIX
from graveler.operations.tables.metadata import decoded
from graveler.threads import begun_ahead
from graveler_jobs import parquet_files
from graveler_jobs.garbage_collection.files_ahead import FILES_AHEAD
from graveler_jobs.session import stores

# A file that another file names.
_NAMED = "kind string, uri string"
_NAMED_SCHEMA = pa.schema([("kind", pa.string()), ("uri", pa.string())])

# Of an entry in a manifest: the file is no longer part of the snapshot that wrote the manifest.
_DELETED = 2

# Hadoop's clients write the first two for S3.
_SCHEME = re.compile("^s3[an]?://")

_REMEDY = "a live table needs it: restore it, or drop the table wherever it is alive"

_Name = tuple[str, str]


def ranges_with_tables(ranges: DataFrame) -> DataFrame:
    """Return those of the ranges (RANGE) that may hold entries of tables."""
    after = TABLES_PREFIX[:-1] + bytes([TABLES_PREFIX[-1] + 1])
    is_there = (F.col("max_key") >= F.lit(TABLES_PREFIX)) & (F.col("min_key") < F.lit(after))
    return ranges.where(is_there)


def alive(named: DataFrame, namespace: str, settings: DeploymentSettings) -> DataFrame:
    """Return the addresses that the metadata files among the named addresses keep alive.

    Raises:
        CorruptDataError: a file cannot be read, or is not what it should be.
    """
    found = named.where(F.col("address").rlike(f"(?s)^{METADATA_FILE_PATTERN}$"))
    uri = F.concat(F.lit(f"{namespace}/"), F.col("address")).alias("uri")
    metadata = found.select(uri).localCheckpoint()
    if metadata.isEmpty():
        return found
    of_tables = _named_by(metadata, _of_metadata, settings)
    of_lists = _named_by(_of_kind(of_tables, FileKind.MANIFEST_LIST), _of_list, settings)
    manifests = _of_kind(of_tables.union(of_lists), FileKind.MANIFEST)
    files = of_tables.union(of_lists).union(_named_by(manifests, _of_manifest, settings))
    # Also objects in `data/`: PyIceberg adds files where they are.
    inside = files.where(F.col("uri").startswith(f"{namespace}/"))
    address = F.expr(f"substring(uri, {len(namespace) + 2})").alias("address")
    return inside.select(address)


def _of_kind(named: DataFrame, kind: FileKind) -> DataFrame:
    return named.where(F.col("kind") == kind.value).select("uri")


def _named_by(
    uris: DataFrame, names: Callable[[bytes], Iterable[_Name]], settings: DeploymentSettings
) -> DataFrame:
    """Return what `names` finds in the content of each file, which is read once."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        objects = stores(settings).objects
        wanted = (uri for batch in batches for uri in batch.column("uri").to_pylist())
        with ThreadPoolExecutor(FILES_AHEAD) as pool:
            for uri, content in begun_ahead(pool, objects.get, wanted, FILES_AHEAD):
                found = pa.Table.from_pylist(_found(uri, content, names), _NAMED_SCHEMA)
                yield from found.to_batches(max_chunksize=parquet_files.ROWS_PER_BATCH)

    # Without a number, Spark gives so few bytes to one task, whatever it takes to read the files.
    tasks = parquet_files.TASKS_PER_CORE * uris.sparkSession.sparkContext.defaultParallelism
    each_once = uris.dropDuplicates().repartition(tasks)
    return each_once.mapInArrow(rows, _NAMED).localCheckpoint()


def _found(
    uri: str, content: Future[bytes], names: Callable[[bytes], Iterable[_Name]]
) -> list[dict[str, str]]:
    with in_file(uri):
        try:
            read = content.result()
        except GoneError as error:
            # As a branch at an expired commit has it: a collected table, which nobody can read.
            if names is _of_metadata:
                return []
            raise CorruptDataError(f"it is missing: {_REMEDY}") from error
        except BucketRefusedError:
            raise
        except InvalidInputError as error:  # no URI of S3
            raise CorruptDataError(f"{error}: {_REMEDY}") from error
        try:
            return [
                {"kind": kind, "uri": _SCHEME.sub("s3://", named)} for kind, named in names(read)
            ]
        except Exception as error:  # fastavro has no class for what is wrong with a file
            raise CorruptDataError(f"it cannot be understood, {error!r}: {_REMEDY}") from error


def _of_metadata(content: bytes) -> Iterable[_Name]:
    return named_files(decoded(content))


def _of_list(content: bytes) -> Iterable[_Name]:
    records = _records(content, {"manifest_path"})
    return ((FileKind.MANIFEST, each["manifest_path"]) for each in records)


def _of_manifest(content: bytes) -> Iterable[_Name]:
    for entry in _records(content, {"status", "data_file", "file_path"}):
        if entry["status"] != _DELETED:
            yield FileKind.OTHER, entry["data_file"]["file_path"]


def _records(avro: bytes, names: Container[str]) -> Iterator[Any]:
    """Yield the records with the fields of these names only.

    Python has not all values of the others: a partition may have the year 10000.
    """
    written: Any = fastavro.reader(BytesIO(avro)).writer_schema
    yield from fastavro.reader(BytesIO(avro), _with_fields(written, names))


def _with_fields(record: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    fields = [{**each} for each in record["fields"] if each["name"] in names]
    for each in fields:
        # DuckDB writes {"type": "string"} where others write "string".
        if isinstance(each["type"], dict) and "fields" in each["type"]:
            each["type"] = _with_fields(each["type"], names)
    return {**record, "fields": fields}
