"""A repository on the local servers whose garbage is collected by the job, on real Spark."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from graveler.branches.views import ObjectStat
from graveler.engine import Engine
from graveler.model import Commit
from graveler.operations import commits, links, objects, repositories, retention, writes
from graveler.ports import ObjectStore
from graveler.retention.report import CollectionReport
from graveler.retention.rules import make_rules
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.garbage_collection.run import run
from tests.support.servers.spark import IGNORED, UNCLOSED, deployment
from tests.support.servers.stack import BUCKET
from tests.support.worlds.server_world import ServerWorld, open_world

# Marks of the modules that use this one, beside `server`.
WARNINGS = [
    pytest.mark.filterwarnings(IGNORED),
    pytest.mark.filterwarnings(UNCLOSED),
]

DAY_S = 24 * 60 * 60

# Older than the minimum age.
OLD_S = 2 * DAY_S


@pytest.fixture(scope="module")
def world(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[ServerWorld]:
    """The local servers, with tables."""
    with open_world(dynamodb_endpoint, s3_endpoint) as world:
        yield world


@dataclass
class Collected:
    """A repository, and short methods for what users and the job do to it."""

    spark: SparkSession
    world: ServerWorld
    s3_folder: Path
    name: str = ""
    engine: Engine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = self.world.engine()
        self.name = self.name or f"collected-{uuid4().hex[:12]}"
        repositories.create(self.engine, name=self.name, storage_namespace=self.namespace)

    @property
    def namespace(self) -> str:
        return f"s3://{BUCKET}/{self.name}"

    @property
    def objects(self) -> ObjectStore:
        return self.engine.objects

    def upload(self, path: str, content: str = "", branch: str = "main") -> str:
        """The URI of the new object's data."""
        return writes.upload(
            self.engine,
            self.name,
            branch,
            path.encode(),
            read_content=lambda: ((content or path).encode(), "text/plain"),
            metadata={},
        ).physical_address

    def upload_directly(self, path: str) -> str:
        """The URI of the new object's data, which a client puts there itself."""
        where = (self.engine, self.name, "main", path.encode())
        uri = links.get_physical_address(*where)
        checksum = self.objects.put(uri, path.encode(), "text/plain").checksum
        size_bytes = len(path.encode())
        links.link(
            *where,
            links.StoredData(physical_address=uri, checksum=checksum, size_bytes=size_bytes),
        )
        return uri

    def delete(self, path: str, branch: str = "main") -> None:
        writes.delete(self.engine, self.name, branch, path.encode())

    def commit(self, age_s: float = 0, branch: str = "main", **more: Any) -> Commit:
        """A commit that was made so long ago."""
        request = commits.CommitRequest("why", "somebody", date_s=int(time.time() - age_s), **more)
        return commits.commit(self.engine, self.name, branch, request)

    def stat(self, ref: str, path: str) -> ObjectStat:
        return objects.stat(self.engine, self.name, ref, path.encode())

    def set_rules(self, default_days: int, **branch_days: int) -> None:
        rules = make_rules(default_days, branch_days.items())
        retention.set_rules(self.engine, self.name, rules)

    def is_there(self, uri: str) -> bool:
        return self.engine.objects.head(uri) is not None

    def uris(self, folder: str = "") -> list[str]:
        """Everything under a folder of the namespace."""
        listed = self.engine.objects.list_objects(f"{self.namespace}/{folder}")
        return [each.uri for each in listed]

    def grow_old(self, age_s: float = OLD_S) -> None:
        """Make all data, files of tables and uploads look as if stored so long ago."""
        then_s = time.time() - age_s
        bucket = self.s3_folder / BUCKET
        own = (bucket / self.name / "data", bucket / self.name / "_iceberg")
        for folder in (*own, *bucket.glob(f".mpus-*-{self.name}")):
            for path in folder.rglob("*"):
                if path.is_file():
                    os.utime(path, (then_s, then_s))

    def collect(
        self, observe: Callable[[str], None] = lambda _: None, **options: Any
    ) -> CollectionReport:
        """One run of the job."""
        whole = CollectionOptions(repository=self.name, **options)
        (report,) = run(self.spark, deployment(self.world), whole, observe)
        return report
