"""Routes of functions beside the API's: paths of their own, before API Gateway's default route."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_apigateway as rest
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration

from infra.function import Function


@dataclass(frozen=True)
class OwnRoutes:
    """Each of the methods at each of the paths calls the function; the name is that of a construct.

    Paths are as an HTTP API writes them.
    """

    name: str
    function: Function
    methods: Sequence[str]
    paths: Sequence[str]

    def add_to_http(self, api: http.HttpApi) -> None:
        """Add the routes. The default route stays the API's."""
        integration = HttpLambdaIntegration(
            self.name,
            self.function.alias,
            payload_format_version=http.PayloadFormatVersion.VERSION_2_0,
            # One permission for all routes.
            scope_permission_to_route=False,
        )
        methods = [http.HttpMethod[method] for method in self.methods]
        for path in self.paths:
            api.add_routes(path=path, methods=methods, integration=integration)

    def add_to_rest(self, api: rest.RestApi, rest_of_methods: rest.LambdaIntegration) -> None:
        """Add the methods. The other methods of the paths stay the API's."""
        integration = rest.LambdaIntegration(
            self.function.alias,
            proxy=True,
            allow_test_invoke=False,
            scope_permission_to_method=False,
        )
        for path in self.paths:
            resource = api.root.resource_for_path(path)
            for method in self.methods:
                resource.add_method(method, integration)
            if path != "/":
                resource.add_method("ANY", rest_of_methods)
