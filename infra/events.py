"""The path of an event: outbox, stream, bus, queues of functions; and scheduled functions."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from aws_cdk import CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from graveler.aws.dynamodb.models import HEARTBEATS, OUTBOX, STREAM_BEAT
from graveler.http.errors import STATUSES
from graveler.model.events import EXPORT_TRIGGERS, SOURCE, TASK_TRIGGERS, detail_type
from graveler.model.tasks import TaskKind
from graveler.operations.scheduled_dumps import SCHEDULED, SCHEDULER
from infra.function import Function, Shape
from infra.role import make_role
from infra.settings import InfraSettings
from infra.storage import StorageStack

EVENTS = Shape(
    name="events",
    # It sends ten events a request, and one batch at a time for each shard. boto3's import takes
    # longest.
    memory_mb=512,
    timeout=Duration.seconds(60),
)
EXPORT = Shape(
    name="export",
    # 64 concurrent requests to S3 keep one CPU busy.
    memory_mb=1769,
    # Lambda's maximum. A longer run continues in the next call.
    timeout=Duration.minutes(15),
    calls_itself=True,
)
TASKS = Shape(
    name="tasks",
    # A runner merges the results of slices, and dumps and restores by itself, on one CPU.
    memory_mb=1769,
    # Lambda's maximum. A longer task continues in the next call.
    timeout=Duration.minutes(15),
    calls_itself=True,
)
# It runs hooks, and then does the rest of their tasks.
HOOKS = replace(TASKS, name="hooks")
SLICES = Shape(
    name="slices",
    # A whole CPU: a slice encodes and compresses its ranges.
    memory_mb=1769,
    # A slice takes seconds, but a part of a repository without safe cuts is one slice.
    timeout=Duration.minutes(15),
)
CLEANUP = Shape(
    name="cleanup",
    # A whole CPU: after a burst of commits, it is all that limits the sweep.
    memory_mb=1769,
    timeout=Duration.minutes(15),
    # A concurrent second call would drop the same records again.
    reserved=1,
)

_CLEANUP_PERIOD = "rate(5 minutes)"
_ECONOMICAL_CLEANUP_PERIOD = "rate(10 minutes)"  # each call reads all of the register's partitions

# AWS recommends six times the function's timeout.
_VISIBILITY = Duration.minutes(6 * 15)
_RECEIVES_MAX = 5

# The codes of errors that are our fault: those with status 5xx, except 501.
_OUR_FAULTS = sorted(
    error.code for error, status in STATUSES.items() if status >= 500 and status != 501
)

_DEAD_LETTER_LIFE = Duration.days(14)  # SQS's maximum

# The stream deletes records after a day. A failing record is reported an hour before.
_RECORD_AGE_MAX = Duration.hours(23)
_RECORDS_AT_ONCE = 100


def service_principal(scope: Construct, service: str) -> iam.ServicePrincipal:
    """Return the service as a principal that acts for this account only."""
    for_us = {"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}}
    return iam.ServicePrincipal(f"{service}.amazonaws.com", conditions=for_us)


def dead_letters(scope: Construct, construct_id: str) -> sqs.Queue:
    """Make a queue of failures to examine; it gets an alarm, and an output with its URL."""
    queue = sqs.Queue(
        scope,
        construct_id,
        # With SQS's own keys, EventBridge and Lambda need no permission for our key.
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=_DEAD_LETTER_LIFE,
        removal_policy=RemovalPolicy.DESTROY,
    )
    add_queue_url_output(queue)
    return queue


def add_queue_url_output(queue: sqs.Queue) -> None:
    """Add an output with the queue's URL, for reading and redriving."""
    name = "".join(queue.node.path.split("/")[1:])  # without the stack's
    CfnOutput(
        Stack.of(queue), f"{name}Url", value=queue.queue_url, description="See docs/repairs.md"
    )


class Events(Construct):
    """The bus with its archive, and the queues."""

    def __init__(self, scope: Construct, settings: InfraSettings) -> None:
        super().__init__(scope, "Events")
        self.bus = events.EventBus(self, "Bus", event_bus_name=settings.name)
        self.bus.archive(
            "Archive",
            description="All events, to be replayed to a subscriber that missed them",
            event_pattern=events.EventPattern(source=[SOURCE]),
            retention=Duration.days(settings.archive_days),
        )
        self.unpublished = dead_letters(self, "Unpublished")
        self.undelivered = dead_letters(self, "Undelivered")
        self.export_dead_letters = dead_letters(self, "ExportDeadLetters")
        self.export_queue = self._queue_of_function("ExportQueue", self.export_dead_letters)
        self._deliver(
            "CallsForExport",
            EXPORT_TRIGGERS,
            self.export_queue,
            is_enabled=bool(settings.exports),
        )
        self.failed_exports = dead_letters(self, "FailedExports")
        self._deliver(
            "ExportFailed", ["export_finished"], self.failed_exports, {"status": ["export-failed"]}
        )
        self.task_dead_letters = dead_letters(self, "TaskDeadLetters")
        self.task_queue = self._queue_of_function("TaskQueue", self.task_dead_letters)
        self._deliver("CallsForTasks", TASK_TRIGGERS, self.task_queue)
        self.hook_queue = self._queue_of_function("HookQueue", self.task_dead_letters)
        self.failed_tasks = dead_letters(self, "FailedTasks")
        self._deliver("TaskFailed", ["task_failed"], self.failed_tasks, {"error_code": _OUR_FAULTS})

    def report_failed_dumps(self) -> None:
        """Report scheduled dumps that were refused, such as by the bucket of their copies.

        No client waits for them. Dumps that failed by our fault are among all failed tasks.
        """
        detail: dict[str, list[Any]] = {
            "task_kind": [TaskKind.DUMP],
            "user": [SCHEDULER],
            "error_code": [{"anything-but": _OUR_FAULTS}],
        }
        self._deliver("DumpFailed", ["task_failed"], self.failed_tasks, detail)

    def _queue_of_function(self, construct_id: str, letters: sqs.Queue) -> sqs.Queue:
        """Make a queue of a function; letters gets the messages that the function cannot handle."""
        queue = sqs.Queue(
            self,
            construct_id,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            visibility_timeout=_VISIBILITY,
            retention_period=_DEAD_LETTER_LIFE,
            dead_letter_queue=sqs.DeadLetterQueue(queue=letters, max_receive_count=_RECEIVES_MAX),
        )
        add_queue_url_output(queue)
        return queue

    def _deliver(
        self,
        construct_id: str,
        kinds: Iterable[str],
        queue: sqs.Queue,
        detail: dict[str, list[Any]] | None = None,
        *,
        is_enabled: bool = True,
    ) -> None:
        """Make a rule that sends events of the kinds, and with the detail, to the queue."""
        pattern = events.EventPattern(
            source=[SOURCE], detail_type=[detail_type(kind) for kind in kinds], detail=detail
        )
        rule = events.Rule(
            self,
            construct_id,
            event_bus=self.bus,
            event_pattern=pattern,
            enabled=is_enabled,
        )
        # Groups make the queue fair to repositories, as those of `graveler.aws.sqs` do.
        target = targets.SqsQueue(
            queue, dead_letter_queue=self.undelivered, message_group_id="$.detail.repository"
        )
        rule.add_target(target)

    def publish_from(self, storage: StorageStack, function: Function) -> None:
        """Deliver the outbox of the refs table to the function, in order, until it is published.

        Batches are not bisected: the function reports the first record to deliver again. The
        heartbeat of each sweep is delivered, too: it distinguishes an idle stream from a dead one.
        """
        beat = lambda_.FilterCriteria.filter(
            {
                "dynamodb": {
                    "Keys": {
                        "partition": {"S": lambda_.FilterRule.is_equal(HEARTBEATS)},
                        "sort": {"S": lambda_.FilterRule.is_equal(STREAM_BEAT)},
                    }
                }
            }
        )
        insert = lambda_.FilterCriteria.filter(
            {
                "eventName": lambda_.FilterRule.is_equal("INSERT"),
                "dynamodb": {"Keys": {"sort": {"S": lambda_.FilterRule.begins_with(OUTBOX)}}},
            }
        )
        mapping = lambda_.CfnEventSourceMapping(
            self,
            "OutboxStream",
            function_name=function.alias.function_arn,
            event_source_arn=storage.refs.table_stream_arn,
            starting_position="TRIM_HORIZON",
            batch_size=_RECORDS_AT_ONCE,
            bisect_batch_on_function_error=False,
            function_response_types=["ReportBatchItemFailures"],
            # The record's age ends the retries.
            maximum_retry_attempts=-1,
            maximum_record_age_in_seconds=_RECORD_AGE_MAX.to_seconds(),
            destination_config={"onFailure": {"destination": self.unpublished.queue_arn}},
            filter_criteria={"filters": [insert, beat]},
        )
        mapping.node.add_dependency(function.role)

    def export_with(self, settings: InfraSettings, function: Function) -> None:
        """Call the function for each message; settings bound the concurrent exports."""
        self._handle(
            "ExportMessages",
            self.export_queue,
            function,
            settings.exports_at_once,
            # Polling costs money, and without places for exports there are none.
            is_enabled=bool(settings.exports),
        )

    def run_tasks_with(self, settings: InfraSettings, function: Function) -> None:
        """Call the function for each message; settings bound the concurrent tasks."""
        self._handle("TaskMessages", self.task_queue, function, settings.tasks_at_once)

    def run_hooks_with(self, settings: InfraSettings, function: Function) -> None:
        """Call the function for each message; settings bound the concurrent tasks with hooks."""
        self._handle(
            "HookMessages",
            self.hook_queue,
            function,
            settings.hooks_at_once,
            is_enabled=settings.has_hook_queue,
        )

    def _handle(
        self,
        construct_id: str,
        queue: sqs.Queue,
        function: Function,
        at_once: int,
        *,
        is_enabled: bool = True,
    ) -> None:
        mapping = lambda_.CfnEventSourceMapping(
            self,
            construct_id,
            function_name=function.alias.function_arn,
            event_source_arn=queue.queue_arn,
            enabled=is_enabled,
            batch_size=1,
            function_response_types=["ReportBatchItemFailures"],
            scaling_config={"maximumConcurrency": at_once},
        )
        mapping.node.add_dependency(function.role)


class ScheduledCall(Construct):
    """A scheduled call of one target, by a role that allows only this call."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        expression: str,
        target: str,
        action: str,
        resource: str,
        failures: sqs.Queue,
        call: str = "{}",
        description: str,
    ) -> None:
        super().__init__(scope, construct_id)
        role = make_role(
            self,
            "Role",
            principal=service_principal(self, "scheduler"),
            statements=[
                iam.PolicyStatement(sid="Call", actions=[action], resources=[resource]),
                iam.PolicyStatement(
                    sid="ReportFailures",
                    actions=["sqs:SendMessage"],
                    resources=[failures.queue_arn],
                ),
            ],
        )
        scheduler.CfnSchedule(
            self,
            "Schedule",
            description=description,
            schedule_expression=expression,
            schedule_expression_timezone="UTC",
            flexible_time_window={"mode": "OFF"},
            target={
                "arn": target,
                "roleArn": role.role_arn,
                "input": call,
                "deadLetterConfig": {"arn": failures.queue_arn},
                # After these, the next scheduled call tries again.
                "retryPolicy": {"maximumRetryAttempts": 2, "maximumEventAgeInSeconds": 300},
            },
        )


def clean_up_with(events_: Events, settings: InfraSettings, function: Function) -> ScheduledCall:
    """Call the cleanup function every few minutes."""
    return ScheduledCall(
        events_,
        "Cleanup",
        description="Drops staging tokens and repositories that have no readers any more",
        expression=_ECONOMICAL_CLEANUP_PERIOD if settings.economy else _CLEANUP_PERIOD,
        target=function.alias.function_arn,
        action="lambda:InvokeFunction",
        resource=function.alias.function_arn,
        failures=events_.undelivered,
    )


def dump_with(events_: Events, expression: str) -> ScheduledCall:
    """Send the tasks function the message that starts the dumps of all repositories."""
    events_.report_failed_dumps()
    queue_arn = events_.task_queue.queue_arn
    return ScheduledCall(
        events_,
        "Dumps",
        description="Dumps the refs of every repository",
        expression=expression,
        target=queue_arn,
        action="sqs:SendMessage",
        resource=queue_arn,
        call=json.dumps(dict(SCHEDULED)),
        failures=events_.undelivered,
    )
