"""The Lambda function: the queue of tasks calls `handler`.

A message only names a task: it is an event from the bus, or comes from a request or a runner. The
task's record says what to do. One other message comes from a schedule, and starts the dumps of all
repositories.
"""

from typing import Any

from functions.starting import uncollected

with uncollected():
    import msgspec
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from functions.telemetry import Record, Telemetry
    from graveler.aws import background_work, wiring
    from graveler.errors import GravelerError
    from graveler.operations.kept_dumps import SCHEDULED, start_all
    from graveler.operations.task_work import WORK
    from graveler.operations.tasks.advance import advance
    from graveler.tasks import TaskMessage

_PAUSE_S = 60

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
                if not _is_sent_again(message["body"], error):
                    again.append(message["messageId"])
    return {"batchItemFailures": [{"itemIdentifier": each} for each in again]}


def _is_sent_again(body: str, error: Exception) -> bool:
    """Send the message again if a store failed; return whether that worked.

    A message that fails comes back only after the queue's visibility timeout, which is hours.
    """
    if not isinstance(error, GravelerError) or _starts_dumps(body):
        return False
    try:
        wiring.adapters().engine.task_queue.send(_message_in(body), _PAUSE_S)
    except GravelerError:
        return False
    return True


def _message_in(body: str) -> TaskMessage:
    content = msgspec.json.decode(body, type=dict[str, Any])
    return msgspec.convert(content.get("detail", content), TaskMessage)


def _starts_dumps(body: str) -> bool:
    return msgspec.json.decode(body, type=dict[str, Any]) == SCHEDULED


def _advance(body: str, context: LambdaContext, record: Record) -> None:
    if _starts_dumps(body):
        record.add(started=start_all(wiring.adapters().engine))
        return
    message = _message_in(body)
    record.add(repository=message.repository, task_id=message.task_id)
    task = advance(
        wiring.adapters().engine,
        message,
        WORK,
        runner=context.aws_request_id,
        time_left_s=lambda: context.get_remaining_time_in_millis() / 1000,
        at_work=background_work.runner,
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
