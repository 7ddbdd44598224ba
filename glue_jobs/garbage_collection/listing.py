"""The candidates: objects in the repository's data that are old enough."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from glue_jobs import parts
from glue_jobs.session import stores
from graveler.aws.settings import Settings
from graveler.ports import ListedObject, ObjectStore
from graveler.retention.candidates import Territory

# The address is the key under the namespace.
CANDIDATE = "address string, size_bytes long, modified_s long"
CANDIDATE_SCHEMA = pa.schema(
    [("address", pa.string()), ("size_bytes", pa.int64()), ("modified_s", pa.int64())]
)

_ROWS_PER_BATCH = 10_000
_NS_PER_S = 1_000_000_000


def listed(
    spark: SparkSession, objects: ObjectStore, territory: Territory, settings: Settings
) -> tuple[DataFrame, str]:
    """The candidates that the object store lists, and the first folder of data, "" if none.

    Folders of data are listed side by side, by executors.
    """
    data_uri = territory.data_uri
    folders = [each for each in objects.list_folder(data_uri) if isinstance(each, str)]

    def rows(uri: str) -> Iterator[pa.RecordBatch]:
        store = stores(settings).objects
        if uri == data_uri:  # what lies there directly, which is not our doing
            direct = store.list_folder(uri)
            return candidate_batches((o for o in direct if not isinstance(o, str)), territory)
        return candidate_batches(store.list_objects(uri), territory)

    first = min(folders, default="").removeprefix(f"{territory.namespace}/")
    return parts.spread(spark, [data_uri, *folders], rows, CANDIDATE), first


def candidate_batches(
    found: Iterable[ListedObject], territory: Territory
) -> Iterator[pa.RecordBatch]:
    """The candidates among the objects, as CANDIDATE has them."""
    addresses: list[str] = []
    sizes: list[int] = []
    times: list[int] = []
    for each in found:
        address = territory.candidate(each)
        if address is None:
            continue
        addresses.append(address)
        sizes.append(each.size_bytes)
        times.append(each.last_modified_ns // _NS_PER_S)
        if len(addresses) == _ROWS_PER_BATCH:
            yield pa.RecordBatch.from_arrays(
                [pa.array(addresses), pa.array(sizes), pa.array(times)], schema=CANDIDATE_SCHEMA
            )
            addresses, sizes, times = [], [], []
    if addresses:
        yield pa.RecordBatch.from_arrays(
            [pa.array(addresses), pa.array(sizes), pa.array(times)], schema=CANDIDATE_SCHEMA
        )
