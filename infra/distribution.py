"""CloudFront in front of the HTTP API, if the settings ask for it.

CloudFront caches the page's assets, and passes everything else on. The API interprets all paths.
So a deep link needs no function at the edge, and no error is rewritten.
"""

from aws_cdk import Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as cloudfront_origins
from aws_cdk import aws_route53_targets as route53_targets
from constructs import Construct

from graveler_functions.web.paths import ASSETS
from infra.dns import point_domain_at
from infra.settings import InfraSettings


class Distribution(Construct):
    """The distribution, with the settings' domain if there is one."""

    def __init__(self, scope: Construct, settings: InfraSettings, api: apigateway.HttpApi) -> None:
        super().__init__(scope, "Distribution")
        stack = Stack.of(self)
        origin = cloudfront_origins.HttpOrigin(
            f"{api.api_id}.execute-api.{stack.region}.{stack.url_suffix}",
            protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
        )
        to_https = cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS
        is_named = bool(settings.domain_name)
        self.distribution = cloudfront.Distribution(
            self,
            "Default",
            comment=f"{settings.name}: the API and the web page",
            domain_names=[settings.domain_name] if is_named else None,
            certificate=certificates.Certificate.from_certificate_arn(
                self, "Certificate", settings.certificate_arn
            )
            if is_named
            else None,
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            default_behavior=cloudfront.BehaviorOptions(
                origin=origin,
                allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                # With credentials and cookies; API Gateway finds the API by its own host.
                origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
                viewer_protocol_policy=to_https,
            ),
            additional_behaviors={
                f"{ASSETS}*": cloudfront.BehaviorOptions(
                    origin=origin,
                    cache_policy=cloudfront.CachePolicy.CACHING_OPTIMIZED,
                    viewer_protocol_policy=to_https,
                )
            },
        )
        host = self.distribution.distribution_domain_name
        self.endpoint = f"https://{settings.domain_name or host}"
        if is_named:
            alias = route53_targets.CloudFrontTarget(self.distribution)
            point_domain_at(self, settings, alias, host)
