"""Messages about tasks, as the functions `tasks` and `hooks` get them.

A message only names a task. It is an event from the bus, or comes from a request or a runner. The
task's record decides what to do. One other message comes from a schedule, and starts the dumps of
all repositories.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from graveler.aws import background_work
from graveler.engine import Engine
from graveler.errors import GravelerError
from graveler.model.tasks import TaskMessage
from graveler.operations.scheduled_dumps import SCHEDULED, start_all
from graveler.operations.task_work import WORK
from graveler.operations.tasks.advance import advance
from graveler_functions.telemetry import Telemetry, TelemetryRecord

_PAUSE_S = 60


class TaskMessages:
    """The messages of one function's queue, which its engine sends to as well."""

    def __init__(self, telemetry: Telemetry, engine: Callable[[], Engine]) -> None:
        self._telemetry = telemetry
        self._engine = engine

    def handle(self, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        """Advance the task of each message; return the messages to deliver again."""
        # A processor holds the state of one invocation, so threads must not share it.
        processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        return dict(process_partial_response(event, self._work_on, processor, context))

    # `BatchProcessor` passes its arguments by these names.
    def _work_on(self, record: SQSRecord, lambda_context: LambdaContext) -> None:
        with self._telemetry.record("message", lambda_context, message_id=record.message_id) as log:
            try:
                self._advance(record.body, lambda_context, log)
            except Exception as error:
                log.fail(error)
                if not self._is_sent_again(record.body, error):
                    raise

    def _is_sent_again(self, body: str, error: Exception) -> bool:
        """Send the message again if a store failed; return whether that worked.

        The queue delivers a failed message again only after its visibility timeout, which is hours.
        """
        if not isinstance(error, GravelerError) or _starts_dumps(body):
            return False
        try:
            self._engine().task_queue.send(_message_in(body), _PAUSE_S)
        except GravelerError:
            return False
        return True

    def _advance(self, body: str, context: LambdaContext, log: TelemetryRecord) -> None:
        if _starts_dumps(body):
            log.add(started=start_all(self._engine()))
            return
        message = _message_in(body)
        log.add(repository=message.repository, task_id=message.task_id)
        task = advance(
            self._engine(),
            message,
            WORK,
            runner=context.aws_request_id,
            time_left_s=lambda: context.get_remaining_time_in_millis() / 1000,
            at_work=background_work.runner,
        )
        if task is None:
            return
        log.add(
            task_kind=task.kind.value,
            ref=task.branch,
            state=task.state.value,
            done=task.done,
            total=task.known,
        )
        if task.failure is not None:
            log.add(problem=task.failure.code)


def _message_in(body: str) -> TaskMessage:
    content = msgspec.json.decode(body, type=dict[str, Any])
    return msgspec.convert(content.get("detail", content), TaskMessage)


def _starts_dumps(body: str) -> bool:
    return msgspec.json.decode(body, type=dict[str, Any]) == SCHEDULED
