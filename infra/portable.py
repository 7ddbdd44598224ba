"""Templates whose parameters name the location of the archives, instead of CDK's own bucket."""

import aws_cdk
from aws_cdk import CfnParameter, DefaultStackSynthesizer, Stack

from infra.service import ServiceStack

BUCKET = "AssetsBucket"
PREFIX = "AssetsPrefix"


def portable_synthesizer() -> DefaultStackSynthesizer:
    """Return a synthesizer that writes the parameters in place of CDK's bucket and keys."""
    return DefaultStackSynthesizer(
        file_assets_bucket_name=f"${{{BUCKET}}}",
        bucket_prefix=f"${{{PREFIX}}}",
        generate_bootstrap_version_rule=False,
    )


def add_parameters(app: aws_cdk.App) -> None:
    """Add the parameters to the service's stack. The storage's stack has no archives."""
    for stack in app.node.children:
        if isinstance(stack, ServiceStack):
            _add_parameters(stack)


def _add_parameters(stack: Stack) -> None:
    CfnParameter(
        stack,
        BUCKET,
        description="The bucket, in this region, with the files of the folder assets",
        min_length=3,
        max_length=63,
    )
    CfnParameter(
        stack,
        PREFIX,
        default="",
        description="How their keys begin: empty, or with / at the end",
        allowed_pattern="|[A-Za-z0-9/!_.-]*/",
        constraint_description="must be empty, or end with /",
    )
