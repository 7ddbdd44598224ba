"""A collection that cannot be sure deletes nothing; one that breaks off is finished by the next."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from graveler.branches.lookup import current_branch
from graveler.errors import CorruptDataError, ForbiddenError, PreconditionFailedError
from graveler.operations import repositories
from graveler.retention.files import RULES_FILE
from tests.support.servers.spark import spark, spark_session
from tests.support.worlds.collected import WARNINGS, Collected, world
from tests.support.worlds.server_world import ServerWorld

pytestmark = [pytest.mark.server, *WARNINGS]

__all__ = ["spark", "spark_session", "world"]

GARBAGE = 5


@pytest.fixture
def lake(spark: SparkSession, world: ServerWorld, s3_folder: Path) -> Collected:
    """A repository with objects alive and objects to be collected."""
    made = Collected(spark, world, s3_folder)
    for number in range(GARBAGE):
        made.upload(f"{number}", "first")
        made.upload(f"{number}", "second")
    made.commit()
    made.grow_old()
    return made


def head_files(lake: Collected) -> tuple[str, str]:
    """The URIs of the head's metarange, and of its first range."""
    repository, branch = current_branch(lake.engine, lake.name, "main")
    content = repository.content(branch.commit_id)
    header = next(content.headers())
    return (
        f"{lake.namespace}/_lakefs/{content.id}",
        f"{lake.namespace}/_lakefs/{header.id}",
    )


def summaries(lake: Collected) -> list[dict[str, object]]:
    found = [uri for uri in lake.uris("_lakefs/retention/") if uri.endswith("/summary.json")]
    return [json.loads(lake.objects.get(uri)) for uri in found]


def assert_nothing_is_deleted(lake: Collected, named: str) -> None:
    data = lake.uris("data/")
    with pytest.raises(CorruptDataError, match=named):
        lake.collect()
    assert lake.uris("data/") == data
    (summary,) = summaries(lake)
    assert summary["success"] is False
    assert named in str(summary["error"])


def test_a_missing_range(lake: Collected) -> None:
    _, range_uri = head_files(lake)
    lake.objects.delete(range_uri)
    assert_nothing_is_deleted(lake, range_uri)


@pytest.mark.long
def test_a_damaged_range(lake: Collected) -> None:
    _, range_uri = head_files(lake)
    content = bytearray(lake.objects.get(range_uri))
    content[20] ^= 1
    lake.objects.put(range_uri, bytes(content), "a/b")
    assert_nothing_is_deleted(lake, range_uri)


@pytest.mark.long
def test_a_missing_metarange(lake: Collected) -> None:
    metarange_uri, _ = head_files(lake)
    lake.objects.delete(metarange_uri)
    assert_nothing_is_deleted(lake, metarange_uri)


def test_rules_that_are_not_understood(lake: Collected) -> None:
    uri = f"{lake.namespace}/{RULES_FILE}"
    lake.objects.put(uri, b"\xff", "a/b")
    assert_nothing_is_deleted(lake, uri)


def test_more_than_may_be_deleted(lake: Collected) -> None:
    data = lake.uris("data/")
    with pytest.raises(PreconditionFailedError, match=f"{GARBAGE} objects would be deleted"):
        lake.collect(maximum_deletions=GARBAGE - 1)
    assert lake.uris("data/") == data


def test_a_crash_while_deleting_is_made_good_by_the_next_run(lake: Collected) -> None:
    rounds: list[int] = []

    def crash(step: str) -> None:
        if step == "swept":
            rounds.append(len(lake.uris("data/")))
            raise ZeroDivisionError("the driver is gone")

    before = len(lake.uris("data/"))
    with pytest.raises(ZeroDivisionError):
        lake.collect(crash, round_objects=1)
    (broken,) = summaries(lake)
    assert broken["success"] is False
    assert broken["num_deleted_objects"] == before - rounds[0] == 1

    finished = lake.collect(do_mark=False, mark_id=str(broken["mark_id"]))
    assert finished.is_success
    assert len(lake.uris("data/")) == before - GARBAGE


def test_a_read_only_repository_is_not_collected(
    spark: SparkSession, world: ServerWorld, lake: Collected
) -> None:
    name = f"{lake.name}-read-only"
    repositories.create(lake.engine, name=name, storage_namespace=lake.namespace, read_only=True)
    reader = Collected.__new__(Collected)
    reader.spark, reader.world, reader.name = spark, world, name
    with pytest.raises(ForbiddenError):
        reader.collect()
