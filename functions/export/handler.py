"""The Lambda function: the export queue calls `handler`.

A message says no more than that a branch's export is to be looked after: it is an event from the
bus, or a request that an export sent to come back later. What is to be done stands in the record.
"""

from typing import Any

import msgspec
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from graveler.aws import wiring
from graveler.export.model import ExportRequest
from graveler.operations import exports

logger = Logger(service="graveler-export")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Look after the export of each branch; the messages to deliver again."""
    again: list[str] = []
    for record in event["Records"]:
        try:
            _look_after(record["body"], context)
        except Exception:
            # Whatever it is, the other messages are not to suffer.
            logger.exception("a message failed", message_id=record["messageId"])
            again.append(record["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": message} for message in again]}


def _look_after(body: str, context: LambdaContext) -> None:
    message = msgspec.json.decode(body, type=dict[str, Any])
    request = msgspec.convert(message.get("detail", message), ExportRequest)
    with logger.append_context_keys(repository=request.repository, branch=request.branch):
        exports.advance(
            wiring.engine(),
            request,
            runner=context.aws_request_id,
            time_left_s=lambda: context.get_remaining_time_in_millis() / 1000,
        )
