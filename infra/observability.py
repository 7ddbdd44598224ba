"""Alarms, their topic, and the dashboard; docs/operations.md says what each alarm means."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import CfnOutput, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.api import Api
from infra.events import Events
from infra.function import Function
from infra.jobs import Jobs
from infra.settings import Settings
from infra.storage import Storage

_PERIOD = Duration.minutes(5)

# An export may take long, but each message is handled within one invocation.
_EXPORT_WAIT_MAX = Duration.hours(2)
# A message is handled within one invocation. Clients wait for most tasks.
_TASK_WAIT_MAX = Duration.minutes(30)
_PUBLISH_WAIT_MAX = Duration.minutes(5)
# The 99th percentile of the latency that raises an alarm.
_SLOW_ANSWER = Duration.seconds(10)

_WIDTH = 24


@dataclass(frozen=True)
class Watched:
    """The parts of a deployment that are observed."""

    storage: Storage
    api: Api
    events: Events
    jobs: Jobs
    functions: Sequence[Function]


class Observability(Construct):
    """A topic, an alarm for everything that a person has to examine, and a dashboard."""

    def __init__(self, scope: Construct, settings: Settings, watched: Watched) -> None:
        super().__init__(scope, "Observability")
        self._settings = settings
        self._watched = watched
        self.topic = self._make_topic()
        self._alarms: list[cloudwatch.Alarm] = []
        self._watch_api()
        self._watch_functions()
        self._watch_queues()
        self._watch_tables()
        self._make_dashboard()

    def _make_topic(self) -> sns.Topic:
        topic = sns.Topic(
            self,
            "Alarms",
            display_name=f"Alarms of {self._settings.name}",
            master_key=self._watched.storage.key,
            enforce_ssl=True,
        )
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsOfThisAccount",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": topic.stack.account}},
            )
        )
        if self._settings.alarm_email:
            topic.add_subscription(subscriptions.EmailSubscription(self._settings.alarm_email))
        CfnOutput(self, "Topic", value=topic.topic_arn, description="Where alarms are told")
        return topic

    # Alarms

    def _alarm(
        self,
        construct_id: str,
        description: str,
        metric: cloudwatch.IMetric,
        threshold: float,
        periods: int = 1,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            construct_id,
            alarm_name=f"{self._settings.name}-{construct_id}",
            alarm_description=f"{description}. See docs/operations.md.",
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            # Without requests there are no data, which is fine.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))
        alarm.add_ok_action(actions.SnsAction(self.topic))
        self._alarms.append(alarm)

    def _watch_api(self) -> None:
        stage = self._watched.api.stage
        self._alarm(
            "api-server-errors",
            "Requests fail by our fault",
            stage.metric_server_error(period=_PERIOD),
            threshold=5,
        )
        self._alarm(
            "api-slow",
            "One request in a hundred takes very long",
            stage.metric_latency(period=_PERIOD, statistic="p99"),
            threshold=_SLOW_ANSWER.to_milliseconds(),
            periods=3,
        )

    def _watch_functions(self) -> None:
        for function in self._watched.functions:
            name = function.shape.name
            metrics = function.alias
            self._alarm(
                f"{name}-errors",
                f"The function {name} fails",
                metrics.metric_errors(period=_PERIOD),
                threshold=1,
            )
            self._alarm(
                f"{name}-throttles",
                f"The function {name} may not run as often as it is called",
                metrics.metric_throttles(period=_PERIOD),
                threshold=1,
                periods=3,
            )
        published = self._function_named("events")
        self._alarm(
            "events-late",
            "Events wait to be published",
            published.alias.metric("IteratorAge", period=_PERIOD, statistic="Maximum"),
            threshold=_PUBLISH_WAIT_MAX.to_milliseconds(),
        )

    def _watch_queues(self) -> None:
        events, jobs = self._watched.events, self._watched.jobs
        for construct_id, description, queue in (
            ("events-unpublished", "Events could not be published for a day", events.unpublished),
            ("events-undelivered", "A rule or a schedule could not deliver", events.undelivered),
            (
                "export-dead-letters",
                "A branch's export fails again and again",
                events.export_dead_letters,
            ),
            (
                "exports-failed",
                "A branch's export failed and waits for a repair",
                events.failed_exports,
            ),
            (
                "task-dead-letters",
                "Messages of a task fail again and again",
                events.task_dead_letters,
            ),
            ("tasks-failed", "A task failed by our fault", events.failed_tasks),
            ("jobs-failed", "A run of garbage collection or of an export job failed", jobs.failed),
        ):
            self._alarm(construct_id, description, _waiting(queue), threshold=1)
        self._alarm(
            "exports-late",
            "Messages of exports wait",
            events.export_queue.metric_approximate_age_of_oldest_message(period=_PERIOD),
            threshold=_EXPORT_WAIT_MAX.to_seconds(),
        )
        self._alarm(
            "tasks-late",
            "Messages of tasks wait",
            events.task_queue.metric_approximate_age_of_oldest_message(period=_PERIOD),
            threshold=_TASK_WAIT_MAX.to_seconds(),
        )

    def _watch_tables(self) -> None:
        for name, table in self._tables():
            self._alarm(
                f"{name}-throttles",
                f"DynamoDB refuses requests to the {name} table",
                _throttles(table),
                threshold=10,
                periods=3,
            )

    def _tables(self) -> tuple[tuple[str, dynamodb.ITable], ...]:
        storage = self._watched.storage
        return (("refs", storage.refs), ("staging", storage.staging))

    # Dashboard

    def _make_dashboard(self) -> None:
        dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=self._settings.name,
            default_interval=Duration.hours(6),
        )
        dashboard.add_widgets(
            cloudwatch.AlarmStatusWidget(
                title="Alarms", alarms=self._alarms, width=_WIDTH, height=4
            )
        )
        dashboard.add_widgets(*self._api_graphs())
        dashboard.add_widgets(*self._function_graphs())
        dashboard.add_widgets(*self._store_graphs())
        if self._settings.metrics != "none":
            dashboard.add_widgets(*self._usage_graphs())
        if self._settings.metrics == "operations":
            dashboard.add_widgets(*self._operation_graphs())
        dashboard.add_widgets(self._operation_table())

    def _api_graphs(self) -> list[cloudwatch.GraphWidget]:
        stage = self._watched.api.stage
        latencies = [stage.metric_latency(statistic=each) for each in ("p50", "p90", "p99")]
        return [
            _graph("Requests", [stage.metric_count()]),
            _graph(
                "Refused and failed", [stage.metric_client_error(), stage.metric_server_error()]
            ),
            _graph("Latency", latencies),
        ]

    def _function_graphs(self) -> list[cloudwatch.GraphWidget]:
        functions = [each.function for each in self._watched.functions]
        return [
            _graph("Calls", [each.metric_invocations() for each in functions]),
            _graph(
                "Errors and throttles",
                [
                    metric
                    for each in functions
                    for metric in (each.metric_errors(), each.metric_throttles())
                ],
            ),
            _graph("Duration (p99)", [each.metric_duration(statistic="p99") for each in functions]),
        ]

    def _store_graphs(self) -> list[cloudwatch.GraphWidget]:
        events = self._watched.events
        consumed = [
            metric
            for _, table in self._tables()
            for metric in (
                table.metric_consumed_read_capacity_units(),
                table.metric_consumed_write_capacity_units(),
            )
        ]
        queues = (
            events.export_queue,
            events.export_dead_letters,
            events.failed_exports,
            events.task_queue,
            events.task_dead_letters,
            events.failed_tasks,
            events.unpublished,
            events.undelivered,
            self._watched.jobs.failed,
        )
        oldest = [
            queue.metric_approximate_age_of_oldest_message()
            for queue in (events.export_queue, events.task_queue)
        ]
        return [
            _graph("Capacity units", consumed),
            _graph("Messages", [_waiting(queue) for queue in queues]),
            _graph("Oldest message of exports and tasks, s", oldest),
        ]

    # From the functions' log lines: functions/telemetry.py

    def _function_named(self, name: str) -> Function:
        return next(each for each in self._watched.functions if each.shape.name == name)

    def _told(self, function: str, name: str, statistic: str = "Sum") -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="Graveler",
            metric_name=name,
            dimensions_map={"service": f"{self._settings.name}-{function}"},
            statistic=statistic,
            period=_PERIOD,
        )

    def _usage_graphs(self) -> list[cloudwatch.GraphWidget]:
        hits, misses = self._told("api", "CacheHits"), self._told("api", "CacheMisses")
        requests = self._told("api", "Latency", "SampleCount")
        per_request = [
            cloudwatch.MathExpression(
                expression=f"FILL({used}, 0) / requests",
                using_metrics={used: self._told("api", name), "requests": requests},
                period=_PERIOD,
                label=label,
            )
            for used, name, label in (
                ("dynamodb", "DynamoDBRequests", "DynamoDB"),
                ("s3", "S3Requests", "S3"),
            )
        ]
        ratio = cloudwatch.MathExpression(
            expression="100 * FILL(hits, 0) / (FILL(hits, 0) + FILL(misses, 0))",
            using_metrics={"hits": hits, "misses": misses},
            period=_PERIOD,
            label="hits, %",
        )
        copied = [self._told("export", name) for name in ("ObjectsCopied", "ObjectsDeleted")]
        return [
            _graph("Requests to the stores, per request of the API", per_request),
            _graph("Reads of committed files by the API", [hits, misses], [ratio]),
            _graph("Objects of exports; bytes", copied, [self._told("export", "BytesCopied")]),
        ]

    def _operation_graphs(self) -> list[cloudwatch.GraphWidget]:
        return [
            _graph(title, [self._search(name, statistic)])
            for title, name, statistic in (
                ("Slowest operations (p99)", "Latency", "p99"),
                ("Requests to DynamoDB by operation", "DynamoDBRequests", "Sum"),
                ("Requests to S3 by operation", "S3Requests", "Sum"),
            )
        ]

    def _search(self, name: str, statistic: str) -> cloudwatch.MathExpression:
        """Return a chart of the API's operations with the highest values of a metric."""
        found = (
            f'{{Graveler,service,operation}} MetricName="{name}" '
            f'service="{self._settings.name}-api"'
        )
        seconds = _PERIOD.to_seconds()
        return cloudwatch.MathExpression(
            expression=f"SORT(SEARCH('{found}', '{statistic}', {seconds:.0f}), MAX, DESC, 10)",
            using_metrics={},
            period=_PERIOD,
            label="",
        )

    def _operation_table(self) -> cloudwatch.LogQueryWidget:
        """Return a table of each operation's cost, from the log, which needs no metrics."""
        return cloudwatch.LogQueryWidget(
            title="Operations of the API",
            log_group_names=[self._function_named("api").log.log_group_name],
            view=cloudwatch.LogQueryVisualizationType.TABLE,
            query_lines=[
                'filter message = "request"',
                (
                    "stats count(*) as requests, pct(Latency, 50) as p50_ms"
                    ", pct(Latency, 99) as p99_ms, avg(DynamoDBRequests) as dynamodb"
                    ", avg(S3Requests) as s3, sum(CacheMisses) as misses"
                    ", sum(ClientErrors) as refused, sum(ServerErrors) as failed by operation"
                ),
                "sort p99_ms desc",
                "limit 50",
            ],
            width=_WIDTH,
            height=8,
        )


def _waiting(queue: sqs.Queue) -> cloudwatch.Metric:
    return queue.metric_approximate_number_of_messages_visible(period=_PERIOD, statistic="Maximum")


def _throttles(table: dynamodb.ITable) -> cloudwatch.MathExpression:
    """Return the table's throttled requests, reads and writes together."""
    names = {"reads": "ReadThrottleEvents", "writes": "WriteThrottleEvents"}
    return cloudwatch.MathExpression(
        expression="FILL(reads, 0) + FILL(writes, 0)",
        using_metrics={
            key: table.metric(name, period=_PERIOD, statistic="Sum") for key, name in names.items()
        },
        period=_PERIOD,
        label="refused",
    )


def _graph(
    title: str, left: Sequence[cloudwatch.IMetric], right: Sequence[cloudwatch.IMetric] = ()
) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title=title, left=list(left), right=list(right), width=_WIDTH // 3, height=6
    )
