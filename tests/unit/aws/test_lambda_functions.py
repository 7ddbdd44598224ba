"""The slice function as the engine invokes it on Lambda, and as the embedded stack serves it."""

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from graveler.aws.lambda_functions import LambdaSliceFunction
from graveler.errors import ThrottledError
from graveler_embedded.api_gateway import ApiRequest
from graveler_embedded.lambda_runtime import LocalFunction
from graveler_embedded.slices import invocations
from graveler_gateway.protocol.head import RequestHead

JOB = {"task": "CA1", "start": "AA==", "end": None}


class Lambda:
    """Lambda's Invoke API with one answer; remembers the requests."""

    def __init__(self, content: object, *, failed: bool = False) -> None:
        self.requests: list[tuple[str, Any]] = []
        self._content = content
        self._failed = failed

    def invoke(self, *, FunctionName: str, Payload: bytes) -> Mapping[str, Any]:  # noqa: N803
        self.requests.append((FunctionName, json.loads(Payload)))
        if isinstance(self._content, Exception):
            raise self._content
        answer = {"Payload": io.BytesIO(json.dumps(self._content).encode())}
        return answer | ({"FunctionError": "Unhandled"} if self._failed else {})


def function_over(client: Lambda) -> LambdaSliceFunction:
    return LambdaSliceFunction(lambda: client, "graveler-slices")


def test_the_answer_of_a_job_is_the_functions() -> None:
    client = Lambda({"result": {"added": 1}})
    assert function_over(client).invoke(JOB) == {"result": {"added": 1}}
    assert client.requests == [("graveler-slices", JOB)]


def test_a_function_that_died_is_invoked_again_and_its_last_words_are_known() -> None:
    client = Lambda({"errorMessage": "Task timed out after 900 seconds"}, failed=True)
    with pytest.raises(ThrottledError, match="timed out after 900 seconds"):
        function_over(client).invoke(JOB)


@pytest.mark.parametrize(
    "problem",
    [
        ClientError({"Error": {"Code": "TooManyRequestsException", "Message": ""}}, "Invoke"),
        ReadTimeoutError(endpoint_url="https://lambda"),
    ],
)
def test_too_many_at_once_and_lost_answers_are_throttling(problem: Exception) -> None:
    with pytest.raises(ThrottledError, match="Lambda"):
        function_over(Lambda(problem)).invoke(JOB)


def test_it_connects_when_it_invokes_the_function_for_the_first_time() -> None:
    def connect() -> Lambda:
        raise AssertionError

    LambdaSliceFunction(connect, "graveler-slices")


@pytest.mark.parametrize("fails", [False, True])
def test_the_embedded_stack_answers_like_lambda(fails: bool) -> None:
    def handler(event: Any, _: object) -> Any:
        if fails:
            raise ZeroDivisionError("a bug")
        return {"got": event}

    head = RequestHead("POST", "/2015-03-31/functions/graveler-slices/invocations", "", ())
    application = invocations(LocalFunction("graveler-slices", handler, 60))
    status, headers, body = application(ApiRequest(head, "1.1", "", json.dumps(JOB).encode()))
    assert status == 200
    assert ("X-Amz-Function-Error" in dict(headers)) == fails
    assert json.loads(body) == ({"errorMessage": "a bug"} if fails else {"got": JOB})
