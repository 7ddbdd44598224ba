"""Lambda's event source mapping of a queue: delivers messages to a function, one by one.

A message is deleted when the function has processed it. A failed message is due again after a pause
that grows with each attempt. On AWS it would wait much longer, for the visibility timeout.
"""

import hashlib
import json
import logging

from graveler_embedded.lambda_runtime import ACCOUNT, REGION, LocalFunction
from graveler_embedded.queues import Message, Queues, queue_arn

logger = logging.getLogger(__name__)

# AWS's recommendation.
VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT = 6

_WAIT_S = 20.0


class QueueDelivery:
    """Delivers a queue's messages to a function, in any number of threads."""

    def __init__(self, queues: Queues, queue: str, function: LocalFunction) -> None:
        self._queues = queues
        self._queue = queue
        self._function = function

    def deliver_forever(self) -> None:
        """Deliver messages as they arrive."""
        while True:
            self.deliver_next(_WAIT_S)

    def deliver_next(self, wait_s: float = 0) -> bool:
        """Deliver one message; return False if none arrived in time."""
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
    """Return SQS's checksum of a body, which clients verify."""
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()
