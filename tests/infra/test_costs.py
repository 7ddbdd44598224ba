"""docs/cost.md says what the table of prices says, of what the templates have."""

import json
import re
from dataclasses import replace

import pytest

from bench import cost_page
from bench.prices import (
    ACCESS_LINE_BYTES,
    ECONOMY,
    GATEWAY_ALARMS,
    IDLE,
    PRICES,
    PROD,
    Idle,
    idle_month,
    total,
    ways_out_month,
)
from graveler.export.record import ExportSettings
from infra.http_api import ACCESS_LOG
from tests.infra.conftest import ROOT

PAGE = (ROOT / "docs" / "cost.md").read_text()
DEPLOY = (ROOT / "docs" / "deploy.md").read_text()

# Kinds that cost money while they are not used. A new kind needs a decision: add it to `Idle`, or
# know that it costs nothing until it is used.
COSTLY = {
    "AWS::KMS::Key",
    "AWS::SecretsManager::Secret",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::Lambda::EventSourceMapping",
}
FREE_WHILE_IDLE = {
    "AWS::ApiGatewayV2::Api",
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::ApiGatewayV2::Stage",
    "AWS::CDK::Metadata",
    "AWS::DynamoDB::Table",
    "AWS::Events::Archive",
    "AWS::Events::EventBus",
    "AWS::Events::Rule",
    "AWS::Glue::Job",
    "AWS::Glue::SecurityConfiguration",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::Lambda::Alias",
    "AWS::Lambda::Function",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Version",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
    "AWS::Scheduler::Schedule",
}
# Of the S3 gateway: `gateway_month` has what its tasks and its load balancer cost.
COSTLY_OF_GATEWAY = {
    "AWS::CloudWatch::Alarm",
    "AWS::ECS::Service",
    "AWS::ElasticLoadBalancingV2::LoadBalancer",
}
FREE_OF_GATEWAY = {
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::CDK::Metadata",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCEndpoint",  # a gateway endpoint; test_gateway.py has no other kind
    "AWS::EC2::VPCGatewayAttachment",
    "AWS::ECS::Cluster",
    "AWS::ECS::TaskDefinition",
    "AWS::ElasticLoadBalancingV2::Listener",
    "AWS::ElasticLoadBalancingV2::TargetGroup",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::Logs::LogGroup",
    "AWS::Logs::MetricFilter",  # its metric reports in hours with failures only
    "AWS::Route53::RecordSet",
}


@pytest.fixture
def economy(deployment_of):
    return deployment_of("economy")


def watched_metrics(alarm) -> list[str]:
    """Return the metrics that an alarm reads: an expression costs nothing, each metric does."""
    parts = alarm.get("Metrics", [{"MetricStat": {"Metric": alarm}}])
    return [
        each["MetricStat"]["Metric"].get("Namespace", "") for each in parts if "MetricStat" in each
    ]


def idle_of(deployment) -> Idle:
    """Count in the templates what costs money without requests."""
    alarms = deployment.resources("AWS::CloudWatch::Alarm").values()
    namespaces = [namespace for alarm in alarms for namespace in watched_metrics(alarm)]
    mappings = deployment.resources("AWS::Lambda::EventSourceMapping").values()
    queues = [
        each
        for each in mappings
        if "Queue" in deployment.flat(each["EventSourceArn"]) and each.get("Enabled", True)
    ]
    functions = deployment.resources("AWS::Lambda::Function").values()
    (minutes,) = (
        int(found[1])
        for each in deployment.resources("AWS::Scheduler::Schedule").values()
        if (found := re.fullmatch(r"rate\((\d+) minutes\)", each["ScheduleExpression"]))
    )
    return Idle(
        keys=len(deployment.resources("AWS::KMS::Key")),
        secrets=len(deployment.resources("AWS::SecretsManager::Secret")),
        alarms=len(namespaces),
        # Of our own, those are reported all the time that an alarm needs.
        metrics=namespaces.count("Graveler"),
        queues=len(queues),
        is_traced=any(each.get("TracingConfig", {}).get("Mode") == "Active" for each in functions),
        sweep_minutes=minutes,
    )


def dollars(idle: Idle) -> str:
    return f"{sum(idle_month(idle).values()):.2f}"


def test_the_page_has_the_figures_that_prices_and_measured_usage_give():
    assert cost_page.made(PAGE) == PAGE, "make docs writes them"
    assert ExportSettings().requests_at_once == cost_page.EXPORT_AT_ONCE


def test_stages_have_what_the_page_counts_while_they_are_idle(dev, deployment_of):
    assert idle_of(dev) == IDLE
    assert idle_of(deployment_of("wide")) == PROD


def test_the_costs_that_we_promise_are_kept():
    """Without the free tier; those of `economy` when the setup token has been used."""
    assert sum(idle_month(IDLE).values()) <= 4
    used = replace(ECONOMY, secrets=ECONOMY.secrets - 1)
    assert sum(idle_month(used).values()) <= 1
    found, _ = cost_page.stored()
    assert total(cost_page.mixed(found, 1e6)) <= 2.50


def test_a_line_of_the_access_log_is_no_longer_than_its_price_assumes():
    values = {
        "$context.requestId": "OurJRhV5oAMEPCg=",
        "$context.requestTime": "30/Nov/2026:09:55:28 +0000",
        "$context.identity.sourceIp": "2001:db8:85a3:8d3:1319:8a2e:370:7348",
        "$context.path": "/api/v1/repositories/research-lake/branches/main/staging/backing",
        "$context.identity.userAgent": "lakefs-python-sdk/1.84.0 python-urllib3/2.6.1 Linux/6.1",
    }
    line = json.dumps(
        {name: values.get(text, "1234") for name, text in json.loads(ACCESS_LOG).items()}
    )
    assert len(line) <= ACCESS_LINE_BYTES


def test_no_other_kind_of_resource_costs_money_while_it_is_idle(dev):
    kinds = {each["Type"] for each in dev.all_resources.values()}
    assert kinds <= COSTLY | FREE_WHILE_IDLE


def test_the_gateway_costs_what_the_page_says_and_no_other_kind_of_it_costs_money(prod):
    kinds = {each["Type"] for each in prod.gateway["Resources"].values()}
    assert kinds <= COSTLY_OF_GATEWAY | FREE_OF_GATEWAY
    alarms = [each for each in prod.gateway["Resources"].values() if "Alarm" in each["Type"]]
    assert len(alarms) == GATEWAY_ALARMS


def test_addresses_of_the_gateways_tasks_are_the_cheapest_way_out():
    ways = ways_out_month()
    assert min(ways, key=lambda way: ways[way]) == "addresses"


def test_the_dashboard_is_named_with_its_price(dev):
    assert len(dev.resources("AWS::CloudWatch::Dashboard")) == 1
    assert PRICES["CloudWatch dashboard and month"] == 3.00


def test_economy_costs_what_the_pages_say_while_it_is_idle(economy):
    assert idle_of(economy) == ECONOMY
    assert f"It costs [{dollars(ECONOMY)} USD a month](cost.md) while idle" in DEPLOY
    assert not economy.resources("AWS::CloudWatch::Dashboard")
    kinds = {each["Type"] for each in economy.all_resources.values()}
    assert kinds <= COSTLY | FREE_WHILE_IDLE


def test_a_deployment_cannot_be_given_a_key_or_lose_it(dev, economy):
    """CloudFormation refuses to remove an export that the service stack imports.

    Secrets that are encrypted in one way could not be decrypted in the other.
    """

    def imported(deployment) -> set[str]:
        return set(re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(deployment.service)))

    def exported(deployment) -> set[str]:
        outputs = deployment.storage["Outputs"].values()
        return {each["Export"]["Name"] for each in outputs if "Export" in each}

    for one, other in ((dev, economy), (economy, dev)):
        assert imported(one) <= exported(one)
        assert imported(one) - exported(other)


def test_economy_encrypts_users_secrets_under_a_secret_of_its_own(economy):
    assert "kms:" not in json.dumps(economy.service).replace("aws:kms", "")
    assert "resolve:secretsmanager" not in json.dumps(economy.all_resources)
    token, secret = sorted(economy.resources("AWS::SecretsManager::Secret"), reverse=True)
    assert token.startswith("SetupToken")
    for each in economy.resources("AWS::Lambda::Function").values():
        variables = each["Environment"]["Variables"]
        assert "GRAVELER_KMS_KEY_ID" not in variables
        if "GRAVELER_CIPHER_SECRET_ARN" in variables:
            assert economy.flat(variables["GRAVELER_CIPHER_SECRET_ARN"]) == f"<{secret}>"
    with_cipher = [
        each["FunctionName"].removeprefix("graveler-dev-")
        for each in economy.resources("AWS::Lambda::Function").values()
        if "GRAVELER_CIPHER_SECRET_ARN" in each["Environment"]["Variables"]
    ]
    assert sorted(with_cipher) == ["api", "export", "hooks", "iceberg", "slices", "tasks", "waits"]
    for table in economy.resources("AWS::DynamoDB::Table").values():
        assert not table.get("SSESpecification", {}).get("SSEEnabled")


def test_traces_are_a_setting_that_is_off(dev, prod):
    for deployment, modes in ((dev, {None}), (prod, {None, "Active"})):
        found = deployment.resources("AWS::Lambda::Function").values()
        assert {each.get("TracingConfig", {}).get("Mode") for each in found} == modes
        assert ("xray" in json.dumps(deployment.service)) == ("Active" in modes)
