"""The function of Iceberg's REST catalogue, and its routes."""

from dataclasses import replace

from graveler_functions.iceberg.paths import METHODS, PATH
from infra import http_api
from infra.function import Function
from infra.own_routes import OwnRoutes

# As the API's: a request reads a metadata file, which may have megabytes of JSON, and writes one.
SHAPE = replace(http_api.SHAPE, name="iceberg")


def routes_of(function: Function) -> OwnRoutes:
    """Return the routes of the catalogue."""
    return OwnRoutes("Catalogue", function, METHODS, (PATH,))
