"""Signs of life: what a sweep writes for the stream, and how old the last collection is."""

import json
from uuid import uuid4

import pytest

from graveler.aws.dynamodb.heartbeats import HeartbeatStore
from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.aws.dynamodb.models import HEARTBEATS, STREAM_BEAT
from tests.contract.conftest import DynamoDBStores


@pytest.fixture
def heartbeats(dynamodb_stores: DynamoDBStores) -> HeartbeatStore:
    return HeartbeatStore(dynamodb_stores.tables)


@pytest.fixture
def series() -> str:
    """A series of this test alone."""
    return f"sweep#{uuid4()}"


def test_each_beat_changes_the_one_item_that_the_stream_carries(
    heartbeats: HeartbeatStore, dynamodb_stores: DynamoDBStores
) -> None:
    for now_ns in (1, 2):
        heartbeats.beat(now_ns)
        found = dynamodb_stores.tables.get(HEARTBEATS, STREAM_BEAT)
        assert found is not None
        assert found["at_ns"] == {"N": json.dumps(now_ns)}


def test_a_series_that_never_succeeded_counts_from_the_first_look(
    heartbeats: HeartbeatStore, series: str
) -> None:
    assert heartbeats.collected_ns([series], 1_000) == 1_000
    assert heartbeats.collected_ns([series], 5_000) == 1_000


def test_a_success_is_what_later_looks_see(
    heartbeats: HeartbeatStore, dynamodb_stores: DynamoDBStores, series: str
) -> None:
    heartbeats.collected_ns([series], 1_000)
    DynamoJobStore(dynamodb_stores.tables).note_collection(series, 7_000)
    assert heartbeats.collected_ns([series], 9_000) == 7_000


def test_of_several_series_the_one_that_is_oldest_counts(
    heartbeats: HeartbeatStore, series: str
) -> None:
    other = f"{series}-other"
    heartbeats.note_collection(series, 3_000)
    heartbeats.note_collection(other, 2_000)
    assert heartbeats.collected_ns([series, other], 9_000) == 2_000
    assert heartbeats.collected_ns([series], 9_000) == 3_000


def test_a_success_between_the_look_and_its_note_is_kept(
    heartbeats: HeartbeatStore, dynamodb_stores: DynamoDBStores, series: str
) -> None:
    """The answer to the look's query is lost, and the collection ends before it is repeated."""
    dynamodb_stores.http.to_lose["PutItem"] = 1
    dynamodb_stores.http.meanwhile = lambda: heartbeats.note_collection(series, 7_000)
    try:
        heartbeats.collected_ns([series], 1_000)
    finally:
        dynamodb_stores.http.meanwhile = lambda: None
    assert heartbeats.collected_ns([series], 9_000) == 7_000
