"""Refuses requests that a page of another site makes a browser send with our session cookie.

A browser says in `Sec-Fetch-Site` which page sends a request, and no page can set that header:
https://www.w3.org/TR/fetch-metadata/. A browser sends it over TLS and to its own machine only. So a
change by cookie without the header is refused as well: programs send an Authorization header.
"""

from collections.abc import Mapping

from graveler.errors import ForbiddenError

_HEADER = "sec-fetch-site"
_USE_HEADER = "sec-fetch-dest"
_OWN = "same-origin"
_OTHERS = frozenset({"cross-site", "same-site"})
# A person who follows a link, and a script of the page that fetches.
_USES = frozenset({"document", "empty"})

_BY_COOKIE = (
    "a session cookie makes changes from this server's own page only: send an Authorization header"
)
_WHICH_PAGE = "or open the page by https, or at 127.0.0.1, where browsers say which page it is"
_FROM_ELSEWHERE = "a page of another site sends this request: open this server's own page"
_EMBEDDED = "a page embeds this address as an image or another part: open it itself"


def check_change_by_cookie(headers: Mapping[str, str]) -> None:
    """Check that our own page sends the request, whose headers are given in lower case.

    Raises:
        ForbiddenError: another page may send it.
    """
    if headers.get(_HEADER) != _OWN:
        raise ForbiddenError(_BY_COOKIE, _WHICH_PAGE)


def check_not_cross_site(headers: Mapping[str, str]) -> None:
    """Check that no page of another site sends the request: it begins or ends a session.

    Clients other than browsers send no such header, and pass.

    Raises:
        ForbiddenError: a page of another site sends it.
    """
    if headers.get(_HEADER) in _OTHERS:
        raise ForbiddenError(_FROM_ELSEWHERE)


def check_not_embedded(headers: Mapping[str, str]) -> None:
    """Check that no document embeds the address: a text in a lake could end its readers' sessions.

    Raises:
        ForbiddenError: the browser would show the answer as an image, a video or the like.
    """
    if headers.get(_USE_HEADER, "empty") not in _USES:
        raise ForbiddenError(_EMBEDDED)
