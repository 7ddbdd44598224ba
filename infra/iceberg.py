"""The function of Iceberg's REST catalogue, its routes, and the role whose credentials it gives."""

from dataclasses import replace

from aws_cdk import aws_iam as iam

from graveler_functions.iceberg.paths import METHODS, PATH
from infra import http_api
from infra.function import Function
from infra.own_routes import OwnRoutes
from infra.role import make_role
from infra.role_permissions import RolePermissions

# As the API's: a request reads a metadata file, which may have megabytes of JSON, and writes one.
SHAPE = replace(http_api.SHAPE, name="iceberg")


def routes_of(function: Function) -> OwnRoutes:
    """Return the routes of the catalogue."""
    return OwnRoutes("Catalogue", function, METHODS, (PATH,))


def make_files_role(permissions: RolePermissions, function: Function) -> iam.Role:
    """Make the role that the function assumes for clients; nobody else may."""
    return make_role(
        permissions.stack,
        "TableFilesRole",
        # A fixed name: the function's own role names it, and so do owners of other buckets.
        name=permissions.files_role_name,
        description="What credentials of Iceberg's clients may reach, of which each gets a part",
        principal=iam.ArnPrincipal(function.role.role_arn),
        statements=permissions.table_files(),
    )
