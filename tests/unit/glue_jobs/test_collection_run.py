"""Which repositories a run collects, and what one repository's failure means for others."""

from typing import Any

import pytest

from glue_jobs.garbage_collection import run as module
from glue_jobs.garbage_collection.options import Options
from glue_jobs.session import Deployment
from graveler.aws.settings import Settings
from graveler.errors import CorruptDataError, ForbiddenError
from graveler.operations import repositories
from graveler.retention.report import Report
from tests.support.engines import memory_world
from tests.support.memory_jobs import MemoryJobStore

NAMES = ("first", "second", "third")


@pytest.fixture
def deployment() -> Deployment:
    world = memory_world()
    engine = world.engine()
    for name in NAMES:
        repositories.create(engine, name=name, storage_namespace=f"s3://bucket/{name}")
    repositories.create(
        engine, name="reader", storage_namespace="s3://bucket/first", read_only=True
    )
    settings = Settings(region="any", refs_table="refs", staging_table="staging")
    return Deployment(engine, MemoryJobStore(world.refs), settings)


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of those that are collected; the second one's files are damaged."""
    names: list[str] = []

    def collect(_spark: object, _made: object, _options: object, name: str, _: object) -> Report:
        names.append(name)
        if name == "second":
            raise CorruptDataError("a range is missing")
        return Report(
            run_id="run",
            mark_id="run",
            repository=name,
            start_ns=0,
            cutoff_ns=0,
            is_success=name != "first",
        )

    monkeypatch.setattr(module, "collect", collect)
    return names


def run(deployment: Deployment, **options: Any) -> list[str]:
    reports = module.run(None, deployment, Options(**options))  # type: ignore[arg-type] # unused
    return [report.repository for report in reports]


def test_one_repository(deployment: Deployment, collected: list[str]) -> None:
    assert run(deployment, repository="third") == ["third"]
    assert collected == ["third"]


def test_every_repository_that_may_be_changed_whatever_befalls_another(
    deployment: Deployment, collected: list[str]
) -> None:
    with pytest.raises(CorruptDataError, match="a range is missing"):
        run(deployment)
    assert collected == list(NAMES)


def test_a_read_only_repository_is_refused(deployment: Deployment) -> None:
    with pytest.raises(ForbiddenError):
        run(deployment, repository="reader")


def noted(deployment: Deployment) -> set[str]:
    """The series of which a success is noted."""
    assert isinstance(deployment.jobs, MemoryJobStore)
    return set(deployment.jobs.collections)


@pytest.mark.usefixtures("collected")
def test_a_success_is_noted_for_the_series_of_the_run(deployment: Deployment) -> None:
    run(deployment, repository="third")
    assert noted(deployment) == {"sweep#third"}
    run(deployment, repository="third", do_sweep=False)
    assert noted(deployment) == {"sweep#third", "report#third"}


@pytest.mark.usefixtures("collected")
def test_no_success_is_noted_if_a_repository_or_an_object_failed(deployment: Deployment) -> None:
    with pytest.raises(CorruptDataError):
        run(deployment)
    run(deployment, repository="first")
    assert noted(deployment) == set()


@pytest.mark.usefixtures("collected")
def test_the_sweep_of_an_earlier_mark_is_no_collection(deployment: Deployment) -> None:
    run(deployment, repository="third", do_mark=False, mark_id="earlier")
    assert noted(deployment) == set()
