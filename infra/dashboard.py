"""The dashboard of a deployment."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.metrics import PERIOD, MonitoredParts, visible_messages

_WIDTH = 24


@dataclass(frozen=True)
class Dashboard:
    """Alarms first, then requests, functions, stores and queues."""

    parts: MonitoredParts

    def add_to(self, scope: Construct, alarms: Sequence[cloudwatch.IAlarm]) -> None:
        """Make the dashboard in the scope, with the alarms at its top."""
        dashboard = cloudwatch.Dashboard(
            scope,
            "Dashboard",
            dashboard_name=self.parts.settings.name,
            default_interval=Duration.hours(6),
        )
        dashboard.add_widgets(
            cloudwatch.AlarmStatusWidget(
                title="Alarms", alarms=list(alarms), width=_WIDTH, height=4
            )
        )
        dashboard.add_widgets(*self._api_graphs())
        dashboard.add_widgets(*self._function_graphs())
        dashboard.add_widgets(*self._store_graphs())
        if self.parts.settings.metrics != "none":
            dashboard.add_widgets(*self._usage_graphs())
        if self.parts.settings.metrics == "operations":
            dashboard.add_widgets(*self._operation_graphs())
        dashboard.add_widgets(self._operation_table())

    def _api_graphs(self) -> list[cloudwatch.GraphWidget]:
        stage = self.parts.api.stage
        latencies = [stage.metric_latency(statistic=each) for each in ("p50", "p90", "p99")]
        return [
            _graph("Requests", [stage.metric_count()]),
            _graph(
                "Refused and failed", [stage.metric_client_error(), stage.metric_server_error()]
            ),
            _graph("Latency", latencies),
        ]

    def _function_graphs(self) -> list[cloudwatch.GraphWidget]:
        functions = [each.function for each in self.parts.functions]
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
        events = self.parts.events
        consumed = [
            metric
            for _, table in self.parts.tables
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
            events.hook_queue,
            events.failed_tasks,
            events.unpublished,
            events.undelivered,
            self.parts.jobs.failed,
        )
        oldest = [
            queue.metric_approximate_age_of_oldest_message()
            for queue in (events.export_queue, events.task_queue, events.hook_queue)
        ]
        return [
            _graph("Capacity units", consumed),
            _graph("Messages", [visible_messages(queue) for queue in queues]),
            _graph("Oldest message of exports, tasks and hooks, s", oldest),
        ]

    def _usage_graphs(self) -> list[cloudwatch.GraphWidget]:
        hits, misses = (
            self.parts.own_metric("api", "CacheHits"),
            self.parts.own_metric("api", "CacheMisses"),
        )
        requests = self.parts.own_metric("api", "Latency", "SampleCount")
        per_request = [
            cloudwatch.MathExpression(
                expression=f"FILL({used}, 0) / requests",
                using_metrics={used: self.parts.own_metric("api", name), "requests": requests},
                period=PERIOD,
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
            period=PERIOD,
            label="hits, %",
        )
        copied = [
            self.parts.own_metric("export", name) for name in ("ObjectsCopied", "ObjectsDeleted")
        ]
        return [
            _graph("Requests to the stores, per request of the API", per_request),
            _graph("Reads of committed files by the API", [hits, misses], [ratio]),
            _graph(
                "Objects of exports; bytes",
                copied,
                [self.parts.own_metric("export", "BytesCopied")],
            ),
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
            f'service="{self.parts.settings.name}-api"'
        )
        seconds = PERIOD.to_seconds()
        return cloudwatch.MathExpression(
            expression=f"SORT(SEARCH('{found}', '{statistic}', {seconds:.0f}), MAX, DESC, 10)",
            using_metrics={},
            period=PERIOD,
            label="",
        )

    def _operation_table(self) -> cloudwatch.LogQueryWidget:
        """Return a table of each operation's cost, from the log, which needs no metrics."""
        return cloudwatch.LogQueryWidget(
            title="Operations of the API",
            log_group_names=[self.parts.function("api").log.log_group_name],
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


def _graph(
    title: str, left: Sequence[cloudwatch.IMetric], right: Sequence[cloudwatch.IMetric] = ()
) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title=title, left=list(left), right=list(right), width=_WIDTH // 3, height=6
    )
