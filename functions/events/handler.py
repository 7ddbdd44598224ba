"""The Lambda function: the stream of the refs table calls `handler`.

Whatever writes an event has put it into the table in one transaction with the change that it
reports. Events are published at least once, and those of one repository in their order: from the
first that fails, the stream delivers everything again.
"""

from typing import Any

import msgspec
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import Record, Telemetry
from graveler.aws import wiring
from graveler.aws.dynamodb.records import event_of
from graveler.model import Event

telemetry = Telemetry("graveler-events")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Publish the events among the records; the records to deliver again."""
    records = event["Records"]
    with telemetry.record("batch", context, records=len(records)) as record:
        done = _publish(records, record)
    return {
        "batchItemFailures": [
            {"itemIdentifier": each["dynamodb"]["SequenceNumber"]} for each in records[done:]
        ]
    }


def _publish(records: list[dict[str, Any]], told: Record) -> int:
    """Publish the events among the records until one fails; how many records are done."""
    done = len(records)
    reported: list[tuple[int, Event]] = []  # with the position of the record
    for position, record in enumerate(records):
        # Nothing ever changes an outbox item; it is removed when its time to live is over.
        if record["eventName"] != "INSERT":
            continue
        try:
            found = event_of(record["dynamodb"]["NewImage"])
        except (KeyError, msgspec.MsgspecError) as error:
            told.fail(error, problem="cannot read an outbox item", **_key_of(record))
            done = position
            break
        if found is not None:
            reported.append((position, found))
    published = wiring.event_bus().publish([found for _, found in reported])
    told.measure("EventsPublished", published.count)
    told.measure("EventsFailed", len(reported) - published.count)
    if published.problem:
        done, refused = reported[published.count]
        told.fail(problem=f"cannot publish: {published.problem}", event_id=refused.id)
    return done


def _key_of(record: dict[str, Any]) -> dict[str, str]:
    """The key of the record's item in the table."""
    return {name: value["S"] for name, value in record["dynamodb"]["Keys"].items()}
