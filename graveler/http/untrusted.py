"""The headers of answers with bytes that users stored, which share an origin with the web page.

A browser that opens such an answer runs no script of it, posts no form and loads nothing for it. It
treats the answer as a page of no origin, so the reader's session is out of reach. It does not guess
another type for it, and pages of other sites cannot embed it.
"""

from collections.abc import Mapping

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": ("default-src 'none'; base-uri 'none'; form-action 'none'; sandbox"),
}
