"""The REST API in place of the HTTP API: for a private endpoint, or a web ACL.

docs/adr/0020-gateways.md says why there are two. Clients see the same API.
"""

from collections.abc import Iterable

from aws_cdk import Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_route53_targets as route53_targets
from aws_cdk import aws_wafv2 as waf
from constructs import Construct

from graveler.http import waiting
from infra.dns import point_domain_at
from infra.function import Function
from infra.http_api import ACCESS_LOG, access_log, add_outputs
from infra.own_routes import OwnRoutes
from infra.settings import InfraSettings

# Part of the endpoint's path, unless there is a domain.
_STAGE = "live"


class RestApi(Construct):
    """The API. All requests call one function, except those that wait or have own routes."""

    def __init__(
        self,
        scope: Construct,
        settings: InfraSettings,
        function: Function,
        waits: Function,
        routes: Iterable[OwnRoutes],
    ) -> None:
        super().__init__(scope, "Api")
        self.access_log = access_log(self, settings)
        self.rest_api = apigateway.RestApi(
            self,
            "Rest",
            rest_api_name=settings.name,
            description="Graveler: lakeFS's API",
            endpoint_configuration=self._endpoint_configuration(settings),
            policy=_policy(settings),
            disable_execute_api_endpoint=bool(settings.domain_name),
            # Any content is passed on unchanged, in base64.
            binary_media_types=["*/*"],
            cloud_watch_role=False,
            deploy_options=apigateway.StageOptions(
                stage_name=_STAGE,
                throttling_rate_limit=settings.requests_per_s,
                throttling_burst_limit=settings.requests_burst,
                access_log_destination=None
                if self.access_log is None
                else apigateway.LogGroupLogDestination(self.access_log),
                access_log_format=None
                if self.access_log is None
                else apigateway.AccessLogFormat.custom(ACCESS_LOG),
            ),
        )
        call = apigateway.LambdaIntegration(function.alias, proxy=True, allow_test_invoke=False)
        self.rest_api.root.add_method("ANY", call)
        self.rest_api.root.add_proxy(any_method=True, default_integration=call)
        wait = apigateway.LambdaIntegration(waits.alias, proxy=True, allow_test_invoke=False)
        below = self.rest_api.root.add_resource(waiting.WAITS[1:])
        below.add_method("ANY", call)
        below.add_proxy(any_method=True, default_integration=wait)
        for each in routes:
            each.add_to_rest(self.rest_api, call)
        self.stage = self.rest_api.deployment_stage
        if settings.web_acl_arn:
            waf.CfnWebACLAssociation(
                self,
                "WebAcl",
                resource_arn=self.stage.stage_arn,
                web_acl_arn=settings.web_acl_arn,
            )
        self.endpoint = self._endpoint(settings)
        add_outputs(self, self.endpoint, self.access_log)

    def _endpoint_configuration(self, settings: InfraSettings) -> apigateway.EndpointConfiguration:
        if not settings.vpc_endpoints:
            return apigateway.EndpointConfiguration(types=[apigateway.EndpointType.REGIONAL])
        found = [
            ec2.InterfaceVpcEndpoint.from_interface_vpc_endpoint_attributes(
                self, f"VpcEndpoint{number}", vpc_endpoint_id=each, port=443
            )
            for number, each in enumerate(settings.vpc_endpoints, 1)
        ]
        return apigateway.EndpointConfiguration(
            types=[apigateway.EndpointType.PRIVATE], vpc_endpoints=found
        )

    def _endpoint(self, settings: InfraSettings) -> str:
        """Return the URL for clients, after making the domain if there is one.

        Clients add nothing to a URL with a path, so it includes the API's own prefix.
        """
        if settings.domain_name:
            self._add_domain(settings)
            return f"https://{settings.domain_name}"
        stack = Stack.of(self)
        host = f"{self.rest_api.rest_api_id}.execute-api.{stack.region}.{stack.url_suffix}"
        if settings.vpc_endpoints:
            # This host works also if the endpoint has no private DNS.
            host = (
                f"{self.rest_api.rest_api_id}-{settings.vpc_endpoints[0]}.execute-api."
                f"{stack.region}.{stack.url_suffix}"
            )
        return f"https://{host}/{_STAGE}/api/v1"

    def _add_domain(self, settings: InfraSettings) -> None:
        domain = apigateway.DomainName(
            self,
            "Domain",
            domain_name=settings.domain_name,
            certificate=certificates.Certificate.from_certificate_arn(
                self, "Certificate", settings.certificate_arn
            ),
            endpoint_type=apigateway.EndpointType.REGIONAL,
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        domain.add_base_path_mapping(self.rest_api, stage=self.stage)
        host, zone = domain.domain_name_alias_domain_name, domain.domain_name_alias_hosted_zone_id
        alias = route53_targets.ApiGatewayv2DomainProperties(host, zone)
        point_domain_at(self, settings, alias, host)


def _policy(settings: InfraSettings) -> iam.PolicyDocument | None:
    """Return the policy of a private API, which allows requests through its endpoints only."""
    if not settings.vpc_endpoints:
        return None
    return iam.PolicyDocument(
        statements=[
            iam.PolicyStatement(
                sid="Anybody",
                principals=[iam.AnyPrincipal()],
                actions=["execute-api:Invoke"],
                resources=["execute-api:/*"],
            ),
            iam.PolicyStatement(
                sid="ThroughTheEndpoints",
                effect=iam.Effect.DENY,
                principals=[iam.AnyPrincipal()],
                actions=["execute-api:Invoke"],
                resources=["execute-api:/*"],
                conditions={"StringNotEquals": {"aws:SourceVpce": list(settings.vpc_endpoints)}},
            ),
        ]
    )
