"""What docs/backup.md promises of tables that are restored to an earlier time.

Point-in-time recovery makes new tables with the items that there were; S3 stays as it is now. A copy
of the items stands for it here. What a restore finds missing depends on the cleanup, for staged
changes, and on garbage collection, for data: both run between the time and the restore.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from graveler.aws.dynamodb.cleanup import CleanupStore
from graveler.aws.dynamodb.client import binary
from graveler.aws.dynamodb.models import OUTBOX, partition_of
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Raw, Tables
from graveler.branches.data import read_content
from graveler.branches.lookup import read_repository
from graveler.errors import GoneError, NotFoundError
from graveler.limits import TOKEN_RETENTION_S
from graveler.operations import branches, commits, dumps, objects, repositories
from graveler.operations.commits import LogQuery
from graveler.staging.listing import PageQuery
from graveler.times import NS_PER_S
from tests.support.servers.spark import spark, spark_session
from tests.support.servers.stack import BUCKET
from tests.support.worlds.collected import WARNINGS, Collected
from tests.support.worlds.server_world import ServerWorld, open_world

pytestmark = [pytest.mark.server, *WARNINGS]

__all__ = ["spark", "spark_session"]


@pytest.fixture(scope="module")
def world(dynamodb_endpoint: str, s3_endpoint: str) -> Iterator[ServerWorld]:
    """Tables of this module's own: their copies hold no thousands of items of other tests."""
    with open_world(dynamodb_endpoint, s3_endpoint, suffix="-restored") as world:
        yield world


@pytest.fixture
def lake(spark: SparkSession, world: ServerWorld, s3_folder: Path) -> Collected:
    return Collected(spark, world, s3_folder)


def items(tables: Tables, name: str) -> list[Raw]:
    """Everything in a table."""
    found: list[Raw] = []
    request: dict[str, object] = {"TableName": name, "ConsistentRead": True}
    while True:
        answer = tables.dynamodb.call("Scan", request)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


class Restored(Collected):
    """A lake on other tables than those that it was made on."""

    def __post_init__(self) -> None:
        self.engine = self.world.engine()


@dataclass(frozen=True)
class Backup:
    """The two tables as they were at a time."""

    refs: list[Raw]
    staging: list[Raw]

    @classmethod
    def of(cls, lake: Collected) -> "Backup":
        tables = lake.world.tables()
        return cls(items(tables, tables.refs), items(tables, tables.staging))

    def restored(self, lake: Collected) -> Restored:
        """The lake on new tables that hold this, over S3 as it is now."""
        world = replace(lake.world, suffix=f"-{uuid4().hex[:8]}")
        tables = world.tables()
        tables.create()
        for name, raws in ((tables.refs, self.refs), (tables.staging, self.staging)):
            tables.write_batch(name, [{"PutRequest": {"Item": sent(raw)}} for raw in raws])
        return Restored(lake.spark, world, lake.s3_folder, lake.name)


def sent(raw: Raw) -> Mapping[str, object]:
    """The item as requests have it: binary values are bytes, which arrive encoded."""
    return {name: {"B": binary(value)} if "B" in value else value for name, value in raw.items()}


def clean_up(lake: Collected, in_s: float) -> None:
    """The cleanup as it will run so much later."""
    tables = lake.world.tables()
    store = CleanupStore(tables, DynamoStagingStore(tables))
    store.sweep(time.time_ns() + int(in_s * NS_PER_S))


def content(lake: Collected, ref: str, path: str) -> bytes:
    """What a reader of the path gets."""
    return read_content(lake.engine, lake.stat(ref, path)).content


def contents(lake: Collected, ref: str) -> dict[str, bytes]:
    """Everything that a listing shows, read."""
    return {path: content(lake, ref, path) for path in listed(lake, ref)}


def listed(lake: Collected, ref: str) -> list[str]:
    page = objects.list_objects(lake.engine, lake.name, ref, PageQuery(1000))
    return [each.path.decode() for each in page.results]


def log(lake: Collected, ref: str) -> list[str]:
    return [each.id for each in commits.log(lake.engine, lake.name, ref, LogQuery(1000)).results]


def lived_on(lake: Collected) -> str:
    """Go on after the time that is restored to; the head of main afterwards."""
    lake.upload("staged", "staged again")
    lake.upload("a", "newer")
    lake.upload("later")
    lake.delete("b")
    branches.delete(lake.engine, lake.name, "dev")
    return lake.commit().id


@pytest.fixture
def before(lake: Collected) -> dict[str, dict[str, bytes]]:
    """What main and dev held at the time: commits on both, and changes nobody had committed."""
    lake.upload("a")
    lake.upload("b")
    lake.commit()
    branches.create(lake.engine, lake.name, name="dev", source="main")
    lake.upload("of dev", branch="dev")
    lake.commit(branch="dev")
    lake.upload("staged")
    return {
        "main": {"a": b"a", "b": b"b", "staged": b"staged"},
        "dev": {"a": b"a", "b": b"b", "of dev": b"of dev"},
    }


def test_all_that_there_was_reads_back_and_work_goes_on(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    logs = {branch: log(lake, branch) for branch in before}
    backup = Backup.of(lake)
    lived_on(lake)
    clean_up(lake, TOKEN_RETENTION_S + 60)

    restored = backup.restored(lake)

    assert {branch: contents(restored, branch) for branch in before} == before
    assert {branch: log(restored, branch) for branch in before} == logs
    restored.upload("new")
    head = restored.commit().id
    assert log(restored, "main") == [head, *logs["main"]]
    assert contents(restored, head) == before["main"] | {"new": b"new"}


def test_no_staged_change_is_missing_if_staging_is_of_a_little_later(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    """A commit took them meanwhile; for four hours the cleanup leaves them, and they are found.

    With them comes what was staged in between.
    """
    refs = Backup.of(lake).refs
    lived_on(lake)
    clean_up(lake, TOKEN_RETENTION_S - 60)

    restored = Backup(refs, Backup.of(lake).staging).restored(lake)

    newer = {"a": b"newer", "later": b"later", "staged": b"staged again"}
    assert contents(restored, "main") == newer
    assert contents(restored, "dev") == before["dev"]


def test_of_a_staging_table_from_after_the_cleanup_only_what_was_not_committed_is_missing(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    refs = Backup.of(lake).refs
    head = commits.get(lake.engine, lake.name, "main").id
    lived_on(lake)
    clean_up(lake, TOKEN_RETENTION_S + 60)

    restored = Backup(refs, Backup.of(lake).staging).restored(lake)

    assert contents(restored, "main") == {"a": b"a", "b": b"b"} == contents(restored, head)


def test_what_was_committed_after_the_time_comes_back_by_its_metarange(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    backup = Backup.of(lake)
    later = commits.get(lake.engine, lake.name, lived_on(lake))
    there = contents(lake, "main")

    restored = backup.restored(lake)

    with pytest.raises(NotFoundError):
        commits.get(restored.engine, restored.name, later.id)
    branches.create(restored.engine, restored.name, name="rescued", source="dev")
    restored.commit(branch="rescued", source_metarange=later.metarange_id)
    assert contents(restored, "rescued") == there


def test_garbage_collection_meanwhile_takes_exactly_what_only_the_old_tables_needed(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    """Of the time: what was staged and then replaced, and commits that rules did not retain."""
    backup = Backup.of(lake)
    staged = lake.stat("main", "staged").physical_address
    of_dev = lake.stat("dev", "of dev").physical_address
    lived_on(lake)
    lake.grow_old()
    lake.upload("young")
    assert lake.collect().deleted.objects == 1
    assert [lake.is_there(uri) for uri in (staged, of_dev)] == [False, True]

    restored = backup.restored(lake)

    for branch, paths in before.items():
        for path, expected in paths.items():
            if path == "staged":
                assert restored.stat(branch, path).physical_address == staged
                with pytest.raises(GoneError):
                    content(restored, branch, path)
            else:
                assert content(restored, branch, path) == expected
    # Commits are possible over what is gone: it is listed, and not read.
    restored.upload("staged", "again")
    restored.commit()
    assert content(restored, "main", "staged") == b"again"


@pytest.mark.long
def test_rules_take_the_commits_of_a_branch_that_was_deleted_meanwhile(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    branches.create(lake.engine, lake.name, name="old", source="main")
    lake.upload("of old", branch="old")
    lake.commit(branch="old", age_s=30 * 24 * 60 * 60)
    backup = Backup.of(lake)
    lake.set_rules(7)
    branches.delete(lake.engine, lake.name, "old")
    lake.grow_old()
    lake.collect()

    restored = backup.restored(lake)

    assert "of old" in listed(restored, "old")
    with pytest.raises(GoneError):
        content(restored, "old", "of old")
    assert {branch: contents(restored, branch) for branch in before} == before


@pytest.mark.long
def test_garbage_collection_on_restored_tables_takes_what_came_after_them(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    """Which is why it is off until nothing is to be rescued any more."""
    backup = Backup.of(lake)
    lived_on(lake)
    came = [lake.stat("main", path).physical_address for path in ("a", "later", "staged")]
    lake.grow_old()

    restored = backup.restored(lake)

    assert restored.collect().deleted.objects == len(came)
    assert [lake.is_there(uri) for uri in came] == [False] * len(came)
    assert {branch: contents(restored, branch) for branch in before} == before


def test_one_repository_is_taken_out_of_restored_tables_by_a_dump(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    """As when somebody deleted it, and the others are to stay as they are."""
    logs = {branch: log(lake, branch) for branch in before}
    backup = Backup.of(lake)
    repositories.delete(lake.engine, lake.name)
    clean_up(lake, TOKEN_RETENTION_S + 60)

    dumped = dumps.dump(backup.restored(lake).engine, lake.name)
    fresh = lake.world.engine()
    repositories.create(fresh, name=lake.name, storage_namespace=lake.namespace, bare=True)
    dumps.restore(fresh, lake.name, dumped)

    lake.engine = fresh
    assert {branch: log(lake, branch) for branch in before} == logs
    assert contents(lake, "dev") == before["dev"]
    assert contents(lake, "main") == {"a": b"a", "b": b"b"}  # nothing that was only staged
    lake.upload("new")
    new = lake.commit().id
    assert log(lake, "main") == [new, *logs["main"]]


def test_the_outbox_tells_for_a_week_what_a_deleted_branch_was(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    head = commits.get(lake.engine, lake.name, "dev").id
    branches.delete(lake.engine, lake.name, "dev")

    tables = lake.world.tables()
    partition = partition_of(read_repository(lake.engine, lake.name).record)
    events = [
        json.loads(raw["event"]["S"])
        for page in tables.pages(tables.query(partition, OUTBOX))
        for raw in page
    ]
    (deleted,) = [each for each in events if each["kind"] == "branch_deleted"]
    assert deleted["detail"] == {"branch": "dev", "commit_id": head}
    branches.create(lake.engine, lake.name, name="dev", source=head)
    assert contents(lake, "dev") == before["dev"]


def test_a_replica_of_the_bucket_and_a_dump_make_the_repository_anew_elsewhere(
    lake: Collected, before: dict[str, dict[str, bytes]]
) -> None:
    """As after the loss of a region: other tables, another place, and nothing of the old one."""
    dumped = dumps.dump(lake.engine, lake.name)
    replica = f"s3://{BUCKET}/replica-of-{lake.name}"
    for uri in lake.uris():
        lake.objects.put(replica + uri.removeprefix(lake.namespace), lake.objects.get(uri), "")
        lake.objects.delete(uri)

    elsewhere = Backup([], []).restored(lake)
    repositories.create(elsewhere.engine, name=lake.name, storage_namespace=replica, bare=True)
    dumps.restore(elsewhere.engine, lake.name, dumped)

    assert contents(elsewhere, "dev") == before["dev"]
    assert contents(elsewhere, "main") == {"a": b"a", "b": b"b"}
    elsewhere.upload("new")
    elsewhere.commit()
    assert content(elsewhere, "main", "new") == b"new"
