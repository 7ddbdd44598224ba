"""A monthly budget: messages when the account's costs approach and reach it."""

from aws_cdk import aws_budgets as budgets
from constructs import Construct

from infra.settings import InfraSettings

# Actual costs, in per cent of the budget.
_THRESHOLDS = (80, 100)


def add_budget(scope: Construct, settings: InfraSettings) -> None:
    """Make the budget, with messages to the address or the topic of alarms.

    It covers the whole account. A budget by tag stays at zero until the tag is activated for
    billing.
    """
    subscriber = {"subscriptionType": "EMAIL", "address": settings.alarm_email}
    if settings.alarm_topic_arn:
        subscriber = {"subscriptionType": "SNS", "address": settings.alarm_topic_arn}
    budgets.CfnBudget(
        scope,
        "Budget",
        budget={
            "budgetName": settings.name,
            "budgetType": "COST",
            "timeUnit": "MONTHLY",
            "budgetLimit": {"amount": settings.monthly_budget_usd, "unit": "USD"},
        },
        notifications_with_subscribers=[
            {
                "notification": {
                    "notificationType": "ACTUAL",
                    "comparisonOperator": "GREATER_THAN",
                    "threshold": threshold,
                    "thresholdType": "PERCENTAGE",
                },
                "subscribers": [subscriber],
            }
            for threshold in _THRESHOLDS
        ],
    )
