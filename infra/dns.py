"""The DNS record of the custom domain."""

from aws_cdk import CfnOutput
from aws_cdk import aws_route53 as route53
from constructs import Construct

from infra.settings import InfraSettings


def point_domain_at(
    scope: Construct, settings: InfraSettings, alias: route53.IAliasRecordTarget, host: str
) -> None:
    """Make the domain's record in the hosted zone.

    Without a hosted zone, add an output with the host that a CNAME record must name.
    """
    if not settings.hosted_zone_id:
        CfnOutput(
            scope,
            "DomainTarget",
            value=host,
            description=f"The target of a CNAME record of {settings.domain_name}",
        )
        return
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
        target=route53.RecordTarget.from_alias(alias),
    )
