"""Recognizes requests to an S3 endpoint, and writes S3's error document."""

from collections.abc import Mapping
from html import escape

# The marks of Signature Version 4 and 2, in the Authorization header and in presigned URLs.
_SIGNATURES = ("AWS4-", "AWS ")
_SIGNED_PARAMETERS = frozenset({"X-Amz-Credential", "X-Amz-Signature", "AWSAccessKeyId"})
# The host of lakeFS's S3 gateway unless configured; repositories may be its subdomains.
_GATEWAY_HOST = "s3.local.lakefs.io"

CONTENT_TYPE = "application/xml"


def is_s3_request(headers: Mapping[str, str], raw_query: str) -> bool:
    """Whether the request is signed for S3 or sent to an S3 host; header names are lower-case."""
    if headers.get("authorization", "").startswith(_SIGNATURES):
        return True
    host = headers.get("host", "").partition(":")[0].lower()
    if host == _GATEWAY_HOST or host.endswith(f".{_GATEWAY_HOST}"):
        return True
    names = (parameter.partition("=")[0] for parameter in raw_query.split("&"))
    return not _SIGNED_PARAMETERS.isdisjoint(names)


def error_document(code: str, message: str, *, resource: str, request_id: str) -> str:
    """Return the XML body with which S3 reports an error; SDKs raise its code and message."""
    fields = {"Code": code, "Message": message, "Resource": resource, "RequestId": request_id}
    elements = (f"<{name}>{escape(text, quote=False)}</{name}>" for name, text in fields.items())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{"".join(elements)}</Error>'
