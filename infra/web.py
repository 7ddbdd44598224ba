"""The function of the web page, and its routes."""

from aws_cdk import Duration, Stack

from graveler_functions.web.paths import METHODS, PATHS
from infra import origins
from infra.function import Function, Shape
from infra.own_routes import OwnRoutes
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


def routes_of(function: Function) -> OwnRoutes:
    """Return the routes of the page."""
    return OwnRoutes("Page", function, METHODS, PATHS)
