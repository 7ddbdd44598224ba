"""The Lambda function: the stream of the refs table calls `handler`.

Whatever writes an event has put it into the table in one transaction with the change that it
reports. Events are published at least once, and those of one repository in their order: from the
first that fails, the stream delivers everything again.
"""

from typing import Any

import msgspec
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from graveler.aws import wiring
from graveler.aws.records import event_of
from graveler.model import Event

logger = Logger(service="graveler-events")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001
    """Publish the events among the records; the records to deliver again."""
    records = event["Records"]
    done = len(records)
    reported: list[tuple[int, Event]] = []  # with the position of the record
    for position, record in enumerate(records):
        # Nothing ever changes an outbox item; it is removed when its time to live is over.
        if record["eventName"] != "INSERT":
            continue
        try:
            found = event_of(record["dynamodb"]["NewImage"])
        except (KeyError, msgspec.MsgspecError):
            logger.exception("cannot read an outbox item", keys=record["dynamodb"]["Keys"])
            done = position
            break
        if found is not None:
            reported.append((position, found))
    published = wiring.event_bus().publish([found for _, found in reported])
    if published.problem:
        done, refused = reported[published.count]
        logger.error("cannot publish", problem=published.problem, event_id=refused.id)
    if published.count:
        logger.info("published", events=published.count)
    return {
        "batchItemFailures": [
            {"itemIdentifier": record["dynamodb"]["SequenceNumber"]} for record in records[done:]
        ]
    }
