"""The CDK app: `cdk` runs it, as cdk.json says, with the context of a stage."""

import sys
from collections.abc import Mapping
from pathlib import Path

import aws_cdk
from aws_cdk import Annotations, CfnWaitConditionHandle, Stack, Tags, Validations
from aws_cdk import aws_iam as iam
from cdk_nag import AwsSolutionsChecks

from infra.aws_quotas import exceeded_quotas
from infra.gateway.stack import GatewayStack
from infra.nag_suppressions import add_nag_suppressions
from infra.portable import add_parameters, portable_synthesizer
from infra.sample_policies import write_sample_policies
from infra.service import ServiceStack
from infra.settings import InfraSettings, NoStageError, SettingsError
from infra.storage import StorageStack


def build(app: aws_cdk.App) -> InfraSettings:
    """Add the stacks of the stage that the app's context names; return the settings.

    Raises:
        SettingsError: the context cannot be deployed.
    """
    settings = InfraSettings.of(app.node.get_all_context())
    storage = StorageStack(app, settings)
    service = ServiceStack(app, settings, storage)
    gateway = GatewayStack(app, settings, storage, service.topic) if settings.has_gateway else None
    Tags.of(app).add("graveler:stage", settings.stage)
    Tags.of(app).add("graveler:name", settings.name)
    for tag in settings.tags:
        key, _, value = tag.partition("=")
        Tags.of(app).add(key, value)
    if settings.permissions_boundary:
        boundary = iam.ManagedPolicy.from_managed_policy_arn(
            service, "PermissionsBoundary", settings.permissions_boundary
        )
        iam.PermissionsBoundary.of(app).apply(boundary)
    add_nag_suppressions(storage, service, gateway, settings)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return settings


def main(
    context: Mapping[str, object] | None = None,
    output: Path | None = None,
    *,
    portable: bool = False,
) -> int:
    """Synthesize; return 1 after printing why if the settings cannot be deployed.

    Without a context and an output, both come from variables of the `cdk` command.
    Portable templates have parameters for the location of their archives, and need no CDK.
    """
    app = aws_cdk.App(
        analytics_reporting=False,
        context=context,
        outdir=str(output) if output else None,
        default_stack_synthesizer=portable_synthesizer() if portable else None,
    )
    try:
        settings = build(app)
    except NoStageError as error:
        _let_bootstrap_run(app, str(error))
        return 0
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if portable and settings.has_gateway:
        sys.stderr.write(_NO_PORTABLE_IMAGE)
        return 1
    if portable:
        add_parameters(app)
    # The checks and the sample policies below must not include other deployments' templates.
    for earlier in Path(app.outdir).glob("*.template.json"):
        earlier.unlink()
    folder = Path(app.synth().directory)
    if problems := exceeded_quotas(folder):
        sys.stderr.write("".join(f"{problem}\n" for problem in problems))
        return 1
    for warning in write_sample_policies(folder, settings):
        sys.stderr.write(f"warning: {warning}\n")
    return 0


_NO_PORTABLE_IMAGE = (
    "gateway is set, and a folder without CDK cannot hold its image: remove it here, and deploy "
    "the gateway with `cdk deploy`\n"
)


def _let_bootstrap_run(app: aws_cdk.App, problem: str) -> None:
    """Synthesize a stack that cannot be deployed.

    `cdk bootstrap` runs the app, and fails if there is no stack. It ignores errors of stacks;
    `cdk deploy` and others end with them.
    """
    sys.stderr.write(f"{problem} (`cdk bootstrap` needs none)\n")
    stack = Stack(app, "without-stage")
    CfnWaitConditionHandle(stack, "Nothing")
    Annotations.of(stack).add_error(problem)
    app.synth()


if __name__ == "__main__":
    sys.exit(main())
