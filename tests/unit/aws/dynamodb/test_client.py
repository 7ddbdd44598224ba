"""How DynamoDB's answers, and missing answers, reach the adapters."""

import json
from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest

from graveler.aws.dynamodb import client as client_module
from graveler.aws.dynamodb.client import DynamoDB, DynamoDBCall
from graveler.aws.errors import (
    ConditionFailedError,
    RequestRefusedError,
    TransactionCancelledError,
)
from graveler.aws.exchanges.buffered import BufferedResponse, RequestNotSentError, ResponseLostError
from graveler.aws.signing import Signer
from graveler.errors import (
    InvalidInputError,
    ThrottledError,
    UnknownOutcomeError,
)
from tests.support.fakes.memory_objects import FixedClock
from tests.unit.aws.scripted import FakeTime, Keys, ScriptedHttp, Step

OK = BufferedResponse(200, {}, b'{"Item":{"a":{"S":"b"}}}')


def refusal(code: str, status: int = 400, **more: object) -> BufferedResponse:
    document = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", **more}
    return BufferedResponse(status, {}, json.dumps(document).encode())


def cancelled(*codes: str, message: str = "") -> BufferedResponse:
    reasons = [{"Code": code, "Message": message} for code in codes]
    return refusal("TransactionCanceledException", CancellationReasons=reasons)


def dynamodb(*steps: Step, observe: Callable[[str], None] | None = None) -> DynamoDB:
    http = ScriptedHttp(list(steps))
    signer = Signer("eu-west-1", Keys)
    return DynamoDB(http, signer, FakeTime().retries(), observe)  # type: ignore[arg-type] # a stand-in


def attempts_of(client: Any) -> int:
    return len(client._http.requests)


THROTTLED = [
    refusal("ProvisionedThroughputExceededException"),
    refusal("ThrottlingException"),
    refusal("RequestLimitExceeded"),
    refusal("TransactionConflictException"),
    refusal("TransactionInProgressException"),
    cancelled("None", "TransactionConflict"),
    cancelled("ThrottlingError", "None"),
    cancelled("ProvisionedThroughputExceeded"),
]


@pytest.mark.parametrize("answer", THROTTLED, ids=lambda a: a.body[:90].decode())
@pytest.mark.parametrize("operation", ["GetItem", "TransactWriteItems"])
def test_throttling_is_waited_out(answer: BufferedResponse, operation: str) -> None:
    client = dynamodb(answer, answer, OK)
    assert client.call(operation, {}) == {"Item": {"a": {"S": "b"}}}
    assert attempts_of(client) == 3


@pytest.mark.parametrize("answer", THROTTLED, ids=lambda a: a.body[:90].decode())
@pytest.mark.parametrize("operation", ["GetItem", "TransactWriteItems"])
def test_lasting_throttling_is_reported_as_such(answer: BufferedResponse, operation: str) -> None:
    client = dynamodb(answer)
    with pytest.raises(ThrottledError):
        client.call(operation, {})
    assert attempts_of(client) > 3


UNKNOWN: list[Step] = [
    ResponseLostError,
    refusal("InternalServerError", status=500),
    BufferedResponse(503, {}, b"<html>"),
    BufferedResponse(200, {"x-amz-crc32": "1"}, b"{}"),
]


@pytest.mark.parametrize("step", UNKNOWN, ids=repr)
def test_a_write_that_nobody_confirms_has_an_unknown_outcome(step: Step) -> None:
    with pytest.raises(UnknownOutcomeError):
        dynamodb(step).call("PutItem", {})
    with pytest.raises(UnknownOutcomeError):
        dynamodb(step, refusal("ThrottlingException")).call("PutItem", {})
    assert dynamodb(step, OK).call("PutItem", {}) == {"Item": {"a": {"S": "b"}}}


@pytest.mark.parametrize("jump_s", [-3600, 301, 3600])
def test_a_write_is_not_repeated_after_the_process_was_frozen(
    monkeypatch: pytest.MonkeyPatch, jump_s: int
) -> None:
    """DynamoDB would take the repetition for another transaction.

    It remembers ten minutes, and accepts a signature for five, so no attempt follows after five.
    """
    clock = FixedClock()
    monkeypatch.setattr(client_module, "moment", clock.moment)
    client: Any = dynamodb(ResponseLostError, OK)
    begin = client._http.begin

    def begin_and_jump(*request: Any) -> Any:
        clock.step(jump_s)
        return begin(*request)

    monkeypatch.setattr(client._http, "begin", begin_and_jump)
    with pytest.raises(UnknownOutcomeError):
        client.call("TransactWriteItems", {})
    assert attempts_of(client) == 1


@pytest.mark.parametrize("step", UNKNOWN, ids=repr)
def test_a_refusal_says_nothing_of_the_attempt_before_it(step: Step) -> None:
    refused = refusal("ExpiredTokenException")
    with pytest.raises(UnknownOutcomeError, match="Expired"):
        dynamodb(step, refused).call("PutItem", {})
    with pytest.raises(RequestRefusedError):
        dynamodb(step, refused).call("GetItem", {})


@pytest.mark.parametrize("step", UNKNOWN, ids=repr)
def test_a_read_without_an_answer_can_be_tried_later(step: Step) -> None:
    with pytest.raises(ThrottledError):
        dynamodb(step).call("Query", {})


def test_a_write_that_was_never_sent_has_no_effect() -> None:
    with pytest.raises(ThrottledError):
        dynamodb(RequestNotSentError).call("PutItem", {})


def test_a_whole_answer_is_taken() -> None:
    body = b'{"Count":1}'
    client = dynamodb(BufferedResponse(200, {"x-amz-crc32": str(crc32(body))}, body))
    assert client.call("Query", {}) == {"Count": 1}
    assert attempts_of(client) == 1


def test_a_failed_condition_brings_the_item() -> None:
    client = dynamodb(refusal("ConditionalCheckFailedException", Item={"a": {"S": "b"}}))
    with pytest.raises(ConditionFailedError) as caught:
        client.call("UpdateItem", {})
    assert caught.value.item == {"a": {"S": "b"}}
    assert attempts_of(client) == 1


def test_a_cancelled_transaction_brings_the_reasons() -> None:
    # A conflict beside a failed condition does not make another attempt worth while.
    client = dynamodb(cancelled("TransactionConflict", "ConditionalCheckFailed", "None"))
    with pytest.raises(TransactionCancelledError) as caught:
        client.call("TransactWriteItems", {})
    assert caught.value.codes == ("TransactionConflict", "ConditionalCheckFailed", "None")


@pytest.mark.parametrize(
    "answer",
    [
        refusal("ValidationException", message="Item size has exceeded the maximum allowed size"),
        refusal("ValidationException", message="Item size to update has exceeded the maximum"),
        cancelled("ValidationError", message="Item size has exceeded the maximum allowed size"),
    ],
)
def test_an_item_that_is_too_large_is_bad_input(answer: BufferedResponse) -> None:
    with pytest.raises(InvalidInputError, match="too large"):
        dynamodb(answer).call("PutItem", {})


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal("ResourceNotFoundException", message="no table"), "ResourceNotFoundException"),
        (refusal("AccessDeniedException", Message="not you"), "AccessDeniedException"),
        (cancelled("ValidationError", message="bad"), "TransactionCanceledException"),
        (BufferedResponse(403, {}, b"<html>"), "403"),
    ],
)
def test_an_error_that_no_retry_can_fix_is_raised_at_once(
    answer: BufferedResponse, code: str
) -> None:
    client = dynamodb(answer)
    with pytest.raises(RequestRefusedError) as caught:
        client.call("PutItem", {})
    assert caught.value.code == code
    assert attempts_of(client) == 1


def test_two_reads_together_are_one_round_trip() -> None:
    seen: list[str] = []
    first, second = BufferedResponse(200, {}, b"1"), BufferedResponse(200, {}, b"2")
    client = dynamodb(first, second, observe=seen.append)
    assert client.call_together(DynamoDBCall("GetItem", {}), DynamoDBCall("Query", {})) == (1, 2)
    assert seen == ["GetItem+Query"]


@pytest.mark.parametrize("step", [ResponseLostError, RequestNotSentError, THROTTLED[0]], ids=repr)
def test_of_two_reads_together_each_is_tried_again(step: Step) -> None:
    client = dynamodb(step, step, OK)
    item = {"Item": {"a": {"S": "b"}}}
    assert client.call_together(DynamoDBCall("GetItem", {}), DynamoDBCall("Query", {})) == (
        item,
        item,
    )
