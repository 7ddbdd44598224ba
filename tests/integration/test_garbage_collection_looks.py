"""A collection that stalls on real Spark deletes nothing by what it saw before."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from pyspark.sql import DataFrame, SparkSession

from graveler.aws.settings import DeploymentSettings
from graveler.branches.lookup import read_repository
from graveler.errors import ContentionError, PreconditionFailedError
from graveler.operations import branches
from graveler.ports import ObjectStore
from graveler.retention.liveness import Look, begin_look
from graveler.retention.runs import LEASE
from graveler_jobs.garbage_collection import run as module
from graveler_jobs.garbage_collection.lease import CollectionLease
from graveler_jobs.garbage_collection.sweeping import LOOK_IS_OLD, Round, SweptRound, sweep
from tests.support.servers.spark import deployment, spark, spark_session
from tests.support.worlds.collected import DAY_S, WARNINGS, Collected, world
from tests.support.worlds.server_world import ServerWorld

pytestmark = [pytest.mark.server, *WARNINGS]

__all__ = ["spark", "spark_session", "world"]

GARBAGE = 5


@pytest.fixture
def lake(spark: SparkSession, world: ServerWorld, s3_folder: Path) -> Collected:
    """A repository with objects to be collected, one of them in an expired commit."""
    made = Collected(spark, world, s3_folder)
    made.upload("old")
    made.commit(10 * DAY_S)
    made.delete("old")
    for number in range(GARBAGE - 1):
        made.upload(f"{number}", "first")
        made.upload(f"{number}", "second")
    made.commit(5 * DAY_S)
    made.upload("later")
    made.commit(4 * DAY_S)
    made.set_rules(1)
    made.grow_old()
    return made


def grown_old(looks: int) -> Callable[..., Look]:
    """What begins looks, of which the first ones are an hour old when objects are deleted."""
    begun: list[int] = []

    def begin(objects: ObjectStore, folder_uri: str, number: int, life_s: int) -> Look:
        begun.append(number)
        look = begin_look(objects, folder_uri, number, life_s)
        age_ns = 3600 * 10**9 if len(begun) <= looks else 0
        return structs.replace(look, began_ns=look.began_ns - age_ns)

    return begin


def test_what_comes_back_while_the_driver_is_stalled_stays(
    lake: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "begin_look", grown_old(1))
    old = lake.stat("main~2", "old").physical_address
    steps: list[str] = []

    def observe(step: str) -> None:
        steps.append(step)
        if steps.count("looked") == 1 and step == "looked":
            branches.create(lake.engine, lake.name, name="revived", source="main~2")

    report = lake.collect(observe)
    assert steps.count("looked") == 2
    assert lake.is_there(old)
    assert (report.deleted.objects, report.came_to_life) == (GARBAGE - 1, 1)


@pytest.mark.long
def test_a_run_whose_looks_are_always_too_old_deletes_nothing_and_says_why(
    lake: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "begin_look", grown_old(10**6))
    data = lake.uris("data/")
    with pytest.raises(PreconditionFailedError, match="raise look_s"):
        lake.collect()
    assert lake.uris("data/") == data


@pytest.mark.long
def test_what_is_left_of_a_round_goes_by_the_next_look_and_counts_once(
    lake: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[int] = []

    def interrupted(doomed: DataFrame, this: Round, settings: DeploymentSettings) -> SweptRound:
        rounds.append(doomed.count())
        if len(rounds) > 1:
            return sweep(doomed, this, settings)
        swept = sweep(doomed.limit(2), this, settings)
        return replace(swept, left=GARBAGE - 2, stopped=LOOK_IS_OLD)

    monkeypatch.setattr(module, "sweep", interrupted)
    report = lake.collect()
    assert rounds == [GARBAGE, GARBAGE - 2]
    assert report.is_success
    assert (report.deleted.objects, report.came_to_life) == (GARBAGE, 0)
    folder = f"_lakefs/retention/gc/unified/{report.run_id}/deleted.text/"
    lines = [line for uri in lake.uris(folder) for line in lake.objects.get(uri).splitlines()]
    assert len(lines) == len(set(lines)) == GARBAGE


@pytest.mark.long
def test_executors_stop_when_another_run_has_taken_over(
    lake: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CollectionLease, "check", lambda _: None)  # the driver does not notice

    def take_over(step: str) -> None:
        if step == "looked":
            repository = read_repository(lake.engine, lake.name).record
            later_ns = time.time_ns() + 3600 * 10**9
            assert deployment(lake.world).jobs.take_lease(
                repository, LEASE, "other", now_ns=later_ns, until_ns=later_ns
            )

    data = lake.uris("data/")
    with pytest.raises(ContentionError, match="another run has taken over"):
        lake.collect(take_over)
    assert lake.uris("data/") == data
