"""Checks of alarms, their topic, and the queues of failures."""

from collections.abc import Iterator

from graveler_cli.deployment.account import Account
from graveler_cli.deployment.stacks import Resource
from graveler_cli.findings import Finding, ok, warn

_MEANING = "see what it means in docs/operations.md"


def alarm(account: Account, resource: Resource) -> Iterator[Finding]:
    """An alarm does not fire, and its actions are on."""
    name = resource.physical_id
    subject = f"alarm {name}"
    found = account.call(
        "cloudwatch",
        "describe_alarms",
        AlarmNames=[name],
        AlarmTypes=["MetricAlarm", "CompositeAlarm"],
    )
    rows = [*found.get("MetricAlarms", []), *found.get("CompositeAlarms", [])]
    if not rows:
        yield warn(subject, "does not exist", "deploy the service stack again: docs/deploy.md")
        return
    if rows[0].get("StateValue") == "ALARM":
        reason = " ".join(str(rows[0].get("StateReason", "")).split())[:200]
        yield warn(subject, f"fires: {reason}", _MEANING)
    elif not rows[0].get("ActionsEnabled", True):
        yield warn(
            subject,
            "reaches nobody: its actions are off",
            f"aws cloudwatch enable-alarm-actions --alarm-names {name}",
        )
    else:
        yield ok(subject, f"is {rows[0].get('StateValue', 'silent')}")


def queue(account: Account, resource: Resource) -> Iterator[Finding]:
    """A queue of failures, which has no redrive policy, is empty."""
    subject = f"queue {resource.logical_id}"
    found = account.call(
        "sqs",
        "get_queue_attributes",
        QueueUrl=resource.physical_id,
        AttributeNames=["ApproximateNumberOfMessages", "RedrivePolicy"],
    ).get("Attributes", {})
    messages = int(found.get("ApproximateNumberOfMessages", 0))
    if "RedrivePolicy" in found:
        yield ok(subject, f"has {messages} waiting messages")
    elif messages:
        yield warn(
            subject, f"holds {messages} failures", "docs/repairs.md says what to do with them"
        )
    else:
        yield ok(subject, "holds no failures")


def topic(account: Account, resource: Resource) -> Iterator[Finding]:
    """A topic has a confirmed recipient."""
    subject = f"topic {resource.logical_id}"
    rows = account.pages(
        "sns", "list_subscriptions_by_topic", "Subscriptions", TopicArn=resource.physical_id
    )
    waiting = [row["Endpoint"] for row in rows if not row["SubscriptionArn"].startswith("arn:")]
    if waiting:
        text = f"waits for {', '.join(waiting)} to confirm the subscription"
        yield warn(subject, text, "open the link in the mail that SNS sent")
    elif not rows:
        yield warn(subject, "has no recipient: alarms reach nobody", "set alarm_email, and deploy")
    else:
        yield ok(subject, f"has {len(rows)} confirmed recipients")
