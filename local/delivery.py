"""Lambda's event source mapping of a queue: messages to a function, one by one.

A message is deleted when the function is done with it. One that fails is due again after a pause
that grows with each try, much sooner than on AWS, where it waits for the visibility timeout.
"""

import hashlib
import json
import logging

from local.lambda_runtime import ACCOUNT, REGION, Function
from local.queues import Message, Queues, queue_arn

logger = logging.getLogger(__name__)

# What AWS recommends.
VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT = 6

_WAIT_S = 20.0


class Delivery:
    """What carries a queue's messages to a function; any number of threads may work for it."""

    def __init__(self, queues: Queues, queue: str, function: Function) -> None:
        self._queues = queues
        self._queue = queue
        self._function = function

    def deliver_forever(self) -> None:
        """Deliver messages as they come."""
        while True:
            self.deliver_next(_WAIT_S)

    def deliver_next(self, wait_s: float = 0) -> bool:
        """Deliver one message; False when none came in time."""
        messages = self._queues.receive(self._queue, wait_s=wait_s)
        for message in messages:
            if self._is_done(message):
                self._queues.delete(self._queue, message.receipt)
            else:
                self._queues.set_due(self._queue, message.receipt, 4**message.receives)
        return bool(messages)

    def _is_done(self, message: Message) -> bool:
        try:
            answer = json.loads(self._function.invoke({"Records": [self._record_of(message)]}))
            failed = (answer or {}).get("batchItemFailures") or []
        except Exception:
            logger.exception("%s failed on message %s", self._function.name, message.id)
            return False
        if failed:
            logger.warning("%s did not accept message %s", self._function.name, message.id)
        return not failed

    def _record_of(self, message: Message) -> dict[str, object]:
        return {
            "messageId": message.id,
            "receiptHandle": message.receipt,
            "body": message.body,
            "attributes": {
                "ApproximateReceiveCount": str(message.receives),
                "SentTimestamp": str(message.sent_ms),
                "SenderId": ACCOUNT,
                "ApproximateFirstReceiveTimestamp": str(message.first_received_ms),
            },
            "messageAttributes": {},
            "md5OfBody": md5_of(message.body),
            "eventSource": "aws:sqs",
            "eventSourceARN": queue_arn(self._queue),
            "awsRegion": REGION,
        }


def md5_of(body: str) -> str:
    """What SQS tells of a body, so that clients can check it."""
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()
