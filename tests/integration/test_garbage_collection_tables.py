"""A collection on real Spark keeps the files that live tables name, and deletes their others."""

from pathlib import Path

import pytest
from pyspark import Accumulator
from pyspark.sql import SparkSession

from graveler.errors import CorruptDataError
from graveler.operations import branches
from graveler.operations.tables import tables
from graveler_jobs.garbage_collection import table_files
from graveler_jobs.parquet_files import task_name
from tests.support.servers.spark import deployment, spark, spark_session
from tests.support.worlds.collected import DAY_S, WARNINGS, Collected, world
from tests.support.worlds.server_world import ServerWorld
from tests.support.worlds.table_files import (
    ADDED,
    DELETED,
    EXISTING,
    WrittenTable,
    manifest_list,
)

pytestmark = [pytest.mark.server, *WARNINGS]

__all__ = ["spark", "spark_session", "world"]

OLD_S = 4 * DAY_S


@pytest.fixture
def lake(spark: SparkSession, world: ServerWorld, s3_folder: Path) -> Collected:
    return Collected(spark, world, s3_folder)


def files(lake: Collected) -> set[str]:
    return set(lake.uris("_iceberg/"))


def location(table: WrittenTable) -> str:
    """The URI of the table's metadata file."""
    uri = table.table.metadata_location
    assert uri is not None
    return uri


def test_what_live_tables_name_stays_and_all_else_of_theirs_goes(lake: Collected) -> None:
    orders = WrittenTable(lake.engine, lake.name, "orders")
    dead = {location(orders)}
    kept = {name: orders.put(f"data/{name}") for name in ("added", "existing", "dev", "p=1%20é/x")}
    dead.add(replaced := orders.put("data/replaced"))
    statistics = orders.put("metadata/statistics.puffin")
    kept["object"] = lake.upload("added where it is")
    lake.delete("added where it is")
    named = {
        kept["object"]: ADDED,
        kept["added"]: ADDED,
        kept["existing"]: EXISTING,
        kept["p=1%20é/x"]: ADDED,
    }
    # Hadoop's clients name S3 by another scheme.
    named = {uri.replace("s3:", "s3a:"): status for uri, status in named.items()}
    manifest = orders.put_manifest("metadata/m1.avro", {**named, replaced: DELETED})
    first = orders.put_list("metadata/first.avro", manifest)
    statistics_file = {
        "snapshot-id": 1,
        "statistics-path": statistics,
        "file-size-in-bytes": 1,
        "file-footer-size-in-bytes": 1,
        "blob-metadata": [],
    }
    orders.add_snapshot(1, first, {"action": "set-statistics", "statistics": statistics_file})
    kept |= {"first": location(orders)}
    lake.commit()
    branches.create(lake.engine, lake.name, name="dev", source="main")

    # Staged on dev, which shares a manifest with main.
    orders.place = (lake.engine, lake.name, "dev")
    more = orders.put_manifest("metadata/m2.avro", {kept["dev"]: ADDED})
    second = orders.put_list("metadata/second.avro", manifest, more)
    orders.add_snapshot(2, second)
    kept |= {"second": location(orders)}
    expected = {*kept.values(), statistics, manifest, first, more, second}

    dead |= {orders.put("data/orphan"), orders.put("metadata/orphan.metadata.json", b"{}")}
    dropped = WrittenTable(lake.engine, lake.name, "dropped")
    dead |= {location(dropped), dropped.put("data/x")}
    tables.drop(lake.engine, lake.name, "main", ("sales",), "dropped")
    foreign = f"{lake.namespace}/_iceberg/not-a-table/x"
    lake.objects.put(foreign, b"x", "a/b")
    expected.remove(kept["object"])
    assert files(lake) == expected | dead | {foreign}

    lake.grow_old(OLD_S)
    report = lake.collect()
    assert files(lake) == expected | {foreign}
    assert lake.is_there(kept["object"])
    assert report.deleted.objects == len(dead)


def test_all_cores_read_the_files_of_tables(lake: Collected) -> None:
    orders = WrittenTable(lake.engine, lake.name, "orders")
    names = [orders.put(f"metadata/{number}.avro", manifest_list()) for number in range(40)]
    twice = lake.spark.createDataFrame([(each,) for each in 2 * names], "uri string")
    readers: Accumulator[int] = lake.spark.sparkContext.accumulator(0)

    def read(_content: bytes) -> list[tuple[str, str]]:
        readers.add(1)
        return [("by", task_name())]

    settings = deployment(lake.world).settings
    tasks = {row.uri for row in table_files._named_by(twice, read, settings).collect()}
    assert readers.value == len(names), "each file is read once"
    assert len(tasks) > 1


def test_a_table_that_is_registered_again_before_the_sweep_stays(lake: Collected) -> None:
    orders = WrittenTable(lake.engine, lake.name, "orders")
    data = orders.put("data/x")
    manifest = orders.put_manifest("metadata/m.avro", {data: ADDED})
    orders.add_snapshot(1, orders.put_list("metadata/list.avro", manifest))
    before = files(lake)
    tables.drop(lake.engine, lake.name, "main", ("sales",), "orders")
    lake.grow_old(OLD_S)

    def restore(step: str) -> None:
        if step == "marked":
            tables.register(
                *(lake.engine, lake.name, "main", ("sales",), "again", location(orders)),
                check_file=lambda _uri: None,
            )

    report = lake.collect(restore)
    assert report.marked.objects == len(before)
    assert len(before - files(lake)) == 1, "the first metadata file, which no table names"
    assert {data, manifest, location(orders)} <= files(lake)


def test_a_missing_file_of_a_live_table_ends_the_run_before_it_deletes(lake: Collected) -> None:
    orders = WrittenTable(lake.engine, lake.name, "orders")
    manifest = orders.put_manifest("metadata/m.avro", {orders.put("data/x"): ADDED})
    orders.add_snapshot(1, orders.put_list("metadata/list.avro", manifest))
    lake.upload("garbage", "first")
    lake.upload("garbage", "second")
    lake.objects.delete(manifest)
    lake.grow_old(OLD_S)
    before = {*files(lake), *lake.uris("data/")}
    with pytest.raises(CorruptDataError, match="drop the table") as caught:
        lake.collect()
    assert manifest in str(caught.value)
    assert {*files(lake), *lake.uris("data/")} == before


def test_a_branch_of_an_expired_commit_without_its_tables_stops_no_run(lake: Collected) -> None:
    WrittenTable(lake.engine, lake.name, "kept")
    orders = WrittenTable(lake.engine, lake.name, "orders")
    manifest = orders.put_manifest("metadata/m.avro", {orders.put("data/x"): ADDED})
    orders.add_snapshot(1, orders.put_list("metadata/list.avro", manifest))
    expired = lake.commit(30 * DAY_S)
    tables.drop(lake.engine, lake.name, "main", ("sales",), "orders")
    lake.commit(20 * DAY_S)
    lake.set_rules(7)
    lake.grow_old(OLD_S)
    lake.collect()
    assert not lake.is_there(location(orders))
    branches.create(lake.engine, lake.name, name="old", source=expired.id)
    lake.upload("garbage", "first")
    lake.upload("garbage", "second")
    lake.grow_old(OLD_S)
    assert lake.collect().deleted.objects == 1
