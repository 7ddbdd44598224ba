"""Exports that Glue runs on Spark."""

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from graveler.aws import deadlines
from graveler.aws.glue import GlueBatchJobs, GlueCollectionJobs
from graveler.errors import ThrottledError
from graveler.export.record import ExportRequest
from graveler_jobs.garbage_collection.options import parse
from tests.unit.aws.scripted_service import ScriptedService

REQUEST = ExportRequest("lake", "main")


def test_the_job_gets_the_id_of_its_run() -> None:
    service = ScriptedService("glue", {"JobRunId": "jr_1"})
    assert GlueBatchJobs(service.connect, "export").start_export(REQUEST, "lake-main-c-u") is True
    assert service.requests == [
        {
            "JobName": "export",
            "Arguments": {"--repository": "lake", "--branch": "main", "--run-id": "lake-main-c-u"},
        }
    ]


def test_where_no_job_is_deployed_none_is_started() -> None:
    service = ScriptedService("glue", (400, "EntityNotFoundException"))
    assert GlueBatchJobs(service.connect, "").start_export(REQUEST, "run") is False
    assert service.requests == []


@pytest.mark.parametrize(
    "problem",
    [
        (400, "ConcurrentRunsExceededException"),
        (400, "ThrottlingException"),
        (500, "InternalServiceException"),
        EndpointConnectionError(endpoint_url="https://glue.example"),
    ],
)
def test_a_problem_that_may_pass_is_throttling(problem: tuple[int, str] | Exception) -> None:
    jobs = GlueBatchJobs(ScriptedService("glue", problem).connect, "export")
    with deadlines.within(0.2), pytest.raises(ThrottledError):
        jobs.start_export(REQUEST, "run")


def test_an_unknown_job_is_reported_as_such() -> None:
    jobs = GlueBatchJobs(
        ScriptedService("glue", (400, "EntityNotFoundException")).connect, "absent"
    )
    with pytest.raises(ClientError, match="EntityNotFoundException"):
        jobs.start_export(REQUEST, "run")


@pytest.mark.parametrize(
    ("is_dry", "deletions_max", "arguments"),
    [
        (False, None, {}),
        (True, None, {"--dry_run": "true"}),
        (False, 0, {"--maximum_deletions": "0"}),
    ],
)
def test_a_collection_gets_what_its_user_asked_for(
    is_dry: bool, deletions_max: int | None, arguments: dict[str, str]
) -> None:
    service = ScriptedService("glue", {"JobRunId": "jr_1"})
    jobs = GlueCollectionJobs(service.connect, "collection")
    assert jobs.start_collection("lake", "run", is_dry=is_dry, deletions_max=deletions_max)
    [sent] = service.requests
    assert sent == {
        "JobName": "collection",
        "Arguments": {"--repository": "lake", "--run_id": "run", **arguments},
    }
    words = [word for pair in sent["Arguments"].items() for word in pair]
    options, others = parse(words)
    assert (options.repository, options.run_id, options.do_sweep) == ("lake", "run", not is_dry)
    assert (options.maximum_deletions, others) == (deletions_max, {})


def test_where_no_collection_is_deployed_none_is_started() -> None:
    service = ScriptedService("glue", (400, "EntityNotFoundException"))
    jobs = GlueCollectionJobs(service.connect, "")
    assert not jobs.start_collection("lake", "run", is_dry=True, deletions_max=None)
    assert service.requests == []
