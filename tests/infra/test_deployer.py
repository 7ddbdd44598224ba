"""The policies of a deploy role: what the templates need, bound to the deployment's name."""

import json
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.deployer import write_deployer
from infra.deployer_actions import ACTIONS_BY_TYPE
from infra.role import MANAGED_LENGTH_MAX
from infra.settings import InfraSettings
from tests.infra.conftest import ROOT
from tests.support.worlds.shapes import PROD, SHAPES

PAGE = (ROOT / "docs" / "continuous-deployment.md").read_text()

# Actions whose resource IAM cannot name, or is named by CloudFormation as it likes.
ON_ANY = {
    "application-autoscaling:DescribeScalableTargets",
    "application-autoscaling:DescribeScalingPolicies",
    "cloudwatch:DescribeAlarms",
    "codedeploy:GetDeploymentConfig",
    # What is made in a VPC has no name.
    "ec2:CreateInternetGateway",
    "ec2:CreateRouteTable",
    "ec2:CreateSecurityGroup",
    "ec2:CreateSubnet",
    "ec2:CreateTags",
    "ec2:CreateVpc",
    "ec2:CreateVpcEndpoint",
    "ec2:DescribeAccountAttributes",
    "ec2:DescribeAvailabilityZones",
    "ec2:DescribeInternetGateways",
    "ec2:DescribePrefixLists",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroupRules",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeTags",
    "ec2:DescribeVpcAttribute",
    "ec2:DescribeVpcEndpoints",
    "ec2:DescribeVpcs",
    "ecs:DeregisterTaskDefinition",
    "ecs:DescribeTaskDefinition",
    "elasticloadbalancing:DescribeListenerAttributes",
    "elasticloadbalancing:DescribeListenerCertificates",
    "elasticloadbalancing:DescribeListeners",
    "elasticloadbalancing:DescribeLoadBalancerAttributes",
    "elasticloadbalancing:DescribeLoadBalancers",
    "elasticloadbalancing:DescribeTags",
    "elasticloadbalancing:DescribeTargetGroupAttributes",
    "elasticloadbalancing:DescribeTargetGroups",
    "elasticloadbalancing:DescribeTargetHealth",
    "glue:CreateSecurityConfiguration",
    "glue:DeleteSecurityConfiguration",
    "glue:GetSecurityConfiguration",
    "lambda:CreateEventSourceMapping",
    "lambda:ListEventSourceMappings",
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
    "secretsmanager:GetRandomPassword",
}


def policies(folder: Path) -> list[dict[str, Any]]:
    found = sorted((folder / "policies").glob("deployer-*.json"))
    return [json.loads(path.read_text()) for path in found]


def statements(folder: Path) -> list[dict[str, Any]]:
    return [each for policy in policies(folder) for each in policy["Statement"]]


@pytest.mark.parametrize("name", SHAPES)
def test_every_kind_of_resource_has_what_cloudformation_needs_for_it(deployment_of, name):
    deployment = deployment_of(name)
    kinds = {each["Type"].removeprefix("AWS::") for each in deployment.all_resources.values()}
    assert kinds <= ACTIONS_BY_TYPE.keys()
    services = {
        action.partition(":")[0]
        for each in statements(deployment.folder)
        for action in each["Action"]
    }
    assert {each.service for kind in kinds for each in ACTIONS_BY_TYPE[kind]} <= services


def test_a_kind_that_is_not_known_is_reported(tmp_path):
    (tmp_path / "policies").mkdir()
    template = {"Resources": {"Thing": {"Type": "AWS::New::Thing"}}}
    (tmp_path / "a.template.json").write_text(json.dumps(template))
    (warning,) = write_deployer(
        tmp_path, InfraSettings.of({"stage": "dev"}), "aws", "eu-west-1", "123456789012"
    )
    assert "lacks what AWS::New::Thing needs" in warning


def test_iam_knows_every_action(prod, tmp_path):
    """cfn-lint has IAM's list of actions."""
    resources = {
        f"Policy{number}": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {"PolicyDocument": policy},
        }
        for number, policy in enumerate(policies(prod.folder))
    }
    template = tmp_path / "template.json"
    text = json.dumps({"Resources": resources})
    template.write_text(text.replace("ACCOUNT", "123456789012").replace("REGION", "eu-west-1"))
    linter = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run([linter, template], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_policies_fit_a_role(deployment):
    assert 1 <= len(policies(deployment.folder)) <= 10
    for policy in policies(deployment.folder):
        assert len(json.dumps(policy, separators=(",", ":"))) <= MANAGED_LENGTH_MAX


def test_a_deployer_changes_nothing_of_another_deployment(prod):
    for each in statements(prod.folder):
        assert not any("*" in action for action in each["Action"])
        if "Condition" in each and "graveler:name" in json.dumps(each["Condition"]):
            continue
        if each["Resource"] == ["*"]:
            assert set(each["Action"]) <= ON_ANY
            continue
        for resource in each["Resource"]:
            # CloudFormation makes these names, or the service has none.
            free = (
                *(":archive/*", ":layer:*", ":event-source-mapping:*", "::/*", "change/*"),
                ":scalable-target/*",
            )
            ours = ("graveler-prod", "company-graveler", "hostedzone/Z0123456789ABCDEFGHIJ")
            others = ("secret:SetupToken", "cdk-", "aws-service-role/")
            assets = PROD["asset_key"]
            assert resource.endswith(free) or any(
                part in resource for part in (*ours, *others, assets)
            ), resource


@pytest.mark.parametrize("name", ["dev", "economy"])
def test_a_deployer_may_make_the_secrets_under_the_names_that_cloudformation_gives_them(
    deployment_of, name
):
    deployment = deployment_of(name)
    made = [
        name
        for name, each in deployment.all_resources.items()
        if each["Type"] == "AWS::SecretsManager::Secret"
    ]
    (secret,) = (
        each
        for each in statements(deployment.folder)
        if "secretsmanager:CreateSecret" in each["Action"]
    )
    for logical_id in made:
        arn = f"arn:aws:secretsmanager:REGION:ACCOUNT:secret:{logical_id}-Ab12Cd34Ef56-Gh78Ij"
        assert any(fnmatchcase(arn, pattern) for pattern in secret["Resource"])


def test_a_deployer_reads_the_archives_under_the_key_of_their_bucket(prod, dev):
    """Lambda reads a function's archive as whoever makes the function."""
    uses = [each for each in statements(prod.folder) if PROD["asset_key"] in each["Resource"]]
    assert [each["Action"] for each in uses] == [["kms:Decrypt"]]
    assert "kms:ViaService" in json.dumps(uses[0]["Condition"])
    assert not any("kms:ViaService" in json.dumps(each) for each in statements(dev.folder))


def test_roles_are_made_only_with_the_boundary_and_passed_only_to_the_services_used(prod, dev):
    def condition(folder: Path, action: str) -> dict[str, Any]:
        (found,) = (each for each in statements(folder) if action in each["Action"])
        return found.get("Condition", {})

    bound = {"StringEquals": {"iam:PermissionsBoundary": PROD["permissions_boundary"]}}
    for action in ("iam:CreateRole", "iam:PutRolePolicy", "iam:AttachRolePolicy"):
        assert condition(prod.folder, action) == bound
        assert condition(dev.folder, action) == {}
    services = condition(prod.folder, "iam:PassRole")["StringEquals"]["iam:PassedToService"]
    principals = {
        statement["Principal"]["Service"]
        for role in prod.resources("AWS::IAM::Role").values()
        for statement in role["AssumeRolePolicyDocument"]["Statement"]
        if "Service" in statement["Principal"]  # the catalogue's function assumes one itself
    }
    assert set(services) == principals
    every = {action for each in statements(prod.folder) for action in each["Action"]}
    assert not {"iam:DeleteRolePermissionsBoundary", "iam:CreateUser", "sts:AssumeRole"} & every


@pytest.mark.parametrize("language", ["json", "yaml"])
def test_the_pages_examples_are_what_their_readers_parse(language):
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        parsed = json.loads(block) if language == "json" else yaml.safe_load(block)
        assert parsed
