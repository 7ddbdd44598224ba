"""Queues of messages to functions, on SQS."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from graveler.aws.errors import repeated

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

Message_contra = TypeVar("Message_contra", contravariant=True)


class SqsQueue(Generic[Message_contra]):
    """`graveler.export.ports.ExportQueue` or `graveler.ports.TaskQueue` over a standard queue.

    It connects when it sends the first message: most processes never send one.
    """

    def __init__(self, connect: "Callable[[], SQSClient]", queue_url: str) -> None:
        self._connect = connect
        self._queue_url = queue_url

    @cached_property
    def _client(self) -> "SQSClient":
        return self._connect()

    def send(self, message: Message_contra, delay_s: int = 0) -> None:
        body = msgspec.json.encode(message).decode()
        repeated(
            "SQS",
            lambda: self._client.send_message(
                QueueUrl=self._queue_url, MessageBody=body, DelaySeconds=delay_s
            ),
        )
