"""The Lambda function of the web page: API Gateway calls `handler` on the page's routes."""

import os
from pathlib import Path

from functions.web.app import build_app

# Built by `npm run build` in webui/.
PAGE = Path(__file__).parent / "page"

# Where presigned URLs lead; the page may speak to no other host than its own.
BUCKET_ORIGINS = "GRAVELER_BUCKET_ORIGINS"

handler = build_app(PAGE, os.environ.get(BUCKET_ORIGINS, "").split())
