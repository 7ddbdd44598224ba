"""New versions of the API: at once in dev; in prod gradually, with alarms that take it back."""

from infra.alarms import EFFECTS
from tests.infra.conftest import ROOT


def alias_of(deployment, name):
    (alias,) = (
        resource
        for logical_id, resource in deployment.all_resources.items()
        if resource["Type"] == "AWS::Lambda::Alias" and logical_id.startswith(f"{name}Function")
    )
    return alias


def test_dev_moves_at_once(dev):
    assert "UpdatePolicy" not in alias_of(dev, "Api")
    assert not dev.resources("AWS::CodeDeploy::DeploymentGroup")


def test_in_production_codedeploy_moves_the_alias_of_the_api(prod):
    update = alias_of(prod, "Api")["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
    (group,) = prod.resources("AWS::CodeDeploy::DeploymentGroup")
    (application,) = prod.resources("AWS::CodeDeploy::Application")
    assert update == {
        "ApplicationName": {"Ref": application},
        "DeploymentGroupName": {"Ref": group},
    }
    for name in ("Events", "Export", "Tasks", "Slices", "Cleanup"):
        assert "UpdatePolicy" not in alias_of(prod, name)


def test_alarms_that_exist_are_the_judges(prod):
    group = prod.one("AWS::CodeDeploy::DeploymentGroup")
    judges = {each["Name"] for each in group["AlarmConfiguration"]["Alarms"]}
    alarms = {each["AlarmName"] for each in prod.resources("AWS::CloudWatch::Alarm").values()}
    assert group["AlarmConfiguration"]["Enabled"] is True
    functions = ("api", "cleanup", "events", "export", "hooks", "iceberg", "slices", "tasks", "web")
    assert judges == {f"graveler-prod-{name}-errors" for name in functions} | {
        "graveler-prod-api-server-errors"
    }
    assert judges <= alarms
    # CodeDeploy's limit for a deployment group.
    assert len(judges) <= 10
    rollback = group["AutoRollbackConfiguration"]
    assert rollback["Enabled"] is True
    assert "DEPLOYMENT_STOP_ON_ALARM" in rollback["Events"]
    assert group["DeploymentConfigName"] == "CodeDeployDefault.LambdaCanary10Percent10Minutes"


def test_the_page_names_the_alarms_that_judge_a_rollout_with_symptoms_alone(prod):
    group = prod.one("AWS::CodeDeploy::DeploymentGroup")
    judges = {each["Name"] for each in group["AlarmConfiguration"]["Alarms"]}
    left = {name.removeprefix("graveler-prod-") for name in judges} - EFFECTS.keys()
    assert left == {"api-server-errors", "cleanup-errors"}
    page = (ROOT / "docs" / "deploy.md").read_text()
    assert "With `alarms=symptoms`, only `api-server-errors` and `cleanup-errors` are left" in page


def test_a_rollout_lasts_longer_than_its_alarms_take_to_fire(prod):
    group = prod.one("AWS::CodeDeploy::DeploymentGroup")
    judges = {each["Name"] for each in group["AlarmConfiguration"]["Alarms"]}
    for alarm in prod.resources("AWS::CloudWatch::Alarm").values():
        if alarm["AlarmName"] in judges:
            assert alarm["Period"] * alarm["EvaluationPeriods"] <= 10 * 60 / 2


def test_codedeploy_may_move_this_alias_only(prod):
    role = next(
        each
        for logical_id, each in prod.resources("AWS::IAM::Role").items()
        if logical_id.startswith("RolloutRole")
    )
    moves, asks = prod.statements_of(role)
    assert all(each.startswith("<ApiFunction") for each in moves["Resource"])
    assert asks["Action"] == ["cloudwatch:DescribeAlarms"]
