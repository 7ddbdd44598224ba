"""Queues of messages to functions, on SQS."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import msgspec

from graveler.aws.errors import repeated

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class OfRepository(Protocol):
    """A message about something of a repository."""

    @property
    def repository(self) -> str:
        """The repository's name."""


Message_contra = TypeVar("Message_contra", bound=OfRepository, contravariant=True)


class SqsQueue(Generic[Message_contra]):
    """`graveler.export.ports.ExportQueue` or `graveler.ports.TaskQueue` over a standard queue.

    The repository is the message's group, so the queue is fair: a repository whose messages take
    most of the functions' time waits behind the others.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html

    client returns the client, which most processes never need.
    """

    def __init__(self, client: "Callable[[], SQSClient]", queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def send(self, message: Message_contra, delay_s: int = 0) -> None:
        body = msgspec.json.encode(message).decode()
        repeated(
            "SQS",
            lambda: self._client().send_message(
                QueueUrl=self._queue_url,
                MessageBody=body,
                DelaySeconds=delay_s,
                MessageGroupId=message.repository,
            ),
        )
