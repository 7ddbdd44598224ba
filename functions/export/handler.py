"""The Lambda function: the export queue calls `handler`.

A message only names a branch: it is an event from the bus, or a request that an export sent to
itself. The export's record says what to do.
"""

from typing import Any

from functions.starting import uncollected

with uncollected():
    import msgspec
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from functions.telemetry import Record, Telemetry
    from graveler.aws import wiring
    from graveler.aws.background_work import patient_reads
    from graveler.export.model import ExportRequest, ExportRun, ExportState
    from graveler.operations.exports.advance import advance

telemetry = Telemetry("graveler-export")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Advance the export of each message's branch; return the messages to deliver again."""
    again: list[str] = []
    for message in event["Records"]:
        with telemetry.record("message", context, message_id=message["messageId"]) as record:
            try:
                _advance(message["body"], context, record)
            except Exception as error:  # noqa: BLE001 - one must not stop the other messages
                record.fail(error)
                again.append(message["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": each} for each in again]}


def _advance(body: str, context: LambdaContext, record: Record) -> None:
    message = msgspec.json.decode(body, type=dict[str, Any])
    request = msgspec.convert(message.get("detail", message), ExportRequest)
    record.add(repository=request.repository, ref=request.branch)
    with patient_reads():
        export = advance(
            wiring.adapters().engine,
            request,
            runner=context.aws_request_id,
            time_left_s=lambda: context.get_remaining_time_in_millis() / 1000,
        )
    if export is not None and export.state is not None and export.run is not None:
        _log_outcome(export.state, export.run, record)


def _log_outcome(state: ExportState, run: ExportRun, record: Record) -> None:
    """Log the status of the export, without its errors, since they contain keys of objects."""
    record.add(
        state=state.value,
        export_id=run.id,
        commit_id=run.commit_id,
        done=run.progress.done,
        total=run.progress.total,
        failed=run.progress.failed,
    )
