"""The function of the table's stream, with records as the stream delivers them."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from graveler.aws import wiring
from graveler.aws.dynamodb.branches import branch_item
from graveler.aws.dynamodb.models import HEARTBEATS, STREAM_BEAT, BeatItem
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.eventbridge import Published
from graveler.model import Branch, CommitID, Event, Repository, RepositoryUID, StagingToken
from graveler_functions.events.handler import handler
from tests.support.checks.lines import lines_of
from tests.support.fakes.invocation import Context

UID = RepositoryUID("d8qj3tkbtms0fh2ok8ng")
LAKE = Repository("lake", UID, "s3://bucket/lake", "main", 1_700_000_000)
CONTEXT = Context("request")


class RecordingBus:
    """Takes events until it has taken so many."""

    def __init__(self, takes: int = 1_000) -> None:
        self.takes = takes
        self.events: list[Event] = []

    def publish(self, events: Iterable[Event]) -> Published:
        wanted = list(events)
        self.events += wanted[: self.takes]
        count = min(self.takes, len(wanted))
        return Published(count, "" if count == len(wanted) else "ThrottlingException: slowly")


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> RecordingBus:
    made = RecordingBus()
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(event_bus=made))
    return made


def event(number: int) -> Event:
    return Event(
        f"id-{number}", "tag_created", "lake", 1_700_000_000 * 10**9 + number, {"tag": "é"}
    )


def record(number: int, image: dict[str, Any], name: str = "INSERT") -> dict[str, Any]:
    change = {
        "ApproximateCreationDateTime": 1_700_000_000.0,
        "Keys": {key: image[key] for key in ("partition", "sort")},
        "NewImage": image,
        "SequenceNumber": f"{number:021d}",
        "SizeBytes": 300,
        "StreamViewType": "NEW_IMAGE",
    }
    if name == "REMOVE":
        del change["NewImage"]
    return {
        "eventID": f"{number:032x}",
        "eventName": name,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "eu-west-1",
        "dynamodb": change,
        "eventSourceARN": "arn:aws:dynamodb:eu-west-1:123456789012:table/refs/stream/2026-11-20",
    }


def reported(number: int, name: str = "INSERT") -> dict[str, Any]:
    return record(number, outbox_item(LAKE, event(number)).serialize(), name)


def moved(number: int) -> dict[str, Any]:
    branch = Branch("main", CommitID("c" * 64), StagingToken("lake-main:token"))
    return record(number, branch_item(LAKE, branch).serialize(), "MODIFY")


def failures(*records: dict[str, Any]) -> list[int]:
    """The numbers of the records that are to come again."""
    answer = handler({"Records": list(records)}, CONTEXT)
    assert set(answer) == {"batchItemFailures"}
    return [int(failure["itemIdentifier"]) for failure in answer["batchItemFailures"]]


def test_what_the_outbox_reports_is_published_in_order(bus: RecordingBus) -> None:
    assert failures(*map(reported, range(12))) == []
    assert bus.events == [event(number) for number in range(12)]


def test_nothing_else_is_an_event(bus: RecordingBus) -> None:
    new_branch = moved(3) | {"eventName": "INSERT"}
    expired = reported(4, "REMOVE")
    rewritten = reported(5, "MODIFY")
    assert failures(moved(0), reported(1), moved(2), new_branch, expired, rewritten) == []
    assert bus.events == [event(1)]


@pytest.mark.parametrize("name", ["INSERT", "MODIFY"])
def test_the_beat_of_a_sweep_is_no_event(bus: RecordingBus, name: str) -> None:
    beat = record(0, BeatItem(HEARTBEATS, STREAM_BEAT, at_ns=1).serialize(), name)
    assert failures(beat, reported(1)) == []
    assert bus.events == [event(1)]


def test_from_the_first_that_is_refused_everything_comes_again(bus: RecordingBus) -> None:
    bus.takes = 2
    records = [reported(0), moved(1), reported(2), reported(3), moved(4), reported(5)]
    assert failures(*records) == [3, 4, 5]
    assert bus.events == [event(0), event(2)]


def test_an_unreadable_item_stops_everything_behind_it(bus: RecordingBus) -> None:
    broken = reported(1)
    broken["dynamodb"]["NewImage"]["event"] = {"S": '{"id": 1}'}
    assert failures(reported(0), broken, reported(2)) == [1, 2]
    assert bus.events == [event(0)]
    bus.takes = 0
    assert failures(reported(0), broken, reported(2)) == [0, 1, 2]


def test_a_batch_is_logged_with_its_outcome(
    bus: RecordingBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = lines_of(monkeypatch, "graveler-events")
    bus.takes = 2
    assert failures(reported(0), moved(1), reported(2), reported(3)) == [3]
    told = lines.last
    assert (told["records"], told["EventsPublished"], told["EventsFailed"]) == (4, 2, 1)
    assert (told["level"], told["ServerErrors"]) == ("ERROR", 1)
    assert told["problem"] == "cannot publish: ThrottlingException: slowly"
    assert told["event_id"] == "id-3"
    broken = reported(4)
    broken["dynamodb"]["NewImage"]["event"] = {"S": '{"id": "of nobody"}'}
    assert failures(broken) == [4]
    assert lines.last["problem"] == "cannot read an outbox item"
    assert lines.last["partition"] == broken["dynamodb"]["Keys"]["partition"]["S"]
    assert "of nobody" not in lines.text
