"""Presigned URLs as requests that the transfer of bytes sends."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from graveler.aws.s3.signed_requests import SignedS3Request

_DEFAULT_PORTS = {"http": 80, "https": 443}


def request_of(
    method: str, url: str, headers: Mapping[str, str], signed: Mapping[str, str] = {}
) -> SignedS3Request:
    """Return the request of a presigned URL, with the headers that the URL signs.

    S3 refuses other `x-amz-*` headers, so those among the headers are left out.
    """
    parts = urlsplit(url)
    path = parts.path or "/"
    sent = {name: value for name, value in headers.items() if not name.startswith("x-amz-")}
    return SignedS3Request(
        method,
        parts.scheme,
        parts.hostname or "",
        parts.port or _DEFAULT_PORTS.get(parts.scheme, 0),
        f"{path}?{parts.query}" if parts.query else path,
        {**sent, **signed, "host": parts.netloc},
    )
