"""The bus, its rules and the queues."""

import json
from itertools import chain

from local import background
from local.delivery import VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT


def queues(deployment):
    return deployment.resources("AWS::SQS::Queue")


def rule(deployment, name):
    (found,) = (
        each
        for logical_id, each in deployment.resources("AWS::Events::Rule").items()
        if logical_id.startswith(name)
    )
    return found


def targets(deployment, name):
    return [deployment.flat(each["Arn"]) for each in rule(deployment, name)["Targets"]]


def test_the_rule_of_exports_is_the_one_of_the_embedded_stack(deployment):
    found = rule(deployment, "EventsCallsForExport")
    assert found["EventPattern"] == background.CALLS_FOR_EXPORT.pattern
    (target,) = targets(deployment, "EventsCallsForExport")
    assert target.startswith("<EventsExportQueue")
    assert deployment.flat(found["EventBusName"]).startswith("<EventsBus")


def test_a_failed_export_is_reported(deployment):
    pattern = rule(deployment, "EventsExportFailed")["EventPattern"]
    assert pattern == {
        "source": ["graveler"],
        "detail-type": ["Export Finished"],
        "detail": {"status": ["export-failed"]},
    }
    (target,) = targets(deployment, "EventsExportFailed")
    assert target.startswith("<EventsFailedExports")


def test_events_that_a_rule_cannot_deliver_are_kept(deployment):
    for name in ("EventsCallsForExport", "EventsExportFailed"):
        for target in rule(deployment, name)["Targets"]:
            letters = deployment.flat(target["DeadLetterConfig"]["Arn"])
            assert letters.startswith("<EventsUndelivered")


def test_all_events_are_archived(dev, prod):
    for deployment, days in ((dev, 7), (prod, 30)):
        archive = deployment.one("AWS::Events::Archive")
        assert archive["EventPattern"] == {"source": ["graveler"]}
        assert archive["RetentionDays"] == days


def test_an_exports_message_waits_and_is_retried_as_in_the_embedded_stack(deployment):
    local = background.QUEUES[0]
    (queue,) = (each for each in queues(deployment).values() if "RedrivePolicy" in each)
    assert queue["VisibilityTimeout"] == local.visibility_timeout_s
    assert queue["RedrivePolicy"]["maxReceiveCount"] == local.receives_max
    letters = deployment.flat(queue["RedrivePolicy"]["deadLetterTargetArn"])
    assert letters.startswith("<EventsExportDeadLetters")
    (timeout,) = (
        each["Timeout"]
        for each in deployment.resources("AWS::Lambda::Function").values()
        if each["FunctionName"].endswith("-export")
    )
    assert queue["VisibilityTimeout"] >= VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT * timeout


def test_queues_are_encrypted_reached_by_tls_and_keep_what_failed_for_two_weeks(deployment):
    policies = deployment.resources("AWS::SQS::QueuePolicy").values()
    guarded = {
        deployment.flat(queue)
        for policy in policies
        for queue in policy["Queues"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert len(queues(deployment)) == 6
    for logical_id, queue in queues(deployment).items():
        assert queue["SqsManagedSseEnabled"] is True
        assert queue["MessageRetentionPeriod"] == 14 * 24 * 60 * 60
        assert f"<{logical_id}>" in guarded


def test_only_the_rule_itself_may_send_to_its_queue(deployment):
    policies = deployment.resources("AWS::SQS::QueuePolicy").values()
    statements = chain.from_iterable(each["PolicyDocument"]["Statement"] for each in policies)
    senders = [each for each in statements if each["Effect"] == "Allow"]
    assert senders
    for each in senders:
        assert each["Principal"] == {"Service": "events.amazonaws.com"}
        assert "aws:SourceArn" in json.dumps(each["Condition"])


def test_cleaning_up_happens_every_few_minutes(deployment):
    (schedule,) = (
        each
        for logical_id, each in deployment.resources("AWS::Scheduler::Schedule").items()
        if logical_id.startswith("EventsCleanup")
    )
    assert schedule["ScheduleExpression"] == "rate(5 minutes)"
    letters = deployment.flat(schedule["Target"]["DeadLetterConfig"]["Arn"])
    assert letters.startswith("<EventsUndelivered")
