"""The headers of every answer: they limit what a browser lets the page do.

The page runs its own files only, and connects to its own origin and to the buckets. No other page
can frame it. So a text that a lake holds cannot act in the name of its reader.
"""

import re
from collections.abc import Iterable, Mapping

# A scheme and a host, perhaps the path of a bucket. Nothing else could end a directive.
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._-]+/)?")

# `dompurify` is DOMPurify's own policy; `graveler` is ours.
_TRUSTED_TYPES = ("dompurify", "graveler")

# Features that the page never uses; an injected script cannot use them either.
_FEATURES = ("camera", "geolocation", "microphone", "payment", "usb")

_HSTS = {"Strict-Transport-Security": "max-age=31536000"}


def of_page(bucket_origins: Iterable[str]) -> Mapping[str, str]:
    """Return the headers of a page that reads from and writes to buckets at these origins.

    Raises:
        ValueError: one is not an origin.
    """
    return {
        "Content-Security-Policy": _policy(" ".join(["", *map(_checked, bucket_origins)])),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _FEATURES),
        # The page's own URLs have names of repositories and of objects.
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",  # for browsers that do not know frame-ancestors
    }


def of_transport(request: Mapping[str, str]) -> Mapping[str, str]:
    """Return the headers for the transport of a request, which a header of API Gateway names.

    Over plain HTTP, browsers ignore a promise of TLS.
    """
    return _HSTS if request.get("x-forwarded-proto") == "https" else {}


def _policy(buckets: str) -> str:
    directives = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "font-src": "'self'",
        "connect-src": f"'self'{buckets}",
        "img-src": f"'self' blob: data:{buckets}",
        "media-src": f"'self' blob:{buckets}",
        "worker-src": "'self'",
        "manifest-src": "'self'",
        # The browser's PDF viewer shows a blob, which the page always types as PDF.
        "frame-src": "blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": " ".join(_TRUSTED_TYPES),
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def _checked(origin: str) -> str:
    if not _ORIGIN.fullmatch(origin):
        raise ValueError(
            f"GRAVELER_BUCKET_ORIGINS has {origin!r}: write https://host, or https://host/bucket/"
        )
    return origin
