"""`graveler doctor --deployment`: what the operator reads of an account, good and spoiled."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import boto3
import pytest
from click.testing import CliRunner, Result
from moto import mock_aws

from graveler_cli.deployment import inspection, preflight
from graveler_cli.deployment.account import Account, CannotLookError
from graveler_cli.deployment.stacks import Resource, read_stack
from graveler_cli.findings import Finding, FindingLevel
from graveler_cli.main import app

REGION = "eu-west-1"
NAME = "graveler-prod"

TABLE = {
    "KeySchema": [{"AttributeName": "partition", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "partition", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def resource(kind: str, **properties: object) -> dict[str, object]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


# As a text, because moto reads one back.
KEY_POLICY = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "kms:*", "Resource": "*"}
        ],
    }
)

STORAGE = {
    "Resources": {
        "Key": resource("KMS::Key", KeyPolicy=KEY_POLICY),
        "Refs": resource(
            "DynamoDB::Table",
            TableName="refs",
            StreamSpecification={"StreamViewType": "NEW_IMAGE"},
            **TABLE,
        ),
        "Staging": resource("DynamoDB::Table", TableName="staging", **TABLE),
        "Repositories": resource("S3::Bucket", BucketName="lake"),
    },
    "Outputs": {
        "Stage": {"Value": "prod"},
        "RefsTable": {"Value": "refs"},
        "StagingTable": {"Value": "staging"},
        "RepositoryBucket": {"Value": "lake"},
    },
}
SERVICE = {
    # CDK declares a parameter of SSM; CloudFormation describes it by its name as well.
    "Parameters": {
        "BootstrapVersion": {"Type": "String", "Default": "/cdk-bootstrap/hnb659fds/version"}
    },
    "Resources": {
        "Letters": resource("SQS::Queue", QueueName="letters"),
        "Alarms": resource("SNS::Topic", TopicName="alarms"),
        "Rule": resource("Events::Rule", Name="rule", EventPattern={"source": ["graveler"]}),
    },
}


@pytest.fixture
def aws(monkeypatch) -> Iterator[Callable[[str], Any]]:
    """Clients of an account with a deployment in which nothing is wrong."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.delenv("AWS_PROFILE", raising=False)

    ask = Account.call

    def call(self: Account, service: str, operation: str, **given: object) -> Mapping[str, Any]:
        if service == "service-quotas":  # moto has none
            raise CannotLookError("servicequotas:ListServiceQuotas", "AccessDenied", "denied")
        return ask(self, service, operation, **given)

    monkeypatch.setattr(Account, "call", call)

    def client(service: str) -> Any:
        return boto3.client(service, region_name=REGION)  # type: ignore[call-overload]

    with mock_aws():
        for name, template in ((f"{NAME}-storage", STORAGE), (NAME, SERVICE)):
            client("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(template))
        deploy_stores(client)
        topic = client("sns").list_topics()["Topics"][0]["TopicArn"]
        client("sns").subscribe(TopicArn=topic, Protocol="sms", Endpoint="+4915112345678")
        client("ssm").put_parameter(
            Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String"
        )
        yield client


def deploy_stores(client: Callable[[str], Any]) -> None:
    for table in ("refs", "staging"):
        client("dynamodb").update_continuous_backups(
            TableName=table,
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
        client("dynamodb").update_table(TableName=table, DeletionProtectionEnabled=True)
    client("dynamodb").update_time_to_live(
        TableName="refs",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"},
    )
    parts = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    client("s3").put_public_access_block(
        Bucket="lake", PublicAccessBlockConfiguration=dict.fromkeys(parts, True)
    )
    rule = {
        "ID": "abort",
        "Status": "Enabled",
        "Filter": {"Prefix": ""},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
    }
    client("s3").put_bucket_lifecycle_configuration(
        Bucket="lake", LifecycleConfiguration={"Rules": [rule]}
    )


def doctor(*args: str) -> Result:
    result = CliRunner().invoke(app, ["doctor", *args], catch_exceptions=False)
    assert "Traceback" not in result.output
    return result


def found(*levels: str) -> list[tuple[str, str]]:
    """Return subjects and texts of the levels."""
    result = doctor("--deployment", NAME, "--json")
    return [(row["subject"], row["text"]) for row in json_lines(result) if row["level"] in levels]


def json_lines(result: Result) -> list[dict[str, str]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_good_deployment_is_ok_and_what_cannot_be_looked_at_is_said(aws):
    assert found("missing", "warn") == []
    unknown = found("unknown")
    # The emulator does not know them.
    quotas = {f"quotas of {name}" for name in ("apigateway", "dynamodb", "glue", "kms")}
    assert {subject for subject, _ in unknown} == {*quotas, "Lambda's concurrent executions"}
    assert all(text.startswith("could not look: ") for _, text in unknown)
    ok = {subject for subject, _ in found("ok")}
    assert {
        f"stack {NAME}",
        f"stack {NAME}-storage",
        "table refs",
        "table staging",
        "bucket lake",
        "queue Letters",
        "topic Alarms",
        "rule Rule",
    } <= ok


def test_the_stack_of_the_s3_gateway_is_looked_at_where_there_is_one(aws):
    template = {"Resources": {"Waiting": {"Type": "AWS::SQS::Queue"}}}
    aws("cloudformation").create_stack(
        StackName=f"{NAME}-gateway", TemplateBody=json.dumps(template)
    )
    subjects = {subject for subject, _ in found("ok", "missing", "warn")}
    assert {f"stack {NAME}-gateway", "queue Waiting"} <= subjects


def break_recovery(aws):
    aws("dynamodb").update_continuous_backups(
        TableName="staging",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False},
    )


def break_protection(aws):
    aws("dynamodb").update_table(TableName="refs", DeletionProtectionEnabled=False)


def break_expiry(aws):
    aws("dynamodb").update_time_to_live(
        TableName="refs",
        TimeToLiveSpecification={"Enabled": False, "AttributeName": "expires_at"},
    )


def break_stream(aws):
    aws("dynamodb").update_table(TableName="refs", StreamSpecification={"StreamEnabled": False})


def break_table(aws):
    break_protection(aws)
    aws("dynamodb").delete_table(TableName="refs")


def break_privacy(aws):
    aws("s3").delete_public_access_block(Bucket="lake")


def break_lifecycle(aws):
    aws("s3").delete_bucket_lifecycle(Bucket="lake")


def break_versions(aws):
    aws("s3").put_bucket_versioning(Bucket="lake", VersioningConfiguration={"Status": "Enabled"})


def break_key(aws):
    rows = aws("cloudformation").list_stack_resources(StackName=f"{NAME}-storage")
    (key,) = [
        row["PhysicalResourceId"]
        for row in rows["StackResourceSummaries"]
        if row["LogicalResourceId"] == "Key"
    ]
    aws("kms").schedule_key_deletion(KeyId=key)


def break_queue(aws):
    url = aws("sqs").get_queue_url(QueueName="letters")["QueueUrl"]
    aws("sqs").send_message(QueueUrl=url, MessageBody="failed")


def break_topic(aws):
    for each in aws("sns").list_subscriptions()["Subscriptions"]:
        aws("sns").unsubscribe(SubscriptionArn=each["SubscriptionArn"])


def break_rule(aws):
    aws("events").disable_rule(Name="rule")


def break_bootstrap(aws):
    aws("ssm").delete_parameter(Name="/cdk-bootstrap/hnb659fds/version")


def age_bootstrap(aws):
    aws("ssm").put_parameter(
        Name="/cdk-bootstrap/hnb659fds/version", Value="5", Type="String", Overwrite=True
    )


def break_stack(aws):
    aws("cloudformation").delete_stack(StackName=NAME)


@pytest.mark.parametrize(
    ("spoil", "level", "subject", "text"),
    [
        (break_recovery, "missing", "table staging", "point-in-time recovery"),
        (break_protection, "missing", "table refs", "protected from deletion"),
        (break_expiry, "missing", "table refs", "time to live"),
        (break_stream, "missing", "table refs", "stream"),
        (break_table, "missing", "table refs", "does not exist"),
        (break_privacy, "missing", "bucket lake", "public access"),
        (break_lifecycle, "warn", "bucket lake", "unfinished uploads"),
        (break_versions, "warn", "bucket lake", "old versions for ever"),
        (break_key, "missing", "key ", "PendingDeletion"),
        (break_queue, "warn", "queue Letters", "holds 1 failures"),
        (break_topic, "warn", "topic Alarms", "no recipient"),
        (break_rule, "missing", "rule Rule", "enabled"),
        (break_bootstrap, "missing", "CDK bootstrap", "has not been made"),
        (age_bootstrap, "missing", "CDK bootstrap", "version 6 or newer"),
        (break_stack, "missing", f"stack {NAME}", "does not exist"),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(aws, spoil, level, subject, text):
    spoil(aws)
    result = doctor("--deployment", NAME, "--json")
    rows = [
        row
        for row in json_lines(result)
        if row["level"] == level and row["subject"].startswith(subject) and text in row["text"]
    ]
    assert rows, result.stdout
    assert all(row["remedy"] for row in rows)
    assert result.exit_code == 1


def bootstraps(*args: str) -> list[tuple[str, str]]:
    """Return the level and remedy of each finding on the bootstrap."""
    rows = json_lines(doctor(*args, "--json"))
    return [(each["level"], each["remedy"]) for each in rows if "bootstrap" in each["subject"]]


def test_the_bootstrap_that_the_deployment_names_is_looked_at(aws):
    other = [{"ParameterKey": "BootstrapVersion", "ParameterValue": "/cdk-bootstrap/own/version"}]
    aws("cloudformation").update_stack(
        StackName=NAME, TemplateBody=json.dumps(SERVICE), Parameters=other
    )
    [(level, remedy)] = bootstraps("--deployment", NAME)
    assert (level, remedy.split(" --")[1:]) == ("missing", ["qualifier own"])
    aws("ssm").put_parameter(Name="/cdk-bootstrap/own/version", Value="30", Type="String")
    assert bootstraps("--deployment", NAME) == [("ok", "")]


def test_stacks_that_were_deployed_without_cdk_need_no_bootstrap(aws):
    break_bootstrap(aws)
    portable = {"Resources": SERVICE["Resources"]}
    aws("cloudformation").delete_stack(StackName=NAME)
    aws("cloudformation").create_stack(StackName=NAME, TemplateBody=json.dumps(portable))
    assert bootstraps("--deployment", NAME) == []


def test_an_empty_account_can_be_examined_before_the_first_deployment(aws):
    result = doctor("--deployment", "graveler-dev")
    lines = result.stdout.splitlines()
    assert "missing  stack graveler-dev-storage: does not exist" in lines
    assert "missing  stack graveler-dev: does not exist" in lines
    assert any("Lambda's concurrent executions" in line for line in lines)
    assert lines[-1].endswith("unknown")


class Scripted(Account):
    """An account whose services answer as a test says; others refuse."""

    def __init__(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(REGION)
        self._answers = answers

    def call(self, service: str, operation: str, **_: object) -> Mapping[str, Any]:
        answer = self._answers.get(f"{service}.{operation}")
        if answer is None:
            raise CannotLookError(f"{service}:{operation}", "AccessDenied", "no")
        return answer


def look(
    kind: str, answers: Mapping[str, Mapping[str, Any]], physical_id: str = "x"
) -> list[Finding]:
    account = Scripted(answers)
    return list(inspection.LOOKS[kind](account, Resource("s", "Logical", physical_id, kind)))


FUNCTION = "lambda.get_function"
ALIAS = {"lambda.get_alias": {"Name": "live"}}


@pytest.mark.parametrize(
    ("kind", "answers", "level", "text"),
    [
        (
            "AWS::Lambda::Function",
            {FUNCTION: {"Configuration": {"State": "Active"}}, **ALIAS},
            FindingLevel.OK,
            "no reserved",
        ),
        (
            "AWS::Lambda::Function",
            {
                FUNCTION: {
                    "Configuration": {"State": "Active"},
                    "Concurrency": {"ReservedConcurrentExecutions": 0},
                },
                **ALIAS,
            },
            FindingLevel.MISSING,
            "is stopped",
        ),
        (
            "AWS::Lambda::Function",
            {FUNCTION: {"Configuration": {"State": "Failed"}}, **ALIAS},
            FindingLevel.MISSING,
            "active",
        ),
        (
            "AWS::Lambda::Function",
            {FUNCTION: {"Configuration": {}}, "lambda.get_alias": {}},
            FindingLevel.MISSING,
            "alias live",
        ),
        (
            "AWS::Lambda::EventSourceMapping",
            {"lambda.get_event_source_mapping": {"State": "Disabled"}},
            FindingLevel.MISSING,
            "Disabled",
        ),
        (
            "AWS::Lambda::EventSourceMapping",
            {
                "lambda.get_event_source_mapping": {
                    "State": "Enabled",
                    "LastProcessingResult": "PROBLEM: Function call failed",
                }
            },
            FindingLevel.WARN,
            "PROBLEM",
        ),
        (
            "AWS::Scheduler::Schedule",
            {"scheduler.get_schedule": {"State": "DISABLED", "ScheduleExpression": "rate(1 day)"}},
            FindingLevel.MISSING,
            "rate(1 day)",
        ),
        (
            "AWS::Glue::Job",
            {"glue.get_job": {"Job": {"GlueVersion": "4.0"}}, "glue.get_job_runs": {}},
            FindingLevel.WARN,
            "Glue 6",
        ),
        (
            "AWS::Glue::Job",
            {
                "glue.get_job": {"Job": {"GlueVersion": "6.0"}},
                "glue.get_job_runs": {"JobRuns": [{"JobRunState": "FAILED", "ErrorMessage": "no"}]},
            },
            FindingLevel.WARN,
            "the last run failed: no",
        ),
        (
            "AWS::CloudWatch::Alarm",
            {
                "cloudwatch.describe_alarms": {
                    "MetricAlarms": [{"StateValue": "ALARM", "StateReason": "5 of 5"}]
                }
            },
            FindingLevel.WARN,
            "fires: 5 of 5",
        ),
        (
            "AWS::CloudWatch::Alarm",
            {
                "cloudwatch.describe_alarms": {
                    "MetricAlarms": [{"StateValue": "OK", "ActionsEnabled": False}]
                }
            },
            FindingLevel.WARN,
            "reaches nobody",
        ),
        (
            "AWS::SNS::Topic",
            {
                "sns.list_subscriptions_by_topic": {
                    "Subscriptions": [
                        {"SubscriptionArn": "PendingConfirmation", "Endpoint": "ops@example.com"}
                    ]
                }
            },
            FindingLevel.WARN,
            "ops@example.com to confirm",
        ),
    ],
)
def test_each_kind_of_resource_is_judged(kind, answers, level, text):
    assert [each for each in look(kind, answers) if each.level is level and text in each.text]


@pytest.mark.parametrize(
    ("kind", "answers", "properties"),
    [
        (
            "AWS::Lambda::EventSourceMapping",
            {"lambda.get_event_source_mapping": {"State": "Disabled"}},
            {"Enabled": False},
        ),
        (
            "AWS::Events::Rule",
            {"events.describe_rule": {"State": "DISABLED"}},
            {"State": "DISABLED"},
        ),
    ],
)
def test_what_the_template_switches_off_is_no_fault(kind, answers, properties):
    stack = {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]}
    row = {"LogicalResourceId": "One", "PhysicalResourceId": "bus|x", "ResourceType": kind}
    told = {
        **answers,
        "cloudformation.describe_stacks": stack,
        "cloudformation.list_stack_resources": {"StackResourceSummaries": [row]},
    }
    template = {"TemplateBody": {"Resources": {"One": {"Properties": properties}}}}
    for more, level in (
        ({"cloudformation.get_template": template}, FindingLevel.OK),
        ({"cloudformation.get_template": {"TemplateBody": {}}}, FindingLevel.MISSING),
        ({}, FindingLevel.MISSING),
    ):
        account = Scripted({**told, **more})
        found = read_stack(account, "s")
        assert found
        (finding,) = inspection.LOOKS[kind](account, found.resources[0])
        assert finding.level is level


@pytest.mark.parametrize("kind", sorted(inspection.LOOKS))
def test_a_forbidden_look_is_said_and_names_the_permission(kind, monkeypatch):
    account = Scripted({})
    each = Resource("s", "Logical", "bus|x", kind)
    findings = list(inspection._guarded("subject", lambda: inspection.LOOKS[kind](account, each)))
    (finding,) = findings
    assert finding.level is FindingLevel.UNKNOWN
    assert finding.text.startswith("could not look: ")
    assert finding.remedy.startswith("allow ")


def test_quotas_below_the_need_are_named():
    rows = [
        {"QuotaName": "Throttle rate", "Value": 100.0},
        {"QuotaName": "Table-level read throughput limit", "Value": 40_000.0},
    ]
    account = Scripted({"service-quotas.list_service_quotas": {"Quotas": rows}})
    judged = {each.subject: each.level for each in preflight.quotas(account)}
    assert judged["quota apigateway: Throttle rate"] is FindingLevel.WARN
    assert judged["quota dynamodb: Table-level read throughput limit"] is FindingLevel.OK
    assert {each.level for each in preflight.quotas(Scripted({}))} == {FindingLevel.UNKNOWN}


@pytest.mark.parametrize(
    ("total", "free", "production", "level"),
    [
        (10, 10, True, FindingLevel.WARN),
        (10, 10, False, FindingLevel.WARN),
        (1000, 99, True, FindingLevel.WARN),
        (1000, 719, True, FindingLevel.OK),
        (741, 100, True, FindingLevel.OK),
        (740, 100, True, FindingLevel.WARN),
    ],
)
def test_concurrency_must_suffice_for_reservations(total, free, production, level):
    limit = {"ConcurrentExecutions": total, "UnreservedConcurrentExecutions": free}
    account = Scripted({"lambda.get_account_settings": {"AccountLimit": limit}})
    (finding,) = preflight.concurrency(account, is_production=production)
    assert finding.level is level


@pytest.mark.parametrize(
    ("decision", "level"), [("allowed", FindingLevel.OK), ("explicitDeny", FindingLevel.MISSING)]
)
def test_a_role_under_a_boundary_is_found(decision, level):
    answers: dict[str, Mapping[str, Any]] = {
        "iam.simulate_principal_policy": {"EvaluationResults": [{"EvalDecision": decision}]},
        "sts.get_caller_identity": {"Account": "123456789012"},
    }
    role = Resource("s", "ApiFunctionRole1", "graveler-prod-api-eu-west-1", "AWS::IAM::Role")
    (finding,) = preflight.permissions(Scripted(answers), role, ["refs"], "lake")
    assert finding.level is level


def test_without_credentials_the_command_fails_with_one_line(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    result = doctor("--deployment", NAME, "--region", REGION)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: cannot use AWS: ")
    assert result.stderr.count("\n") == 1


def test_with_the_variables_of_a_gateway_the_command_says_what_to_unset(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAJNOSUCHKEY00000Q")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    result = doctor("--deployment", NAME, "--region", REGION)
    assert result.exit_code == 1
    assert result.stderr.endswith("; unset AWS_ENDPOINT_URL, which is http://127.0.0.1:9\n")


def test_without_a_region_the_command_says_what_to_set(monkeypatch, tmp_path):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    result = doctor("--deployment", NAME)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "set AWS_REGION" in result.stderr
