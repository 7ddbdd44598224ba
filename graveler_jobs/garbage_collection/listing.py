"""The candidates: the repository's own objects that are old enough."""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from graveler.addresses import DATA_PREFIX
from graveler.aws.settings import DeploymentSettings
from graveler.ports import ListedObject, ObjectListing
from graveler.retention.candidates import Territory, holds_candidates
from graveler.times import NS_PER_S
from graveler_jobs import parquet_files
from graveler_jobs.session import stores

# The address is the key under the namespace.
CANDIDATE = "address string, size_bytes long, modified_s long"
CANDIDATE_SCHEMA = pa.schema(
    [("address", pa.string()), ("size_bytes", pa.int64()), ("modified_s", pa.int64())]
)


def listed(
    spark: SparkSession, objects: ObjectListing, territory: Territory, settings: DeploymentSettings
) -> tuple[DataFrame, str]:
    """Return the candidates that the object store lists, and the first partition ("" if none).

    Other folders of `data/` hold no candidates.
    """
    partitions = folders(objects, territory.namespace, DATA_PREFIX)
    first = min(partitions, default="").removeprefix(f"{territory.namespace}/")
    return listed_in(spark, partitions, territory, settings), first


def folders(objects: ObjectListing, namespace: str, root: str) -> list[str]:
    """Return the URIs of the folders in `data/`, or of tables, that hold candidates."""
    prefix = f"{namespace}/"
    found = (each for each in objects.list_folder(prefix + root) if isinstance(each, str))
    return [each for each in found if holds_candidates(each.removeprefix(prefix))]


def listed_in(
    spark: SparkSession, uris: Sequence[str], territory: Territory, settings: DeploymentSettings
) -> DataFrame:
    """Return the candidates in the folders, which executors list in parallel."""

    def rows(uri: str) -> Iterator[pa.RecordBatch]:
        return candidate_batches(stores(settings).objects.list_objects(uri), territory)

    return parquet_files.spread(spark, uris, rows, CANDIDATE)


def candidate_batches(
    listed_by_key: Iterable[ListedObject], territory: Territory
) -> Iterator[pa.RecordBatch]:
    """Yield the candidates among the objects, as CANDIDATE rows."""
    addresses: list[str] = []
    sizes: list[int] = []
    times: list[int] = []
    for address, each in territory.candidates(listed_by_key):
        addresses.append(address)
        sizes.append(each.size_bytes)
        times.append(each.last_modified_ns // NS_PER_S)
        if len(addresses) == parquet_files.ROWS_PER_BATCH:
            yield pa.RecordBatch.from_arrays(
                [pa.array(addresses), pa.array(sizes), pa.array(times)], schema=CANDIDATE_SCHEMA
            )
            addresses, sizes, times = [], [], []
    if addresses:
        yield pa.RecordBatch.from_arrays(
            [pa.array(addresses), pa.array(sizes), pa.array(times)], schema=CANDIDATE_SCHEMA
        )
