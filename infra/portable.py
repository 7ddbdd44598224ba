"""Templates that name the place of their archives by parameters, instead of CDK's own bucket."""

import aws_cdk
from aws_cdk import CfnParameter, DefaultStackSynthesizer, Stack

from infra.service import Service

BUCKET = "AssetsBucket"
PREFIX = "AssetsPrefix"


def portable_synthesizer() -> DefaultStackSynthesizer:
    """Return what writes the parameters where CDK's bucket and keys would be."""
    return DefaultStackSynthesizer(
        file_assets_bucket_name=f"${{{BUCKET}}}",
        bucket_prefix=f"${{{PREFIX}}}",
        generate_bootstrap_version_rule=False,
    )


def add_parameters(app: aws_cdk.App) -> None:
    """Give the service's stack the parameters; the storage's has no archives."""
    for stack in app.node.children:
        if isinstance(stack, Service):
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
