"""The paths of the web page; all others are the API's.

API Gateway gets a route for each (`infra/web.py`), and the embedded stack follows the same table.
"""

from collections.abc import Sequence

# Each is a page, and so is everything below it: the page itself finds what to show.
PAGES = ("repositories", "auth", "setup")

ASSETS = "/assets/"
ICON = "/favicon.svg"
ROBOTS = "/robots.txt"

METHODS = ("GET", "HEAD")

# As API Gateway's HTTP API writes them; the last segment matches any further path.
_ANYTHING = "{proxy+}"
PATHS = (
    "/",
    *(path for page in PAGES for path in (f"/{page}", f"/{page}/{_ANYTHING}")),
    f"{ASSETS}{_ANYTHING}",
    ICON,
    ROBOTS,
)


def routes() -> Sequence[tuple[str, str]]:
    """Return the method and the path of each route of API Gateway that is the page's."""
    return [(method, path) for path in PATHS for method in METHODS]


def is_page(path: str) -> bool:
    """Whether the path shows a page."""
    return path == "/" or path.removeprefix("/").partition("/")[0] in PAGES
