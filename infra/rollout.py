"""How a new version of the API gets its users: at once, or by CodeDeploy, judged by alarms.

Only the API's alias moves gradually. The other functions move at once, in the same deployment of
the stack, and their alarms are judges, too. If one fires, CodeDeploy moves the alias back. The
alias's update then fails, and CloudFormation rolls back all functions.
"""

from collections.abc import Mapping

from aws_cdk import CfnCodeDeployLambdaAliasUpdate, CfnUpdatePolicy
from aws_cdk import aws_codedeploy as codedeploy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.events import service_principal
from infra.function import Function
from infra.observability import Observability
from infra.settings import InfraSettings
from infra.settings.rules import AT_ONCE

# The names are CodeDeploy's, as of November 2026, from "Working with deployment configurations".
# Ten minutes are two periods of the alarms.
_CONFIGURATIONS: Mapping[str, str] = {
    "canary": "CodeDeployDefault.LambdaCanary10Percent10Minutes",
    "linear": "CodeDeployDefault.LambdaLinear10PercentEvery1Minute",
}


class Rollout(Construct):
    """The deployment group of the API's alias."""

    def __init__(
        self,
        scope: Construct,
        settings: InfraSettings,
        function: Function,
        watching: Observability,
    ) -> None:
        super().__init__(scope, "Rollout")
        application = codedeploy.CfnApplication(
            self, "Application", application_name=settings.name, compute_platform="Lambda"
        )
        group = codedeploy.CfnDeploymentGroup(
            self,
            "Group",
            application_name=application.ref,
            deployment_group_name=function.shape.name,
            deployment_config_name=_CONFIGURATIONS[settings.rollout],
            deployment_style={
                "deploymentType": "BLUE_GREEN",
                "deploymentOption": "WITH_TRAFFIC_CONTROL",
            },
            service_role_arn=self._role(function).role_arn,
            # By name: alarms watch the alias, and the alias refers to this group.
            alarm_configuration={
                "enabled": True,
                "alarms": [{"name": name} for name in watching.judges],
            },
            auto_rollback_configuration={
                "enabled": True,
                "events": [
                    "DEPLOYMENT_FAILURE",
                    "DEPLOYMENT_STOP_ON_ALARM",
                    "DEPLOYMENT_STOP_ON_REQUEST",
                ],
            },
        )
        alias = function.alias.node.default_child
        assert isinstance(alias, lambda_.CfnAlias)
        alias.cfn_options.update_policy = CfnUpdatePolicy(
            code_deploy_lambda_alias_update=CfnCodeDeployLambdaAliasUpdate(
                application_name=application.ref, deployment_group_name=group.ref
            )
        )

    def _role(self, function: Function) -> iam.Role:
        arn = function.function.function_arn
        return iam.Role(
            self,
            "Role",
            description="What CodeDeploy may do: move the API's alias",
            assumed_by=service_principal(self, "codedeploy"),
            inline_policies={
                "access": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            sid="MoveAlias",
                            actions=[
                                "lambda:GetAlias",
                                "lambda:GetProvisionedConcurrencyConfig",
                                "lambda:UpdateAlias",
                            ],
                            resources=[arn, f"{arn}:{function.alias_name}"],
                        ),
                        # The action takes a list of alarms.
                        iam.PolicyStatement(
                            sid="AskAlarms", actions=["cloudwatch:DescribeAlarms"], resources=["*"]
                        ),
                    ]
                )
            },
        )


def is_gradual(settings: InfraSettings) -> bool:
    """Whether CodeDeploy moves the API's alias."""
    return settings.rollout != AT_ONCE
