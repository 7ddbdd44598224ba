"""The HTTP API in front of the api function, and of those that have routes of their own."""

import json
from collections.abc import Iterable
from dataclasses import replace

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_certificatemanager as certificates
from aws_cdk import aws_logs as logs
from aws_cdk import aws_route53_targets as route53_targets
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from graveler.http import waiting
from infra.distribution import Distribution
from infra.dns import point_domain_at
from infra.function import Function, Shape, log_group
from infra.own_routes import OwnRoutes
from infra.settings import InfraSettings

# API Gateway's timeout is 30 s. With a second less, an invocation that is cut off appears in the
# function's log and metrics.
SHAPE = Shape(
    name="api",
    # A whole CPU: besides the stores, a request waits for signing, SSTables and JSON, and in a cold
    # start for imports. The caches of settings.py fit into this memory.
    memory_mb=1769,
    timeout=Duration.seconds(29),
)

# Serves the requests that wait for tasks. They take no concurrency of the function api.
WAITS = replace(SHAPE, name="waits")

# Fields of the request's head only. Queries are not logged: they may hold signatures and tokens.
ACCESS_LOG = json.dumps(
    {
        "request_id": "$context.requestId",
        "time": "$context.requestTime",
        "ip": "$context.identity.sourceIp",
        "method": "$context.httpMethod",
        "path": "$context.path",
        "status": "$context.status",
        "response_bytes": "$context.responseLength",
        "latency_ms": "$context.responseLatency",
        "integration_ms": "$context.integrationLatency",
        "integration_error": "$context.integrationErrorMessage",
        "user_agent": "$context.identity.userAgent",
    }
)

_HEADERS_OF_BROWSERS = ["authorization", "content-type", "if-none-match", "x-request-id"]


class HttpApi(Construct):
    """The API, whose default route calls one function.

    More specific routes call that of requests that wait, and others.
    """

    def __init__(
        self,
        scope: Construct,
        settings: InfraSettings,
        function: Function,
        waits: Function,
        routes: Iterable[OwnRoutes],
    ) -> None:
        super().__init__(scope, "Api")
        domain = self._domain(settings)
        self.http_api = apigateway.HttpApi(
            self,
            "Http",
            api_name=settings.name,
            description="Graveler: lakeFS's API",
            create_default_stage=False,
            # With a domain, there is one origin, and one certificate to trust.
            disable_execute_api_endpoint=domain is not None,
            cors_preflight=_cors(settings),
            default_integration=_integration("Function", function),
        )
        self.http_api.add_routes(
            path=f"{waiting.WAITS}/{{proxy+}}",
            integration=_integration("Waits", waits),
        )
        for each in routes:
            each.add_to_http(self.http_api)
        self.access_log = access_log(self, settings)
        self.stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self.http_api,
            stage_name="$default",
            auto_deploy=True,
            # Most of the API is one route, so metrics by route would repeat those of the stage.
            detailed_metrics_enabled=False,
            throttle=apigateway.ThrottleSettings(
                rate_limit=settings.requests_per_s, burst_limit=settings.requests_burst
            ),
            domain_mapping=None
            if domain is None
            else apigateway.DomainMappingOptions(domain_name=domain),
        )
        stage = self.stage.node.default_child
        assert isinstance(stage, apigateway.CfnStage)
        if self.access_log is not None:
            stage.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
                destination_arn=self.access_log.log_group_arn, format=ACCESS_LOG
            )
        self.endpoint = self._endpoint(settings, domain)
        add_outputs(self, self.endpoint, self.access_log)

    def _endpoint(self, settings: InfraSettings, domain: apigateway.DomainName | None) -> str:
        if settings.cloudfront:
            return Distribution(self, settings, self.http_api).endpoint
        return self.http_api.api_endpoint if domain is None else f"https://{settings.domain_name}"

    def _domain(self, settings: InfraSettings) -> apigateway.DomainName | None:
        """Make the custom domain, and its DNS record if the settings name the hosted zone.

        With CloudFront, the domain is the distribution's.
        """
        if not settings.domain_name or settings.cloudfront:
            return None
        domain = apigateway.DomainName(
            self,
            "Domain",
            domain_name=settings.domain_name,
            certificate=certificates.Certificate.from_certificate_arn(
                self, "Certificate", settings.certificate_arn
            ),
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        host, zone = domain.regional_domain_name, domain.regional_hosted_zone_id
        alias = route53_targets.ApiGatewayv2DomainProperties(host, zone)
        point_domain_at(self, settings, alias, host)
        return domain


def _integration(name: str, function: Function) -> HttpLambdaIntegration:
    return HttpLambdaIntegration(
        name,
        function.alias,
        payload_format_version=apigateway.PayloadFormatVersion.VERSION_2_0,
    )


def _cors(settings: InfraSettings) -> apigateway.CorsPreflightOptions | None:
    """Return the rule for pages of other origins; None without such origins.

    Such pages send a key pair or a token. Our cookie is for our own pages only.
    """
    if not settings.cors_origins:
        return None
    return apigateway.CorsPreflightOptions(
        allow_origins=list(settings.cors_origins),
        allow_methods=[apigateway.CorsHttpMethod.ANY],
        allow_headers=_HEADERS_OF_BROWSERS,
        expose_headers=["etag", "location", "x-request-id"],
        max_age=Duration.hours(1),
    )


def access_log(scope: Construct, settings: InfraSettings) -> logs.LogGroup | None:
    """Make the access log, if the settings want one: the function has a line of each request."""
    return log_group(scope, "AccessLog", settings, is_plain=True) if settings.access_log else None


def add_outputs(scope: Construct, endpoint: str, log: logs.ILogGroup | None) -> None:
    """Add outputs with the endpoint and the name of the access log."""
    CfnOutput(scope, "Endpoint", value=endpoint, description="The endpoint for clients")
    if log is not None:
        CfnOutput(
            Stack.of(scope),
            "AccessLog",
            value=log.log_group_name,
            description="A line for every request: docs/operations.md",
        )
