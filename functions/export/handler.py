"""The Lambda function: the export queue calls `handler`.

A message says no more than that a branch's export is to be looked after: it is an event from the
bus, or a request that an export sent to come back later. What is to be done stands in the record.
"""

from typing import Any

import msgspec
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import Record, Telemetry
from graveler.aws import wiring
from graveler.export.model import ExportRequest, ExportRun, ExportState
from graveler.operations.exports.advance import advance

telemetry = Telemetry("graveler-export")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Look after the export of each branch; the messages to deliver again."""
    again: list[str] = []
    for message in event["Records"]:
        with telemetry.record("message", context, message_id=message["messageId"]) as record:
            try:
                _look_after(message["body"], context, record)
            except Exception as error:  # noqa: BLE001 - the other messages are not to suffer
                record.fail(error)
                again.append(message["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": each} for each in again]}


def _look_after(body: str, context: LambdaContext, record: Record) -> None:
    message = msgspec.json.decode(body, type=dict[str, Any])
    request = msgspec.convert(message.get("detail", message), ExportRequest)
    record.add(repository=request.repository, ref=request.branch)
    export = advance(
        wiring.engine(),
        request,
        runner=context.aws_request_id,
        time_left_s=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    if export is not None and export.state is not None and export.run is not None:
        _tell_outcome(export.state, export.run, record)


def _tell_outcome(state: ExportState, run: ExportRun, record: Record) -> None:
    """Add where the export stands, without its errors, which name objects."""
    record.add(
        state=state.value,
        export_id=run.id,
        commit_id=run.commit_id,
        done=run.progress.done,
        total=run.progress.total,
        failed=run.progress.failed,
    )
