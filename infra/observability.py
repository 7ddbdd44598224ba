"""Alarms and their topic; docs/operations.md says what each alarm means."""

from aws_cdk import CfnOutput, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.alarms import BELOW, Alarms
from infra.dashboard import Dashboard
from infra.jobs import collection_age_max_s, watched_collections
from infra.metrics import PERIOD, MonitoredParts, throttled_requests, visible_messages

# An export may take long, but each message is handled within one invocation.
_EXPORT_WAIT_MAX = Duration.hours(2)
# A message is handled within one invocation. Clients wait for most tasks.
_TASK_WAIT_MAX = Duration.minutes(30)
_PUBLISH_WAIT_MAX = Duration.minutes(5)
# The 99th percentile of the latency that raises an alarm.
_SLOW_ANSWER = Duration.seconds(10)
# This part of the requests that API Gateway lets pass.
_REFUSED_PART = 0.2

# A sweep may take a quarter of an hour, and the next one follows.
_BEAT = Duration.minutes(15)
_MISSED_BEATS = 2


class Observability(Construct):
    """A topic, alarms for all faults that a person must examine, and a dashboard."""

    def __init__(self, scope: Construct, parts: MonitoredParts) -> None:
        super().__init__(scope, "Observability")
        self._settings = parts.settings
        self._parts = parts
        self.topic = self._find_topic()
        self._alarms = Alarms(self, self._settings, self.topic)
        self.judges = self._alarms.judges
        self._watch_api()
        self._watch_functions()
        self._watch_life()
        self._watch_queues()
        self._watch_tables()
        if not self._settings.economy:
            Dashboard(parts).add_to(self, self._alarms.made)

    def _find_topic(self) -> sns.ITopic:
        """Return the topic that the settings name, or make one."""
        given = self._settings.alarm_topic_arn
        topic = sns.Topic.from_topic_arn(self, "Alarms", given) if given else self._make_topic()
        CfnOutput(self, "Topic", value=topic.topic_arn, description="The topic of all alarms")
        return topic

    def _make_topic(self) -> sns.Topic:
        topic = sns.Topic(
            self,
            "Alarms",
            display_name=f"Alarms of {self._settings.name}",
            master_key=self._parts.storage.key,
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
        return topic

    # Alarms

    def _watch_api(self) -> None:
        stage = self._parts.api.stage
        self._alarms.add(
            "api-server-errors",
            "Requests fail by our fault",
            stage.metric_server_error(period=PERIOD),
            threshold=5,
            is_judge=True,
        )
        self._alarms.add(
            "api-refusals",
            "A flood: many requests are refused, such as log-ins, or for their number",
            stage.metric_client_error(period=PERIOD),
            threshold=_REFUSED_PART * self._settings.requests_per_s * PERIOD.to_seconds(),
        )
        self._alarms.add(
            "api-slow",
            "One request in a hundred takes very long",
            # Not the stage's latency: it includes requests that wait for tasks by design.
            self._parts.function("api").alias.metric_duration(period=PERIOD, statistic="p99"),
            threshold=_SLOW_ANSWER.to_milliseconds(),
            periods=3,
        )

    def _watch_functions(self) -> None:
        for function in self._parts.functions:
            name = function.shape.name
            metrics = function.alias
            self._alarms.add(
                f"{name}-errors",
                f"The function {name} fails",
                metrics.metric_errors(period=PERIOD),
                threshold=1,
                # CodeDeploy takes ten alarms. `waits` has the API's code.
                is_judge=name != "waits",
            )
            self._alarms.add(
                f"{name}-throttles",
                f"Lambda throttles the function {name}",
                metrics.metric_throttles(period=PERIOD),
                threshold=1,
                periods=3,
            )
        published = self._parts.function("events")
        self._alarms.add(
            "events-late",
            "Events wait to be published",
            published.alias.metric("IteratorAge", period=PERIOD, statistic="Maximum"),
            threshold=_PUBLISH_WAIT_MAX.to_milliseconds(),
        )

    def _watch_life(self) -> None:
        """Watch the functions that must be called even without requests."""
        for name, what in (
            ("cleanup", "The cleanup is not called"),
            ("events", "The outbox is not read: no event is published"),
        ):
            self._alarms.add(
                f"{name}-silent",
                what,
                self._parts.function(name).alias.metric_invocations(period=_BEAT),
                threshold=1,
                periods=_MISSED_BEATS,
                comparison=BELOW,
                is_silence_fault=True,
            )
        if watched_collections(self._settings):
            self._alarms.add(
                "collections-late",
                "The last successful garbage collection was too long ago",
                self._parts.own_metric("cleanup", "CollectionAge", "Maximum", _BEAT),
                threshold=collection_age_max_s(self._settings),
                periods=_MISSED_BEATS,
                is_silence_fault=True,
            )

    def _watch_queues(self) -> None:
        events, jobs = self._parts.events, self._parts.jobs
        for construct_id, description, queue in (
            ("events-unpublished", "Events could not be published for a day", events.unpublished),
            ("events-undelivered", "A rule or a schedule could not deliver", events.undelivered),
            (
                "export-dead-letters",
                "A branch's export fails repeatedly",
                events.export_dead_letters,
            ),
            (
                "exports-failed",
                "A branch's export failed and waits for a repair",
                events.failed_exports,
            ),
            (
                "task-dead-letters",
                "Messages of a task fail repeatedly",
                events.task_dead_letters,
            ),
            ("tasks-failed", "A task failed by our fault", events.failed_tasks),
            ("jobs-failed", "A run of garbage collection or of an export job failed", jobs.failed),
        ):
            self._alarms.add(construct_id, description, visible_messages(queue), threshold=1)
        for construct_id, description, queue, wait_max in (
            ("exports-late", "Messages of exports wait", events.export_queue, _EXPORT_WAIT_MAX),
            ("tasks-late", "Messages of tasks wait", events.task_queue, _TASK_WAIT_MAX),
            ("hooks-late", "Messages of tasks with hooks wait", events.hook_queue, _TASK_WAIT_MAX),
        ):
            self._alarms.add(
                construct_id,
                description,
                queue.metric_approximate_age_of_oldest_message(period=PERIOD),
                threshold=wait_max.to_seconds(),
            )

    def _watch_tables(self) -> None:
        for name, table in self._parts.tables:
            self._alarms.add(
                f"{name}-throttles",
                f"DynamoDB refuses requests to the {name} table",
                throttled_requests(table),
                threshold=10,
                periods=3,
            )
