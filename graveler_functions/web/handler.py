"""The Lambda function of the web page: API Gateway calls `handler` on the page's routes."""

import os
from pathlib import Path
from typing import Any

from graveler_functions.web.app import Event, build_app

# Built by `npm run build` in webui/.
PAGE = Path(__file__).parent / "page"

# The origins of presigned URLs, separated by spaces. The page may connect to these and to its own.
BUCKET_ORIGINS = "GRAVELER_BUCKET_ORIGINS"

_app = build_app(PAGE, os.environ.get(BUCKET_ORIGINS, "").split())


def handler(event: Event, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's own
    """Return the answer to one request for the page."""
    return _app(event, context)
