"""The bus, its rules and the queues."""

import json
from itertools import chain

import pytest

from graveler.errors import CorruptDataError
from graveler.model import tasks
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.scheduled_dumps import SCHEDULED, SCHEDULER
from graveler.operations.tasks.hold import end_event
from graveler_embedded import background
from graveler_embedded.config import EXPORT_QUEUE, HOOK_QUEUE, TASK_QUEUE
from graveler_embedded.queue_delivery import VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT
from tests.support.worlds.lake import REPO, new_lake


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


@pytest.mark.parametrize(
    ("name", "local", "queue"),
    [
        ("EventsCallsForExport", background.CALLS_FOR_EXPORT, "<EventsExportQueue"),
        ("EventsCallsForTasks", background.CALLS_FOR_TASKS, "<EventsTaskQueue"),
    ],
)
def test_the_rule_of_a_queue_is_the_one_of_the_embedded_stack(deployment, name, local, queue):
    found = rule(deployment, name)
    assert found["EventPattern"] == local.pattern
    (target,) = found["Targets"]
    assert deployment.flat(target["Arn"]).startswith(queue)
    assert target["SqsParameters"]["MessageGroupId"] == "$.detail.repository"
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


def test_a_task_that_fails_is_reported_if_its_user_cannot_mend_it(deployment):
    pattern = rule(deployment, "EventsTaskFailed")["EventPattern"]
    assert pattern["detail-type"] == ["Task Failed"]
    assert pattern["detail"] == {"error_code": ["corrupt_data", "throttled", "unknown_outcome"]}
    (target,) = targets(deployment, "EventsTaskFailed")
    assert target.startswith("<EventsFailedTasks")


def test_the_event_of_a_failed_task_has_the_code_by_which_it_is_reported():
    engine = new_lake().engine()
    repository = engine.refs.repository(REPO)
    assert repository is not None
    task = Task("CA1", TaskKind.COMMIT, "user", 1, 1)
    failed = tasks.failed(task, CorruptDataError("a range is damaged"), 2)
    event = end_event(OpenRepository(engine, repository), failed)
    assert event.kind == "task_failed"
    assert event.detail["error_code"] == "corrupt_data"


def test_events_that_a_rule_cannot_deliver_are_kept(deployment):
    names = (
        "EventsCallsForExport",
        "EventsExportFailed",
        "EventsCallsForTasks",
        "EventsTaskFailed",
        "JobsJobFailed",
    )
    for name in names:
        for target in rule(deployment, name)["Targets"]:
            letters = deployment.flat(target["DeadLetterConfig"]["Arn"])
            assert letters.startswith("<EventsUndelivered")


def test_all_events_are_archived(dev, prod):
    for deployment, days in ((dev, 7), (prod, 30)):
        archive = deployment.one("AWS::Events::Archive")
        assert archive["EventPattern"] == {"source": ["graveler"]}
        assert archive["RetentionDays"] == days


@pytest.mark.parametrize(
    ("name", "local_name", "failures"),
    [
        ("Export", EXPORT_QUEUE, "<EventsExportDeadLetters"),
        ("Task", TASK_QUEUE, "<EventsTaskDeadLetters"),
        ("Hook", HOOK_QUEUE, "<EventsTaskDeadLetters"),
    ],
)
def test_a_functions_message_waits_and_is_retried_as_in_the_embedded_stack(
    deployment, name, local_name, failures
):
    (local,) = (each for each in background.QUEUES if each.name == local_name)
    (queue,) = (
        each
        for logical_id, each in queues(deployment).items()
        if logical_id.startswith(f"Events{name}Queue")
    )
    assert queue["VisibilityTimeout"] == local.visibility_timeout_s
    assert queue["RedrivePolicy"]["maxReceiveCount"] == local.receives_max
    letters = deployment.flat(queue["RedrivePolicy"]["deadLetterTargetArn"])
    assert letters.startswith(failures)
    (timeout,) = (
        each["Timeout"]
        for each in deployment.resources("AWS::Lambda::Function").values()
        if each["FunctionName"] == local_name.replace("graveler", deployment.name)
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
    assert len(queues(deployment)) == 10
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


def test_dumps_are_scheduled_by_a_message_to_the_tasks_function(dev, prod):
    assert not [each for each in dev.resources("AWS::Scheduler::Schedule") if "Dumps" in each]
    (schedule,) = (
        each
        for logical_id, each in prod.resources("AWS::Scheduler::Schedule").items()
        if logical_id.startswith("EventsDumps")
    )
    assert schedule["ScheduleExpression"] == "rate(1 day)"
    assert prod.flat(schedule["Target"]["Arn"]).startswith("<EventsTaskQueue")
    assert json.loads(schedule["Target"]["Input"]) == SCHEDULED
    variables = next(
        each["Environment"]["Variables"]
        for each in prod.resources("AWS::Lambda::Function").values()
        if each["FunctionName"] == f"{prod.name}-tasks"
    )
    assert variables["GRAVELER_DUMP_PLACE"] == "s3://company-backup/dumps/"


def test_a_scheduled_dump_that_is_refused_is_reported(prod):
    (rule,) = (
        each
        for logical_id, each in prod.resources("AWS::Events::Rule").items()
        if logical_id.startswith("EventsDumpFailed")
    )
    detail = rule["EventPattern"]["detail"]
    assert (detail["task_kind"], detail["user"]) == (["dump"], [SCHEDULER])
    assert prod.flat(rule["Targets"][0]["Arn"]).startswith("<EventsFailedTasks")
