"""The addresses of a custom domain: its DNS record, or what others must point theirs to."""

from aws_cdk import CfnOutput
from aws_cdk import aws_route53 as route53
from constructs import Construct

from infra.settings import DeploymentSettings


def add_dns_record(
    scope: Construct, settings: DeploymentSettings, target: route53.IAliasRecordTarget
) -> None:
    """Make the DNS record of the domain in the hosted zone."""
    zone = route53.HostedZone.from_hosted_zone_attributes(
        scope,
        "Zone",
        hosted_zone_id=settings.hosted_zone_id,
        zone_name=settings.domain_name.partition(".")[2],
    )
    route53.ARecord(
        scope,
        "Address",
        zone=zone,
        record_name=f"{settings.domain_name}.",
        target=route53.RecordTarget.from_alias(target),
    )


def add_domain_target_output(scope: Construct, settings: DeploymentSettings, target: str) -> None:
    """Give the stack an output with the target of a CNAME record that others make."""
    CfnOutput(
        scope,
        "DomainTarget",
        value=target,
        description=f"What a CNAME record of {settings.domain_name} must point to",
    )
