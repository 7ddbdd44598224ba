"""The routes of API Gateway that are the catalogue's; all others are the API's."""

from collections.abc import Sequence

METHODS = ("GET", "HEAD", "POST", "DELETE")

# As API Gateway's HTTP API writes it; the last segment matches any further path.
PATH = "/iceberg/{proxy+}"


def routes() -> Sequence[str]:
    """Return the key of each route: a method and a path."""
    return [f"{method} {PATH}" for method in METHODS]
