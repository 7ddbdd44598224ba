"""A repository to collect: real ranges and refs on local servers, and an inventory of its data.

The objects themselves do not exist: no step reads them, and deleting a missing object costs the
same. Listing a million objects on the local S3 server would take five minutes, and be no measure of
S3.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq

from bench.dataset import Dataset
from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.model import EMPTY_METARANGE, Change, MetaRangeID
from graveler.operations import commits, repositories
from graveler.retention.liveness import live_addresses
from graveler_embedded.stores import BUCKET
from graveler_jobs.session import JobDeployment

REPOSITORY = "collected"

# Of a thousand objects in the data, ten are garbage.
GARBAGE_EVERY = 100
# Neighbouring objects that each commit after the first overwrites.
CHANGES_PER_COMMIT = 20

_ROWS_PER_FILE = 500_000
_MODIFIED_MS = 1_700_000_000_000


class Lake:
    """The repository: one commit of so many objects, then further commits on demand."""

    def __init__(self, made: JobDeployment, objects: int, name: str = REPOSITORY) -> None:
        self.name = name
        self._engine = made.engine
        self._dataset = Dataset(objects)
        self._commits = 0
        self.namespace = f"s3://{BUCKET}/{name}"
        self.manifest_uri = f"s3://{BUCKET}/inventory/{name}/manifest.json"
        self._inventory = _Inventory(made, self.namespace, self.manifest_uri)
        repositories.create(self._engine, name=name, storage_namespace=self.namespace)
        self._content = self._metarange(EMPTY_METARANGE)
        self._commit(self._recorded(self._dataset.records()))
        self._inventory.finish()

    def _metarange(self, metarange_id: MetaRangeID) -> MetaRange:
        return MetaRange(self._engine.committed, self.namespace, metarange_id)

    def _recorded(self, records: Iterable[tuple[bytes, bytes]]) -> Iterator[Change]:
        """Yield the records, and add each to the inventory."""
        for key, value in records:
            for address in live_addresses(self.namespace, [value]):
                self._inventory.add(address)
            yield key, value

    def _commit(self, changes: Iterable[Change]) -> None:
        applied = apply_changes(self._engine.committed, self._content, changes)
        self._content = self._metarange(applied.metarange_id)
        request = commits.CommitRequest(
            f"{self._commits}", "bench", source_metarange=applied.metarange_id
        )
        commits.commit(self._engine, self.name, "main", request)
        self._commits += 1

    def commit_up_to(self, count: int) -> None:
        """Commit until there are so many commits, each with changes in another place."""
        objects = self._dataset.objects
        while self._commits < count:
            # The stride has no divisor in common with any size, so places do not repeat.
            start = self._commits * 7_368_787 % max(1, objects - CHANGES_PER_COMMIT)
            numbers = range(start, min(objects, start + CHANGES_PER_COMMIT))
            self._commit(self._dataset.changes(numbers, self._commits))


class _Inventory:
    """An S3 Inventory report of the repository's data, in Parquet."""

    def __init__(self, made: JobDeployment, namespace: str, manifest_uri: str) -> None:
        self._objects = made.engine.objects
        self._prefix = namespace.removeprefix(f"s3://{BUCKET}/")
        self._manifest_uri = manifest_uri
        self._keys: list[str] = []
        self._count = 0
        self._files: list[dict[str, object]] = []

    def add(self, address: str) -> None:
        """Add an object, and from time to time a piece of garbage."""
        self._keys.append(f"{self._prefix}/{address}")
        self._count += 1
        if self._count % GARBAGE_EVERY == 0:
            folder = self._count // (1_000 * GARBAGE_EVERY)
            self._keys.append(f"{self._prefix}/data/{folder:019}0/{self._count:019}0")
        if len(self._keys) >= _ROWS_PER_FILE:
            self._write()

    def _write(self) -> None:
        content = BytesIO()
        count = len(self._keys)
        table = pa.table(
            {
                "key": self._keys,
                "size": pa.array([1 << 20] * count, pa.int64()),
                "last_modified_date": pa.array(
                    [_MODIFIED_MS] * count, pa.timestamp("ms", tz="UTC")
                ),
            }
        )
        pq.write_table(table, content)
        key = f"inventory/{self._prefix}/{len(self._files):05}.parquet"
        self._objects.put(f"s3://{BUCKET}/{key}", content.getvalue(), "a/b")
        checksum = hashlib.md5(content.getvalue(), usedforsecurity=False).hexdigest()
        self._files.append({"key": key, "MD5checksum": checksum})
        self._keys.clear()

    def finish(self) -> None:
        """Write the remaining rows and the manifest."""
        if self._keys:
            self._write()
        manifest = {
            "sourceBucket": BUCKET,
            "destinationBucket": f"arn:aws:s3:::{BUCKET}",
            "fileFormat": "Parquet",
            "fileSchema": "key, size, last_modified_date",
            "files": self._files,
        }
        self._objects.put(self._manifest_uri, json.dumps(manifest).encode(), "application/json")
