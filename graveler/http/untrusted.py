"""The headers of answers with bytes that users stored, which share an origin with the web page.

A browser that opens such an answer runs no script of it, posts none of its forms and loads nothing
for it. It treats it as a page of no origin, so the session of its reader is out of reach. It also
takes no other type for a script or a page, and lets no other site show it as a part of a page.
"""

from collections.abc import Mapping

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": ("default-src 'none'; base-uri 'none'; form-action 'none'; sandbox"),
}
