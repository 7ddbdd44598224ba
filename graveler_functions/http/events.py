"""API Gateway's event for a function, in payload format 2.0, and what is read from it."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from graveler.http import waiting

# The stage whose name is not in paths.
_NO_STAGE = "$default"

Event = Mapping[str, Any]


def encoded_path_of(event: Event) -> str:
    """Return the path percent-encoded, so that any name passes through routing.

    Of a request that waits, it is the path of the request before it.
    """
    return waiting.asked_path(sent_path_of(event))


def sent_path_of(event: Event) -> str:
    """Return the whole path percent-encoded.

    An HTTP API decodes the path; a function URL leaves it as it was sent.
    """
    path: str = event["rawPath"]
    stage: str = event["requestContext"].get("stage") or _NO_STAGE
    if stage != _NO_STAGE:
        path = path[len("/" + stage) :]
    if ".lambda-url." in event["requestContext"].get("domainName", ""):
        return path
    return quote(path, errors="surrogatepass")


def method_of(event: Event) -> str:
    """Return the request's method."""
    method: str = event["requestContext"]["http"]["method"]
    return method


def request_id_of(event: Event) -> str:
    """Return the client's ID of the request if it is printable and short, else API Gateway's."""
    given: str = (event.get("headers") or {}).get("x-request-id", "")
    if given and len(given) <= 128 and given.isascii() and given.isprintable():
        return given
    return str((event.get("requestContext") or {}).get("requestId", ""))


def source_address_of(event: Event) -> str:
    """Return the address from which the request reached API Gateway; "" if it is not known.

    Headers that proxies set are not read: any client can send them.
    """
    return str(event["requestContext"]["http"].get("sourceIp") or "")


def cookies_of(event: Event) -> Sequence[str]:
    """Return the event's cookies, each as `name=value`."""
    cookies: Sequence[str] = event.get("cookies") or ()
    return cookies
