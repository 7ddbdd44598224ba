"""The candidates: the repository's own objects that are old enough."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from graveler.addresses import is_partition
from graveler.aws.settings import DeploymentSettings
from graveler.ports import ListedObject, ObjectListing
from graveler.retention.candidates import Territory
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

    Executors list partitions in parallel. Other folders of `data/` hold no candidates.
    """
    prefix = f"{territory.namespace}/"
    folders = (each for each in objects.list_folder(territory.data_uri) if isinstance(each, str))
    partitions = [each for each in folders if is_partition(each.removeprefix(prefix))]

    def rows(uri: str) -> Iterator[pa.RecordBatch]:
        return candidate_batches(stores(settings).objects.list_objects(uri), territory)

    first = min(partitions, default="").removeprefix(prefix)
    return parquet_files.spread(spark, partitions, rows, CANDIDATE), first


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
