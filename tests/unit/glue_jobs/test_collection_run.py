"""Which repositories a run collects, and what one repository's failure means for others."""

from dataclasses import replace
from typing import Any

import pytest

from graveler.aws.settings import DeploymentSettings
from graveler.errors import (
    ContentionError,
    CorruptDataError,
    ForbiddenError,
    PreconditionFailedError,
)
from graveler.operations import collection_runs, repositories
from graveler.retention.report import CollectionReport
from graveler.retention.runs import RunState
from graveler.times import rfc3339
from graveler_jobs.garbage_collection import run as module
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.session import JobDeployment
from tests.support.fakes.engines import memory_world
from tests.support.fakes.memory_jobs import MemoryJobStore

NAMES = ("first", "second", "third")


@pytest.fixture
def deployment() -> JobDeployment:
    world = memory_world()
    engine = world.engine()
    for name in NAMES:
        repositories.create(engine, name=name, storage_namespace=f"s3://bucket/{name}")
    repositories.create(
        engine, name="reader", storage_namespace="s3://bucket/first", read_only=True
    )
    settings = DeploymentSettings(region="any", refs_table="refs", staging_table="staging")
    return JobDeployment(engine, MemoryJobStore(world.refs), settings)


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of those that are collected; the second one's files are damaged."""
    names: list[str] = []

    def collect(
        _spark: object, _made: object, _options: object, name: str, _: object
    ) -> CollectionReport:
        names.append(name)
        if name == "second":
            raise CorruptDataError("a range is missing")
        return CollectionReport(
            run_id="run",
            mark_id="run",
            repository=name,
            start_ns=0,
            cutoff_ns=0,
            is_success=name != "first",
        )

    monkeypatch.setattr(module, "collect", collect)
    return names


def run(deployment: JobDeployment, **options: Any) -> list[str]:
    reports = module.run(None, deployment, CollectionOptions(**options))  # type: ignore[arg-type] # unused
    return [report.repository for report in reports]


def test_one_repository(deployment: JobDeployment, collected: list[str]) -> None:
    assert run(deployment, repository="third") == ["third"]
    assert collected == ["third"]


def test_every_repository_that_may_be_changed_whatever_befalls_another(
    deployment: JobDeployment, collected: list[str]
) -> None:
    with pytest.raises(CorruptDataError, match="a range is missing"):
        run(deployment)
    assert collected == list(NAMES)


def test_a_read_only_repository_is_refused(deployment: JobDeployment) -> None:
    with pytest.raises(ForbiddenError):
        run(deployment, repository="reader")


def noted(deployment: JobDeployment) -> set[str]:
    """The series of which a success is noted."""
    assert isinstance(deployment.jobs, MemoryJobStore)
    return set(deployment.jobs.collections)


@pytest.mark.usefixtures("collected")
def test_a_success_is_noted_for_the_series_of_the_run(deployment: JobDeployment) -> None:
    run(deployment, repository="third")
    assert noted(deployment) == {"sweep#third"}
    run(deployment, repository="third", do_sweep=False)
    assert noted(deployment) == {"sweep#third", "report#third"}


@pytest.mark.usefixtures("collected")
def test_no_success_is_noted_if_a_repository_or_an_object_failed(deployment: JobDeployment) -> None:
    with pytest.raises(CorruptDataError):
        run(deployment)
    run(deployment, repository="first")
    assert noted(deployment) == set()


@pytest.mark.usefixtures("collected")
def test_the_sweep_of_an_earlier_mark_is_no_collection(deployment: JobDeployment) -> None:
    run(deployment, repository="third", do_mark=False, mark_id="earlier")
    assert noted(deployment) == set()


def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "join_by_sorting", lambda _: None)
    monkeypatch.setattr(module, "Marking", lambda *_: None)


def test_a_run_begins_once_however_many_jobs_are_started_for_it(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def do(this: module._CollectionRun) -> None:
        begun.append(this._report.run_id)

    without_spark(monkeypatch)
    monkeypatch.setattr(module._CollectionRun, "do", do)
    options: dict[str, Any] = {"repository": "third", "run_id": "asked-for", "do_sweep": False}
    [report] = module.run(None, deployment, CollectionOptions(**options))  # type: ignore[arg-type] # unused
    with pytest.raises(PreconditionFailedError, match="run asked-for has begun already"):
        module.run(None, deployment, CollectionOptions(**options))  # type: ignore[arg-type] # unused
    assert begun == ["asked-for"]
    found, text = collection_runs.get_run(deployment.engine, "third", "asked-for")
    assert (found.state, found.is_dry) == (RunState.SUCCEEDED, True)
    assert found.summary is not None
    assert found.summary.end_time > found.summary.start_time == rfc3339(report.start_ns)
    assert "marked only: nothing was deleted" in text


def test_the_run_of_a_user_goes_on_under_the_lease_of_its_request(
    deployment: JobDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = replace(deployment.engine, jobs=deployment.jobs)
    run_id = collection_runs.start_run(engine, "third", "ann", is_dry=True)
    without_spark(monkeypatch)
    monkeypatch.setattr(module._CollectionRun, "do", lambda _: None)
    with pytest.raises(ContentionError, match="another run collects the garbage"):
        run(deployment, repository="third")
    assert run(deployment, repository="third", run_id=run_id) == ["third"]
    assert run(deployment, repository="third") == ["third"]
    # The run that was refused has left nothing.
    listed = collection_runs.list_runs(engine, "third", after="", amount=10).results
    assert [each.state for each in listed] == [RunState.SUCCEEDED] * 2
