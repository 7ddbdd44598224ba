"""The Lambda function: the queue of tasks calls `handler`.

A message only names a task: it is an event from the bus, or comes from a request or a runner. The
task's record says what to do.
"""

from typing import Any

import msgspec
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import Record, Telemetry
from graveler.aws import wiring
from graveler.operations.task_work import WORK
from graveler.operations.tasks.advance import advance
from graveler.tasks import TaskMessage

telemetry = Telemetry("graveler-tasks")


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Advance the task of each message; return the messages to deliver again."""
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
    content = msgspec.json.decode(body, type=dict[str, Any])
    message = msgspec.convert(content.get("detail", content), TaskMessage)
    record.add(repository=message.repository, task_id=message.task_id)
    task = advance(
        wiring.engine(),
        message,
        WORK,
        runner=context.aws_request_id,
        time_left_s=lambda: context.get_remaining_time_in_millis() / 1000,
    )
    if task is None:
        return
    record.add(
        task_kind=task.kind.value,
        ref=task.branch,
        state=task.state.value,
        done=task.done,
        total=task.known,
    )
    if task.failure is not None:
        record.add(problem=task.failure.code)
