"""Serves the API and the S3 gateway on one port.

Theory of operation. As in lakeFS, the gateway gets requests that are signed for S3, or sent to one
of its hosts. The API gets all others, and those that wait for a task have places of their own. The
API is a WSGI application. The whole body is read first, so the application is called only if the
body is complete.
"""

import io
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from graveler.http.errors import RETRY_AFTER_S
from graveler.http.waiting import is_waiting
from graveler.limits import API_GATEWAY_BODY_BYTES_MAX
from graveler_embedded.api_gateway import Application
from graveler_gateway.server.fairness import FairPlaces, user_of
from graveler_gateway.server.http.body import Body, SlowBodyError
from graveler_gateway.server.http.chunks import BrokenBodyError
from graveler_gateway.server.http.exchange import Exchange
from graveler_gateway.server.http.server import Handler
from graveler_gateway.server.routing import is_for_gateway

_BROKEN = "the body is incomplete or its chunks are malformed: send the whole request again"
_JSON = "application/json"
_UNPREFIXED = ("CONTENT_LENGTH", "CONTENT_TYPE")
_BODY_HEADERS = (*_UNPREFIXED, "TRANSFER_ENCODING")
_ALL_WAIT = "too many requests of this user wait: send the request again"
# The maximum of requests whose bodies, if not sent with the heads, are read at a time. Memory holds
# whole bodies.
_LARGE_AT_ONCE = 32


def one_port(api: Handler, gateway: Handler, domains: Iterable[str]) -> Handler:
    """Return the handler that passes each request to the API or to the gateway."""
    hosts = tuple(domains)

    def serve(exchange: Exchange) -> None:
        chosen = gateway if is_for_gateway(exchange.head, hosts) else api
        chosen(exchange)

    return serve


def wsgi(application: Application, working: FairPlaces, waiting: FairPlaces) -> Handler:
    """Return a handler that calls the WSGI application, for the requests that have a place.

    waiting: the places of those that wait for a task. Without a place, the answer is 503.
    """
    large = BoundedSemaphore(_LARGE_AT_ONCE)

    def serve(exchange: Exchange) -> None:
        environ = _environ_of(exchange)
        try:
            with nullcontext() if exchange.body.has_arrived else large:
                body = _body_of(exchange.body)
        except (BrokenBodyError, SlowBodyError):
            exchange.answer(
                400, [("Content-Type", _JSON)], msgspec.json.encode({"message": _BROKEN})
            )
            return
        environ["wsgi.input"] = io.BytesIO(body)
        waits = is_waiting(exchange.head.raw_path)
        places = waiting if waits else working
        with places.place(user_of(exchange.head, exchange.address), waits=not waits) as has_place:
            if has_place:
                status, headers, content = _call(application, environ)
            else:
                status, content = 503, msgspec.json.encode({"message": _ALL_WAIT})
                headers = [("Content-Type", _JSON), ("Retry-After", str(RETRY_AFTER_S))]
        exchange.answer(status, headers, content)

    return serve


def _body_of(body: Body) -> bytes:
    """Return the body; for one that the application refuses by its length, nothing or too much.

    Raises:
        BrokenBodyError, SlowBodyError: it did not arrive whole.
    """
    if body.length_bytes is not None and body.length_bytes > API_GATEWAY_BODY_BYTES_MAX:
        return b""
    blocks: list[bytes] = []
    read_bytes = 0
    while piece := body.read():
        blocks.append(piece)
        read_bytes += len(piece)
        if read_bytes > API_GATEWAY_BODY_BYTES_MAX:  # in chunks: the application refuses it
            break
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def _environ_of(exchange: Exchange) -> dict[str, Any]:
    """Return the request in WSGI's form, without its body."""
    head = exchange.head
    environ: dict[str, Any] = {
        "REQUEST_METHOD": head.method,
        "PATH_INFO": unquote_to_bytes(head.raw_path.encode("latin-1")).decode("latin-1"),
        "QUERY_STRING": head.raw_query,
        "SERVER_PROTOCOL": f"HTTP/{exchange.version}",
        "REMOTE_ADDR": exchange.address,
    }
    with_underscore: dict[str, str] = {}
    for name, value in head.headers:
        text = value if value.isascii() else ""  # an unreadable one becomes empty
        # A name with a hyphen wins over the same name with an underscore.
        chosen = with_underscore if "_" in name else environ
        key = _key_of(name)
        chosen[key] = f"{chosen[key]},{text}" if key in chosen else text
    for key, value in with_underscore.items():
        if key.removeprefix("HTTP_") not in _BODY_HEADERS:  # not the one that describes the body
            environ.setdefault(key, value)
    return environ


def _key_of(name: str) -> str:
    key = name.replace("-", "_").upper()
    return key if key in _UNPREFIXED else f"HTTP_{key}"


def _call(
    application: Application, environ: Mapping[str, Any]
) -> tuple[int, list[tuple[str, str]], bytes]:
    started: list[tuple[str, list[tuple[str, str]]]] = []
    body: Iterable[bytes] = application(environ, lambda *answer: started.append(answer))
    ((status, headers),) = started
    return int(status[:3]), headers, b"".join(body)
