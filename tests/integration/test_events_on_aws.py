"""Events and messages as EventBridge and SQS take them, by moto."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from graveler.aws.connect import Clients
from graveler.aws.eventbridge import EventBridgeBus, Published
from graveler.aws.settings import DeploymentSettings
from graveler.aws.sqs import SqsQueue
from graveler.export.record import ExportRequest
from graveler.model import Event

REGION = "eu-west-1"
SETTINGS = DeploymentSettings(region=REGION, refs_table="refs", staging_table="staging")


@pytest.fixture(autouse=True)
def _aws() -> Iterator[None]:
    with mock_aws():
        yield


@pytest.fixture
def queue_url() -> str:
    sqs = boto3.client("sqs", region_name=REGION)
    return sqs.create_queue(QueueName="lake-main")["QueueUrl"]


def received(queue_url: str) -> list[dict[str, Any]]:
    sqs = boto3.client("sqs", region_name=REGION)
    answer = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10)
    return [json.loads(message["Body"]) for message in answer.get("Messages", [])]


def test_events_are_taken() -> None:
    boto3.client("events", region_name=REGION).create_event_bus(Name="bus")
    event = Event("d8qj3tkbtms0fh2ok8ng", "tag_created", "lake", 1_795_179_612 * 10**9)
    bus = EventBridgeBus(Clients(SETTINGS).events, "bus")
    assert bus.publish([event] * 11) == Published(11)


def test_a_request_to_look_after_an_export_is_a_message(queue_url: str) -> None:
    queue = SqsQueue[ExportRequest](lambda: Clients(SETTINGS).sqs, queue_url)
    queue.send(ExportRequest("lake", "feature/é"))
    queue.send(ExportRequest("lake", "later"), delay_s=900)
    assert received(queue_url) == [{"repository": "lake", "branch": "feature/é"}]
