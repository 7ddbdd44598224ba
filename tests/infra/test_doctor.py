"""`graveler doctor --deployment` finds in the templates what it looks for in an account."""

import re
from pathlib import Path

from graveler_cli.deployment import compute, inspection, preflight
from infra.function import ALIAS

# Kinds that have no state of their own to look at: what uses them is looked at.
PASSIVE = {
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::ApiGatewayV2::Api",
    "AWS::ApiGatewayV2::ApiMapping",
    "AWS::ApiGatewayV2::DomainName",
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::ApiGatewayV2::Stage",
    "AWS::Budgets::Budget",
    "AWS::CDK::Metadata",
    "AWS::CloudWatch::Dashboard",
    "AWS::CodeDeploy::Application",
    "AWS::CodeDeploy::DeploymentGroup",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCEndpoint",
    "AWS::EC2::VPCGatewayAttachment",
    "AWS::ECS::Cluster",
    "AWS::ECS::Service",
    "AWS::ECS::TaskDefinition",
    "AWS::ElasticLoadBalancingV2::Listener",
    "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "AWS::ElasticLoadBalancingV2::TargetGroup",
    "AWS::Events::Archive",
    "AWS::Events::EventBus",
    "AWS::Glue::SecurityConfiguration",
    "AWS::IAM::Role",
    "AWS::Lambda::Alias",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Version",
    "AWS::Logs::LogGroup",
    "AWS::Logs::MetricFilter",
    "AWS::Route53::RecordSet",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
    "AWS::SecretsManager::Secret",
}
BY_NAME = {"AWS::DynamoDB::Table"}


def test_every_kind_of_resource_is_looked_at_or_has_nothing_to_look_at(prod):
    kinds = {each["Type"] for each in prod.all_resources.values()}
    assert kinds - set(inspection.LOOKS) - BY_NAME <= PASSIVE


def test_the_names_that_it_looks_for_are_those_of_the_templates(prod):
    assert compute._ALIAS == ALIAS
    assert {"RefsTable", "StagingTable", "RepositoryBucket"} <= set(prod.storage["Outputs"])
    roles = [name for name in prod.service["Resources"] if name.startswith(inspection._API_ROLE)]
    assert len(roles) == 1
    for job in prod.resources("AWS::Glue::Job").values():
        assert job["GlueVersion"].startswith(compute._GLUE_VERSION)


def test_the_concurrency_that_it_asks_for_is_what_prod_reserves(deployment_of):
    wide = deployment_of("wide")  # of the stage prod, with no limits of its own
    functions = wide.resources("AWS::Lambda::Function").values()
    reserved = sum(each.get("ReservedConcurrentExecutions", 0) for each in functions)
    assert reserved + preflight._UNRESERVED_MIN == preflight._PROD_CONCURRENCY
    page = (Path(__file__).parents[2] / "docs/deploy.md").read_text()
    assert re.search(rf"a quota of at least {preflight._PROD_CONCURRENCY}\b", page)
