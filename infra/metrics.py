"""The parts of a deployment that alarms and the dashboard show, and their metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_sqs as sqs

from infra.events import Events
from infra.function import Function
from infra.http_api import HttpApi
from infra.jobs import Jobs
from infra.rest_api import RestApi
from infra.settings import InfraSettings
from infra.storage import StorageStack

PERIOD = Duration.minutes(5)


@dataclass(frozen=True)
class MonitoredParts:
    """The parts of one deployment that have metrics."""

    settings: InfraSettings
    storage: StorageStack
    api: HttpApi | RestApi
    events: Events
    jobs: Jobs
    functions: Sequence[Function]

    @property
    def tables(self) -> tuple[tuple[str, dynamodb.ITable], ...]:
        """The tables in service, with their names."""
        return (("refs", self.storage.refs), ("staging", self.storage.staging))

    def function(self, name: str) -> Function:
        """Return the function of `graveler_functions/<name>`."""
        return next(each for each in self.functions if each.shape.name == name)

    def own_metric(
        self, function: str, name: str, statistic: str = "Sum", period: Duration = PERIOD
    ) -> cloudwatch.Metric:
        """Return a metric from the function's log lines: graveler_functions/telemetry.py."""
        return cloudwatch.Metric(
            namespace="Graveler",
            metric_name=name,
            dimensions_map={"service": f"{self.settings.name}-{function}"},
            statistic=statistic,
            period=period,
        )


def visible_messages(queue: sqs.Queue) -> cloudwatch.Metric:
    """Return the number of messages in the queue."""
    return queue.metric_approximate_number_of_messages_visible(period=PERIOD, statistic="Maximum")


def throttled_requests(table: dynamodb.ITable) -> cloudwatch.MathExpression:
    """Return the table's throttled requests, reads and writes together."""
    names = {"reads": "ReadThrottleEvents", "writes": "WriteThrottleEvents"}
    return cloudwatch.MathExpression(
        expression="FILL(reads, 0) + FILL(writes, 0)",
        using_metrics={
            key: table.metric(name, period=PERIOD, statistic="Sum") for key, name in names.items()
        },
        period=PERIOD,
        label="refused",
    )
