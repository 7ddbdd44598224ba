"""Makes alarms with actions; `infra/observability.py` and `infra/gateway/stack.py` choose them."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.settings import InfraSettings
from infra.settings.rules import ALL

AT_LEAST = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD

# The alarms that `economy` keeps: failures that users notice, silent ones, and the costliest ones.
# `events-silent` fires if the cleanup, the stream or the events function is idle.
_ECONOMY = frozenset(
    {"api-server-errors", "events-silent", "gateway-down", "gateway-errors", "jobs-failed"}
)


# The alarms on causes, which `alarms=symptoms` does without, each with the alarm on its effect.
# That one fires later, and not for single failures.
EFFECTS = {
    "api-errors": "api-server-errors",
    "api-throttles": "api-server-errors",
    "waits-errors": "api-server-errors",
    "waits-throttles": "api-server-errors",
    "iceberg-errors": "api-server-errors",
    "iceberg-throttles": "api-server-errors",
    "web-errors": "api-server-errors",
    "web-throttles": "api-server-errors",
    "refs-throttles": "api-server-errors",
    "staging-throttles": "api-server-errors",
    "events-errors": "events-late",
    "events-throttles": "events-late",
    "cleanup-silent": "events-silent",
    "cleanup-throttles": "events-silent",
    "export-errors": "export-dead-letters",
    "export-throttles": "exports-late",
    "tasks-errors": "task-dead-letters",
    "tasks-throttles": "tasks-late",
    "hooks-errors": "task-dead-letters",
    "hooks-throttles": "hooks-late",
    "slices-errors": "tasks-failed",
    "slices-throttles": "tasks-late",
    # A run that fails, or cannot be started. Nothing reports that the schedule is disabled.
    "collections-late": "jobs-failed",
}


def is_made(name: str, settings: InfraSettings) -> bool:
    """Whether the settings want the alarm."""
    if settings.economy:
        return name in _ECONOMY
    return settings.alarms == ALL or name not in EFFECTS


class Alarms:
    """The alarms below one construct; docs/operations.md says what each means."""

    def __init__(self, scope: Construct, settings: InfraSettings, topic: sns.ITopic) -> None:
        self._scope = scope
        self._settings = settings
        self._topic = topic
        self.made: list[cloudwatch.Alarm] = []
        # The names of alarms that end the rollout of a bad version.
        self.judges: list[str] = []

    def add(
        self,
        construct_id: str,
        description: str,
        metric: cloudwatch.IMetric,
        threshold: float,
        periods: int = 1,
        comparison: cloudwatch.ComparisonOperator = AT_LEAST,
        *,
        is_silence_fault: bool = False,
        is_judge: bool = False,
    ) -> None:
        """Make an alarm, unless the settings do without it; a judge ends a bad rollout."""
        if not is_made(construct_id, self._settings):
            return
        missing = cloudwatch.TreatMissingData
        name = f"{self._settings.name}-{construct_id}"
        alarm = cloudwatch.Alarm(
            self._scope,
            construct_id,
            alarm_name=name,
            alarm_description=f"{description}. See docs/operations.md.",
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=comparison,
            # Without requests there are no data, which is no fault. A heartbeat always has data.
            treat_missing_data=missing.BREACHING if is_silence_fault else missing.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self._topic))
        alarm.add_ok_action(actions.SnsAction(self._topic))
        self.made.append(alarm)
        if is_judge:
            self.judges.append(name)
