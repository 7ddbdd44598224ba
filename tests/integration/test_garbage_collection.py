"""Garbage is collected by real Spark from DynamoDB Local and S3Proxy: the documentation's example."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from graveler.aws.dynamodb.models import OUTBOX, partition_of
from graveler.branches.data import read_content
from graveler.branches.lookup import read_repository
from graveler.errors import GoneError, NotFoundError
from graveler.model import Event
from graveler.operations import branches, links, presigned_uploads, repositories
from graveler.retention.report import CollectionReport, text
from graveler_jobs.session import join_by_sorting
from tests.support.servers.spark import spark, spark_session
from tests.support.worlds.addresses import address, partition
from tests.support.worlds.collected import WARNINGS, Collected, world
from tests.support.worlds.server_world import ServerWorld

pytestmark = [pytest.mark.server, *WARNINGS]

__all__ = ["spark", "spark_session", "world"]

# The day of the documentation's run; and what is committed when.
TODAY = datetime(2022, 3, 31, 12, tzinfo=UTC)
BEFORE_DEV = ("02-27", "03-01", "03-09", "03-12")
MAIN = ("03-18", "03-26", "03-28")

# What lies under data/ and is not the repository's own.
FOREIGN = {
    "inside": f"data/inside/{address(1)}",
    "directly": "data/not-ours",
    "in a folder": "data/2019/part-0.parquet",
    "in a partition": f"{partition(1)}part-0.parquet",
    "of a deleted repository": f"{partition(100)}{address(1)}",
    "its metadata": f"{partition(100)}_lakefs/dummy",
    "beside its metadata": address(100),
    "other upload": "data/p/somebody-elses-parts",
}
DEV = ("03-14", "03-20", "03-23", "03-29")


def age_s(day: str) -> float:
    return (TODAY - datetime.fromisoformat(f"2022-{day}T10:00+00:00")).total_seconds()


@dataclass
class Example:
    """The example's repository, marked, then brought back to life in part, then swept."""

    lake: Collected
    uris: dict[str, str] = field(default_factory=dict)
    before: set[str] = field(default_factory=set)
    marked: CollectionReport | None = None
    after_mark: set[str] = field(default_factory=set)
    swept: CollectionReport | None = None
    after_sweep: set[str] = field(default_factory=set)

    def commit(self, day: str, branch: str = "main") -> None:
        """A commit that adds an object, and replaces the one that every commit replaces."""
        self.uris[f"shared {branch} {day}"] = self.lake.upload("shared", f"{branch} {day}", branch)
        self.uris[f"added {branch} {day}"] = self.lake.upload(f"{branch} {day}", branch=branch)
        self.lake.commit(age_s(day), branch)

    def is_there(self, *names: str) -> list[bool]:
        return [self.uris[name] in self.after_sweep for name in names]


@pytest.fixture(scope="module")
def example(spark_session: SparkSession, world: ServerWorld, s3_folder: Path) -> Iterator[Example]:
    made = Example(Collected(spark_session, world, s3_folder))
    lake = made.lake
    for day in BEFORE_DEV:
        made.commit(day)
    branches.create(lake.engine, lake.name, name="dev", source="main")
    for day in DEV:
        made.commit(day, "dev")
    lake.delete("main 02-27")
    for day in MAIN:
        made.commit(day)
    lake.set_rules(14, main=21, dev=7)
    imported = Collected(spark_session, world, s3_folder, f"{lake.name}2").upload("imported")
    for path, uri in (("imported", imported), ("imported too", f"{lake.namespace}/root")):
        lake.objects.put(uri, b"imported", "a/b")
        links.stage(
            lake.engine,
            lake.name,
            "main",
            path.encode(),
            links.StoredData(physical_address=uri, checksum="any", size_bytes=1),
        )
        made.uris[path] = uri
    made.uris["overwritten before any commit"] = lake.upload("staged", "first")
    made.uris["staged"] = lake.upload("staged", "second")
    made.uris["deleted before any commit"] = lake.upload("deleted")
    lake.delete("deleted")
    never_linked = links.get_physical_address(lake.engine, lake.name, "main", b"never")
    lake.objects.put(never_linked, b"abandoned", "a/b")
    made.uris["abandoned upload"] = never_linked
    made.uris["linked and overwritten"] = lake.upload_directly("linked")
    made.uris["linked"] = lake.upload_directly("linked")
    begun = presigned_uploads.create(lake.engine, lake.name, "main", b"begun")
    lake.objects.upload_part(begun.physical_address, begun.upload_id, 1, b"1")
    inside = f"{lake.namespace}/data/inside"
    repositories.create(
        lake.engine, name=f"{lake.name}-inside", storage_namespace=inside, read_only=True
    )
    for name, key in FOREIGN.items():
        made.uris[name] = f"{lake.namespace}/{key}"
        lake.objects.put(made.uris[name], b"1", "a/b")
    lake.objects.create_upload(made.uris["other upload"], "a/b")
    lake.grow_old()
    made.uris["young"] = f"{lake.namespace}/{address(2)}"
    lake.objects.put(made.uris["young"], b"1", "a/b")
    lake.objects.create_upload(made.uris["young"], "a/b")

    made.before = set(lake.uris())
    made.marked = lake.collect(do_sweep=False)
    made.after_mark = set(lake.uris())
    # Somebody goes back to an old commit, days after the mark.
    lake.upload("anything", branch="dev")
    lake.commit(branch="dev")
    revived = lake.commit(branch="dev", allow_empty=True)
    old = f"{revived.id}~3"  # d: 03-23
    branches.create(lake.engine, lake.name, name="revived", source=f"{old}~2")  # d: 03-14
    made.swept = lake.collect(do_mark=False, mark_id=made.marked.run_id)
    made.after_sweep = set(lake.uris())
    yield made
    for upload in lake.objects.list_uploads(lake.namespace):
        lake.objects.abort_upload(upload.uri, upload.upload_id)


def test_a_mark_deletes_nothing(example: Example) -> None:
    assert example.after_mark >= example.before
    assert example.marked is not None
    assert not example.marked.is_swept
    assert "nothing was deleted" in text(example.marked)


def test_the_documented_commits_lose_their_objects(example: Example) -> None:
    gone = [f"shared main {day}" for day in BEFORE_DEV[:2]] + ["shared dev 03-20"]
    assert example.is_there(*gone) == [False] * len(gone)


def test_retained_commits_keep_theirs(example: Example) -> None:
    kept = [f"shared main {day}" for day in (*BEFORE_DEV[2:], *MAIN)]
    kept += [f"shared dev {day}" for day in DEV[2:]]
    # Added by commits that are not retained, and still there in ones that are.
    kept += [f"added main {day}" for day in (*BEFORE_DEV, *MAIN)]
    kept += [f"added dev {day}" for day in DEV]
    assert example.is_there(*kept) == [True] * len(kept)


def test_objects_revived_after_the_mark_stay(example: Example) -> None:
    assert example.marked is not None
    assert example.swept is not None
    assert example.is_there("shared dev 03-14") == [True]
    assert example.swept.came_to_life == 1
    assert example.swept.deleted.objects == example.marked.marked.objects - 1


def test_uncommitted_garbage_goes(example: Example) -> None:
    gone = [
        "overwritten before any commit",
        "deleted before any commit",
        "abandoned upload",
        "linked and overwritten",
    ]
    assert example.is_there(*gone) == [False] * len(gone)
    assert example.swept is not None
    assert example.swept.uploads_aborted == 1
    left = {each.uri for each in example.lake.objects.list_uploads(example.lake.namespace)}
    assert left == {example.uris["young"], example.uris["other upload"]}


def test_objects_of_others_stay(example: Example) -> None:
    """As do the data of a deleted repository, whose refs may come back from a dump."""
    assert example.is_there(*FOREIGN) == [True] * len(FOREIGN)


def test_nothing_else_is_touched(example: Example) -> None:
    assert example.is_there("staged", "linked", "young", "imported too") == [True] * 4
    assert example.lake.is_there(example.uris["imported"])
    prefix = f"{example.lake.namespace}/_lakefs/"
    assert {uri for uri in example.before if uri.startswith(prefix)} <= example.after_sweep
    assert example.swept is not None
    assert f"{example.lake.namespace}/data/inside" in example.swept.warnings[0]


def test_a_collected_object_can_still_be_described(example: Example) -> None:
    lake = example.lake
    found = lake.stat("main~6", "shared")
    assert found.physical_address == example.uris["shared main 02-27"]
    with pytest.raises(GoneError):
        read_content(lake.engine, found)


def test_deleted_objects_are_listed_in_the_files_that_lakefs_writes(example: Example) -> None:
    lake, report = example.lake, example.swept
    assert report is not None
    folder = f"_lakefs/retention/gc/unified/{report.run_id}/"
    summary = json.loads(lake.objects.get(f"{lake.namespace}/{folder}summary.json"))
    expected = {
        "run_id": report.run_id,
        "success": True,
        "num_deleted_objects": report.deleted.objects,
    }
    assert summary | expected == summary
    assert summary.keys() >= {"first_slice", "start_time", "cutoff_time"}
    gone = example.before - example.after_sweep
    deleted = [
        f"{lake.namespace}/{address}"
        for uri in lake.uris(f"{folder}deleted/")
        for address in pq.read_table(BytesIO(lake.objects.get(uri))).column("address").to_pylist()
    ]
    lines = [
        f"{lake.namespace}/{line}"
        for uri in lake.uris(f"{folder}deleted.text/")
        for line in lake.objects.get(uri).decode().splitlines()
    ]
    assert sorted(deleted) == sorted(lines) == sorted(gone)
    assert len(gone) == report.deleted.objects


def test_the_report_is_readable(example: Example) -> None:
    assert example.marked is not None
    lake, report = example.lake, example.marked
    folder = f"{lake.namespace}/_lakefs/retention/gc/unified/{report.run_id}/"
    written = lake.objects.get(f"{folder}report.txt").decode()
    assert f"{report.marked.objects} objects" in written
    assert "1 to 7 days" in written
    assert all(prefix.startswith("data/") for prefix in report.by_prefix)
    assert sum(tally.objects for tally in report.by_prefix.values()) == report.marked.objects


def test_every_range_is_read_once(example: Example) -> None:
    assert example.marked is not None
    assert example.swept is not None
    lake = example.lake
    folder = f"_lakefs/retention/gc/unified/{example.marked.run_id}/ranges/"
    listed = [
        range_id
        for uri in lake.uris(folder)
        for range_id in pq.read_table(BytesIO(lake.objects.get(uri))).column("id").to_pylist()
    ]
    assert len(listed) == len(set(listed)) == example.marked.ranges
    # Only the second look's new branch and commits had any that were not read before.
    assert 0 < example.swept.ranges < example.marked.ranges


def test_the_end_of_a_run_is_published_as_an_event(example: Example) -> None:
    lake = example.lake
    tables = example.lake.world.tables()
    repository = read_repository(lake.engine, lake.name)
    raws = [
        raw
        for page in tables.pages(tables.query(partition_of(repository.record), OUTBOX))
        for raw in page
    ]
    events = [msgspec.json.decode(raw["event"]["S"], type=Event) for raw in raws]
    finished = [each for each in events if each.kind == "garbage_collection_finished"]
    assert example.marked is not None
    assert example.swept is not None
    assert {each.detail["run_id"] for each in finished} == {
        example.marked.run_id,
        example.swept.run_id,
    }


def test_a_mark_of_another_repository_is_not_swept(
    example: Example, spark: SparkSession, world: ServerWorld, s3_folder: Path
) -> None:
    other = Collected(spark, world, s3_folder)
    assert example.marked is not None
    with pytest.raises(NotFoundError, match="no finished mark"):
        other.collect(do_mark=False, mark_id=example.marked.run_id)


def test_no_join_hands_a_whole_side_to_every_executor(spark: SparkSession) -> None:
    """Ten million addresses that compress to a megabyte are small to Spark, and are not."""

    def plan() -> str:
        small = spark.createDataFrame([("data/a",)], "address string")
        joined = small.join(small, "address", "left_anti")
        joined.collect()  # which is when it is decided
        return str(joined._jdf.queryExecution().executedPlan())

    for threshold in ("autoBroadcastJoinThreshold", "adaptive.autoBroadcastJoinThreshold"):
        spark.conf.unset(f"spark.sql.{threshold}")
    assert "Broadcast" in plan()
    join_by_sorting(spark)
    assert "SortMergeJoin" in plan()
    assert "Broadcast" not in plan()
