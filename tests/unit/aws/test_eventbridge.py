"""Events go to EventBridge in order and in full batches, and none is lost."""

import json

import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from msgspec.structs import replace

from graveler.aws.eventbridge import EventBridgeBus, Published
from graveler.model import Event
from graveler.model.events import DETAIL_BYTES_MAX
from tests.unit.aws.scripted_service import ScriptedService

EVENT = Event(
    "d8qj3tkbtms0fh2ok8ng",
    "cherry_pick_completed",
    "lake",
    1_795_179_612_345_678_901,
    {"branch": "main", "message": "Why: é"},
)
TAKEN = {"EventId": "1"}
REFUSED = {"ErrorCode": "ThrottlingException", "ErrorMessage": "slowly"}


def answer(*entries: dict[str, str]) -> dict[str, object]:
    return {"FailedEntryCount": sum("ErrorCode" in e for e in entries), "Entries": list(entries)}


def events(count: int) -> list[Event]:
    return [replace(EVENT, id=str(number)) for number in range(count)]


def ids(service: ScriptedService) -> list[list[str]]:
    """The IDs of the events in each request."""
    return [
        [json.loads(entry["Detail"])["id"] for entry in request["Entries"]]
        for request in service.requests
    ]


def test_an_event_is_put_under_its_words() -> None:
    service = ScriptedService("events", answer(TAKEN))
    assert EventBridgeBus(service.client, "lake-bus").publish([EVENT]) == Published(1)
    (entry,) = service.requests[0]["Entries"]
    detail = json.loads(entry.pop("Detail"))
    assert entry == {
        "EventBusName": "lake-bus",
        "Source": "graveler",
        "DetailType": "Cherry-Pick Completed",
        "Time": 1795179612.345678,
    }
    assert detail == {
        "version": "1",
        "id": "d8qj3tkbtms0fh2ok8ng",
        "kind": "cherry_pick_completed",
        "time": "2026-11-20T13:00:12.345678Z",
        "repository": "lake",
        "branch": "main",
        "message": "Why: é",
    }


def test_nothing_is_sent_for_nothing() -> None:
    service = ScriptedService("events", answer())
    assert EventBridgeBus(service.client, "bus").publish([]) == Published(0)
    assert service.requests == []


def test_a_request_carries_ten() -> None:
    service = ScriptedService("events", answer(*[TAKEN] * 10), answer(*[TAKEN] * 10), answer(TAKEN))
    assert EventBridgeBus(service.client, "bus").publish(events(21)) == Published(21)
    assert list(map(len, ids(service))) == [10, 10, 1]
    assert [each for request in ids(service) for each in request] == list(map(str, range(21)))


def test_a_request_carries_256_kb() -> None:
    half = replace(EVENT, detail={"message": "x" * 127 * 1024})
    service = ScriptedService("events", answer(TAKEN, TAKEN), answer(TAKEN))
    assert EventBridgeBus(service.client, "bus").publish([half] * 3) == Published(3)
    assert list(map(len, ids(service))) == [2, 1]
    largest = replace(EVENT, detail={"message": "x" * (DETAIL_BYTES_MAX - 200)})
    service = ScriptedService("events", answer(TAKEN))
    EventBridgeBus(service.client, "bus").publish([largest] * 2)
    assert list(map(len, ids(service))) == [1, 1]


def test_publishing_stops_at_the_first_refused_event() -> None:
    first, second = answer(*[TAKEN] * 10), answer(TAKEN, TAKEN, REFUSED, TAKEN, *[REFUSED] * 6)
    service = ScriptedService("events", first, second)
    published = EventBridgeBus(service.client, "bus").publish(events(30))
    assert published == Published(12, "ThrottlingException: slowly")
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    "problem",
    [
        (400, "ResourceNotFoundException"),
        (503, "ServiceUnavailable"),
        EndpointConnectionError(endpoint_url="https://events.example"),
        ReadTimeoutError(endpoint_url="https://events.example"),
    ],
)
def test_a_request_that_fails_ends_it_there(problem: tuple[int, str] | Exception) -> None:
    service = ScriptedService("events", answer(*[TAKEN] * 10), problem)
    published = EventBridgeBus(service.client, "bus").publish(events(11))
    assert published.count == 10
    assert published.problem
