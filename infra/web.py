"""The function of the web page, and its routes before those of the API."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_apigateway as rest
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration

from graveler_functions.web.paths import METHODS, PATHS
from infra import origins
from infra.function import Function, Shape
from infra.settings import InfraSettings
from infra.storage import StorageStack

SHAPE = Shape(
    name="web",
    # A third of a CPU starts Python and compresses the page in a tenth of a second.
    memory_mb=512,
    timeout=Duration.seconds(10),
    # It only reads its own files.
    is_alone=True,
)


def make_function(stack: Stack, settings: InfraSettings, storage: StorageStack) -> Function:
    """Make the function, whose environment has the origins of presigned URLs."""
    buckets = origins.of_buckets(stack, settings, storage.repositories_name)
    return Function(
        stack, settings, SHAPE, None, (), {"GRAVELER_BUCKET_ORIGINS": " ".join(buckets)}
    )


def add_http_routes(api: http.HttpApi, function: Function) -> None:
    """Add the function's routes. The default route stays the API's."""
    page = HttpLambdaIntegration(
        "Page",
        function.alias,
        payload_format_version=http.PayloadFormatVersion.VERSION_2_0,
        # One permission for all routes.
        scope_permission_to_route=False,
    )
    methods = [http.HttpMethod[method] for method in METHODS]
    for path in PATHS:
        api.add_routes(path=path, methods=methods, integration=page)


def add_rest_routes(
    api: rest.RestApi, function: Function, rest_of_methods: rest.LambdaIntegration
) -> None:
    """Add the function's methods. The other methods of its paths stay the API's."""
    page = rest.LambdaIntegration(
        function.alias, proxy=True, allow_test_invoke=False, scope_permission_to_method=False
    )
    for path in PATHS:
        resource = api.root.resource_for_path(path)
        for method in METHODS:
            resource.add_method(method, page)
        if path != "/":
            resource.add_method("ANY", rest_of_methods)
