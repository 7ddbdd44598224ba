"""Messages to the export function on SQS."""

import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from graveler.aws import deadlines
from graveler.aws.sqs import SqsQueue
from graveler.errors import ThrottledError
from graveler.export.record import ExportRequest
from tests.unit.aws.scripted_service import ScriptedService

URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/exports"
REQUEST = ExportRequest("lake", "feature/é")


def test_a_request_waits_as_long_as_it_shall() -> None:
    service = ScriptedService("sqs", {"MessageId": "1"})
    queue = SqsQueue[ExportRequest](service.connect, URL)
    queue.send(REQUEST)
    queue.send(REQUEST, delay_s=900)
    assert [request["DelaySeconds"] for request in service.requests] == [0, 900]
    assert {request["QueueUrl"] for request in service.requests} == {URL}
    assert {request["MessageGroupId"] for request in service.requests} == {"lake"}
    body = json.loads(service.requests[0]["MessageBody"])
    assert body == {"repository": "lake", "branch": "feature/é"}


def test_it_connects_when_it_sends_the_first_message() -> None:
    def connect() -> None:
        raise AssertionError

    SqsQueue(connect, URL)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "problem",
    [
        (400, "ThrottlingException"),
        (500, "InternalError"),
        EndpointConnectionError(endpoint_url=URL),
        ReadTimeoutError(endpoint_url=URL),
    ],
)
def test_a_problem_that_may_pass_is_throttling(problem: tuple[int, str] | Exception) -> None:
    queue = SqsQueue[ExportRequest](ScriptedService("sqs", problem).connect, URL)
    with deadlines.within(0.2), pytest.raises(ThrottledError, match="SQS"):
        queue.send(REQUEST)


def test_an_unknown_queue_is_reported_as_such() -> None:
    service = ScriptedService("sqs", (400, "com.amazonaws.sqs#QueueDoesNotExist"))
    with pytest.raises(ClientError, match="QueueDoesNotExist"):
        SqsQueue[ExportRequest](service.connect, URL).send(REQUEST)
