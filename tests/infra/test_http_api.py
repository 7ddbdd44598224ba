"""The HTTP API: one function behind everything, at a bounded pace, with a log of all requests."""

import json

from graveler.http.waiting import WAITS
from graveler_functions.iceberg import paths as iceberg_paths
from graveler_functions.web.paths import routes

# What would let a reader of the log in, or tell what is in a lake: the query has both.
SECRET = ("$context.authorizer", "querystring", "header.cookie", "header.authorization")


def test_every_request_goes_to_the_api_but_those_with_routes_of_their_own(deployment):
    called = {f"<{name}Function": set() for name in ("Api", "Iceberg", "Waits", "Web")}
    for route in deployment.resources("AWS::ApiGatewayV2::Route").values():
        name = deployment.flat(route["Target"]).removeprefix("integrations/<").removesuffix(">")
        integration = deployment.resources("AWS::ApiGatewayV2::Integration")[name]
        assert integration["PayloadFormatVersion"] == "2.0"
        assert integration["IntegrationType"] == "AWS_PROXY"
        function = deployment.flat(integration["IntegrationUri"])
        called[function.partition("FunctionAlias")[0] + "Function"].add(route["RouteKey"])
    assert called == {
        "<ApiFunction": {"$default"},
        "<IcebergFunction": set(iceberg_paths.routes()),
        "<WaitsFunction": {f"ANY {WAITS}/{{proxy+}}"},
        "<WebFunction": {" ".join(each) for each in routes()},
    }


def test_only_this_api_may_call_the_functions(deployment):
    permissions = deployment.resources("AWS::Lambda::Permission").values()
    called = {
        deployment.flat(each["FunctionName"]).partition("Function")[0] for each in permissions
    }
    assert called == {"<Api", "<Iceberg", "<Waits", "<Web"}
    assert len(permissions) == 4
    for permission in permissions:
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert "<ApiHttp" in deployment.flat(permission["SourceArn"])


def test_requests_are_throttled(dev, prod):
    for deployment, rate, burst in ((dev, 50, 100), (prod, 500, 1000)):
        settings = deployment.one("AWS::ApiGatewayV2::Stage")["DefaultRouteSettings"]
        assert settings["ThrottlingRateLimit"] == rate
        assert settings["ThrottlingBurstLimit"] == burst


def test_metrics_by_route_are_not_paid_for(deployment):
    """Most of the API is one route."""
    settings = deployment.one("AWS::ApiGatewayV2::Stage")["DefaultRouteSettings"]
    assert not settings["DetailedMetricsEnabled"]


def test_the_access_log_tells_of_every_request_but_no_secret(prod):
    settings = prod.one("AWS::ApiGatewayV2::Stage")["AccessLogSettings"]
    assert prod.flat(settings["DestinationArn"]).startswith("<ApiInfrequentAccessLog")
    fields = json.loads(settings["Format"])
    assert {"request_id", "method", "path", "status", "latency_ms"} <= fields.keys()
    assert not any(secret in settings["Format"].lower() for secret in SECRET)


def test_the_access_log_is_a_setting_that_is_off_in_dev(dev):
    assert "AccessLogSettings" not in dev.one("AWS::ApiGatewayV2::Stage")
    assert not any("AccessLog" in name for name in dev.service["Resources"])


def test_logs_without_metrics_are_of_the_cheaper_class(dev, prod, deployment_of):
    """CloudWatch takes no metrics from such a log, and its class never changes."""

    def infrequent(deployment):
        found = {
            name.partition("Infrequent")[0]
            for name, each in deployment.resources("AWS::Logs::LogGroup").items()
            if each.get("LogGroupClass") == "INFREQUENT_ACCESS"
        }
        named = {name for name in deployment.resources("AWS::Logs::LogGroup") if "Infreq" in name}
        assert len(named) == len(found)
        return found

    functions = ("Api", "Cleanup", "Events", "Export", "Hooks", "Iceberg", "Slices", "Tasks", "Web")
    assert infrequent(dev) == {f"{name}Function" for name in functions}
    assert infrequent(prod) == {"Api", "WebFunction"}
    assert infrequent(deployment_of("other")) == set()


def test_logs_end(dev, prod):
    # Nine functions, two for each of two jobs; and in prod access, and the S3 gateway.
    for deployment, days, amount in ((dev, 14, 13), (prod, 90, 15)):
        logs = deployment.resources("AWS::Logs::LogGroup").values()
        assert {each["RetentionInDays"] for each in logs} == {days}
        assert len(logs) == amount


def test_without_a_domain_the_api_has_its_own_address(dev):
    assert dev.one("AWS::ApiGatewayV2::Api")["DisableExecuteApiEndpoint"] is False
    assert not dev.resources("AWS::ApiGatewayV2::DomainName")


def test_with_a_domain_it_has_no_other(prod):
    assert prod.one("AWS::ApiGatewayV2::Api")["DisableExecuteApiEndpoint"] is True
    domain = prod.one("AWS::ApiGatewayV2::DomainName")
    assert domain["DomainName"] == "lake.example.com"
    (configuration,) = domain["DomainNameConfigurations"]
    assert configuration["SecurityPolicy"] == "TLS_1_2"
    assert prod.one("AWS::ApiGatewayV2::ApiMapping")
    records = prod.resources("AWS::Route53::RecordSet").values()
    (record,) = (each for each in records if each["Name"] == "lake.example.com.")
    assert record["HostedZoneId"] == "Z0123456789ABCDEFGHIJ"


def test_pages_of_other_origins_are_let_in_by_name_only(dev, prod):
    assert "CorsConfiguration" not in dev.one("AWS::ApiGatewayV2::Api")
    cors = prod.one("AWS::ApiGatewayV2::Api")["CorsConfiguration"]
    assert cors["AllowOrigins"] == ["https://app.example.com"]
    # They have no cookie of ours to send.
    assert not cors.get("AllowCredentials")
