"""The Lambda function: the runner of a task invokes `handler` for each slice of a large change."""

from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    import msgspec
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from graveler.aws import wiring
    from graveler.aws.background_work import patient
    from graveler.operations.tasks.slices import SliceJob, apply_job
    from graveler_functions.telemetry import Telemetry

telemetry = Telemetry("graveler-slices")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Apply the slice of the job; return its result or the error that ended it."""
    job = msgspec.convert(event, SliceJob)
    with telemetry.record("slice", context, repository=job.repository, task_id=job.task) as record:
        with patient():
            answer = apply_job(wiring.adapters().engine, job)
        if answer.failure is not None:
            record.add(problem=answer.failure.code)
    result: dict[str, Any] = msgspec.to_builtins(answer)
    return result
