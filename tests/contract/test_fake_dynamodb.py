"""The fake of DynamoDB without weaknesses answers as DynamoDB Local does.

Where DynamoDB Local differs, the fake follows DynamoDB's documentation:

- DynamoDB Local checks conditions before it finds some malformed parts of a request, such as an
  update of a key or two writes of one item in a transaction.
- DynamoDB Local returns no LastEvaluatedKey at the far bound of a key condition, and refuses a
  starting key there.
- DynamoDB Local returns ConsumedCapacity for some deletions, unasked.
- DynamoDB Local returns some numbers as they were sent, such as 1E2.
- DynamoDB Local lets an update store a wrong type in the key of an index; requests leave it out.
- Reasons of malformed parts in a transaction vary: as ValidationException, or as ValidationError
  of the part.
"""

from collections.abc import Callable
from decimal import Decimal
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.exchanges.buffered import BufferedResponse
from graveler.aws.signing import Signer
from tests.support.fakes.dynamodb.errors import VALIDATION
from tests.support.fakes.dynamodb.service import Service
from tests.support.fakes.dynamodb.transport import ServiceHttp
from tests.support.worlds.dynamodb_requests import TABLES, Request, requests
from tests.support.worlds.server_world import REGION, Keys

_SIGNER = Signer(REGION, Keys)
_PARTITIONS = count()


def send(http: DynamoDBHttpClient, operation: str, request: Request) -> BufferedResponse:
    body = msgspec.json.encode(request)
    headers = {
        "content-type": "application/x-amz-json-1.0",
        "host": http.host,
        "x-amz-target": f"DynamoDB_20120810.{operation}",
    }
    return http.begin(_SIGNER.signed(headers, body), body).finish()


@pytest.fixture(scope="module")
def server(dynamodb_endpoint: str) -> DynamoDBHttpClient:
    http = DynamoDBHttpClient(dynamodb_endpoint)
    for table in TABLES:
        send(http, "CreateTable", table)
    return http


# Items of an index that have equal keys have any order.
INDEXED = "Query of an index"
UNORDERED = ("BatchGetItem", INDEXED)
PARTS: dict[str, Callable[[Any], Any]] = {"N": Decimal, "SS": sorted, "NS": sorted}


def in_order(value: Any) -> Any:
    """Return a document whose sets are sorted, and whose numbers are numbers."""
    if isinstance(value, dict):
        return {name: PARTS.get(name, in_order)(each) for name, each in value.items()}
    return [in_order(each) for each in value] if isinstance(value, list) else value


def essence(operation: str, answer: BufferedResponse) -> Any:
    """Return what is promised of an answer: not the words of refusals, nor the order of a batch."""
    document = in_order(msgspec.json.decode(answer.body))
    if answer.status != 200:
        code = document["__type"].rpartition("#")[2]
        reasons = document.get("CancellationReasons", ())
        if code == VALIDATION or any(each["Code"] == "ValidationError" for each in reasons):
            return VALIDATION
        found = [(reason["Code"], reason.get("Item")) for reason in reasons]
        return code, found, document.get("Item")
    document.pop("ConsumedCapacity", None)
    for items in (document.get("Responses") or {"": document.get("Items", [])}).values():
        if operation in UNORDERED:
            items.sort(key=lambda item: str(sorted(item.items())))
    return document


def is_alike(operation: str, ours: BufferedResponse, theirs: BufferedResponse) -> bool:
    """Whether the answers are equal, but for the known differences."""
    if essence(operation, ours) == VALIDATION:
        return theirs.status == 400
    if b"does not match the range key predicate" in theirs.body and ours.status == 200:
        return not msgspec.json.decode(ours.body)["Items"]
    found, expected = essence(operation, ours), essence(operation, theirs)
    if operation == "Query" and ours.status == 200 and "LastEvaluatedKey" not in expected:
        found.pop("LastEvaluatedKey", None)
    return bool(found == expected)


@pytest.mark.server
@given(st.data())
def test_random_requests_get_the_same_answers(server: DynamoDBHttpClient, data: Any) -> None:
    fake = ServiceHttp(Service())
    for table in TABLES:
        send(fake, "CreateTable", table)
    partition = f"p{next(_PARTITIONS)}"
    sent = data.draw(st.lists(requests(partition), min_size=5, max_size=30))
    for operation, request in sent:
        answers = [send(http, operation, request) for http in (fake, server)]
        kind = INDEXED if "IndexName" in request else operation
        assert is_alike(kind, *answers), (operation, request, [each.body for each in answers])
