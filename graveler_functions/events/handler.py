"""The Lambda function: the stream of the refs table calls `handler`.

An event is written to the table in one transaction with the change that it describes. Events are
published at least once, and those of one repository in order. The stream delivers again everything
from the first one that fails. Powertools' `BatchProcessor` is not used: it handles each record by
itself, and continues after a failure, but one request publishes several events.
"""

from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    import msgspec
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from graveler.aws import wiring
    from graveler.aws.dynamodb.outbox import event_of
    from graveler.model import Event
    from graveler_functions.telemetry import Telemetry, TelemetryRecord

telemetry = Telemetry("graveler-events")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Publish the events among the records; return the records to deliver again."""
    records = event["Records"]
    with telemetry.record("batch", context, records=len(records)) as record:
        done = _publish(records, record)
    return {
        "batchItemFailures": [
            {"itemIdentifier": each["dynamodb"]["SequenceNumber"]} for each in records[done:]
        ]
    }


def _publish(records: list[dict[str, Any]], log: TelemetryRecord) -> int:
    """Publish the events among the records until one fails; return the number of records done."""
    done = len(records)
    found: list[tuple[int, Event]] = []  # with the positions of their records
    for position, record in enumerate(records):
        # Outbox items never change; their time to live removes them.
        if record["eventName"] != "INSERT":
            continue
        try:
            outbox_event = event_of(record["dynamodb"]["NewImage"])
        except (KeyError, msgspec.MsgspecError) as error:
            log.fail(error, problem="cannot read an outbox item", **_key_of(record))
            done = position
            break
        if outbox_event is not None:
            found.append((position, outbox_event))
    published = wiring.adapters().event_bus.publish([each for _, each in found])
    log.is_idle = not found
    log.measure("EventsPublished", published.count)
    log.measure("EventsFailed", len(found) - published.count)
    if published.problem:
        done, refused = found[published.count]
        log.fail(problem=f"cannot publish: {published.problem}", event_id=refused.id)
    return done


def _key_of(record: dict[str, Any]) -> dict[str, str]:
    """Return the key of the record's item in the table."""
    return {name: value["S"] for name, value in record["dynamodb"]["Keys"].items()}
