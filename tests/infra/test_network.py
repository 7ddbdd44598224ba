"""Functions in a VPC, a private API, and a web ACL in front of it."""

import json
import re

import pytest

from graveler.http.waiting import WAITS
from graveler_functions.iceberg import paths as iceberg_paths
from graveler_functions.web.paths import routes
from tests.infra.conftest import ROOT
from tests.support.worlds.shapes import ENDPOINT, WEB_ACL

pytestmark = pytest.mark.packages

DEPLOY = (ROOT / "docs" / "deploy.md").read_text()


@pytest.fixture
def private(deployment_of):
    """An API that is reached through a VPC endpoint only."""
    return deployment_of("private")


@pytest.fixture
def guarded(deployment_of):
    """An API with a web ACL and a domain."""
    return deployment_of("guarded")


def path_of(deployment, resource_id):
    """The path of a resource of a REST API."""
    if "Fn::GetAtt" in resource_id:
        return "/"
    resource = deployment.resources("AWS::ApiGateway::Resource")[resource_id["Ref"]]
    return f"{path_of(deployment, resource['ParentId']).rstrip('/')}/{resource['PathPart']}"


@pytest.mark.parametrize("name", ["private", "guarded"])
def test_a_rest_api_hands_every_request_to_the_api_but_those_with_routes_of_their_own(
    request, name
):
    deployment = request.getfixturevalue(name)
    assert not deployment.resources("AWS::ApiGatewayV2::Api")
    methods = deployment.resources("AWS::ApiGateway::Method").values()
    called = {"Api": set(), "Iceberg": set(), "Waits": set(), "Web": set()}
    for each in methods:
        assert each["Integration"]["Type"] == "AWS_PROXY"
        function = (
            deployment.flat(each["Integration"]["Uri"]).partition("<")[2].partition("Function")[0]
        )
        place = path_of(deployment, each["ResourceId"])
        called[function].add((each["HttpMethod"], place))
    is_shown = name == "guarded"  # a private API has a stage in its paths
    assert called["Web"] == (set(routes()) if is_shown else set())
    own = {path for _, path in routes()} if is_shown else set()
    # The other methods of a path of its own would find nothing.
    own |= {"/", "/{proxy+}", WAITS, iceberg_paths.PATH}
    assert called["Api"] == {("ANY", path) for path in own}
    assert called["Iceberg"] == {(each, iceberg_paths.PATH) for each in iceberg_paths.METHODS}
    assert called["Waits"] == {("ANY", f"{WAITS}/{{proxy+}}")}
    api = deployment.one("AWS::ApiGateway::RestApi")
    assert api["BinaryMediaTypes"] == ["*/*"]
    stage = deployment.one("AWS::ApiGateway::Stage")
    (limits,) = stage["MethodSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (50, 100)
    assert ("request_id" in stage.get("AccessLogSetting", {}).get("Format", "")) == is_shown


def test_a_private_api_is_reached_through_its_endpoints_only(private):
    api = private.one("AWS::ApiGateway::RestApi")
    assert api["EndpointConfiguration"] == {
        "Types": ["PRIVATE"],
        "VpcEndpointIds": [ENDPOINT],
    }
    allowed, denied = api["Policy"]["Statement"]
    assert (allowed["Effect"], denied["Effect"]) == ("Allow", "Deny")
    assert denied["Condition"] == {"StringNotEquals": {"aws:SourceVpce": [ENDPOINT]}}
    assert denied["Action"] == "execute-api:Invoke"
    (endpoint,) = (
        private.flat(output["Value"])
        for name, output in private.service["Outputs"].items()
        if name.startswith("ApiEndpoint")
    )
    assert endpoint.endswith("/live/api/v1")
    assert f"-{ENDPOINT}.execute-api." in endpoint


def test_a_web_acl_stands_before_the_stage(guarded):
    association = guarded.one("AWS::WAFv2::WebACLAssociation")
    assert association["WebACLArn"] == WEB_ACL
    assert "<ApiRestDeploymentStagelive" in guarded.flat(association["ResourceArn"])


def test_behind_a_domain_there_is_no_other_way_around_the_web_acl(guarded):
    assert guarded.one("AWS::ApiGateway::RestApi")["DisableExecuteApiEndpoint"] is True
    domain = guarded.one("AWS::ApiGateway::DomainName")
    assert domain["DomainName"] == "lake.example.com"
    assert domain["SecurityPolicy"] == "TLS_1_2"
    mapping = guarded.one("AWS::ApiGateway::BasePathMapping")
    assert "BasePath" not in mapping  # the root
    assert guarded.one("AWS::Route53::RecordSet")["Name"] == "lake.example.com."


def test_alarms_and_the_dashboard_watch_the_rest_api(private):
    alarms = {
        each["AlarmName"].removeprefix("graveler-dev-"): each
        for each in private.resources("AWS::CloudWatch::Alarm").values()
    }
    assert alarms["api-server-errors"]["MetricName"] == "5XXError"
    names = {each["Name"] for each in alarms["api-server-errors"]["Dimensions"]}
    assert names == {"ApiName", "Stage"}


def test_functions_are_in_the_vpc_that_the_settings_name(dev, prod):
    for each in prod.resources("AWS::Lambda::Function").values():
        if each["FunctionName"] == "graveler-prod-web":
            assert "VpcConfig" not in each  # it connects to nothing
            continue
        assert each["VpcConfig"] == {
            "SubnetIds": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
            "SecurityGroupIds": ["sg-0123456789abcdef0"],
        }
    for each in dev.resources("AWS::Lambda::Function").values():
        assert "VpcConfig" not in each
    assert "NetworkInterfaces" not in json.dumps(dev.service)


def test_the_page_names_an_endpoint_for_each_service_that_functions_call(prod):
    """Lambda itself writes logs and traces, makes interfaces, and reads queues and streams."""
    of_lambda = {"logs", "xray", "ec2"}
    called = {
        action.partition(":")[0]
        for role in ("api", "cleanup", "events", "export", "iceberg", "slices", "tasks")
        for statement in prod.statements(role)
        for action in statement["Action"]
    }
    section = re.search(r"^### Private networks\n(.*?)^##", DEPLOY, re.DOTALL | re.MULTILINE)
    assert section
    named = set(re.findall(r"^\| `([a-z0-9-]+)`", section[1], re.MULTILINE))
    assert called - of_lambda <= named
