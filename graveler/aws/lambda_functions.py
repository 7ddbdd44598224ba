"""Functions that the engine invokes and waits for, on Lambda."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from graveler.aws.errors import service_call
from graveler.errors import ThrottledError


class LambdaClient(Protocol):
    """The part of boto3's client that is used here."""

    def invoke(self, *, FunctionName: str, Payload: bytes) -> Mapping[str, Any]:  # noqa: N803
        """Invoke the function and wait for its answer."""


class LambdaSliceFunction:
    """`graveler.ports.SliceFunction` over a Lambda function."""

    def __init__(self, client: Callable[[], LambdaClient], function_name: str) -> None:
        self._client = client
        self._function_name = function_name

    def invoke(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        with service_call("Lambda"):
            answer = self._client().invoke(
                FunctionName=self._function_name, Payload=msgspec.json.encode(job)
            )
            content: bytes = answer["Payload"].read()
        if "FunctionError" in answer:
            # The function ran out of time or memory, or has a bug; its log has the reason.
            raise ThrottledError(
                f"function {self._function_name} failed: {content[:500].decode(errors='replace')}"
            )
        decoded: Mapping[str, Any] = msgspec.json.decode(content)
        return decoded
