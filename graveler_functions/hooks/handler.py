"""The Lambda function: the queue of tasks whose hooks are due calls `handler`.

It runs the hooks, and then does the rest of the task.
"""

from dataclasses import replace
from typing import Any

from graveler_functions.cold_start import without_garbage_collection

with without_garbage_collection():
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from graveler.aws import wiring
    from graveler.engine import Engine
    from graveler_functions.task_messages import TaskMessages
    from graveler_functions.telemetry import Telemetry

telemetry = Telemetry("graveler-hooks")


def _engine() -> Engine:
    """Return the engine, whose tasks come again to the queue of this function, and its places."""
    engine = wiring.adapters().engine
    assert engine.hook_queue is not None
    return replace(
        engine, task_queue=engine.hook_queue, hook_queue=None, task_places=engine.hook_places
    )


_messages = TaskMessages(telemetry, _engine)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Advance the task of each message; return the messages to deliver again."""
    return _messages.handle(event, context)
