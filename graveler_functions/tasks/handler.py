"""The Lambda function: the queue of tasks calls `handler`."""

from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from graveler.aws import wiring
    from graveler_functions.task_messages import TaskMessages
    from graveler_functions.telemetry import Telemetry

telemetry = Telemetry("graveler-tasks")
_messages = TaskMessages(telemetry, lambda: wiring.adapters().engine)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Advance the task of each message; return the messages to deliver again."""
    return _messages.handle(event, context)
