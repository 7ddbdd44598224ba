"""Candidates from an S3 Inventory report, for buckets that take hours to list.

A report is a manifest, which names the files and the columns of CSV files; keys in CSV are
URL-encoded. The report may be a day old. Newer objects are too young to be deleted, and deleting a
missing object is harmless. Source: "Amazon S3 Inventory" in the S3 user guide.
"""

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from urllib.parse import unquote_plus

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody names them

from graveler.addresses import OWN_ADDRESS_PATTERN, PARTITION_PATTERN
from graveler.aws.settings import DeploymentSettings
from graveler.errors import CorruptDataError, InvalidInputError
from graveler.imports.inventory import Inventory, parse_manifest
from graveler.layout import METADATA_FOLDER
from graveler.ports import ObjectData
from graveler.retention.candidates import Territory, partition_of
from graveler_jobs import parquet_files
from graveler_jobs.garbage_collection.listing import CANDIDATE, CANDIDATE_SCHEMA
from graveler_jobs.session import stores

_TIME = pa.timestamp("ms", tz="UTC")

# The columns to read: by the name in CSV, the name in Parquet and the type.
_COLUMNS = {
    "Key": ("key", pa.string()),
    "Size": ("size", pa.int64()),
    "LastModifiedDate": ("last_modified_date", _TIME),
    "IsLatest": ("is_latest", pa.bool_()),
    "IsDeleteMarker": ("is_delete_marker", pa.bool_()),
}
_NEEDED = ("Key", "Size", "LastModifiedDate")


def read_manifest(objects: ObjectData, uri: str, namespace: str) -> Inventory:
    """Return the report of the manifest at uri.

    Raises:
        InvalidInputError: it lists another bucket, has an unknown format, or lacks columns.
        CorruptDataError: it is not a manifest.
        GoneError: it does not exist.
    """
    try:
        inventory = parse_manifest(objects.get(uri))
    except ValueError as error:
        raise CorruptDataError(f"{uri} is no manifest of an S3 Inventory report") from error
    if not f"{namespace}/".startswith(f"s3://{inventory.bucket}/"):
        raise InvalidInputError(f"{uri} lists bucket {inventory.bucket}, not that of {namespace}")
    if inventory.format not in _READERS:
        raise InvalidInputError(f"{uri} is in {inventory.format}: CSV and Parquet can be read")
    missing = [
        name for name in _NEEDED if inventory.format == "CSV" and name not in inventory.columns
    ]
    if missing:
        raise InvalidInputError(f"{uri} lacks {', '.join(missing)}")
    # A file that is named twice lists its objects once.
    return replace(inventory, files=tuple(dict(inventory.files).items()))


def inventoried(
    spark: SparkSession, inventory: Inventory, territory: Territory, settings: DeploymentSettings
) -> DataFrame:
    """Return the candidates that the report lists.

    Any file of the report may prove that a partition is a namespace. So each file's rows include
    such partitions, as addresses that end in a slash. The driver removes their candidates.
    """

    def rows(file: tuple[str, str]) -> Iterator[pa.RecordBatch]:
        table = listed_in(stores(settings).objects, inventory, file)
        for found in (candidates_among, namespaces_among):
            made = found(table, inventory.bucket, territory)
            yield from made.to_batches(max_chunksize=parquet_files.ROWS_PER_BATCH)

    # Checkpointed, because the rows are used twice.
    found = parquet_files.spread(spark, inventory.files, rows, CANDIDATE).localCheckpoint()
    is_folder = F.col("address").endswith("/")
    folders = sorted({row.address for row in found.where(is_folder).collect()})
    if not folders:
        return found
    partition = F.concat(F.substring_index("address", "/", 2), F.lit("/"))
    return found.where(~is_folder & ~partition.isin(folders))


def listed_in(objects: ObjectData, inventory: Inventory, file: tuple[str, str]) -> pa.Table:
    """Return the current objects that one file of the report lists.

    Raises:
        CorruptDataError: the file does not match the manifest.
    """
    uri, md5 = file
    content = objects.get(uri)
    if hashlib.md5(content, usedforsecurity=False).hexdigest() != md5:
        raise CorruptDataError(f"{uri} is not the file that the manifest names: its MD5 differs")
    try:
        table = _READERS[inventory.format](content, inventory.columns)
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        raise CorruptDataError(f"{uri} is no file of an S3 Inventory report: {error}") from error
    if "IsLatest" in table.column_names:
        table = table.filter(pc.field("IsLatest"))
    if "IsDeleteMarker" in table.column_names:
        table = table.filter(~pc.field("IsDeleteMarker"))
    return table


def _csv_table(content: bytes, columns: tuple[str, ...]) -> pa.Table:
    wanted = [name for name in columns if name in _COLUMNS]
    table = pacsv.read_csv(
        BytesIO(gzip.decompress(content)),
        read_options=pacsv.ReadOptions(column_names=list(columns)),
        convert_options=pacsv.ConvertOptions(
            include_columns=wanted, column_types={name: _COLUMNS[name][1] for name in wanted}
        ),
    )
    keys = pa.array(map(unquote_plus, table.column("Key").to_pylist()), pa.string())
    return table.set_column(table.column_names.index("Key"), "Key", keys)


def _parquet_table(content: bytes, _columns: tuple[str, ...]) -> pa.Table:
    file = pq.ParquetFile(BytesIO(content))
    found = {name: of for name, of in _COLUMNS.items() if of[0] in file.schema_arrow.names}
    table = file.read(columns=[column for column, _ in found.values()])
    return pa.table({name: table.column(of[0]).cast(of[1]) for name, of in found.items()})


_READERS: Mapping[str, Callable[[bytes, tuple[str, ...]], pa.Table]] = {
    "CSV": _csv_table,
    "Parquet": _parquet_table,
}


def _has_shape(
    key: pc.Expression, bucket: str, territory: Territory, pattern: str
) -> pc.Expression:
    """Return the expression of whether a key under the namespace matches the pattern."""
    prefix = f"{territory.namespace}/".removeprefix(f"s3://{bucket}/")
    return pc.match_substring_regex(key, f"^{re.escape(prefix)}{pattern}")


def namespaces_among(table: pa.Table, bucket: str, territory: Territory) -> pa.Table:
    """Return the partitions that are or were namespaces, as CANDIDATE rows that end in a slash."""
    key = pc.field("Key")
    found = table.filter(
        _has_shape(key, bucket, territory, f"{PARTITION_PATTERN}{METADATA_FOLDER}")
    )
    keys = (f"s3://{bucket}/{each}" for each in found.column("Key").to_pylist())
    folders = {partition_of(uri.removeprefix(f"{territory.namespace}/")) for uri in keys}
    columns = (sorted(folders), [0] * len(folders), [0] * len(folders))
    arrays = [pa.array(each, of.type) for each, of in zip(columns, CANDIDATE_SCHEMA, strict=True)]
    return pa.table(arrays, schema=CANDIDATE_SCHEMA)


def candidates_among(table: pa.Table, bucket: str, territory: Territory) -> pa.Table:
    """Return the rows that Territory.candidate accepts, computed column by column."""
    key = pc.field("Key")
    bucket_uri = f"s3://{bucket}/"
    cutoff = pa.scalar(territory.cutoff_ns // 10**6, pa.int64()).cast(_TIME)
    wanted = _has_shape(key, bucket, territory, f"{OWN_ADDRESS_PATTERN}$")
    wanted &= pc.field("LastModifiedDate") < cutoff
    for namespace in territory.foreign:
        wanted &= ~pc.starts_with(key, f"{namespace}/".removeprefix(bucket_uri))
    table = table.filter(wanted)
    start = len(f"{territory.namespace}/".removeprefix(bucket_uri))
    times = table.column("LastModifiedDate").cast(pa.timestamp("s", tz="UTC"), safe=False)
    return pa.table(
        [
            pc.utf8_slice_codeunits(table.column("Key"), start),
            table.column("Size"),
            times.cast(pa.int64()),
        ],
        schema=CANDIDATE_SCHEMA,
    )
