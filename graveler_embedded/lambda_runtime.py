"""The Lambda runtime of a handler: JSON in, JSON out, a payload limit and a context.

The event and the answer are really encoded as JSON, so a handler cannot depend on objects that
Lambda cannot pass. `call` leaves that out where it is certain that both are small.
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

REGION = "us-east-1"
ACCOUNT = "000000000000"
# Lambda's maximum.
TIMEOUT_S = 15 * 60.0


class PayloadTooLargeError(Exception):
    """The event is too large for Lambda."""


def new_request_id() -> str:
    """Return a new UUID. It is no secret, and the system's random bytes would cost a switch."""
    return str(UUID(int=random.getrandbits(128), version=4))


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """Lambda's context of an invocation."""

    function_name: str
    deadline_s: float  # of time.monotonic()
    memory_limit_in_mb: int = 1024
    function_version: str = "$LATEST"
    log_stream_name: str = "local"
    aws_request_id: str = field(default_factory=new_request_id)

    @property
    def invoked_function_arn(self) -> str:
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}"

    @property
    def log_group_name(self) -> str:
        return f"/aws/lambda/{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        return max(0, round((self.deadline_s - time.monotonic()) * 1000))


Handler = Callable[[Any, Any], Any]

# A character takes at most six bytes of JSON. The rest is for what an event has beside its body.
_SMALL_BODY_CHARACTERS_MAX = LAMBDA_PAYLOAD_BYTES_MAX // 8


@dataclass(frozen=True, slots=True)
class LocalFunction:
    """A Lambda function: a handler with its name and timeout."""

    name: str
    handler: Handler
    timeout_s: float

    def invoke(self, event: Mapping[str, Any]) -> bytes:
        """Return the handler's answer to the event, as JSON.

        Raises:
            PayloadTooLargeError: the event is too large; the handler was not called.
            Exception: the handler raised it, or its answer is not JSON or is too large.
        """
        payload = _encode(event)
        if len(payload) > LAMBDA_PAYLOAD_BYTES_MAX:
            raise PayloadTooLargeError(f"the event has {len(payload)} bytes: too large for Lambda")
        return self._encoded(self._answer_to(_decode(payload)))

    def call(self, event: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON
        """Return the handler's answer to an event of API Gateway, with objects handed over.

        Raises:
            PayloadTooLargeError, Exception: as `invoke`, but the answer need not be JSON.
        """
        if not _has_small_body(event):
            return _decode(self.invoke(event))
        answer = self._answer_to(event)
        if not _has_small_body(answer):
            self._encoded(answer)
        return answer

    def _answer_to(self, event: Any) -> Any:  # noqa: ANN401 - the handler's
        return self.handler(event, LambdaContext(self.name, time.monotonic() + self.timeout_s))

    def _encoded(self, answer: Any) -> bytes:  # noqa: ANN401 - the handler's
        payload = _encode(answer)
        if len(payload) > LAMBDA_PAYLOAD_BYTES_MAX:
            raise ValueError(f"{self.name} answered {len(payload)} bytes: too large for Lambda")
        return payload


def _has_small_body(message: Mapping[str, Any]) -> bool:
    return len(message.get("body") or "") <= _SMALL_BODY_CHARACTERS_MAX
