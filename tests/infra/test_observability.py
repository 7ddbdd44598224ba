"""Alarms notify a person, every failure has one, and the dashboard shows the metrics."""

import json

from infra.alarms import EFFECTS
from tests.infra.test_functions import NAMES
from tests.support.worlds.shapes import TOPIC


def alarms(deployment):
    return {
        each["AlarmName"].removeprefix(f"{deployment.name}-"): each
        for each in deployment.resources("AWS::CloudWatch::Alarm").values()
    }


def made(names: set[str], deployment) -> set[str]:
    """Those of the alarms that a stage has: dev only has symptoms."""
    return names - EFFECTS.keys() if deployment.name == "graveler-dev" else names


GATEWAY = {"gateway-busy", "gateway-down", "gateway-errors", "gateway-unhealthy"}


def alarms_of_gateway(deployment) -> set[str]:
    """The alarms of the S3 gateway, if there is one: it is in prod."""
    return GATEWAY if deployment.gateway["Resources"] else set()


def test_every_alarm_notifies_and_refers_to_the_runbook(deployment):
    assert alarms(deployment)
    for alarm in alarms(deployment).values():
        (called,) = alarm["AlarmActions"]
        assert deployment.flat(called).startswith("<ObservabilityAlarms")
        assert alarm["AlarmDescription"].endswith("See docs/operations.md.")


def test_silence_is_a_fault_of_what_always_has_something_to_say(deployment):
    found = alarms(deployment)
    beating = {name for name, each in found.items() if each["TreatMissingData"] == "breaching"}
    of_gateway = {"gateway-down"} & alarms_of_gateway(deployment)
    assert (
        beating
        == made({"cleanup-silent", "events-silent", "collections-late"}, deployment) | of_gateway
    )
    others = {each["TreatMissingData"] for name, each in found.items() if name not in beating}
    assert others == {"notBreaching"}
    for name in made({"cleanup-silent", "events-silent"}, deployment):
        alarm = found[name]
        assert (alarm["MetricName"], alarm["Statistic"]) == ("Invocations", "Sum")
        assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
        assert alarm["Period"] * alarm["EvaluationPeriods"] == 30 * 60


def test_the_age_of_the_last_collection_follows_its_schedule(deployment_of, dev, prod):
    weekly = deployment_of("wide")

    def alarm(deployment):
        return alarms(deployment)["collections-late"]

    assert alarm(weekly)["Threshold"] == (7 * 24 + 12 + 1) * 3600
    daily = deployment_of("other")
    assert alarm(daily)["Threshold"] == (24 + 12 + 1) * 3600
    assert alarm(weekly)["MetricName"] == "CollectionAge"
    assert alarm(weekly)["Dimensions"] == [{"Name": "service", "Value": "graveler-prod-cleanup"}]

    def watched(deployment):
        (cleanup,) = (
            each
            for each in deployment.resources("AWS::Lambda::Function").values()
            if each["FunctionName"].endswith("-cleanup")
        )
        return cleanup["Environment"]["Variables"]["GRAVELER_WATCHED_COLLECTIONS"]

    assert watched(weekly) == "sweep#"
    assert watched(dev) == ""  # nobody would look at the age
    # They only report, and of two repositories.
    assert watched(prod) == "report#lake,report#other"


def test_without_a_schedule_no_collection_is_missed(deployment_of):
    deployed = deployment_of("guarded")
    assert "collections-late" not in alarms(deployed)


def test_every_kind_of_failure_has_an_alarm(deployment):
    functions = {f"{name}-errors" for name in NAMES}
    throttles = {each.replace("errors", "throttles") for each in functions}
    others = {
        "api-refusals",
        "api-server-errors",
        "api-slow",
        "cleanup-silent",
        "collections-late",
        "events-silent",
        "events-late",
        "events-unpublished",
        "events-undelivered",
        "export-dead-letters",
        "exports-failed",
        "exports-late",
        "hooks-late",
        "jobs-failed",
        "refs-throttles",
        "staging-throttles",
        "task-dead-letters",
        "tasks-failed",
        "tasks-late",
    }
    of_gateway = alarms_of_gateway(deployment)
    found = alarms(deployment).keys()
    assert found == made(functions | throttles | others, deployment) | of_gateway


def test_an_alarm_that_dev_does_without_is_on_a_cause_whose_effect_has_one(dev, deployment_of):
    all_alarms = alarms(deployment_of("other")).keys()
    assert alarms(dev).keys() == all_alarms - EFFECTS.keys()
    assert EFFECTS.keys() <= all_alarms
    assert set(EFFECTS.values()) <= alarms(dev).keys()


def test_a_flood_of_refused_requests_raises_an_alarm(dev, prod):
    found = {each: alarms(each)["api-refusals"] for each in (dev, prod)}
    assert {each["MetricName"] for each in found.values()} == {"4xx"}
    assert [found[dev]["Threshold"], found[prod]["Threshold"]] == [3_000, 30_000]


def test_every_queue_of_failures_has_an_alarm(deployment):
    watched = {
        deployment.flat(dimension["Value"])
        for alarm in alarms(deployment).values()
        for dimension in alarm.get("Dimensions", ())
        if dimension["Name"] == "QueueName"
    }
    queues = {f"<{each}.QueueName>" for each in deployment.resources("AWS::SQS::Queue")}
    assert watched == queues


def test_alarms_of_functions_watch_their_alias(deployment):
    resources = [
        deployment.flat(dimension["Value"])
        for alarm in alarms(deployment).values()
        for dimension in alarm.get("Dimensions", ())
        if dimension["Name"] == "Resource"
    ]
    assert len(resources) == (4 if deployment.name == "graveler-dev" else 24)
    assert all(each.endswith(":live") for each in resources)


def test_the_topic_is_encrypted_and_alarms_may_write_to_it(deployment):
    topic = deployment.one("AWS::SNS::Topic")
    assert deployment.flat(topic["KmsMasterKeyId"]).startswith("<Key961B73FD")
    statements = deployment.one("AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    allowed = [each for each in statements if each["Effect"] == "Allow"]
    assert [each["Principal"] for each in allowed] == [{"Service": "cloudwatch.amazonaws.com"}]
    key = deployment.one("AWS::KMS::Key")["KeyPolicy"]["Statement"]
    assert {"Service": "cloudwatch.amazonaws.com"} in [each["Principal"] for each in key]


def test_production_sends_alarms_to_the_given_address(dev, prod):
    subscription = prod.one("AWS::SNS::Subscription")
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "ops@example.com")
    assert not dev.resources("AWS::SNS::Subscription")


def test_the_dashboard_shows_alarms_and_graphs(deployment):
    body = deployment.flat(deployment.one("AWS::CloudWatch::Dashboard")["DashboardBody"])
    widgets = json.loads(body)["widgets"]
    kinds = [each["type"] for each in widgets]
    assert kinds.count("alarm") == 1
    # The gateway's stack is made after the dashboard's.
    shown = alarms(deployment).keys() - GATEWAY
    assert len(widgets[0]["properties"]["alarms"]) == len(shown)
    assert kinds.count("log") == 1


def graphs(deployment):
    """The graphs of the dashboard, each as the text of its metrics."""
    body = deployment.flat(deployment.one("AWS::CloudWatch::Dashboard")["DashboardBody"])
    return {
        each["properties"]["title"]: json.dumps(each["properties"].get("metrics"))
        for each in json.loads(body)["widgets"]
        if each["type"] == "metric"
    }


def test_the_dashboard_shows_the_functions_metrics_that_exist(dev, prod):
    """dev has none, prod those of its functions and of every operation."""
    assert len(graphs(dev)) == 9
    assert len(graphs(prod)) == 15
    assert '"service", "graveler-prod-api"' in graphs(prod)["Reads of committed files by the API"]
    assert "SEARCH" not in str(graphs(dev))
    slowest = graphs(prod)["Slowest operations (p99)"]
    assert "{Graveler,service,operation}" in slowest
    assert "graveler-prod-api" in slowest


def test_without_metrics_the_operations_are_read_from_the_log(deployment_of):
    deployed = deployment_of("other")
    assert len(graphs(deployed)) == 9
    body = deployed.flat(deployed.one("AWS::CloudWatch::Dashboard")["DashboardBody"])
    (table,) = [each for each in json.loads(body)["widgets"] if each["type"] == "log"]
    assert "ApiFunctionLog" in table["properties"]["query"]
    assert "pct(Latency, 99)" in table["properties"]["query"]


def test_alarms_go_to_a_topic_that_exists(deployment_of):
    deployed = deployment_of("other")
    assert not deployed.resources("AWS::SNS::Topic")
    assert not deployed.resources("AWS::SNS::TopicPolicy")
    assert {each["AlarmActions"][0] for each in alarms(deployed).values()} == {TOPIC}
    topics = [
        output["Value"]
        for name, output in deployed.service["Outputs"].items()
        if name.startswith("ObservabilityTopic")
    ]
    assert topics == [TOPIC]
    assert subscribers(deployed) == {80: ("SNS", TOPIC), 100: ("SNS", TOPIC)}


def subscribers(deployment):
    """Who is told at how many per cent of the budget."""
    found = {}
    for each in deployment.one("AWS::Budgets::Budget")["NotificationsWithSubscribers"]:
        notification = each["Notification"]
        assert notification["NotificationType"] == "ACTUAL"
        assert notification["ThresholdType"] == "PERCENTAGE"
        (subscriber,) = each["Subscribers"]
        found[notification["Threshold"]] = (
            subscriber["SubscriptionType"],
            subscriber["Address"],
        )
    return found


def test_a_budget_tells_the_address_of_alarms_at_80_and_100_per_cent(dev, prod):
    assert not dev.resources("AWS::Budgets::Budget")
    budget = prod.one("AWS::Budgets::Budget")["Budget"]
    assert (budget["BudgetType"], budget["TimeUnit"]) == ("COST", "MONTHLY")
    assert budget["BudgetLimit"] == {"Amount": 100, "Unit": "USD"}
    assert subscribers(prod) == dict.fromkeys((80, 100), ("EMAIL", "ops@example.com"))
