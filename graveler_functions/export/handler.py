"""The Lambda function: the export queue calls `handler`.

A message only names a branch. It is an event from the bus, or a request that an export sent to
itself. The export's record decides what to do.
"""

from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    import msgspec
    from aws_lambda_powertools.utilities.batch import (
        BatchProcessor,
        EventType,
        process_partial_response,
    )
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from graveler.aws import wiring
    from graveler.aws.background_work import patient_reads
    from graveler.export.record import ExportRequest, ExportRun, ExportState
    from graveler.operations.exports.advance import advance
    from graveler_functions.telemetry import Telemetry, TelemetryRecord

telemetry = Telemetry("graveler-export")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Advance the export of each message's branch; return the messages to deliver again."""
    # A processor holds the state of one invocation, so threads must not share it.
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    return dict(process_partial_response(event, _advance, processor, context))


# `BatchProcessor` passes its arguments by these names.
def _advance(record: SQSRecord, lambda_context: LambdaContext) -> None:
    with telemetry.record("message", lambda_context, message_id=record.message_id) as log:
        message = msgspec.json.decode(record.body, type=dict[str, Any])
        request = msgspec.convert(message.get("detail", message), ExportRequest)
        log.add(repository=request.repository, ref=request.branch)
        with patient_reads():
            export = advance(
                wiring.adapters().engine,
                request,
                runner=lambda_context.aws_request_id,
                time_left_s=lambda: lambda_context.get_remaining_time_in_millis() / 1000,
            )
        if export is not None and export.state is not None and export.run is not None:
            _log_outcome(export.state, export.run, log)


def _log_outcome(state: ExportState, run: ExportRun, log: TelemetryRecord) -> None:
    """Log the status of the export, without its errors, since they contain keys of objects."""
    log.add(
        state=state.value,
        export_id=run.id,
        commit_id=run.commit_id,
        done=run.progress.done,
        total=run.progress.total,
        failed=run.progress.failed,
    )
