"""docs/cost.md says what an idle month costs: by what the templates have, at the known prices."""

import json
import re

import pytest

from bench.cost import MIX
from bench.prices import (
    ECONOMY,
    GATEWAY_ALARMS,
    IDLE,
    PRICES,
    Idle,
    gateway_month,
    idle_month,
    ways_out_month,
)
from tests.infra.conftest import ROOT

PAGE = (ROOT / "docs" / "cost.md").read_text()
COSTS = re.sub(r"\s+", " ", PAGE)
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
    return Idle(
        keys=len(deployment.resources("AWS::KMS::Key")),
        secrets=len(deployment.resources("AWS::SecretsManager::Secret")),
        alarms=len(namespaces),
        # Of our own, those are reported all the time that an alarm needs.
        metrics=namespaces.count("Graveler"),
        queues=len(queues),
        is_traced=any(each.get("TracingConfig", {}).get("Mode") == "Active" for each in functions),
    )


def dollars(idle: Idle) -> str:
    return f"{sum(idle_month(idle).values()):.2f}"


def test_the_page_says_what_the_templates_cost_idle(dev):
    assert idle_of(dev) == IDLE
    assert f"An idle deployment** costs {dollars(IDLE)} USD a month" in COSTS
    parts = idle_month(IDLE)
    for told, part in (
        ("key 1.00", "key"),
        ("setup token 0.40", "secrets"),
        (f"alarms on {IDLE.alarms} metrics {parts['alarms']:.2f}", "alarms"),
        (f"polling of {IDLE.queues} queue", "looking into the queues"),
    ):
        assert told in COSTS
        assert part in parts


def test_no_other_kind_of_resource_costs_money_while_it_is_idle(dev):
    kinds = {each["Type"] for each in dev.all_resources.values()}
    assert kinds <= COSTLY | FREE_WHILE_IDLE


def test_the_gateway_costs_what_the_page_says_and_no_other_kind_of_it_costs_money(prod):
    kinds = {each["Type"] for each in prod.gateway["Resources"].values()}
    assert kinds <= COSTLY_OF_GATEWAY | FREE_OF_GATEWAY
    alarms = [each for each in prod.gateway["Resources"].values() if "Alarm" in each["Type"]]
    assert len(alarms) == GATEWAY_ALARMS
    parts = gateway_month(is_public=True)
    for told in (
        f"costs {sum(parts.values()):.2f} USD a month while idle",
        f"1 GB {parts['tasks']:.2f}, the load balancer {parts['load balancer']:.2f}",
        f"four public addresses {parts['addresses']:.2f}, four alarms {parts['alarms']:.2f}",
        f"there are no addresses: {sum(gateway_month(is_public=False).values()):.2f}",
        f"A terabyte through the load balancer costs {1000 * PRICES['Network load balancer GB']:.2f}",
        f"each further task {parts['tasks'] / 2:.2f}",
    ):
        assert told in COSTS


def test_addresses_of_the_gateways_tasks_are_the_cheapest_way_out():
    ways = ways_out_month()
    assert min(ways, key=lambda way: ways[way]) == "addresses"
    assert f"two tasks cost {ways['addresses']:.2f} USD" in COSTS
    assert f"in two zones would cost {ways['endpoints']:.2f}" in COSTS
    assert f"two NAT gateways {ways['NAT gateways']:.2f}" in COSTS


def test_the_dashboard_is_named_with_its_price(dev):
    assert len(dev.resources("AWS::CloudWatch::Dashboard")) == 1
    assert "first three costs 3 USD" in COSTS
    assert PRICES["CloudWatch dashboard and month"] == 3.00


def test_economy_costs_what_the_pages_say_while_it_is_idle(economy):
    assert idle_of(economy) == ECONOMY
    assert f"With `economy`, it costs {dollars(ECONOMY)} USD" in COSTS
    parts = idle_month(ECONOMY)
    rest = sum(parts.values()) - parts["alarms"] - parts["looking into the queues"]
    assert f"free tier, that pays for the alarms and the queue: {rest:.2f} remain" in COSTS
    assert f"It costs [{dollars(ECONOMY)} USD a month](cost.md) while idle" in DEPLOY
    assert not economy.resources("AWS::CloudWatch::Dashboard")
    kinds = {each["Type"] for each in economy.all_resources.values()}
    assert kinds <= COSTLY | FREE_WHILE_IDLE


def test_a_million_requests_cost_what_the_table_says_of_the_mix():
    rows = re.findall(r"^\| ([^|]+) \|.* ([0-9,.]+) \|$", PAGE, re.MULTILINE)
    dollars_a_million = {name: float(price.replace(",", "")) for name, price in rows}
    mixed = sum(share * dollars_a_million[name] for name, share in MIX.items())
    mixed += MIX["commit of 100"] * dollars_a_million["cleanup after a commit of 100"]
    assert f"A million requests** a month cost {mixed:.2f} USD" in COSTS
    traced = 1e6 * PRICES["X-Ray trace"]
    assert f"With `traces=true` they cost {mixed + traced:.2f}" in COSTS
    assert f"each further million costs {mixed + 0.05 * traced:.2f}" in COSTS
    kinds = [PRICES[f"API Gateway request, {kind} API"] for kind in ("REST", "HTTP")]
    assert f"costs {1e6 * (kinds[0] - kinds[1]):.2f} more" in COSTS


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
    assert sorted(with_cipher) == ["api", "export", "hooks", "slices", "tasks", "waits"]
    for table in economy.resources("AWS::DynamoDB::Table").values():
        assert not table.get("SSESpecification", {}).get("SSEEnabled")


def test_traces_are_a_setting_that_is_off(dev, prod):
    for deployment, modes in ((dev, {None}), (prod, {None, "Active"})):
        found = deployment.resources("AWS::Lambda::Function").values()
        assert {each.get("TracingConfig", {}).get("Mode") for each in found} == modes
        assert ("xray" in json.dumps(deployment.service)) == ("Active" in modes)
