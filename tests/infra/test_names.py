"""Several deployments in one account and region: no two have a resource of one name."""

import json
from typing import Any

import pytest

from infra.settings import InfraSettings, SettingsError
from tests.support.worlds.shapes import LONGEST

# The property with the name that must be unique in an account and region, by kind.
NAMES = {
    "AWS::ApiGatewayV2::Api": "Name",
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::CloudWatch::Dashboard": "DashboardName",
    "AWS::CodeDeploy::Application": "ApplicationName",
    "AWS::CodeDeploy::DeploymentGroup": "DeploymentGroupName",
    "AWS::ECS::Cluster": "ClusterName",
    "AWS::ECS::Service": "ServiceName",
    "AWS::ElasticLoadBalancingV2::LoadBalancer": "Name",
    "AWS::Events::EventBus": "Name",
    "AWS::Glue::Job": "Name",
    "AWS::Glue::SecurityConfiguration": "Name",
    "AWS::IAM::Role": "RoleName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Logs::LogGroup": "LogGroupName",
}
# Kinds whose property `Name` names no resource.
OTHERS = {"AWS::Lambda::Alias", "AWS::Route53::RecordSet"}


@pytest.fixture(scope="module")
def named(deployment_of):
    return deployment_of("named")


def names(deployment) -> set[tuple[str, str]]:
    """Return the kinds and names of the resources that have one from us."""
    return {
        (kind, deployment.flat(each[key]))
        for kind, key in NAMES.items()
        for each in deployment.resources(kind).values()
        if key in each
    }


def named_keys(resource: dict[str, Any]) -> set[str]:
    """Return which of its properties may be a resource's name."""
    kind = resource["Type"].rpartition("::")[2]
    return {"Name", f"{kind}Name"} & resource.get("Properties", {}).keys()


def test_every_kind_of_resource_that_gets_a_name_is_known_here(prod):
    found = {
        each["Type"]: named_keys(each) for each in prod.all_resources.values() if named_keys(each)
    }
    # The repository bucket's name is a setting.
    expected = {kind: {key} for kind, key in NAMES.items()}
    assert {kind: keys for kind, keys in found.items() if kind not in OTHERS} == expected | {
        "AWS::S3::Bucket": {"BucketName"},
        "AWS::ApiGatewayV2::Stage": {"StageName"},
    }


def test_two_deployments_share_no_name(dev, named):
    assert len(names(dev)) > 30
    assert len(names(dev)) == len(names(named))
    assert not names(dev) & names(named)
    assert "graveler-dev" not in json.dumps([named.storage, named.service])


def test_a_name_with_which_something_would_be_called_as_another_deployments_is_refused(prod):
    stacks = {("stack", each.name.removesuffix(".template.json")) for each in prod.template_files}
    endings = {
        (kind, begins, ends)
        for kind, name in names(prod) | stacks
        for begins, _, ends in [name.partition(prod.name)]
    }
    added = {
        longer.removesuffix(ends)
        for *alike, longer in endings
        for *other, ends in endings
        if alike == other and longer != ends and longer.endswith(ends)
    }
    assert {"-storage", "-gateway"} <= added
    for ending in added:
        with pytest.raises(SettingsError, match="stacks"):
            InfraSettings.of({"stage": "dev", "name": f"lake{ending}"})


def test_every_name_begins_with_the_deployments(named):
    for kind, name in names(named):
        assert name.removeprefix("/").startswith(LONGEST), (kind, name)


def test_the_longest_name_fits_where_names_are_shortest(named):
    """Roles have the region in their names; the longest region has 15 characters."""
    for kind, name in names(named):
        longest = name.replace("eu-west-1", "us-isof-south-1")
        if kind in ("AWS::IAM::Role", "AWS::Lambda::Function"):
            assert len(longest) <= 64, longest
        assert len(longest) <= 255
    roles = [name for kind, name in names(named) if kind == "AWS::IAM::Role"]
    assert max(len(name.replace("eu-west-1", "us-isof-south-1")) for name in roles) == 64


def test_the_stacks_reach_the_tables_and_the_key_of_their_own_deployment(named):
    exports = {
        each["Export"]["Name"] for each in named.storage["Outputs"].values() if "Export" in each
    }
    assert all(name.startswith(f"{LONGEST}-storage:") for name in exports)
    assert f'"Fn::ImportValue": "{LONGEST}-storage:' in json.dumps(named.service)
