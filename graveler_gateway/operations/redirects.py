"""Redirects of reads to presigned URLs, for clients that follow them.

Clients that follow a 307 to another host drop their Authorization header, but keep Range and their
`x-amz-*` headers. S3 refuses such headers if they are not signed, so the URL signs them with the
values that were sent. Other clients fail on a redirect, or sign again, so only known ones get it.
"""

import re

from graveler_gateway.lake.port import Object
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response

# Clients that were seen to follow redirects on the wire. The SDKs of Java, Python and Go (version
# 2, except rclone) do not, or send their own Authorization again.
_FOLLOWS = re.compile(
    r"aws-sdk-cpp/|object_store|aiobotocore/|duckdb|aws-sdk-go/1|rclone/", re.IGNORECASE
)
# The mark by which lakeFS's users ask for redirects.
_ASKS = "s3RedirectionSupport"
_EXPIRES_S = 15 * 60
# Smaller objects are read sooner through the gateway than by another connection.
_REDIRECTED_BYTES_MIN = 64 * 1024


def redirect_response(request: S3Request, found: Object) -> S3Response | None:
    """Return the answer that sends the reader to S3; None if the gateway answers itself."""
    agent = request.header("user-agent") or ""
    asks = _ASKS in agent
    follows = request.settings.redirects and _FOLLOWS.search(agent)
    if not asks and (not follows or found.size_bytes < _REDIRECTED_BYTES_MIN):
        return None
    if not request.is_signed_by_header or request.parameters:
        return None  # a presigned URL, or parameters that change the answer
    sent = {
        name: value
        for name, value in request.head.headers
        if name.startswith("x-amz-") and name != "x-amz-security-token"
    }
    url = request.lake.reading_url(found, sent, _EXPIRES_S)
    if url is None:
        return None
    return S3Response(307, {"Location": url, "Cache-Control": "no-store"})
