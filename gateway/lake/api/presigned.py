"""Presigned URLs as requests that the transfer of bytes sends."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from graveler.aws.s3.requests import SignedRequest

_DEFAULT_PORTS = {"http": 80, "https": 443}


def request_of(method: str, url: str, headers: Mapping[str, str]) -> SignedRequest:
    """Return the request of a presigned URL.

    S3 refuses `x-amz-*` headers that the URL does not sign, so there are none among the headers.
    """
    parts = urlsplit(url)
    path = parts.path or "/"
    sent = {name: value for name, value in headers.items() if not name.startswith("x-amz-")}
    return SignedRequest(
        method,
        parts.scheme,
        parts.hostname or "",
        parts.port or _DEFAULT_PORTS.get(parts.scheme, 0),
        f"{path}?{parts.query}" if parts.query else path,
        {**sent, "host": parts.netloc},
    )
